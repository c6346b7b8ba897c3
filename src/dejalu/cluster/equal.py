"""Equal texts: which documents repeat one another word for word, and which of each group stands for the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import I64, U8, U32, distinct
from .groups import not_smallest


@dataclass(frozen=True, slots=True)
class Copies:
    """Documents that another one stands for: place (c,) int64, ascending, and rep (c,) int64 their representatives."""

    place: I64
    rep: I64

    def mark(self, out: U8) -> U8:
        """Set `out` (n,) uint8 to 1 at every copy, and return it."""
        out[self.place] = 1
        return out


def copies(label: U32, rank: I64 | None) -> Copies:
    """Name the representative of every document that is not one.

    Args:
        label: (n,) uint32: smallest place of the documents with the same text.
        rank: (n,) int64 keep order, the best of a group stands for it; None: the order of places.
    """
    further = not_smallest(label)
    if rank is None:
        return Copies(further, label[further].astype(np.int64))
    place = distinct(np.concatenate((further, label[further].astype(np.int64))))
    own = label[place]
    order = np.lexsort((rank[place], own))
    starts = np.ones(len(place), np.bool_)
    starts[1:] = own[order][1:] != own[order][:-1]
    rep = np.empty(len(place), np.int64)
    rep[order] = place[order][starts][np.cumsum(starts) - 1] if len(place) else rep
    other = rep != place
    return Copies(place[other], rep[other])
