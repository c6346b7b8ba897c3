"""The set-similarity join against its plain twin, on small random worlds where everything collides often."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dejalu import kernels
from dejalu.kernels.reference import join as twin

MEASURES = ("jaccard", "containment", "weighted", "cosine")
thresholds = st.sampled_from([0.05, 0.1, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1.0])
threads = st.sampled_from([1, 2, 3])


@st.composite
def worlds(draw, most=30):
    """Documents as {element: weight}: few different elements, some sets empty, copies and near copies."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    vocabulary = rng.integers(0, 2**64, draw(st.sampled_from([3, 12, 40, 200])), np.uint64)
    most_weight = draw(st.sampled_from([1, 3, 1000, 2**20]))
    weights = rng.integers(0, most_weight, len(vocabulary), endpoint=True)
    one_weight = dict(zip(vocabulary.tolist(), weights, strict=True))
    longest = draw(st.sampled_from([4, 14, 60]))
    documents: list[dict[int, int]] = []
    for _ in range(draw(st.integers(0, most))):
        base = rng.choice(vocabulary, rng.integers(0, longest))
        if documents and rng.random() < 0.5:
            base = np.array(list(documents[rng.integers(len(documents))]), np.uint64)
            base = np.concatenate((base[rng.random(len(base)) < 0.9], rng.choice(vocabulary, rng.integers(0, 3))))
        if rng.random() < 0.3:
            base = np.concatenate((base, rng.integers(0, 2**64, rng.integers(0, 4), np.uint64)))
        own = rng.random() < 0.5
        documents.append(
            {
                e: int(rng.integers(0, most_weight, endpoint=True) if own else one_weight.get(e, 1))
                for e in base.tolist()
            }
        )
    return documents


def columns(documents):
    values = np.array([e for d in documents for e in d], np.uint64)
    weights = np.array([w for d in documents for w in d.values()], np.uint32)
    return values, np.cumsum([0, *(len(d) for d in documents)]).astype(np.int64), weights


def ranked(documents, threads=1):
    values, offsets, weights = columns(documents)
    return kernels.rank_sets(values, offsets, weights=weights, threads=threads)


@given(worlds(), threads)
@settings(max_examples=150)
def test_ranks_are_their_twins(documents, threads):
    got = ranked(documents, threads)
    expected = twin.order(documents)
    assert got.hashes.tolist() == [e for e, _ in expected]
    assert got.frequency.tolist() == [n for _, n in expected]
    assert got.sizes.tolist() == [len(d) for d in documents]
    rows = [got.ranks[a:b].tolist() for a, b in zip(got.offsets, got.offsets[1:], strict=False)]
    assert rows == twin.rank_sets(documents)
    assert got.totals.tolist() == [sum(d.values()) for d in documents]
    assert got.squares.tolist() == [sum(w * w for w in d.values()) for d in documents]
    for d, document in enumerate(documents):
        here = slice(got.offsets[d], got.offsets[d + 1])
        assert got.weights[here].tolist() == [document[e] for e in got.hashes[got.ranks[here]].tolist()]


@given(worlds())
@settings(max_examples=50)
def test_pieces_are_ranked_as_the_whole(documents):
    whole = ranked(documents)
    cut = len(documents) // 3
    pieces = [columns(documents[:cut]), columns(documents[cut:])]
    counts = [np.unique(values, return_counts=True) for values, _, _ in pieces]
    hashes = np.concatenate([h for h, _ in counts])
    distinct, inverse = np.unique(hashes, return_inverse=True)
    number = np.bincount(inverse, np.concatenate([n for _, n in counts]), len(distinct)).astype(np.int64)
    order = kernels.rank_order(distinct, number, threads=2)
    np.testing.assert_array_equal(order[0], whole.hashes)
    np.testing.assert_array_equal(order[1], whole.frequency)
    parts = [kernels.rank_by(v, o, *order, weights=w, threads=2) for v, o, w in pieces]
    np.testing.assert_array_equal(np.concatenate([p.ranks for p in parts]), whole.ranks)
    np.testing.assert_array_equal(np.concatenate([p.weights for p in parts]), whole.weights)


