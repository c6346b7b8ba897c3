"""A labelled collection of texts, and one way to judge a list of pairs against its labels.

A method lists pairs of the texts, and each listed pair is a hit, a false alarm or neither:

    yes      pairs that should be listed
    neither  pairs that may be listed or not: true textual near-duplicates outside the label, graded or doubtful ones
    no       the labelled pairs that should not be listed; None: every other pair
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SHIFT", "Collection", "Labelled", "Verdict", "judge", "unordered"]

I64 = NDArray[np.int64]
Row = dict[str, Any]
Pair = tuple[str, str]
SHIFT = 32  # a pair of positions (low, high) is the number low << 32 | high


@dataclass(frozen=True, slots=True)
class Labelled:
    """A collection and its labels; pairs are numbers made by `unordered`, ascending and distinct.

    texts    the collection; equal texts of the sentence-pair sets are one text
    kinds    part of the `yes` pairs by name (level, error rate, language), for recall by part
    sides    (n,) of each text; only pairs of texts on different sides are judged (translations); None: all are
    """

    name: str
    about: str
    texts: list[str]
    yes: I64
    neither: I64
    no: I64 | None = None
    kinds: dict[str, I64] = field(default_factory=dict)
    sides: I64 | None = None

    @property
    def base(self) -> float | None:
        """F1 of listing every judged pair, which needs no method; None where all other pairs count as `no`."""
        if self.no is None:
            return None
        share = len(self.yes) / (len(self.yes) + len(self.no))
        return 2 * share / (1 + share)


class Verdict(NamedTuple):
    """How a list of pairs does: counts of pairs, and shares in [0, 1] (None where undefined)."""

    listed: int
    hits: int
    false: int
    precision: float | None
    recall: float
    f1: float
    kinds: dict[str, float]


def unordered(a: I64, b: I64) -> I64:
    """Number the pairs of positions a[i], b[i], whichever comes first: ascending, distinct, none with itself."""
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    low, high = np.minimum(a, b), np.maximum(a, b)
    return np.unique((low << SHIFT | high)[low < high])


def judge(labelled: Labelled, pairs: I64) -> Verdict:
    """Compare listed pairs (numbers made by `unordered`) with the labels."""
    hits = int(np.isin(pairs, labelled.yes, assume_unique=True).sum())
    if labelled.no is not None:
        false = int(np.isin(pairs, labelled.no, assume_unique=True).sum())
    else:
        other = pairs[~np.isin(pairs, np.union1d(labelled.yes, labelled.neither), assume_unique=True)]
        if labelled.sides is not None:
            other = other[labelled.sides[other >> SHIFT] != labelled.sides[other & (1 << SHIFT) - 1]]
        false = len(other)
    kinds = {name: float(np.isin(part, pairs).mean()) for name, part in labelled.kinds.items()}
    return Verdict(len(pairs), hits, false, *scores(hits, false, len(labelled.yes)), kinds)


def scores(hits: int, false: int, yes: int) -> tuple[float | None, float, float]:
    """Precision, recall and F1."""
    return hits / (hits + false) if hits + false else None, hits / yes, 2 * hits / (hits + false + yes)


class Collection:
    """Documents by id, and pairs of ids as numbers."""

    def __init__(self, docs: list[Row]) -> None:
        self.docs = docs
        self.texts = [doc["text"] for doc in docs]
        self.place = {doc["id"]: i for i, doc in enumerate(docs)}

    def pairs(self, pairs: Iterable[Pair]) -> I64:
        """Number pairs of ids."""
        found = [(self.place[a], self.place[b]) for a, b in pairs]
        return unordered(*np.array(found or np.zeros((0, 2)), np.int64).reshape(-1, 2).T)

    def column(self, name: str) -> I64:
        """A column's values as numbers."""
        return np.unique([str(doc[name]) for doc in self.docs], return_inverse=True)[1].astype(np.int64)

    def alike(self, keep: Callable[[Row, Row], bool], key: str = "group") -> list[Pair]:
        """Pairs of ids of documents with the same key that satisfy a test."""
        groups: dict[Any, list[Row]] = {}
        for doc in self.docs:
            groups.setdefault(doc[key], []).append(doc)
        return [(a["id"], b["id"]) for group in groups.values() for a, b in combinations(group, 2) if keep(a, b)]
