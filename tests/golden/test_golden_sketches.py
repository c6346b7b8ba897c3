"""Bottom-k, scaled and weighted sketches and weights against the values pinned in sketches.json."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from text_cases import arrow

from dejalu import kernels
from dejalu.kernels.reference import frequencies

HERE = Path(__file__).parent
PINNED = json.loads((HERE / "sketches.json").read_text(encoding="utf-8"))
SKETCHED = [n for n in PINNED if "raw" in PINNED[n]]
UNITS = {"word": 0, "char": 1}


def maker(monkeypatch):
    """The program that writes the file."""
    monkeypatch.syspath_prepend(str(HERE))
    spec = importlib.util.spec_from_file_location("make_sketches", HERE / "make_sketches.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    sys.modules.pop("make_text", None)
    return made


def hexadecimal(values, digits):
    return [f"{v:0{digits}x}" for v in values.tolist()]


@pytest.mark.parametrize("name", SKETCHED)
def test_native(name, monkeypatch):
    weight_of = maker(monkeypatch).weight_of
    raw = arrow([bytes.fromhex(PINNED[name]["raw"])])
    for setting in [k for k in PINNED[name] if " " in k]:
        unit, width = setting.split()
        how, want = {"shingle": int(width), "unit": UNITS[unit]}, PINNED[name][setting]
        assert hexadecimal(kernels.bottom_k(*raw, **how, k=20)[0], 16) == want["bottom 20"]
        assert hexadecimal(kernels.bottom_k(*raw, **how, scaled=8)[0], 16) == want["scaled 8"]
        features = kernels.shingle_sets(*raw, **how)[0]
        table = kernels.weight_table(features, np.array([weight_of(v) for v in features.tolist()], np.uint32))
        signature, _ = kernels.weighted_sketch(*raw, **how, slots=64, keys=table[0], weights=table[1], unseen=0)
        assert "".join(hexadecimal(signature[0], 8)) == want["weighted 64"]


def test_weights():
    for case, want in PINNED["idf"].items():
        documents, n = map(int, case.split(" of "))
        assert kernels.idf(np.array([documents]), n).tolist() == [want] == [frequencies.idf(documents, n)]
    for x, want in PINNED["log2"].items():
        assert frequencies.fixed_log2(int(x)) == want


def test_the_twins_give_what_is_pinned(monkeypatch):
    assert json.loads(json.dumps(maker(monkeypatch).make())) == PINNED