@given(worlds(), st.sampled_from(MEASURES), thresholds, threads)
@settings(max_examples=600)
def test_settling_is_its_twin(documents, measure, threshold, threads):
    got = kernels.join_settle(ranked(documents), measure=measure, threshold=threshold, threads=threads)
    expected = twin.join_settle(documents, measure=measure, threshold=threshold)
    assert got[0].tolist() == expected[0]
    assert got[1].tolist() == expected[1]


@given(worlds(), st.sampled_from(MEASURES), thresholds, threads)
@settings(max_examples=400)
def test_pairs_are_their_twins(documents, measure, threshold, threads):
    sets = ranked(documents)
    expected = twin.join_pairs(documents, measure=measure, threshold=threshold)
    a, b, similarity, complete = kernels.join_pairs(
        sets, measure=measure, threshold=threshold, most=len(expected), threads=threads
    )
    assert complete
    assert list(zip(a.tolist(), b.tolist(), similarity.tolist(), strict=True)) == expected
    if expected:
        a, b, similarity, complete = kernels.join_pairs(
            sets, measure=measure, threshold=threshold, most=len(expected) - 1, threads=threads
        )
        assert not complete and len(a) == len(b) == len(similarity) == 0


@given(worlds(), st.sampled_from(MEASURES), thresholds, threads, st.booleans(), st.data())
@settings(max_examples=300)
def test_components_are_their_twins(documents, measure, threshold, threads, some, data):
    eligible = data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents))) if some else None
    got = kernels.join_components(
        ranked(documents),
        measure=measure,
        threshold=threshold,
        eligible=np.array(eligible, np.uint8) if some else None,
        threads=threads,
    )
    assert got.tolist() == twin.join_components(documents, measure=measure, threshold=threshold, eligible=eligible)


@given(worlds(), thresholds, threads, st.data())
@settings(max_examples=300)
def test_short_and_long_together_are_their_twin(documents, threshold, threads, data):
    n, bands, width = len(documents), 3, 8
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    short = rng.integers(0, 2, n).astype(np.uint8)
    spread = data.draw(st.sampled_from([1, 2, 5, 50]))
    keys = rng.integers(0, spread, (n, bands)).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    packed = rng.integers(0, 2, (n, width)).astype(np.uint8)
    long = [dict.fromkeys(rng.integers(0, 20, 0 if s else rng.integers(0, 12)).tolist(), 1) for s in short]
    values = np.array([e for d in long for e in sorted(d)], np.uint64)
    offsets = np.cumsum([0, *(len(d) for d in long)]).astype(np.int64)
    min_matches = data.draw(st.integers(0, width))
    got = kernels.settle_mixed(
        *(ranked(documents), short, keys, packed, values, offsets),
        threshold=threshold,
        min_matches=min_matches,
        threads=threads,
    )
    expected = twin.settle_mixed(documents, short, keys, packed, long, threshold=threshold, min_matches=min_matches)
    for g, e in zip(got, expected, strict=True):
        assert g.tolist() == e


@given(worlds(), st.data())
@settings(max_examples=100)
def test_taking_documents(documents, data):
    rows = data.draw(st.lists(st.integers(-1, len(documents) - 1), max_size=20))
    sets, got = ranked(documents), ranked(documents).take(np.array(rows, np.int64))
    for i, row in enumerate(rows):
        here, there = slice(*got.offsets[i : i + 2]), slice(*sets.offsets[row : row + 2]) if row >= 0 else slice(0, 0)
        assert got.ranks[here].tolist() == sets.ranks[there].tolist()
        assert got.weights[here].tolist() == sets.weights[there].tolist()
        assert got.sizes[i] == (sets.sizes[row] if row >= 0 else 0)
        assert got.totals[i] == (sets.totals[row] if row >= 0 else 0)
    with pytest.raises(ValueError, match="rows: no such document"):
        sets.take(np.array([len(documents)]))
