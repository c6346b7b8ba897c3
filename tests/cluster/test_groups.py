"""Work groups and verdicts."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dejalu.cluster import Copies, Near, verdicts, work_groups
from dejalu.data import MEASURES, METHODS
from dejalu.kernels.reference.groups import components


def labels(n, a, b):
    return components(n, np.asarray(a, np.int64), np.asarray(b, np.int64)).astype(np.uint32)


def listed(groups):
    return [groups.place[a:b].tolist() for a, b in zip(groups.border[:-1], groups.border[1:], strict=True)]


@pytest.mark.parametrize("partitions", [1, 3, 8])
def test_long_paths_converge_whatever_the_order_of_edges(partitions):
    """BUG-051: one path of 5,000 shuffled nodes and 97 nodes of a second component."""
    r = random.Random(2)
    n = 5000
    perm = list(range(n))
    r.shuffle(perm)
    edges = [(perm[i], perm[i + 1]) for i in range(n - 1)]
    edges += [(10000 + i, 10000 + (i * 7 + 1) % 97) for i in range(97)]
    for seed in range(3):
        random.Random(seed).shuffle(edges)
        turned = [(b, a) if seed == 1 else (a, b) for a, b in edges] * (seed + 1)
        a, b = (np.array(x, np.int64) for x in zip(*turned, strict=True))
        groups = work_groups(labels(10100, a, b), None, partitions)
        big = sorted(sorted(g) for g in listed(groups) if len(g) > 1)
        assert big == [list(range(n)), sorted(set(range(10000, 10097)) - {10016})]


def test_groups_hold_keep_order_and_lie_in_one_partition():
    a, b = np.array([0, 2, 5]), np.array([4, 3, 6])
    rank = np.array([6, 5, 4, 3, 2, 1, 0])
    for partitions in (1, 4):
        groups = work_groups(labels(7, a, b), rank, partitions)
        assert sorted(listed(groups)) == [[3, 2], [4, 0], [6, 5]]
        assert groups.partition[0] == 0
        assert groups.partition[-1] == 3
        assert len(groups.partition) == partitions + 1


def test_no_edges_no_groups():
    groups = work_groups(labels(3, [], []), np.arange(3), 2)
    assert listed(groups) == []
    assert groups.partition.tolist() == [0, 0, 0]


def test_copies_follow_their_representative():
    # 0 kept; 1 a copy of 0; 2 joined 0 at .9; 3 a copy of 2; 4 alone
    copies = Copies(np.array([1, 3]), np.array([0, 2]))
    near = Near.of(np.array([2]), np.array([0]), np.array([0.9]), "jaccard", "minhash")
    found = verdicts(copies, near, "minhash")
    assert found.id.tolist() == [1, 2, 3]
    assert found.twin.tolist() == [0, 0, 0]
    assert found.similarity.tolist() == [1.0, 0.9, 0.9]
    assert [MEASURES[m] for m in found.measure] == ["equal", "jaccard", "jaccard"]
    assert [METHODS[m] for m in found.method] == ["exact", "minhash", "minhash"]


def test_bytes_runs_say_bytes():
    found = verdicts(Copies(np.array([1]), np.array([0])), Near.none(), "bytes")
    assert METHODS[found.method[0]] == "bytes"


def test_distances_are_joined_and_follow():
    one = Near.of(np.array([2]), np.array([0]), np.array([0.9]), "simhash", "simhash", distance=np.array([3], np.int32))
    two = Near.of(np.array([5]), np.array([4]), np.array([0.8]), "jaccard", "minhash", skipped=7)
    both = Near.joined([two, one])
    assert both.skipped == 7
    found = verdicts(Copies(np.array([1, 3]), np.array([0, 2])), both, "simhash")
    assert found.id.tolist() == [1, 2, 3, 5]
    assert found.distance is not None
    assert found.distance.tolist() == [0, 3, 3, -1]
    assert [MEASURES[m] for m in found.measure] == ["equal", "simhash", "simhash", "jaccard"]
    assert Near.joined([]).distance is None
