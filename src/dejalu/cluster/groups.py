"""Work groups: connected components of the candidate edges, laid out for settling.

They only say what must be looked at together; they can change the cost of a run, never a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import I64, U32, distinct
from ..kernels import mix64


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

    def cut(self, p: int) -> tuple[int, int]:
        """First and last place of partition p, as rows of `place`."""
        return int(self.border[self.partition[p]]), int(self.border[self.partition[p + 1]])


def work_groups(label: U32, rank: I64 | None, partitions: int) -> Groups:
    """Lay out the components of two documents or more, dealt to partitions by a hash of their smallest place.

    Args:
        label: (n,) uint32: smallest place of each document's component.
        rank: (n,) int64 keep order; None: the order of places.
        partitions: at least 1.
    """
    further = not_smallest(label)
    place = distinct(np.concatenate((further, label[further].astype(np.int64))))
    own = label[place].astype(np.int64)
    part = (mix64(own.astype(np.uint64)) % np.uint64(partitions)).astype(np.int64)
    order = np.lexsort((place if rank is None else rank[place], own, part))
    place, own, part = place[order], own[order], part[order]
    starts = np.ones(len(place), np.bool_)
    starts[1:] = own[1:] != own[:-1]
    border = np.append(np.flatnonzero(starts), len(place)).astype(np.int64)
    partition = np.searchsorted(part[border[:-1]], np.arange(partitions + 1)).astype(np.int64)
    return Groups(place, border, partition)


def not_smallest(label: U32) -> I64:
    """Places (m,) int64, ascending, that are not the smallest of their group; found a stretch at a time."""
    step = 1 << 22
    found = [np.zeros(0, np.int64)]
    for first in range(0, len(label), step):
        own = label[first : first + step]
        found.append(first + np.flatnonzero(own != np.arange(first, first + len(own), dtype=label.dtype)))
    return np.concatenate(found)
