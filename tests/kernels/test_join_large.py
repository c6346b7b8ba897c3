"""The join on worlds large enough for blocks, windows, stale lists and partitions, against overlaps of all pairs."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from dejalu import kernels

MEASURES = ("jaccard", "containment", "cosine", "weighted")


def world(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, offsets, weights: families of near copies, texts of one template, large and small sets, strangers."""
    rng = np.random.default_rng(seed)
    vocabulary = rng.integers(0, 2**64, 6_000, np.uint64)
    weight = rng.integers(0, 5_000, 6_000, np.uint64, endpoint=True)
    template = rng.integers(0, 6_000, 60)
    families = [rng.integers(0, 6_000, rng.integers(1, 200)) for _ in range(n // 12)]
    sets = []
    for _ in range(n):
        kind = rng.integers(4)
        if kind == 0:
            own = np.concatenate((template, rng.integers(0, 6_000, rng.integers(0, 16))))
        elif kind == 1:
            own = rng.integers(0, 300, rng.integers(0, 40))
        else:
            own = families[rng.integers(len(families))]
            own = own[rng.random(len(own)) < rng.choice([0.3, 0.95, 1.0])]
            own = np.concatenate((own, rng.integers(0, 6_000, rng.integers(0, 4))))
        sets.append(rng.permutation(np.unique(own)))
    places = np.concatenate(sets)
    offsets = np.cumsum([0, *(len(s) for s in sets)]).astype(np.int64)
    own_weight = np.where(rng.random(len(places)) < 0.3, rng.integers(1, 9_000, len(places)), weight[places])
    return vocabulary[places], offsets, own_weight.astype(np.uint32)


def matrix(values: np.ndarray, offsets: np.ndarray, weights: np.ndarray, measure: str) -> np.ndarray:
    """Similarity [a, b]: of a in b for containment."""
    n = len(offsets) - 1
    _, place = np.unique(values, return_inverse=True)
    dense = np.zeros((n, place.max() + 1))
    dense[np.repeat(np.arange(n), np.diff(offsets)), place] = 1 if measure in ("jaccard", "containment") else weights
    smaller = measure == "weighted"
    both = np.stack([np.minimum(dense, row).sum(1) for row in dense]) if smaller else dense @ dense.T
    with np.errstate(invalid="ignore", divide="ignore"):
        own = np.diag(both)
        if measure == "containment":
            s = both / own[:, None]
        elif measure == "cosine":
            s = np.minimum(1.0, both / np.sqrt(own[:, None] * own[None, :]))
        else:
            s = both / (own[:, None] + own[None, :] - both)
    return np.where(both > 0, s, 0.0)


def settled(similarity: np.ndarray, threshold: float) -> tuple[list[int], list[float]]:
    """[later, earlier] similarities → twins."""
    twin, shares, kept = [], [], []
    for d, row in enumerate(similarity):
        near = [k for k in kept if row[k] >= threshold]
        twin.append(near[0] if near else -1)
        shares.append(float(row[near[0]]) if near else 0.0)
        if not near:
            kept.append(d)
    return twin, shares


@pytest.mark.parametrize("measure", MEASURES)
def test_every_way_agrees_with_counted_overlaps(measure):
    values, offsets, weights = world(700, 3)
    full = matrix(values, offsets, weights, measure)
    for threshold in (0.5, 0.8):
        true = full >= threshold
        np.fill_diagonal(true, False)
        if measure != "containment":
            true = np.triu(true)
        for threads in (1, 3):
            ranked = kernels.rank_sets(values, offsets, weights=weights, threads=threads)
            options = {"measure": measure, "threshold": threshold, "threads": threads}
            a, b, similarity, complete = kernels.join_pairs(ranked, most=10**7, **options)
            assert complete
            np.testing.assert_array_equal(np.stack((a, b)), np.nonzero(true))
            np.testing.assert_array_equal(similarity, full[a, b])
            twin, shares = kernels.join_settle(ranked, **options)
            assert (twin.tolist(), shares.tolist()) == settled(full, threshold)
            label = kernels.join_components(ranked, **options)
            expected = np.arange(len(full))
            while True:  # spread the smallest label
                spread = expected.copy()
                np.minimum.at(spread, a, expected[b])
                np.minimum.at(spread, b, expected[a])
                if (spread == expected).all():
                    break
                expected = spread
            np.testing.assert_array_equal(label, expected)


def test_sets_beyond_sixteen_bits():
    """Places and sizes that a mark cannot hold are compared all the same."""
    rng = np.random.default_rng(8)
    pool = rng.integers(0, 2**64, 90_000, np.uint64)
    sets = [pool[:70_000], pool[:65_535], pool[:65_534], pool[5_000:80_000], pool[:66_000], pool[60_000:], pool[:300]]
    values, offsets = np.concatenate(sets), np.cumsum([0, *map(len, sets)]).astype(np.int64)
    ranked = kernels.rank_sets(values, offsets, threads=2)
    for measure in ("jaccard", "containment"):
        full = matrix(values, offsets, np.ones(len(values), np.uint32), measure)
        for threshold in (0.1, 0.8, 0.93, 1.0):
            true = full >= threshold
            np.fill_diagonal(true, False)
            true = true if measure == "containment" else np.triu(true)
            a, b, similarity, _ = kernels.join_pairs(ranked, measure=measure, threshold=threshold, most=99, threads=2)
            np.testing.assert_array_equal(np.stack((a, b)), np.nonzero(true))
            np.testing.assert_array_equal(similarity, full[a, b])


def test_ranks_of_many_values():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2**64, 150_000, np.uint64)[(rng.random(400_000) ** 3 * 150_000).astype(np.int64)]
    offsets = np.arange(0, len(values) + 1, 200)
    keep = np.concatenate([np.sort(np.unique(values[a : a + 200], return_index=True)[1]) + a for a in offsets[:-1]])
    sizes = np.diff(np.searchsorted(keep, offsets))
    values, offsets = values[keep], np.cumsum([0, *sizes]).astype(np.int64)
    distinct, count = np.unique(values, return_counts=True)
    order = np.lexsort((distinct, count))
    order = order[count[order] > 1]
    for threads in (1, 2, 5):
        ranked = kernels.rank_sets(values, offsets, threads=threads)
        np.testing.assert_array_equal(ranked.hashes, distinct[order])
        np.testing.assert_array_equal(ranked.frequency, count[order])
        rank = dict(zip(distinct[order].tolist(), range(len(order)), strict=True))
        for d in range(0, len(sizes), 97):
            here = [rank[v] for v in values[offsets[d] : offsets[d + 1]].tolist() if v in rank]
            assert ranked.ranks[ranked.offsets[d] : ranked.offsets[d + 1]].tolist() == sorted(here)


PROGRAM = """
import hashlib, sys
import numpy as np
sys.path.insert(0, {here!r})
from test_join_large import MEASURES, world
from dejalu import kernels
values, offsets, weights = world(1_500, 5)
h = hashlib.sha256()
ranked = kernels.rank_sets(values, offsets, weights=weights, threads=2)
for measure in MEASURES:
    for threshold in (0.3, 0.8):
        o = dict(measure=measure, threshold=threshold, threads=2)
        for array in (*kernels.join_settle(ranked, **o), *kernels.join_pairs(ranked, most=10**7, **o)[:3]):
            h.update(array.tobytes())
        h.update(kernels.join_components(ranked, **o).tobytes())
print(kernels.isa(), h.hexdigest())
"""


def test_all_instruction_sets_give_the_same_bits():
    found = {}
    for isa in kernels.available_isas():
        program = PROGRAM.format(here=os.path.dirname(os.path.abspath(__file__)))
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"DEJALU_ISA": isa},
            capture_output=True,
            text=True,
            check=True,
        )
        name, digest = done.stdout.split()
        assert name == isa
        found[isa] = digest
    assert len(set(found.values())) == 1
