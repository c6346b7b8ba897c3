"""Verdicts: what settling found, with the copies of equal texts put back."""

from __future__ import annotations

import numpy as np

from ..data import F64, I64, MEASURES, METHODS, Verdicts
from .equal import Copies

EQUAL, JACCARD = MEASURES.index("equal"), MEASURES.index("jaccard")


def verdicts(copies: Copies, removed: I64, twin: I64, similarity: F64, method: str) -> Verdicts:
    """Put together who is removed and why.

    A copy of a kept representative repeats it exactly. A copy of a removed one takes its twin and its similarity.

    Args:
        copies: documents with a representative.
        removed: (r,) int64 representatives that joined a kept one; twin (r,) int64 and similarity (r,) float64 say
            which.
        method: what the run looked for; copies of kept documents are `exact` (or `bytes`).

    Returns:
        Verdicts with places as ids, ascending.
    """
    order = np.argsort(removed, kind="stable")
    removed, twin, similarity = removed[order], twin[order], similarity[order]
    joined, share = copies.rep.copy(), np.ones(len(copies.rep))
    at = np.searchsorted(removed, copies.rep)
    near = np.zeros(len(at), np.bool_)
    inside = at < len(removed)
    near[inside] = removed[at[inside]] == copies.rep[inside]
    joined[near], share[near] = twin[at[near]], similarity[at[near]]
    out = np.concatenate((removed, copies.place))
    near_out = np.concatenate((np.ones(len(removed), np.bool_), near))
    by = np.argsort(out, kind="stable")
    equal_method = METHODS.index("bytes" if method == "bytes" else "exact")
    return Verdicts(
        id=out[by],
        twin=np.concatenate((twin, joined))[by],
        similarity=np.concatenate((similarity, share))[by],
        measure=np.where(near_out[by], JACCARD, EQUAL).astype(np.uint8),
        method=np.where(near_out[by], METHODS.index(method), equal_method).astype(np.uint8),
    )
