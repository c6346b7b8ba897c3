"""Grouping as a whole: the same components whatever the pieces, the memory, the threads, and however hot a key."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dejalu.candidates import equal, group
from dejalu.candidates import grouping as room
from dejalu.engines import Local
from dejalu.errors import StoreError, UsageError
from dejalu.kernels import mix64
from dejalu.kernels.reference import grouping as twin
from dejalu.kernels.reference.groups import band_edges, components

UNSPREAD = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))  # keys that the kernel's bijection makes small again


def by_edges(keys, skip, packed, min_matches, limit):
    """Edges of each band in memory, then components."""
    n = len(keys[0])
    sketches = packed if packed is not None else np.zeros((n, 1), np.uint8)
    edges = [band_edges(k, sketches, skip, min_matches if packed is not None else 0, limit) for k in keys]
    return components(n, *(np.concatenate(ends) for ends in zip(*edges, strict=True)))


def made_keys(rng, kind, n):
    if kind == "mixed":
        return mix64(rng.integers(0, max(1, n), n).astype(np.uint64))
    if kind == "all equal":
        return np.full(n, 7, np.uint64)
    if kind == "half equal":
        return np.where(rng.random(n) < 0.5, np.uint64(3), mix64(np.arange(n, dtype=np.uint64)))
    if kind == "equal leading bits":
        return rng.integers(0, max(1, n), n).astype(np.uint64)
    if kind == "one partition":
        return rng.integers(0, max(1, n), n).astype(np.uint64) * UNSPREAD
    return rng.integers(0, max(1, n // 40), n).astype(np.uint64) << np.uint64(50)  # "buckets about the limit"


KINDS = ["mixed", "all equal", "half equal", "equal leading bits", "one partition", "about the limit"]


@st.composite
def worlds(draw, most=4000):
    n = draw(st.integers(0, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    keys = [made_keys(rng, draw(st.sampled_from(KINDS)), n) for _ in range(draw(st.integers(1, 4)))]
    skip = (rng.random(n) < draw(st.sampled_from([0.1, 1.0]))).astype(np.uint8) if draw(st.booleans()) else None
    packed = rng.integers(0, 2, (n, 16)).astype(np.uint8) if draw(st.booleans()) else None
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=4)))
    return n, keys, skip, packed, cuts


@given(worlds(), st.sampled_from([1024, 2048, 1 << 17]), st.integers(1, 4), st.sampled_from([2, 64]))
@settings(max_examples=200)
def test_components_are_those_of_the_edges(world, scratch_rows, threads, limit):
    n, keys, skip, packed, cuts = world
    found = group(
        n,
        lambda b: iter(np.split(keys[b], cuts)),
        len(keys),
        skip=skip,
        packed=packed,
        min_matches=10,
        limit=limit,
        scratch_rows=scratch_rows,
        map=Local(threads).map,
    )
    assert found.dtype == np.uint32
    np.testing.assert_array_equal(found, by_edges(keys, skip, packed, 10, limit))


@given(worlds(most=400), st.sampled_from([1024, 2048]))
@settings(max_examples=25)
def test_the_plain_twin_gives_the_same(world, scratch_rows):
    n, keys, skip, packed, cuts = world
    options = {"skip": skip, "packed": packed, "min_matches": 10, "limit": 5, "scratch_rows": scratch_rows}
    found = group(n, lambda b: iter(np.split(keys[b], cuts)), len(keys), **options)
    with (
        mock.patch.object(room.kernel, "scatter_rows", twin.scatter_rows),
        mock.patch.object(room.kernel, "join_rows", twin.join_rows),
        mock.patch.object(room.kernel, "flatten", twin.flatten),
    ):
        expected = group(n, lambda b: iter(np.split(keys[b], cuts)), len(keys), **options)
    np.testing.assert_array_equal(found, expected)


@given(worlds(), st.sampled_from([1024, 1 << 17]), st.integers(1, 3), st.sampled_from([1, 3, 10**9]))
@settings(max_examples=100)
def test_equal_needs_both_halves(world, scratch_rows, threads, highs):
    n, keys, skip, _, cuts = world
    low, high = keys[0], np.random.default_rng(n).integers(0, highs, n).astype(np.uint64)
    first: dict[tuple[int, int], int] = {}
    expected = [
        i if skip is not None and skip[i] else first.setdefault((int(high[i]), int(low[i])), i) for i in range(n)
    ]
    found = equal(
        n,
        lambda: zip(np.split(high, cuts), np.split(low, cuts), strict=True),
        skip=skip,
        scratch_rows=scratch_rows,
        map=Local(threads).map,
    )
    np.testing.assert_array_equal(found, expected)


def test_skipped_places_stay_alone():
    found = group(5, lambda _: [np.full(5, 9, np.uint64)], 1, skip=np.array([1, 0, 1, 0, 0], np.uint8))
    assert found.tolist() == [0, 1, 2, 1, 1]


def test_chains_over_bands_reach_the_smallest_place():
    """The last two documents share a key in one band, the last but one and its neighbour in the next, and so on."""
    n = 300
    place, own = np.arange(n), mix64(np.arange(n, dtype=np.uint64) + np.uint64(9))
    keys = [np.where((place == n - 2 - b) | (place == n - 1 - b), np.uint64(1), own) for b in range(n - 1)]
    found = group(n, lambda b: [keys[b]], n - 1, map=Local(4).map)
    assert not found.any()


@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_read_few_times(kind):
    """Scratch memory for a fifth of the rows: not many more than five readings, none of them for a hot key."""
    n = 100_000
    keys = made_keys(np.random.default_rng(5), kind, n)
    readings = 0

    def pieces(_):
        nonlocal readings
        readings += 1
        yield from np.array_split(keys, 7)

    told: list[int] = []
    found = group(n, pieces, 1, scratch_rows=n // 5, done=told.append)
    np.testing.assert_array_equal(found, by_edges([keys], None, None, 0, 64))
    assert readings <= 12
    assert told == [0]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_documents(n):
    keys = np.zeros(n, np.uint64)
    assert group(n, lambda _: [keys], 2).tolist() == [0] * n
    assert equal(n, lambda: [(keys, keys)]).tolist() == [0] * n


def test_bands_are_not_needed():
    assert group(3, lambda _: [], 0).tolist() == [0, 1, 2]


def test_what_cannot_be_served_is_said():
    keys = np.arange(10, dtype=np.uint64)
    with pytest.raises(UsageError, match=r"4,294,967,295 documents: one run numbers at most 4,294,967,294"):
        group(2**32 - 1, lambda _: [keys], 1)
    with pytest.raises(UsageError, match=r"scratch_rows=100: grouping needs at least 1,024"):
        group(10, lambda _: [keys], 1, scratch_rows=100)
    with pytest.raises(StoreError, match=r"band 1: 10 keys for 12 documents"):
        group(12, lambda b: [keys, keys[:2]] if b == 0 else [keys], 2)
    with pytest.raises(StoreError, match=r"text hashes: more than 8 keys for 8 documents"):
        equal(8, lambda: [(keys, keys)])
