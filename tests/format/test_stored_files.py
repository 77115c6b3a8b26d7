"""Files of each format load for ever, and give the samples that they gave."""

import json
from pathlib import Path

import pytest

from skdpgen import all_synthesizers, load
from skdpgen.utils import FORMAT, unpack
from tests.format import make
from tests.format._samples import MACHINE, plain_sample, share_alike

HERE = Path(__file__).parent
STORED = {
    f"{path.parent.name}/{path.name}": path
    for path in sorted(HERE.glob("version_*/*.skdpgen"))
}
LEAST = 0.9  # of the values of a sample, on a machine that rounds otherwise


def test_what_files_hold_is_what_was_promised():
    listed = (HERE / f"version_{FORMAT}.json").read_text("utf-8")
    assert json.loads(listed) == make.promised(), make.CHANGED


@pytest.mark.parametrize("name", STORED)
def test_a_stored_file_gives_the_samples_that_it_gave(name):
    """To the bit on the machine that made it; numbers are rounded to 1e-5 elsewhere.

    There a draw may fall on the other side of a border, so a tenth of the values may
    differ.
    """
    path = STORED[name]
    stored = json.loads((path.parent / "samples.json").read_text("utf-8"))[path.name]
    found = plain_sample(load(path))
    if stored["made on"] == MACHINE:
        assert found == stored["sample"]
    assert share_alike(found, stored["sample"]) >= LEAST


@pytest.mark.parametrize("name", STORED)
def test_a_stored_file_is_saved_again_as_it_was(name, tmp_path):
    synth = load(STORED[name])
    synth.save(tmp_path / "again.skdpgen")
    again = load(tmp_path / "again.skdpgen")
    assert again.privacy_ == synth.privacy_
    assert again.get_params().keys() == synth.get_params().keys()
    if name.startswith(f"version_{FORMAT}/"):
        assert said(tmp_path / "again.skdpgen") == said(STORED[name])


def said(path):
    """Return what a file says, whatever the order of its fields."""
    header, members = unpack(path.read_bytes())
    parts = {
        name: json.loads(data) if name.endswith(".json") else data
        for name, data in members.items()
    }
    return header["estimator"], header["output"], parts


def test_every_estimator_has_a_file_of_all_that_it_takes():
    classes = {type(load(path)).__name__ for path in STORED.values()}
    assert classes == set(all_synthesizers())
    for kind in ("tables", "images"):
        for cls in all_synthesizers(kind):
            name = make.file_name(f"{cls}, {kind[:-1] if kind == 'tables' else kind}")
            assert f"version_{FORMAT}/{name}" in STORED


def test_files_are_small():
    assert sum(path.stat().st_size for path in STORED.values()) < 2e6 * FORMAT
