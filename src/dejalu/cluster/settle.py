"""Verdicts: what settling found, with the copies of equal texts put back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..data import F64, I32, I64, MEASURES, METHODS, U8, Verdicts
from .equal import Copies

EQUAL = MEASURES.index("equal")


@dataclass(frozen=True, slots=True)
class Near:
    """Near duplicates among representatives: who was removed, for whom, and how the two compare.

    removed, twin  (r,) int64 places; each twin is kept
    similarity     (r,) float64; measure and method (r,) uint8: places in MEASURES and METHODS
    distance       (r,) int32 Hamming distances, or None where the method has none
    skipped        number of comparisons that a cap left out
    """

    removed: I64
    twin: I64
    similarity: F64
    measure: U8
    method: U8
    distance: I32 | None = None
    skipped: int = 0

    @classmethod
    def of(
        cls, removed: I64, twin: I64, similarity: F64, measure: str, method: str, *, distance: I32 | None = None,
        skipped: int = 0,
    ) -> Near:
        """Near duplicates that one method found, by one measure."""
        alike = np.ones(len(removed), np.uint8)
        measures, methods = alike * np.uint8(MEASURES.index(measure)), alike * np.uint8(METHODS.index(method))
        return cls(removed, twin, similarity, measures, methods, distance, skipped)

    @classmethod
    def none(cls) -> Near:
        """No near duplicates."""
        return cls.of(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), "jaccard", "minhash")

    @classmethod
    def joined(cls, found: Sequence[Near]) -> Near:
        """Near duplicates of disjoint parts, together; those without a distance get -1 where others have one."""
        if not found:
            return cls.none()
        far = [np.full(len(n.removed), -1, np.int32) if n.distance is None else n.distance for n in found]
        return cls(
            np.concatenate([n.removed for n in found]),
            np.concatenate([n.twin for n in found]),
            np.concatenate([n.similarity for n in found]),
            np.concatenate([n.measure for n in found]),
            np.concatenate([n.method for n in found]),
            None if all(n.distance is None for n in found) else np.concatenate(far),
            sum(n.skipped for n in found),
        )


def verdicts(copies: Copies, near: Near, method: str) -> Verdicts:
    """Put together who is removed and why.

    A copy of a kept representative repeats it exactly. A copy of a removed one takes its twin and how they compare.

    Args:
        copies: documents with a representative.
        near: representatives that joined a kept one.
        method: what the run looked for; copies of kept documents are `exact` (or `bytes`).

    Returns:
        Verdicts with places as ids, ascending.
    """
    order = np.argsort(near.removed, kind="stable")
    removed = near.removed[order]
    at = np.searchsorted(removed, copies.rep)
    found = np.zeros(len(at), np.bool_)
    inside = at < len(removed)
    found[inside] = removed[at[inside]] == copies.rep[inside]
    from_near = order[at[found]]  # of each copy of a removed representative, its row of `near`

    def column(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Values of the removed representatives, then of the copies: `kept` where the representative is kept."""
        kept[found] = values[from_near]
        return np.concatenate((values, kept))

    c = len(copies.rep)
    out = np.concatenate((near.removed, copies.place))
    by = np.argsort(out, kind="stable")
    equal_method = METHODS.index("bytes" if method == "bytes" else "exact")
    return Verdicts(
        id=out[by],
        twin=column(near.twin, copies.rep.copy())[by],
        similarity=column(near.similarity, np.ones(c))[by],
        measure=column(near.measure, np.full(c, EQUAL, np.uint8))[by],
        method=column(near.method, np.full(c, equal_method, np.uint8))[by],
        distance=None if near.distance is None else column(near.distance, np.zeros(c, np.int32))[by],
    )
