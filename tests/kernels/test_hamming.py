"""Search and settling by Hamming distance against the plain twin, and completeness against the scan."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dejalu import kernels
from dejalu.kernels.reference import hamming as twin

threads = st.sampled_from([1, 2, 3])


def flip_some(prints, share, rng):
    """Flip one random bit in a share of the fingerprints (n, words)."""
    n, words = prints.shape
    flip = (rng.random(n) < share).astype(np.uint64)
    prints[np.arange(n), rng.integers(0, words, n)] ^= flip << rng.integers(0, 64, n).astype(np.uint64)


@st.composite
def worlds(draw, most=80):
    """Fingerprints in clusters of all widths: copies, near copies, some that agree in whole blocks, some at random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    words, n = draw(st.sampled_from([1, 2])), draw(st.integers(0, most))
    centres = rng.integers(0, 2**64, (draw(st.integers(1, 4)), words), np.uint64)
    prints = centres[rng.integers(0, len(centres), n)]
    for _ in range(draw(st.sampled_from([0, 1, 3, 6]))):
        flip_some(prints, 0.6, rng)
    return prints if words == 2 else prints[:, 0].copy()


def plain(prints):
    return [tuple(p) for p in prints.tolist()] if prints.ndim == 2 else [(p,) for p in prints.tolist()]


def plans(prints, k, only=None):
    """A plan of each kind, whatever `hamming_plan` would choose."""
    words = 1 if prints.ndim == 1 else 2
    yield None
    yield kernels.HammingPlan(np.zeros((1, words), np.uint64), 0)
    for blocks in (k + 1, k + 2, k + 4):
        for bits in (1, 4, 9):
            yield kernels.HammingPlan(kernels.hamming._masks(64 * words, blocks, k), bits)


@given(worlds(), st.integers(0, 9), threads, st.booleans())
@settings(max_examples=80, deadline=None)
def test_pairs_are_their_twins(prints, k, threads, apart):
    only = np.arange(len(prints), dtype=np.uint64) % np.uint64(3) if apart else None
    expected = twin.pairs(plain(prints), k, None if only is None else only.tolist())
    for plan in plans(prints, k) if k < 4 else (None,):
        *columns, complete = kernels.hamming_pairs(prints, k, only=only, most=10**6, threads=threads, plan=plan)
        assert complete
        assert [c.dtype for c in columns] == [np.int64, np.int64, np.int32]
        assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected


@given(worlds(), worlds(), st.integers(0, 9), threads)
@settings(max_examples=80, deadline=None)
def test_queries_are_their_twins(prints, others, k, threads):
    if prints.ndim != others.ndim:
        others = prints[::-1].copy()
    queries = np.concatenate((prints[::2], others))
    expected = twin.query(plain(prints), plain(queries), k)
    for given_plan in plans(prints, k) if k < 4 else (None,):
        plan = kernels.hamming_plan(prints, k, kept=True) if given_plan is None else given_plan
        tables = kernels.hamming_tables(prints, plan, threads=threads)
        *columns, complete = kernels.hamming_query(tables, plan, prints, queries, k, most=10**6, threads=threads)
        assert complete
        assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected


@given(
    worlds(150),
    st.integers(0, 10),
    threads,
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0.3, 0.8, 1.0]),
    st.integers(0, 2**32),
)
@settings(max_examples=150, deadline=None)
def test_settling_is_its_twin(prints, k, threads, apart, some, threshold, seed):
    rng = np.random.default_rng(seed)
    n = len(prints)
    only = rng.integers(0, 2, n, np.uint64) if apart else None
    skip = rng.random(n) < 0.2 if some else np.zeros(n, np.bool_)
    listed = [np.unique(rng.integers(0, 8, rng.integers(0, 9), np.uint64)) for _ in range(n)]
    sets = None
    if threshold is not None:
        sets = np.concatenate([np.zeros(0, np.uint64), *listed]), np.cumsum([0, *map(len, listed)], dtype=np.int64)
    plain_only = None if only is None else only.tolist()
    plain_sets = None if sets is None else [set(s.tolist()) for s in listed]
    expected = twin.settle(plain(prints), k, plain_only, skip.tolist(), plain_sets, threshold or 0.0)
    found = kernels.hamming_settle(
        prints, k, only=only, skip=skip if some else None, sets=sets, threshold=threshold or 0.0, threads=threads
    )
    assert [f.dtype for f in found] == [np.int64, np.int32, np.float64]
    assert list(zip(*(f.tolist() for f in found), strict=True)) == expected
    busy = kernels.hamming_busy(prints, k, only=only, skip=skip if some else None, threads=threads)
    assert busy.dtype == np.bool_
    assert busy.tolist() == twin.busy(plain(prints), k, plain_only, skip.tolist())


