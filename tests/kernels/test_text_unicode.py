"""Folding of every code point that has any fact, native against twin, and the laws of folding."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from text_cases import POINTS, arrow, grouped, strings

from dejalu import kernels
from dejalu.kernels.reference import fold, tokens

ROOT = Path(__file__).resolve().parents[2]


def test_every_code_point_with_a_fact():
    f = fold.facts()
    points = sorted({*f.klass, *f.ccc, *f.decompose, *f.fold, *range(0xAC00, 0xAE00)} - {*range(0x4E10, 0x9FF0)})
    raws = [chr(c).encode() for c in points]
    data, borders, docs = kernels.tokens(*arrow(raws))
    folded = strings(*kernels.fold(*arrow(raws)))
    found = grouped(strings(data, borders), docs)
    wrong = [hex(c) for c, s in zip(points, folded, strict=True) if s != fold.fold(chr(c).encode())]
    assert wrong == []
    klass = f.klass.get
    for c, s, t in zip(points, folded, found, strict=True):
        if len(s) == 1:
            assert t == ([] if klass(ord(s), "separator") == "separator" else [s]), hex(c)


def test_pairs_and_triples_at_every_place_of_a_block():
    rng = np.random.default_rng(5)
    alphabet = [c for c in POINTS if not 0xD800 <= ord(c) < 0xE000]
    raws = []
    for place in range(140):
        for _ in range(12):
            middle = "".join(rng.choice(alphabet, rng.integers(2, 4)))
            raws.append(b"x" * (place % 9) + b" y" * (place // 2) + middle.encode() + b"end of it")
    data, borders, docs = kernels.tokens(*arrow(raws))
    assert grouped(strings(data, borders), docs) == [tokens.tokens(r) for r in raws]


@pytest.mark.parametrize("start", range(8192 - 70, 8192 + 2, 3))
def test_border_of_a_piece(start):
    tails = [
        'word"\u9fff\u0301 z',
        "e\u0301\u0323x",
        "\u4e00\u4e8c\u0301\u200dc",
        "\u0e01\u0e31\u0e48a",
        "co\u00adop\U0001f600",
        "\u1100\u1161\u11a8 q",
    ]
    raws = [(("w" * start if k % 2 else "v " * (start // 2)) + t).encode() for k in (0, 1) for t in tails]
    data, borders, docs = kernels.tokens(*arrow(raws))
    assert grouped(strings(data, borders), docs) == [tokens.tokens(r) for r in raws]


def test_folding_twice_changes_nothing():
    raws = ["".join(POINTS[i : i + 7]).encode("utf-8", "replace") for i in range(len(POINTS))]
    once = strings(*kernels.fold(*arrow(raws)))
    assert strings(*kernels.fold(*arrow([s.encode() for s in once]))) == once


def test_a_long_run_of_marks_is_not_quadratic():
    marks = "".join(chr(c) for c in (0x0316, 0x0301, 0x0327, 0x0345, 0x0334))
    raw = ("a" + marks * 40_000 + " b").encode()
    data, borders, _ = kernels.tokens(*arrow([raw]))
    assert len(borders) == 3  # two tokens: a with its marks and iotas, then b
    assert strings(data, borders)[-1] == "b"


@pytest.mark.skipif(
    not Path("/usr/share/unicode/DerivedAge.txt").exists(), reason="the Unicode Character Database is not installed"
)
def test_tables_are_what_the_script_makes():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/unicode_table.py", "--check"], capture_output=True, text=True, check=False
    )
    if "but the tables are for" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
