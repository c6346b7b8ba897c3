"""Fingerprints against the values pinned in simhash.json."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from text_cases import arrow

from dejalu import kernels

HERE = Path(__file__).parent
PINNED = json.loads((HERE / "simhash.json").read_text(encoding="utf-8"))
TEXTS = [n for n in PINNED if n != "features"]
UNITS = {"word": 0, "char": 1}


def maker(monkeypatch):
    """The program that writes the file."""
    monkeypatch.syspath_prepend(str(HERE))
    spec = importlib.util.spec_from_file_location("make_simhash", HERE / "make_simhash.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    sys.modules.pop("make_text", None)
    return made


def hexadecimal(prints):
    return [" ".join(f"{w:016x}" for w in row) for row in prints.tolist()]


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name, monkeypatch):
    weight_of = maker(monkeypatch).weight_of
    raw = arrow([bytes.fromhex(PINNED[name]["raw"])])
    for setting in [k for k in PINNED[name] if " " in k]:
        unit, width = setting.split()
        how, want = {"shingle": int(width), "unit": UNITS[unit]}, PINNED[name][setting]
        features = kernels.shingle_sets(*raw, **how)[0]
        of = np.array([weight_of(v) for v in features.tolist()], np.uint32)
        table = (*kernels.weight_table(features, of), 0)
        for kind, more in (("none", {"weights": 0}), ("tf", {}), ("weights", {"weight_table": table})):
            wide = kernels.simhash(*raw, **how, bits=128, **more)[0]
            assert hexadecimal(wide) == [want[kind]]
            assert kernels.simhash(*raw, **how, **more)[0].tolist() == wide[:, 0].tolist()


def test_features():
    for case in PINNED["features"]:
        values = np.array([int(x, 16) for x, _ in case["votes"]], np.uint64)
        weights = np.array([w for _, w in case["votes"]], np.int64)
        found = kernels.simhash_features(values, weights, np.array([0, len(values)]), 128)
        assert hexadecimal(found) == [case["fingerprint"]]


def test_the_twin_gives_what_is_pinned(monkeypatch):
    assert json.loads(json.dumps(maker(monkeypatch).make())) == PINNED