def clusters(n, words, rng):
    """Random fingerprints, and clusters whose members are 0 to some 12 bits from their centre."""
    prints = rng.integers(0, 2**64, (n, words), np.uint64)
    some = prints[rng.integers(0, n // 50, n // 2)]
    for _ in range(12):
        flip_some(some, 0.4, rng)
    prints[n // 2 :] = some
    return prints[rng.permutation(n)]


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("k", range(9))
def test_tables_find_what_the_scan_finds(words, k):
    rng = np.random.default_rng([words, k])
    prints = clusters(20_000, words, rng)
    scan = kernels.HammingPlan(np.zeros((1, words), np.uint64), 0)
    expected = kernels.hamming_pairs(prints, k, most=10**7, threads=2, plan=scan)
    plan = kernels.hamming_plan(prints, k)
    assert not plan.scans
    found = kernels.hamming_pairs(prints, k, most=10**7, threads=2, plan=plan)
    for x, y in zip(found, expected, strict=True):
        assert np.array_equal(x, y)
    assert k < 3 or len(found[0]) > 50
    kept = kernels.hamming_plan(prints, k, kept=True)
    tables = kernels.hamming_tables(prints, kept, threads=2)
    a, b, *_ = kernels.hamming_query(tables, kept, prints, prints, k, most=10**7, threads=2)
    later = b > a
    assert np.array_equal(a[later], expected[0]) and np.array_equal(b[later], expected[1])
    assert len(a) == 2 * len(expected[0]) + len(prints)


@pytest.mark.parametrize("k", [0, 3, 6, 12])
def test_the_number_of_threads_changes_nothing(k):
    rng = np.random.default_rng(k)
    prints = clusters(70_000, 1, rng)[:, 0].copy()
    only = rng.integers(0, 3, len(prints), np.uint64)
    results = [kernels.hamming_settle(prints, k, only=only, threads=t) for t in (1, 2, 5)]
    for other in results[1:]:
        assert all(np.array_equal(x, y) for x, y in zip(results[0], other, strict=True))
    assert (results[0][0] >= 0).any()


def test_a_crowd_costs_one_comparison_each():
    """200,000 fingerprints within 2 bits of one: all join the first, without listing 20 billion pairs."""
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 64, 200_000).astype(np.uint64)
    prints = np.full(200_000, 0x0123456789ABCDEF, np.uint64) ^ (np.uint64(1) << bits)
    prints[0] = 0x0123456789ABCDEF
    twins, distance, _ = kernels.hamming_settle(prints, 3, threads=2)
    assert (twins[1:] == 0).all() and (distance[1:] == 1).all()
    *_, complete = kernels.hamming_pairs(prints, 3, most=1_000_000, threads=2)
    assert not complete


def test_what_is_apart_costs_nothing():
    """Equal fingerprints that must not meet lie in buckets of their own."""
    n = 300_000
    prints, only = np.zeros(n, np.uint64), np.random.default_rng(1).permutation(n).astype(np.uint64)
    only[-1] = only[0]
    a, b, distance, complete = kernels.hamming_pairs(prints, 3, only=only, most=10, threads=2)
    assert (a.tolist(), b.tolist(), distance.tolist(), complete) == ([0], [n - 1], [0], True)
    assert np.flatnonzero(kernels.hamming_settle(prints, 3, only=only, threads=2)[0] >= 0).tolist() == [n - 1]


def test_bug_062_equal_fingerprints_are_a_pair():
    prints = np.array([193817277094257410, 193817277094257410, 10105197385570471215], np.uint64)
    a, b, distance, _ = kernels.hamming_pairs(prints, 3, most=10, threads=1)
    assert (a.tolist(), b.tolist(), distance.tolist()) == ([0], [1], [0])
    assert kernels.hamming_pairs(prints, 31, most=10, threads=1)[2].tolist() == [0, 31, 31]


@pytest.mark.parametrize(("k", "count"), [(3, 43_745), (2, 2_081), (1, 65), (0, 1)])
def test_bug_063_every_fingerprint_within_the_distance(k, count):
    base = 0x9E3779B97F4A7C15
    flips = [c for m in (3, 2, 1) for c in itertools.combinations(range(64), m)]
    prints = np.array([base] + [base ^ sum(1 << b for b in c) for c in flips], np.uint64)
    plan = kernels.hamming_plan(prints, k, kept=True)
    tables = kernels.hamming_tables(prints, plan, threads=2)
    a, b, distance, _ = kernels.hamming_query(tables, plan, prints, prints[:1], k, most=10**6, threads=2)
    assert len(a) == count and not a.any()
    bits = [0] + [len(c) for c in flips]
    assert b.tolist() == [i for i, d in enumerate(bits) if d <= k]
    assert distance.tolist() == [d for d in bits if d <= k]


def test_arguments():
    prints, masks = np.zeros(70, np.uint64), np.zeros((1, 1), np.uint64)
    for wrong in (prints.astype(np.int64), prints.reshape(-1, 7), prints.reshape(7, 5, 2), np.zeros((4, 0), np.uint64)):
        with pytest.raises((ValueError, TypeError)):
            kernels.hamming_pairs(wrong, 3, most=1, threads=1)
    for k, threads in ((-1, 1), (129, 1), (3, 0)):
        with pytest.raises(ValueError, match=r"k|threads"):
            kernels.hamming_pairs(prints, k, most=1, threads=threads)
    wide = np.zeros((1, 2), np.uint64)
    for plan in (kernels.HammingPlan(masks, 40), kernels.HammingPlan(masks[:0], 0), kernels.HammingPlan(wide, 0)):
        with pytest.raises(ValueError, match=r"masks|bits"):
            kernels.hamming_pairs(prints, 3, most=1, threads=1, plan=plan)
    with pytest.raises(ValueError, match="only"):
        kernels.hamming_settle(prints, 3, threads=1, only=np.zeros(3, np.uint64))
    with pytest.raises(ValueError, match="skip"):
        kernels.hamming_settle(prints, 3, threads=1, skip=np.zeros(3, np.uint8))
    for offsets, threshold in ((np.arange(5), 0.5), (np.arange(71) + 5, 0.5), (np.arange(71), 0.0)):
        with pytest.raises(ValueError, match=r"offsets|threshold"):
            kernels.hamming_settle(prints, 3, threads=1, sets=(prints, offsets), threshold=threshold)


def test_damaged_tables_are_an_error():
    prints = np.arange(1000, dtype=np.uint64)
    plan = kernels.hamming_plan(prints, 2, kept=True)
    starts, held, places = kernels.hamming_tables(prints, plan, threads=1)
    bad_starts, bad_places = starts.copy(), places.copy()
    bad_starts[0, 1] = 2**31
    bad_places[:] = 5000
    shorter = starts[:, 1:].copy(), held[:, 1:].copy()
    for tables in (
        (bad_starts, held, places),
        (starts, held, bad_places),
        (shorter[0], held, places),
        (starts, shorter[1], places),
    ):
        with pytest.raises(ValueError, match=r"tables|fingerprints"):
            kernels.hamming_query(tables, plan, prints, prints, 2, most=10**6, threads=1)
    with pytest.raises(ValueError, match="fingerprints"):
        kernels.hamming_query((starts, held, places), plan, prints[1:].copy(), prints, 2, most=10**6, threads=1)
