"""Twins of `kernels.join`, in plain Python: every pair is compared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

Weights = dict[int, int]  # element → weight: a set whose elements weigh 1 each, or have weights of their own


def order(documents: Sequence[Weights]) -> list[tuple[int, int]]:
    """(element, documents that have it) of all elements of at least two documents: rarest first, ties by element."""
    frequency = Counter(element for document in documents for element in document)
    return sorted(((e, n) for e, n in frequency.items() if n > 1), key=lambda pair: (pair[1], pair[0]))


def rank_sets(documents: Sequence[Weights]) -> list[list[int]]:
    """The ranks of each document's elements, ascending; elements of one document alone have none."""
    rank = {element: i for i, (element, _) in enumerate(order(documents))}
    return [sorted(rank[e] for e in document if e in rank) for document in documents]


def jaccard(a: Weights, b: Weights) -> float:
    """Common elements by elements of either; 0.0 when nothing is common."""
    return len(a.keys() & b.keys()) / len(a.keys() | b.keys()) if a.keys() & b.keys() else 0.0


def containment(container: Weights, contained: Weights) -> float:
    """Share of the contained document that is in the container."""
    return len(container.keys() & contained.keys()) / len(contained) if contained else 0.0


def weighted(a: Weights, b: Weights) -> float:
    """Sum of the smaller weights by sum of the larger ones."""
    both = sum(min(a[e], b[e]) for e in a.keys() & b.keys())
    return both / (sum(a.values()) + sum(b.values()) - both) if both else 0.0


def cosine(a: Weights, b: Weights) -> float:
    """Cosine of the vectors of weights; 0.0 when nothing is common. At most 1, which rounding might else pass."""
    dot = sum(a[e] * b[e] for e in a.keys() & b.keys())
    norms = [float(sum(w * w for w in x.values())) for x in (a, b)]
    return min(1.0, dot / math.sqrt(norms[0] * norms[1])) if dot else 0.0


MEASURES: dict[str, Callable[[Weights, Weights], float]] = {
    "jaccard": jaccard,
    "containment": containment,
    "weighted": weighted,
    "cosine": cosine,
}


def join_settle(documents: Sequence[Weights], *, measure: str, threshold: float) -> tuple[list[int], list[float]]:
    """In order, each document joins the earliest kept one at or above the threshold, else it is kept."""
    like = MEASURES[measure]
    return _settled(len(documents), lambda kept, d: like(documents[kept], documents[d]), threshold)


def join_pairs(documents: Sequence[Weights], *, measure: str, threshold: float) -> list[tuple[int, int, float]]:
    """All pairs at or above the threshold, by (a, b): a < b, or for containment a inside b."""
    return list(_pairs(documents, measure, threshold))


def join_components(
    documents: Sequence[Weights], *, measure: str, threshold: float, eligible: Sequence[bool] | None = None
) -> list[int]:
    """Spread the smallest position along the pairs until nothing changes."""
    label = list(range(len(documents)))
    edges = [(a, b) for a, b, _ in _pairs(documents, measure, threshold) if not eligible or eligible[a] or eligible[b]]
    changed = True
    while changed:
        changed = False
        for a, b in edges:
            low = min(label[a], label[b])
            changed |= label[a] != low or label[b] != low
            label[a] = label[b] = low
    return label


def settle_mixed(
    documents: Sequence[Weights],
    short: Sequence[bool],
    keys: Sequence[Sequence[int]],
    packed: Sequence[Sequence[int]],
    long: Sequence[Weights],
    *,
    threshold: float,
    min_matches: int,
) -> tuple[list[int], list[float], list[int]]:
    """Settle by the short measure where either text is short, else by band, sketch and the long measure."""

    def like(kept: int, d: int) -> float:
        if short[kept] or short[d]:
            return jaccard(documents[kept], documents[d])
        meet = any(x == y for x, y in zip(keys[kept], keys[d], strict=True))
        equal = sum(x == y for x, y in zip(packed[kept], packed[d], strict=True))
        return jaccard(long[kept], long[d]) if meet and equal >= min_matches else 0.0

    twin, similarity = _settled(len(documents), like, threshold)
    return twin, similarity, [int(t >= 0 and (short[t] or short[d])) for d, t in enumerate(twin)]


def _settled(n: int, like: Callable[[int, int], float], threshold: float) -> tuple[list[int], list[float]]:
    twin, similarity = [-1] * n, [0.0] * n
    kept: list[int] = []
    for d in range(n):
        for k in kept:
            if (s := like(k, d)) >= threshold:
                twin[d], similarity[d] = k, s
                break
        else:
            kept.append(d)
    return twin, similarity


def _pairs(documents: Sequence[Weights], measure: str, threshold: float) -> Iterator[tuple[int, int, float]]:
    directed, like = measure == "containment", MEASURES[measure]
    for a, one in enumerate(documents):
        for b, other in enumerate(documents):
            if (a < b or (directed and a != b)) and (s := like(other, one)) >= threshold:
                yield a, b, s
