"""Group kernels against their plain twins, on small random worlds where everything collides often."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dejalu import kernels
from dejalu.kernels import groups as native
from dejalu.kernels.reference import groups as twin

BANDS, WIDTH = 4, 16


@st.composite
def worlds(draw, most=24):
    """Documents with few different keys, sketches and shingles, so that buckets, ties and near misses are common."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([1, 2, 5, 50]))
    keys = rng.integers(0, spread, (n, BANDS)).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.arange(
        BANDS, dtype=np.uint64
    )
    packed = rng.integers(0, draw(st.sampled_from([1, 2, 3])), (n, WIDTH)).astype(np.uint8)
    vocabulary = draw(st.sampled_from([3, 12, 40]))
    sets = [np.unique(rng.integers(0, vocabulary, rng.integers(1, 14))).astype(np.uint64) for _ in range(n)]
    offsets = np.concatenate(([0], np.cumsum([len(s) for s in sets]))).astype(np.int64)
    return keys, packed, np.concatenate(sets), offsets


@given(
    worlds(),
    st.sampled_from([0.1, 0.5, 2 / 3, 0.8, 1.0]),
    st.integers(0, WIDTH),
    st.sampled_from([1, 2, 70_000]),
    st.data(),
)
@settings(max_examples=300, deadline=None)
def test_settle_is_its_twin_both_ways(world, threshold, min_matches, cap, data):
    keys, packed, values, offsets = world
    n = len(keys)
    cuts = sorted(data.draw(st.sets(st.integers(1, n), max_size=3)) | {n})
    groups = np.array([0, *cuts], np.int64)
    settled = data.draw(st.integers(0, n)) if len(groups) == 2 else 0
    args = (groups, keys, packed, values, offsets)
    options = {"threshold": threshold, "min_matches": min_matches, "cap": cap, "settled": settled}
    expected = twin.settle(*args, **options)
    for small in (0, 2_000):  # the prefix index, and looking at every kept document
        got = native.settle(*args, **options, small=small)
        np.testing.assert_array_equal(got[0], expected[0])
        np.testing.assert_array_equal(got[1], expected[1])
        assert got[2] == expected[2]


@given(worlds())
@settings(max_examples=150, deadline=None)
def test_buckets_are_their_twins(world):
    keys, packed, _, _ = world
    key = np.ascontiguousarray(keys[:, 0])
    skip = (packed[:, 0] == 1).astype(np.uint8)
    for s in (None, skip):
        for got, expected in zip(native.repeated(key, s), twin.repeated(key, s), strict=True):
            np.testing.assert_array_equal(got, expected)


@given(worlds(), st.sampled_from([0.3, 0.8, 1.0]), st.integers(0, WIDTH), st.sampled_from([3, 10_000]))
@settings(max_examples=150, deadline=None)
def test_band_pairs_are_their_twins(world, threshold, min_matches, most):
    keys, packed, values, offsets = world
    keys = np.ascontiguousarray(keys.T)
    weight = np.arange(1, keys.shape[1] + 1)
    for band in range(BANDS):
        options = {"threshold": threshold, "min_matches": min_matches, "most": most}
        got = native.band_pairs(keys, band, None, packed, values, offsets, weight, **options)
        expected = twin.band_pairs(keys, band, None, packed, values, offsets, weight, **options)
        assert got[3] == expected[3]
        for g, e in zip(got[:3], expected[:3], strict=True):
            np.testing.assert_array_equal(g, e)


@given(st.lists(st.lists(st.binary(max_size=9), min_size=1, max_size=4), min_size=1, max_size=4), st.data())
def test_gather_is_its_twin(texts, data):
    batches = []
    for batch in texts:
        before = b"before"  # offsets need not begin at 0
        offsets = np.cumsum([len(before), *map(len, batch)]).astype(np.int64)
        batches.append((np.frombuffer(before + b"".join(batch), np.uint8), offsets))
    places = [(b, r) for b, batch in enumerate(texts) for r in range(len(batch))]
    chosen = data.draw(st.lists(st.sampled_from(places), max_size=12))
    which, rows = (np.array([c[k] for c in chosen], np.int64) for k in (0, 1))
    got, expected = native.gather(batches, which, rows), twin.gather(batches, which, rows)
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])
    with pytest.raises(ValueError, match="no such"):
        native.gather(batches, np.array([0]), np.array([len(texts[0])]))


