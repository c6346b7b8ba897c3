"""Hashes and sketches against the values pinned in text.json; both the native kernels and the twins must give them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from text_cases import arrow, strings

from dejalu import kernels
from dejalu.kernels.reference import hashing, shingles, sketch, tokens

PINNED = json.loads(Path(__file__).with_name("text.json").read_text(encoding="utf-8"))
UNITS = {"word": 0, "char": 1}


@pytest.mark.parametrize("name", PINNED)
def test_native(name):
    want = PINNED[name]
    raw = arrow([bytes.fromhex(want["raw"])])
    data, borders, _ = kernels.tokens(*raw)
    assert strings(data, borders) == want["tokens"]
    assert "".join(f"{v:016x}" for v in kernels.bytes_hash(*raw)[0].tolist()) == want["bytes_hash"]
    for setting in [k for k in want if " " in k]:
        unit, width, slots = setting.split()
        options = {"shingle": int(width), "unit": UNITS[unit]}
        signatures, token_hash, *_ = kernels.sketch(*raw, **options, slots=int(slots))
        assert "".join(f"{v:016x}" for v in token_hash[0].tolist()) == want["token_hash"]
        assert "".join(f"{v:08x}" for v in signatures[0].tolist()) == want[setting]["signature"]
        values, _ = kernels.shingle_sets(*raw, **options)
        assert len(values) == want[setting]["count"]
        assert [f"{v:016x}" for v in values[:40].tolist()] == want[setting]["shingles"]


@pytest.mark.parametrize("name", PINNED)
def test_twin(name):
    want = PINNED[name]
    raw = bytes.fromhex(want["raw"])
    words = tokens.tokens(raw)
    assert words == want["tokens"]
    assert [f"{hashing.token_hash(w.encode()):016x}" for w in words] == want["hashes"]
    for setting in [k for k in want if " " in k]:
        unit, width, slots = setting.split()
        made = shingles.shingles(shingles.units(raw, unit=unit), int(width))
        assert "".join(f"{v:08x}" for v in sketch.signature(made, int(slots))) == want[setting]["signature"]
