"""The audit against brute force: the draw, the join, the estimate and its interval."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dejalu.data import Pairs, doc_ids
from dejalu.evaluate.truth import all_pairs
from dejalu.verify import audit

NONE = np.zeros(0, np.int64)


def ragged(sets):
    """Sets of integers as the kernels want them: sorted values in one run, and offsets."""
    values = np.array([v for s in sets for v in sorted(s)], np.uint64)
    return values, np.cumsum([0, *map(len, sets)]).astype(np.int64)


def sets(n, seed=0, universe=60, size=12):
    r = np.random.default_rng(seed)
    return [frozenset(map(int, r.integers(0, universe, r.integers(0, size)))) for _ in range(n)]


def brute(docs, threshold, groups=None):
    """True pairs as {(i, j): similarity}, i < j, by the definition."""
    found = {}
    for i, a in enumerate(docs):
        for j in range(i + 1, len(docs)):
            both = len(a & docs[j])
            if both and both / len(a | docs[j]) >= threshold and (groups is None or groups[i] == groups[j]):
                found[i, j] = both / len(a | docs[j])
    return found


def run(docs, drawn, removed, threshold, *, groups=None, batch=7, pool=None):
    """The whole audit over documents 0..n-1 in batches."""
    ids = np.arange(len(docs), dtype=np.int64)
    codes = None if groups is None else np.asarray(groups, np.int64)
    picked = audit.prepare(
        drawn,
        *ragged([docs[i] for i in drawn]),
        removed=removed,
        groups=None if codes is None else codes[drawn],
    )

    def task(first):
        part = slice(first, min(first + batch, len(docs)))
        return audit.join(
            picked,
            ids[part],
            *ragged(docs[part]),
            threshold=threshold,
            removed=removed,
            groups=None if codes is None else codes[part],
        )

    starts = range(0, len(docs), batch)
    tallies = list(pool.map(task, starts)) if pool else [task(first) for first in starts]
    tally = audit.merge(picked, tallies)
    return tally, audit.recall(tally, documents=sum(map(bool, docs)))


def test_draw_depends_on_the_ids_alone():
    ids = doc_ids(3, np.arange(1000))
    tokens = np.where(np.arange(1000) % 5 == 0, 0, 9)
    drawn = audit.sample(ids, tokens, 50)
    assert len(drawn) == 50
    assert (np.diff(drawn) > 0).all()
    assert (tokens[drawn - ids[0]] > 0).all()
    shuffled = np.random.default_rng(0).permutation(1000)
    assert (audit.sample(ids[shuffled], tokens[shuffled], 50) == drawn).all()
    assert set(audit.sample(ids, tokens, 20)) <= set(drawn)
    assert len(audit.sample(ids, tokens, 10_000)) == 800
    with pytest.raises(ValueError, match="at least 1"):
        audit.sample(ids, tokens, 0)


def test_draw_is_spread_over_parts_and_rows():
    ids = np.concatenate([doc_ids(part, np.arange(10_000)) for part in range(8)])
    drawn = audit.sample(ids, np.ones(len(ids), np.int64), 4000)
    per_part = np.bincount(drawn >> 40, minlength=8)
    assert abs(per_part - 500).max() < 100


@given(st.integers(0, 2**32), st.sampled_from([0.2, 0.5, 0.8, 1.0]), st.integers(1, 40), st.booleans())
def test_join_equals_brute_force(seed, threshold, batch, grouped):
    docs = sets(30, seed)
    groups = [i % 2 for i in range(30)] if grouped else None
    truth = brute(docs, threshold, groups)
    drawn = np.arange(0, 30, 3, dtype=np.int64)
    removed = np.arange(0, 30, 4, dtype=np.int64)
    tally, result = run(docs, drawn, removed, threshold, groups=groups, batch=batch)
    seen = {d: [p for p in truth if d in p] for d in drawn.tolist()}
    gone = set(removed.tolist())
    assert tally.true.tolist() == [len(seen[d]) for d in drawn.tolist()]
    assert tally.missed.tolist() == [sum(not gone & set(p) for p in seen[d]) for d in drawn.tolist()]
    assert result.pairs == tally.true.sum()
    a, b, s = result.examples.a, result.examples.b, result.examples.similarity
    for i in range(len(a)):
        assert s[i] == truth[min(a[i], b[i]), max(a[i], b[i])]
    assert (np.diff(s) <= 0).all()


def test_census_gives_the_recall_itself_without_an_interval():
    docs = [frozenset(range(10))] * 3 + [frozenset(range(20, 30))] * 2 + [frozenset()]
    _, result = run(docs, np.arange(5), np.array([1, 2]), 0.8)
    # Three pairs of the first group are settled, the pair (3, 4) is not.
    assert (result.pairs, result.missed) == (8, 2)
    assert result.recall == result.low == result.high == 0.75
    assert result.examples.a.tolist() == [3, 4]


def test_same_answer_for_any_batches_and_threads():
    docs = sets(400, 5, universe=30, size=6)
    drawn = audit.sample(np.arange(400), np.array([len(d) for d in docs]), 60)
    removed = np.arange(0, 400, 3)
    with ThreadPoolExecutor(4) as pool:
        results = [
            json.dumps(run(docs, drawn, removed, 0.5, batch=batch, pool=p)[1].as_json(["a"]))
            for batch, p in [(400, None), (1, None), (13, None), (7, pool)]
        ]
    assert len(set(results)) == 1


def test_flood_of_equal_documents_stays_small(monkeypatch):
    monkeypatch.setattr(audit, "_CELLS", 100)
    docs = [frozenset(range(5))] * 500
    tally, result = run(docs, np.arange(50), NONE, 0.9, batch=500)
    assert tally.true.tolist() == [499] * 50
    assert len(result.examples) == audit.EXAMPLES


def test_interval_counts_dependent_pairs_once():
    # One drawn page brings 1,000 pairs, nine others one each: that is hardly more than one observation.
    tally = audit.Tally(np.array([1000] + [1] * 9), np.zeros(10, np.int64), Pairs(NONE, NONE, np.zeros(0)))
    result = audit.recall(tally, documents=10**6)
    assert result.recall == 1.0
    assert 1.0 <= result.effective < 1.1
    assert result.low < 0.1
    # Per document all ten count alike: ten out of ten.
    assert (result.with_pairs, result.per_document, result.per_document_high) == (10, 1.0, 1.0)
    assert result.per_document_low == pytest.approx(0.025 ** (1 / 10), abs=1e-9)
    even = audit.recall(audit.Tally(np.full(1000, 5), np.zeros(1000, np.int64), tally.missed_pairs), documents=10**6)
    assert even.effective == 1000
    assert 0.996 < even.low < 1.0


@pytest.mark.parametrize(("miss", "largest"), [(0.02, 5), (0.02, 200), (0.3, 30), (0.001, 50)])
def test_interval_covers_the_true_recall(miss, largest):
    """At least 95% of the intervals hold the true value, for groups of copies of which some are missed."""
    r = np.random.default_rng(4)
    pairs, missed = [], []
    for size in np.minimum(largest, 1 + r.pareto(1.1, 4000).astype(np.int64)):
        kept = (np.arange(size) == 0) | (r.random(size) < miss)
        pairs += [size - 1] * size
        missed += np.where(kept, kept.sum() - 1, 0).tolist()
    pairs, missed = np.array(pairs), np.array(missed)
    truth = 1 - missed.sum() / pairs.sum()
    nothing = Pairs(NONE, NONE, np.zeros(0))
    mean = (1 - missed[pairs > 0] / pairs[pairs > 0]).mean()
    inside = inside_mean = 0
    for _ in range(300):
        pick = r.choice(len(pairs), 300, replace=False)
        result = audit.recall(audit.Tally(pairs[pick], missed[pick], nothing), documents=len(pairs))
        inside += result.low <= truth <= result.high
        inside_mean += result.per_document_low <= mean <= result.per_document_high
    assert inside >= 0.95 * 300
    assert inside_mean >= 0.95 * 300


def test_no_true_pair_says_nothing():
    _, result = run([frozenset({1}), frozenset({2}), frozenset({3})], np.array([0]), NONE, 0.8)
    assert result.recall is None
    assert (result.low, result.high) == (0.0, 1.0)
    assert "none of 1 sampled documents has a true pair" in result.sentence()


def test_result_names_files_and_rows():
    ids = np.concatenate([doc_ids(0, np.array([4])), doc_ids(1, np.array([7]))])
    one = frozenset(range(9))
    picked = audit.prepare(ids[:1], *ragged([one]), removed=NONE)
    tally = audit.join(picked, ids, *ragged([one, one | {99}]), threshold=0.8, removed=NONE)
    result = audit.recall(tally, documents=2)
    assert result.as_json(["a.jsonl", "b.jsonl"])["examples"] == [
        {"file": "a.jsonl", "row": 4, "other_file": "b.jsonl", "other_row": 7, "similarity": 0.9}
    ]
    assert "1 true pairs; 1 of them" in result.sentence()


@given(st.integers(0, 2**32), st.sampled_from([0.3, 0.6, 1.0]), st.integers(1, 12), st.booleans())
def test_all_pairs_equals_brute_force(seed, threshold, block, grouped):
    docs = sets(25, seed)
    groups = [i % 3 for i in range(25)] if grouped else None
    ids = np.arange(25, dtype=np.int64) * 3
    found = all_pairs(
        ids,
        *ragged(docs),
        threshold=threshold,
        block=block,
        groups=None if groups is None else np.array(groups),
    )
    expect = brute(docs, threshold, groups)
    assert list(zip((found.a // 3).tolist(), (found.b // 3).tolist(), strict=True)) == sorted(expect)
    assert found.similarity.tolist() == [expect[p] for p in sorted(expect)]


def test_all_pairs_of_nothing():
    assert len(all_pairs(NONE, np.zeros(0, np.uint64), np.zeros(1, np.int64), threshold=0.5)) == 0
