"""Verdicts: what settling found, with the copies of equal texts put back."""

from __future__ import annotations

import numpy as np

from ..data import F64, I64, MEASURES, METHODS, Verdicts

EQUAL, JACCARD = MEASURES.index("equal"), MEASURES.index("jaccard")


def verdicts(rep: I64, removed: I64, twin: I64, similarity: F64, method: str) -> Verdicts:
    """Put together who is removed and why.

    A copy of a kept representative repeats it exactly. A copy of a removed one takes its twin and its similarity.

    Args:
        rep: (n,) int64 representative of each document.
        removed: (r,) int64 representatives that joined a kept one; twin (r,) int64 and similarity (r,) float64 say
            which.
        method: what the run looked for; copies of kept documents are `exact` (or `bytes`).

    Returns:
        Verdicts with places as ids, ascending.
    """
    n = len(rep)
    joined = np.full(n, -1, np.int64)
    how_much = np.ones(n)
    joined[removed] = twin
    how_much[removed] = similarity
    place = np.arange(n, dtype=np.int64)
    near = joined[rep] >= 0
    out = np.flatnonzero(near | (rep != place))
    near_out = near[out]
    final = np.where(near_out, joined[rep[out]], rep[out])
    share = np.where(near_out, how_much[rep[out]], 1.0)
    equal_method = METHODS.index("bytes" if method == "bytes" else "exact")
    return Verdicts(
        id=out,
        twin=final,
        similarity=share,
        measure=np.where(near_out, JACCARD, EQUAL).astype(np.uint8),
        method=np.where(near_out, METHODS.index(method), equal_method).astype(np.uint8),
    )
