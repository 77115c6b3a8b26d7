"""A file that is damaged, or made to harm, gives one clear error and runs nothing."""

import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import skdpgen
from skdpgen import load
from skdpgen.exceptions import FileFormatError
from skdpgen.synthesizers.base import MIGRATIONS, each_object
from skdpgen.utils import from_bytes, pack, to_bytes, unpack
from tests.format._samples import plain_sample

STORED = Path(__file__).parent / "version_1"
TABLE, IMAGES = (STORED / f"{name}.skdpgen" for name in ("dates", "dpmerf_images"))
N_DAMAGED = 100  # of each file


@pytest.fixture(scope="module")
def content():
    """Return header and members of the file of a table."""
    return unpack(TABLE.read_bytes())


def refused(path):
    """Return what is said of a file: one sentence of one class, which names it."""
    with pytest.raises(FileFormatError) as error:
        load(path)
    said = str(error.value)
    assert type(error.value) is FileFormatError
    assert said.startswith(str(path))
    assert said.endswith(".")
    assert "\n" not in said
    return said


def file_of(path, members, header=None):
    header = dict(header or {})
    stated = {"estimator": "estimator.independent", "output": None, **header}
    stated.pop("members", None)
    path.write_bytes(pack(stated, members))
    return path


@pytest.fixture
def changed(tmp_path, content):
    """Return a function that writes the file with some members changed."""

    def write(header=None, **texts):
        members = dict(content[1])
        for name, change in texts.items():
            key = f"{name}.json"
            members[key] = json.dumps(change(json.loads(members[key]))).encode()
        return file_of(
            tmp_path / "changed.skdpgen", members, content[0] | (header or {})
        )

    return write


# ------------------------------------------------------------ damage by accident


def damaged(data, rng):
    """Return bytes with one flipped, some cut off, put in or overwritten."""
    place, way = int(rng.integers(len(data))), rng.integers(5)
    if way == 0:
        return data[:place]
    if way == 1:
        return data[:place] + rng.bytes(int(rng.integers(1, 50))) + data[place:]
    if way == 2:
        return data[:place] + data[place + int(rng.integers(1, 50)) :]
    if way == 3:
        n = int(rng.integers(1, 50))
        return data[:place] + rng.bytes(n) + data[place + n :]
    return flipped(data, place, 1 << int(rng.integers(8)))


def flipped(data, place, bit):
    return data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]


@pytest.mark.parametrize("stored", [TABLE, IMAGES], ids=["table", "images"])
@pytest.mark.parametrize("seed", range(N_DAMAGED))
def test_damage_is_noticed_or_does_no_harm(stored, seed, tmp_path):
    path = tmp_path / "damaged.skdpgen"
    path.write_bytes(damaged(stored.read_bytes(), np.random.default_rng(seed)))
    try:
        synth = load(path)
    except FileFormatError as error:
        assert str(path) in str(error)  # noqa: PT017 - most are refused, not all
        return
    assert plain_sample(synth) == plain_sample(load(stored))
    assert synth.privacy_ == load(stored).privacy_


def test_a_flip_at_every_byte_is_noticed_or_does_no_harm():
    data = TABLE.read_bytes()
    before = unpack(data)
    n_refused = 0
    for place in range(len(data)):
        try:
            assert unpack(flipped(data, place, 0x10)) == before
        except FileFormatError:
            n_refused += 1
    assert n_refused > 0.9 * len(data)


def test_what_is_no_file_of_ours_is_refused(tmp_path):
    assert "is a folder" in refused(tmp_path)
    path = tmp_path / "file"
    for data, said in (
        (b"", "it is empty"),
        (b"a,b\n1,2\n", "not a zip archive"),
        (pickle.dumps({"a": 1}), "not a zip archive"),
        (TABLE.read_bytes()[:-30], "not a zip archive"),
    ):
        path.write_bytes(data)
        assert said in refused(path)
    np.savez(path.with_suffix(".npz"), header=np.zeros(3))
    assert "no member skdpgen.json" in refused(path.with_suffix(".npz"))
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only Unix has named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe")


# ------------------------------------------------------------ versions


def with_format(path, number):
    """Return the file with another number of its format."""
    with zipfile.ZipFile(TABLE) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "skdpgen.json":
                data = json.dumps(json.loads(data) | {"format": number}).encode()
            new.writestr(name, data)
    return path


