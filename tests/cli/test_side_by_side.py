"""Two texts beside each other: the alignment is true, long texts are quick, nothing in a text can act on a terminal."""

from __future__ import annotations

import io
import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from dejalu.act.alignment import PIECE, compare
from dejalu.act.side_by_side import Shown, columns, plain, visible
from dejalu.errors import UsageError

words = st.lists(st.sampled_from(["a", "b", "cat", "dog", "白", "日", " ", "\n", ".", "é", "\u0301", "ก"]), max_size=60)


def shown(a: str, b: str) -> Shown:
    return Shown("a.parquet", 3, "x1", "b.txt", 0, None, 0.83, "jaccard", "minhash", a, b)


@given(words, words)
def test_stretches_join_to_both_texts(a: list[str], b: list[str]) -> None:
    left, right = "".join(a), "".join(b)
    stretches = compare(left, right)
    assert "".join(s.a for s in stretches) == left
    assert "".join(s.b for s in stretches) == right
    for s in stretches:
        if s.same:
            assert [p for p in PIECE.findall(s.a) if not p.isspace()] == [
                p for p in PIECE.findall(s.b) if not p.isspace()
            ]


@given(words)
def test_equal_texts_are_one_stretch(a: list[str]) -> None:
    text = "".join(a)
    assert [(s.a, s.same) for s in compare(text, text)] == ([(text, True)] if text else [])


@given(st.text(), st.text())
def test_any_text_can_be_drawn(a: str, b: str) -> None:
    pair = shown(a, b)
    assert not [c for c in plain(pair, 40) if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    Console(file=io.StringIO(), width=60).print(columns(pair))


def test_differences_are_whole_words() -> None:
    found = [(s.a, s.b) for s in compare("the heaven and the earth", "the heavens and an earth") if not s.same]
    assert found == [("heaven", "heavens"), ("the", "an")]


def test_wrapping_elsewhere_is_no_difference() -> None:
    assert [s.same for s in compare("one two\nthree  four", "one\ntwo three four")] == [True]


def test_a_reworded_phrase_is_one_difference() -> None:
    differing = [s for s in compare("x a b c d y", "x e f g h y") if not s.same]
    assert [(s.a, s.b) for s in differing] == [("a b c d", "e f g h")]


def test_long_texts_are_anchored() -> None:
    rng = random.Random(1)
    base = [f"w{rng.randrange(3000)}" for _ in range(30_000)]
    edited = list(base)
    for place in sorted(rng.sample(range(len(base)), 50), reverse=True):
        edited[place : place + 1] = ["changed"]
    stretches = compare(" ".join(base), " ".join(edited))
    assert "".join(s.b for s in stretches) == " ".join(edited)
    assert sum(not s.same for s in stretches) == 50


def test_nothing_in_common_ends() -> None:
    assert len(compare("a b " * 20_000, "c d " * 20_000)) <= 3


def test_control_characters_are_made_visible() -> None:
    text = "red \x1b[31m, bell \x07, turn \u202e, line\r\nend\ttab"
    assert visible(text) == "red ␛[31m, bell ␇, turn �, line\nend\ttab"


def test_brackets_are_text_and_not_markup() -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(columns(shown("[red]not a colour[/red]", "[red]not a colour[/blue]")))
    assert "[red]not a colour[/red]" in console.file.getvalue()  # type: ignore[attr-defined]


def test_plain_lines() -> None:
    assert plain(shown("one two three", "one zwei three")).splitlines() == [
        "# similarity 0.8300 (jaccard, method minhash)",
        "# removed  a.parquet row 3 id x1",
        "# kept     b.txt row 0",
        "  one",
        "- two",
        "+ zwei",
        "  three",
    ]


def test_width_counts_terminal_cells() -> None:
    lines = plain(shown("白日依山盡黃河入海流" * 20, "白日依山盡黃河入海流" * 20), 40).splitlines()[3:]
    assert max(cell_len(line) for line in lines) <= 40
    console = Console(file=io.StringIO(), width=60)
    console.print(columns(shown("白日依山盡黃河入海流" * 9, "白日依山盡黃河入海游" * 9)))
    assert max(cell_len(line) for line in console.file.getvalue().splitlines()) <= 60  # type: ignore[attr-defined]


def test_a_word_wider_than_the_line_is_cut() -> None:
    lines = plain(shown("x" * 100, "x" * 100), 30).splitlines()[3:]
    assert max(map(len, lines)) <= 30
    assert "".join(line.strip() for line in lines) == "x" * 100


def test_too_narrow_is_an_error() -> None:
    with pytest.raises(UsageError, match="at least 20"):
        plain(shown("a", "b"), 10)
