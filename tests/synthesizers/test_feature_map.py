"""How rows get to the device that maps them."""

import torch

from skdpgen.synthesizers.embedding._feature_map import on_device


def test_rows_stay_on_a_cpu():
    rows = torch.ones(2, 3)
    assert on_device(rows, torch.device("cpu")) is rows


def test_a_gpu_gets_them_from_pinned_memory(monkeypatch):
    """There is none here: what would be asked of torch is written down."""
    asked = []

    def noted(name):
        def instead(rows, *args, **how):
            asked.append((name, args, how))
            return rows

        return instead

    monkeypatch.setattr(torch.Tensor, "pin_memory", noted("pin"))
    monkeypatch.setattr(torch.Tensor, "to", noted("to"))
    gpu = torch.device("cuda")
    on_device(torch.ones(2, 3), gpu)
    assert asked == [("pin", (), {}), ("to", (gpu,), {"non_blocking": True})]