def test_a_newer_format_is_refused_in_a_sentence(tmp_path):
    path = with_format(tmp_path / "newer", 2)
    with pytest.raises(FileFormatError) as error:
        load(path)
    assert type(error.value) is FileFormatError
    assert str(error.value) == (
        f"This file has format 2; skdpgen {skdpgen.__version__} reads 1. Install a "
        "newer skdpgen."
    )


@pytest.mark.parametrize("number", [-1, 1.0, "1", None, True])
def test_a_format_is_a_number(number, tmp_path):
    assert "does not state a format" in refused(with_format(tmp_path / "a", number))


def test_an_older_format_without_a_step_is_refused(tmp_path):
    said = refused(with_format(tmp_path / "older", 0))
    assert "it has format 0, which is not read any more" in said


def test_an_older_format_is_migrated(changed, monkeypatch):
    """In an artificial format 0 cells of numbers had another name and other fields."""

    def older(one):
        if one.get("object") != "cells.numbers":
            return one
        fields = dict(one["fields"])
        fields["bounds"] = fields.pop("edges")
        return {"object": "bins", "fields": fields}

    def newer(one):
        if one.get("object") != "bins":
            return one
        fields = dict(one["fields"])
        fields["edges"] = fields.pop("bounds")
        return {"object": "cells.numbers", "fields": fields}

    def from_0_to_1(content):
        content.fit = each_object(content.fit, newer)
        content.parameters["epsilon"] = content.parameters.pop("budget")
        return content

    def old_parameters(parameters):
        parameters["budget"] = parameters.pop("epsilon")
        return parameters

    path = changed(
        {"format": 0},
        fit=lambda fit: each_object(fit, older),
        parameters=old_parameters,
    )
    assert "which is not read any more" in refused(path)
    monkeypatch.setitem(MIGRATIONS, 0, from_0_to_1)
    synth, stored = load(path), load(TABLE)
    assert synth.epsilon == stored.epsilon
    assert plain_sample(synth) == plain_sample(stored)


# ------------------------------------------------------------ made to harm


def test_members_must_be_listed_stored_once_and_whole(content, tmp_path):
    _, members = content
    path = tmp_path / "file"
    for name in ("parameters.json", "schema.json", "certificate.json", "fit.json"):
        left = {key: data for key, data in members.items() if key != name}
        assert f"no member {name}" in refused(file_of(path, left))
    array = next(name for name in members if name.endswith(".npy"))
    left = {key: data for key, data in members.items() if key != array}
    assert array in refused(file_of(path, left))

    with zipfile.ZipFile(TABLE) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr("more.json", b"1")
    assert "must list its members" in refused(path)
    with zipfile.ZipFile(path, "a") as new, pytest.warns(UserWarning, match="Dupl"):
        new.writestr("more.json", b"2")
    assert "two members of one name" in refused(path)


def test_a_file_cannot_grow(tmp_path):
    path = tmp_path / "bomb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr("skdpgen.json", b" " * 10_000_000)
    assert path.stat().st_size < 20_000
    assert "stored without compression" in refused(path)
    assert "data must be" in said_of_bytes(path.read_bytes())


def said_of_bytes(data):
    with pytest.raises(FileFormatError) as error:
        from_bytes(data)
    return str(error.value)


NOT_JSON = {
    b'{"a": NaN}': "NaN is no number",
    b'{"a": -Infinity}': "-Infinity is no number",
    b'{"a": 1e999}': "a number is too large",
    b'{"a": 1, "a": 2}': "a key comes twice",
    b"[" * 100_000 + b"]" * 100_000: "nested too deeply",
    b'{"a"': "is not JSON",
    b"\xff": "is not JSON",
}


@pytest.mark.parametrize("text", NOT_JSON, ids=lambda text: text[:20].decode("latin1"))
def test_json_is_as_the_standard_has_it(text, content, tmp_path):
    for name in ("parameters.json", "fit.json", "schema.json", "certificate.json"):
        path = file_of(tmp_path / "file", content[1] | {name: text})
        said = refused(path)
        assert NOT_JSON[text] in said
        assert name in said


def nested(n):
    value = 1
    for _ in range(n):
        value = {"list": [value]}
    return value


def npy(array, **params):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **params)
    return file.getvalue()


def huge():
    """Return an array whose header says more than there is."""
    data = npy(np.zeros(3))
    return data.replace(b"(3,), }        ", b"(3000000000,), }", 1)


