"""Folding and tokens against a reference written apart from this project.

It rests on the interpreter's Unicode tables.

Only code points that the interpreter's Unicode version has assigned can be compared.
"""

from __future__ import annotations

import importlib.util
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_cases import POINTS, arrow, grouped, strings

from dejalu import kernels

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "bugs" / "ref.py"
if not REFERENCE.exists():
    pytest.skip(f"{REFERENCE}: the separate reference is not beside this checkout", allow_module_level=True)

spec = importlib.util.spec_from_file_location("reference_text", REFERENCE)
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)


def known(c: str) -> bool:
    return unicodedata.category(c) not in ("Cn", "Cs")


ASSIGNED = [chr(c) for c in range(0x110000) if known(chr(c))]
MARKS = [c for c in ASSIGNED if unicodedata.combining(c)]
point = st.sampled_from(list(filter(known, POINTS))) | st.sampled_from(ASSIGNED) | st.sampled_from(MARKS)
text = st.lists(point | st.text("abcABC =_9", max_size=70), max_size=40).map("".join)


def test_every_code_point_alone():
    raw = arrow([c.encode() for c in ASSIGNED])
    wrong = [hex(ord(c)) for c, f in zip(ASSIGNED, strings(*kernels.fold(*raw)), strict=True) if f != reference.fold(c)]
    assert wrong == []
    data, borders, docs = kernels.tokens(*raw)
    found = grouped(strings(data, borders), docs)
    assert [hex(ord(c)) for c, t in zip(ASSIGNED, found, strict=True) if t != reference.tokens(c)] == []


@settings(max_examples=1000)
@given(text)
def test_combinations(s):
    raw = arrow([s.encode()])
    assert strings(*kernels.fold(*raw)) == [reference.fold(s)]
    data, borders, _ = kernels.tokens(*raw)
    assert strings(data, borders) == reference.tokens(s)
