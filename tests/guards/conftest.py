"""Settings of the guards."""

import pytest

from skdpgen.synthesizers.gaussian import _pictures


@pytest.fixture(autouse=True)
def hardly_taught(monkeypatch):
    """Let networks that rows vote on learn for three steps, from free pictures.

    What they learnt says how many rows vote for which, not how far one vote may move.
    """
    monkeypatch.setattr(_pictures, "N_DRAWN", (60, 60))