WRONG_ARRAYS = {
    "shape": (npy(np.zeros((3, 2))), "must hold"),
    "dtype": (npy(np.zeros(3, dtype=np.int32)), "must hold"),
    "pickle": (npy(np.array([{}, 1], dtype=object)), "no array"),
    "longer": (npy(np.zeros(3)) + b"more", "no array"),
    "huge": (huge(), "no array"),
    "record": (npy(np.zeros(3, dtype=[("a", "f8")])), "no array"),
    "version": (npy(np.zeros(3), version=(2, 0)), "no array"),
    "text": (b"no array", "no array"),
    "empty": (b"", "no array"),
}


@pytest.mark.parametrize("kind", WRONG_ARRAYS)
def test_arrays_are_what_json_says(kind, content, tmp_path):
    data, said = WRONG_ARRAYS[kind]
    name = next(name for name in content[1] if name.endswith("/edges.npy"))
    path = file_of(tmp_path / "file", content[1] | {name: data})
    assert said in refused(path)


def test_values_are_of_known_types_with_all_their_fields(changed):
    def renamed(one):
        return one | {"object": "os.system"} if one.get("object") == "facts" else one

    def more(one):
        fields = one.get("fields", {}) | {"more": 1}
        return one | {"fields": fields} if one.get("object") == "facts" else one

    def less(one):
        fields = {key: v for key, v in one.get("fields", {}).items() if key != "task"}
        return one | {"fields": fields} if one.get("object") == "facts" else one

    for change, said in (
        (renamed, "not known: 'os.system'"),
        (more, "facts must have the entries"),
        (less, "facts must have the entries"),
    ):
        path = changed(fit=lambda fit, change=change: each_object(fit, change))
        assert said in refused(path)
    for wrong, said in (
        (3, "must hold a fit"),
        ({"object": "release", "parameters": {}}, "does not fit"),
        ({"object": "network.table", "parameters": {"shape": 1}}, "has neither"),
        ({"object": "adjacency", "fields": {}}, "has neither"),
        ({"enum": "release", "value": 1}, "not known: 'release'"),
        ({"network": "release", "shape": 1, "weights": ""}, "not known"),
        ({"reduce": "os.system"}, "unknown entries: reduce"),
        (nested(100), "nested too deeply"),
        ({"float": "1e5"}, "does not fit"),
        ({"schema": 3, "names": None}, "does not fit"),
    ):
        assert said in refused(changed(fit=lambda fit, wrong=wrong: wrong))


def test_parameters_and_estimators_are_known(changed):
    assert "not known" in refused(changed({"estimator": "os.system"}))
    assert "not known" in refused(changed({"estimator": "release"}))
    assert "not known" in refused(changed({"estimator": ["estimator.merf"]}))
    assert "must have the entries" in refused(changed({"estimator": "estimator.merf"}))
    assert "must have the entries" in refused(
        changed(parameters=lambda given: given | {"more": 1})
    )
    assert "does not fit" in refused(changed({"output": "os.system"}))


def test_schema_and_certificate_are_complete(changed):
    assert "does not fit" in refused(changed(schema=lambda schema: {"columns": 1}))
    assert "does not fit" in refused(changed(schema=lambda schema: schema | {"a": 1}))
    assert "does not fit" in refused(changed(certificate=lambda report: {}))
    assert "does not fit" in refused(changed(certificate=lambda r: r | {"a": 1}))


def test_networks_are_as_large_as_their_weights(tmp_path):
    header, members = unpack(IMAGES.read_bytes())

    def grown(one):
        if one.get("object") != "network.image_shape":
            return one
        return one | {"fields": one["fields"] | {"n_classes": 10**12}}

    def other(one):
        if one.get("object") != "network.image_shape":
            return one
        return one | {"fields": one["fields"] | {"n_latent": 3}}

    for change, said in ((grown, "larger than its weights"), (other, "not those of")):
        fit = each_object(json.loads(members["fit.json"]), change)
        changed = members | {"fit.json": json.dumps(fit).encode()}
        assert said in refused(file_of(tmp_path / "file", changed, header))
    for data in (
        b"",
        b"\xff" * 8,
        b"\xff\xff\xff\xff\0\0\0\0{}",
        b"\2\0\0\0\0\0\0\0{}",
    ):
        changed = members | {"model.safetensors": data}
        refused(file_of(tmp_path / "file", changed, header))


def test_messages_between_parties_are_as_strict():
    data = to_bytes({"a": np.arange(3)})
    for place in range(len(data)):
        try:
            found = from_bytes(flipped(data, place, 0x10))
        except FileFormatError:
            continue
        assert found.keys() == {"a"}
        np.testing.assert_array_equal(found["a"], np.arange(3))
