"""Work groups: connected components of the candidate edges, laid out for settling.

They only say what must be looked at together; they can change the cost of a run, never a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import I64
from ..kernels import components, mix64


@dataclass(frozen=True, slots=True)
class Groups:
    """Documents that need verification, sorted by (partition, group, keep order).

    place      (m,) int64 places of the documents
    border     (g + 1,) int64: group i is place[border[i]:border[i + 1]]
    partition  (p + 1,) int64: partition j holds the groups partition[j] … partition[j + 1] - 1
    """

    place: I64
    border: I64
    partition: I64


def work_groups(n: int, a: I64, b: I64, rank: I64, partitions: int) -> Groups:
    """Join the edges' ends to groups and deal the groups to partitions by a hash of their smallest place.

    Args:
        n: number of documents.
        a, b: (e,) int64 ends of the edges.
        rank: (n,) int64 keep order.
        partitions: at least 1.
    """
    label = components(n, a, b)
    touched = np.zeros(n, np.bool_)
    touched[a] = True
    touched[b] = True
    place = np.flatnonzero(touched)
    own = label[place]
    part = (mix64(own.astype(np.uint64)) % np.uint64(partitions)).astype(np.int64)
    order = np.lexsort((rank[place], own, part))
    place, own, part = place[order], own[order], part[order]
    starts = np.ones(len(place), np.bool_)
    starts[1:] = own[1:] != own[:-1]
    border = np.append(np.flatnonzero(starts), len(place)).astype(np.int64)
    partition = np.searchsorted(part[border[:-1]], np.arange(partitions + 1)).astype(np.int64)
    return Groups(place, border, partition)
