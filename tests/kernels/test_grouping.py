"""Grouping kernels against their plain twins, both on the same arrays, and what they refuse."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dejalu.kernels import grouping as native
from dejalu.kernels.grouping import Scratch, Span
from dejalu.kernels.reference import grouping as twin

WHOLE = (1 << 64) - 1


def new_scratch(blocks=64, block=4, partitions=8, words=3, share=1000):
    scratch = Scratch(
        np.full((blocks, block, words), 77, np.uint32),
        np.zeros(blocks + 2, np.uint32),
        np.zeros((4, partitions), np.uint32),
    )
    native.empty(scratch, share)
    return scratch


@st.composite
def worlds(draw):
    """Keys with many repeats, in pieces, with or without second halves, sketches and skipped places."""
    n = draw(st.integers(0, 180))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([1, 2, 20, 100, 10**9]))
    key = rng.integers(0, spread, n).astype(np.uint64) << np.uint64(draw(st.sampled_from([0, 31])))
    high = rng.integers(0, 3, n).astype(np.uint64) if draw(st.booleans()) else None
    skip = (rng.random(n) < 0.2).astype(np.uint8) if draw(st.booleans()) else None
    packed = rng.integers(0, 2, (n, 8)).astype(np.uint8) if draw(st.booleans()) and high is None else None
    borders = sorted({0, n, *draw(st.lists(st.integers(0, n), max_size=3))})
    return key, high, skip, packed, borders


def spans(cuts):
    """Cut all keys at these places, for 8 partitions each."""
    edges = [0, *sorted(set(cuts)), WHOLE + 1]
    return [Span(a, b - a - 1, max(0, ((b - a - 1) // 8).bit_length())) for a, b in pairwise(edges)]


def labels(scatter, join, flatten, world, cuts, scratch, limit):
    """Group a world with the kernels given; None where it does not fit."""
    key, high, skip, packed, borders = world
    parent = np.arange(len(key), dtype=np.uint32)
    for span in spans(cuts):
        native.empty(scratch, int(scratch.parts[3, 0]))
        for a, b in pairwise(borders):
            fits = scatter(
                key[a:b],
                None if high is None else high[a:b],
                None if skip is None else skip[a:b],
                a,
                span,
                scratch,
                parent,
                sketched=packed is not None,
                limit=limit,
            )
            if not fits:
                return None
        join(span, scratch, parent, packed, min_matches=5, limit=limit)
    flatten(parent)
    return parent


@given(worlds(), st.lists(st.integers(1, WHOLE), max_size=3), st.integers(1, 9), st.sampled_from([1, 3, 1000]))
@settings(max_examples=150)
def test_each_kernel_is_its_twin(world, cuts, limit, share):
    words = native.ROW_WORDS if world[1] is None else native.WIDE_ROW_WORDS
    found = [
        labels(scatter, join, flatten, world, cuts, new_scratch(words=words, share=share), limit)
        for scatter, join, flatten in [
            (twin.scatter_rows, twin.join_rows, twin.flatten),
            (native.scatter_rows, twin.join_rows, twin.flatten),
            (twin.scatter_rows, native.join_rows, twin.flatten),
            (native.scatter_rows, native.join_rows, native.flatten),
        ]
    ]
    fitting = [f for f in found if f is not None]
    for f in fitting[1:]:
        np.testing.assert_array_equal(f, fitting[0])


def test_rows_are_laid_out_as_documented():
    """Both write the same words, block after block, as long as nothing has to shrink."""
    key = np.arange(150, dtype=np.uint64) * np.uint64(0x1234567)
    one, other = new_scratch(), new_scratch()
    parent = np.arange(150, dtype=np.uint32)
    assert native.scatter_rows(key, None, None, 0, Span(0, WHOLE, 61), one, parent, sketched=True, limit=64)
    assert twin.scatter_rows(key, None, None, 0, Span(0, WHOLE, 61), other, parent, sketched=True, limit=64)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
    assert native.sizes(one).sum() == 150


@pytest.mark.parametrize("sketched", [False, True])
def test_a_hot_key_needs_no_memory(sketched):
    """50,000 rows of one key among 150 others go through 256 rows of memory."""
    rng = np.random.default_rng(1)
    key = np.full(50_000, 5, np.uint64)
    others = rng.choice(50_000, 60, replace=False)
    key[others] = np.arange(100, 160, dtype=np.uint64)
    parent = np.arange(50_000, dtype=np.uint32)
    scratch = new_scratch(share=2)
    span = Span(0, WHOLE, 61)
    assert native.scatter_rows(key, None, None, 0, span, scratch, parent, sketched=sketched, limit=20)
    packed = np.zeros((50_000, 4), np.uint8) if sketched else None
    native.join_rows(span, scratch, parent, packed, min_matches=5, limit=20)
    native.flatten(parent)
    expected = np.arange(50_000)
    expected[key == 5] = np.flatnonzero(key == 5)[0]
    np.testing.assert_array_equal(parent, expected)


def test_what_does_not_fit_is_said():
    key = np.arange(10_000, dtype=np.uint64)
    parent = np.arange(10_000, dtype=np.uint32)
    for scatter in (native.scatter_rows, twin.scatter_rows):
        assert not scatter(key, None, None, 0, Span(0, WHOLE, 61), new_scratch(), parent, sketched=False, limit=1)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60))
def test_flatten_is_its_twin(raw):
    parent = np.array([value % (place + 1) for place, value in enumerate(raw)], np.uint32)
    other = parent.copy()
    native.flatten(parent)
    twin.flatten(other)
    np.testing.assert_array_equal(parent, other)


def bad(**changed):
    """Arguments of scatter_rows of which one is wrong."""
    good = {
        "key": np.zeros(3, np.uint64),
        "high": None,
        "skip": None,
        "first": 0,
        "keys": Span(0, WHOLE, 61),
        "scratch": new_scratch(),
        "parent": np.arange(3, dtype=np.uint32),
        "sketched": False,
        "limit": 1,
    }
    return {**good, **changed}


def broken(**changed):
    """Scratch memory of which one array is wrong."""
    return new_scratch()._replace(**changed)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (bad(key=np.zeros(3, np.int64)), "incompatible"),
        (bad(key=np.zeros(6, np.uint64)[::2]), "incompatible"),
        (bad(first=1), "places must lie in parent"),
        (bad(first=-1), "places must lie in parent"),
        (bad(skip=np.zeros(2, np.uint8)), "one entry per key"),
        (bad(high=np.zeros(3, np.uint64)), "rows of 5 words"),
        (bad(scratch=new_scratch(words=5)), "rows of 5 words"),
        (bad(scratch=new_scratch(words=4)), "3 or 5 words"),
        (bad(scratch=new_scratch(block=3)), "power of two"),
        (bad(scratch=broken(chain=np.zeros(3, np.uint32))), "two entries more"),
        (bad(scratch=broken(parts=np.zeros((4, 65), np.uint32))), "no more partitions"),
        (bad(scratch=broken(parts=np.full((4, 8), 900, np.uint32))), "no such block"),
        (bad(scratch=broken(chain=np.full(66, 900, np.uint32))), "free blocks"),
        (bad(keys=Span(0, WHOLE, 60)), "more partitions"),
        (bad(keys=Span(1, WHOLE, 61)), "beyond 64 bits"),
        (bad(keys=Span(0, 5, 64)), "more partitions"),
        (bad(limit=0), "at least 1"),
    ],
)
def test_wrong_arguments_are_refused(arguments, told):
    positional = [arguments[k] for k in ("key", "high", "skip", "first", "keys", "scratch", "parent")]
    with pytest.raises((ValueError, TypeError), match=told):
        native.scatter_rows(*positional, sketched=arguments["sketched"], limit=arguments["limit"])


def test_arrays_that_do_not_belong_together_are_refused():
    span, parent = Span(0, WHOLE, 61), np.arange(500, dtype=np.uint32)
    scratch = new_scratch(blocks=256)
    key = np.arange(500, dtype=np.uint64) % 7
    assert native.scatter_rows(key, None, None, 0, span, scratch, parent, sketched=True, limit=9)
    with pytest.raises(ValueError, match="beyond parent"):
        native.join_rows(span, scratch, parent[:3].copy())
    with pytest.raises(ValueError, match="one row per place"):
        native.join_rows(span, scratch, parent, np.zeros((3, 8), np.uint8))
    scratch.chain[:-2] = 100_000
    with pytest.raises(ValueError, match="names no block"):
        native.join_rows(span, scratch, parent)
    with pytest.raises(ValueError, match="larger than its place"):
        native.flatten(np.array([1, 1], np.uint32))