@given(worlds())
def test_jaccard_is_its_twin(world):
    _, _, values, offsets = world
    n = len(offsets) - 1
    a, b = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(n)))
    np.testing.assert_array_equal(native.jaccard(a, b, values, offsets), twin.jaccard(a, b, values, offsets))


def test_jaccard_of_an_empty_set_is_zero():
    offsets = np.array([0, 0, 0, 1])
    a, b = np.array([0, 0, 2]), np.array([1, 2, 2])
    assert native.jaccard(a, b, np.array([7], np.uint64), offsets).tolist() == [0.0, 0.0, 1.0]


@given(st.integers(0, 5), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32))
def test_band_keys_are_their_twin(n, bands, rows, seed):
    signatures = np.random.default_rng(seed).integers(0, 2**32, (n, bands * rows + 1), dtype=np.uint32)
    np.testing.assert_array_equal(native.band_keys(signatures, bands, rows), twin.band_keys(signatures, bands, rows))


def test_mix_is_its_twin_and_does_not_change():
    values = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    np.testing.assert_array_equal(native.mix64(values), twin.mix64(values))
    assert native.mix64(values).tolist() == [0, 6238072747940578789, 2720858781877447050, 13029008266876403067]


@pytest.mark.parametrize(
    "call",
    [
        lambda: native.band_keys(np.zeros((1, 4), np.uint32), 2, 3),
        lambda: native.jaccard(np.array([0]), np.array([0]), np.zeros(0, np.uint64), np.array([0, 1])),
        lambda: native.mix64(np.array([0.0])),
    ],
)
def test_wrong_arrays_are_refused(call):
    with pytest.raises((ValueError, TypeError)):
        call()


@given(worlds(), st.sampled_from([0.3, 0.8, 1.0]), st.integers(0, WIDTH), st.sampled_from([1, 60, 1 << 19]), st.data())
@settings(max_examples=150, deadline=None)
def test_settle_texts_is_settle_of_their_sets(world, threshold, min_matches, chunk, data):
    keys, packed, _, _ = world
    n = len(keys)
    words = st.lists(st.sampled_from(["one", "two", "three", "four"]), max_size=8).map(" ".join)
    batches = []
    for _ in range(data.draw(st.integers(1, 3))):
        texts = [t.encode() for t in data.draw(st.lists(words, min_size=1, max_size=6))]
        offsets = np.concatenate(([0], np.cumsum([len(t) for t in texts]))).astype(np.int64)
        batches.append((np.frombuffer(b"".join(texts), np.uint8), offsets))
    which = np.array([data.draw(st.integers(0, len(batches) - 1)) for _ in range(n)], np.int64)
    rows = np.array([data.draw(st.integers(0, len(batches[w][1]) - 2)) for w in which], np.int64)
    cuts = sorted(data.draw(st.sets(st.integers(1, n), max_size=4)) | {n})
    groups = np.array([0, *cuts], np.int64)
    options = {"threshold": threshold, "min_matches": min_matches, "cap": 3}
    sets = kernels.shingle_sets(*native.gather(batches, which, rows), shingle=2)
    expected = native.settle(groups, keys, packed, *sets, **options)
    got = native.settle_texts(batches, which, rows, groups, keys, packed, shingle=2, unit=0, **options, chunk=chunk)
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])
    assert got[2] == expected[2]


def test_settle_texts_refuses_what_does_not_fit():
    text = (np.frombuffer(b"ab", np.uint8), np.array([0, 1, 2], np.int64))
    one = np.zeros(1, np.int64)
    good = [[text], one, one, np.array([0, 1], np.int64), np.zeros((1, 2), np.uint64), np.zeros((1, 4), np.uint8)]
    how = {"shingle": 5, "unit": 0, "threshold": 0.8, "min_matches": 1, "cap": 9}
    native.settle_texts(*good, **how)
    two = np.zeros(2, np.int64)
    for place, bad in [(1, one + 1), (1, one - 1), (2, one + 2), (2, two), (3, one), (5, good[5][:0])]:
        with pytest.raises(ValueError):
            native.settle_texts(*good[:place], bad, *good[place + 1 :], **how)
    for name, bad in [("shingle", 0), ("unit", 2), ("threshold", 0.0), ("threshold", 1.1), ("cap", 0)]:
        with pytest.raises(ValueError):
            native.settle_texts(*good, **{**how, name: bad})
