"""Bottom-k and FracMinHash sketches and their estimators. Twin of `native/bottom_k.hpp` and `kernels.bottom_k`.

Source: Broder, SEQUENCES 1997, theorem 1; Irber et al., bioRxiv 2022.01.11.475838; Hera, Pierce-Ward, Koslicki, Genome
Research 33, 2023.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from .hashing import M64

Estimate = tuple[float, float]                   # estimate, standard error


def bottom_k(shingles: Iterable[int], k: int) -> list[int]:
    """The k smallest distinct hashes, ascending."""
    return sorted(set(shingles))[:k]


def scaled(shingles: Iterable[int], s: int) -> list[int]:
    """All distinct hashes below 2^64 / s, ascending."""
    return sorted(h for h in set(shingles) if h * s <= M64)


def shared_values(a: Iterable[int], b: Iterable[int], most: int) -> tuple[int, int]:
    """Among the `most` smallest of the union: how many are in both, and how many there are."""
    a, b = set(a), set(b)
    union = sorted(a | b)[:most]
    return sum(v in a and v in b for v in union), len(union)


def bottom_k_jaccard(a: Collection[int], b: Collection[int], sizes: tuple[int, int], k: int) -> Estimate:
    """Estimate Jaccard similarity from sketches of texts with `sizes` distinct shingles; exact where both are whole."""
    shared, seen = shared_values(a, b, M64 if max(sizes) <= k else k)
    share = shared / max(seen, 1)
    return share, error(share, seen, union(sizes, share))


def scaled_jaccard(a: Collection[int], b: Collection[int], sizes: tuple[int, int], s: int) -> Estimate:
    """Estimate Jaccard similarity from scaled sketches."""
    shared, seen = shared_values(a, b, M64)
    share = shared / max(seen, 1)
    return unbiased(share, seen, union(sizes, share), s)


def scaled_containment(a: Collection[int], b: Collection[int], size: int, s: int) -> Estimate:
    """Estimate the share of the shingles of a, which has `size` distinct ones, that are in b."""
    shared, _ = shared_values(a, b, M64)
    return unbiased(shared / max(len(a), 1), len(a), size, s)


def union(sizes: tuple[int, int], jaccard: float) -> int:
    """Size of the union of two sets, by their sizes and Jaccard similarity."""
    return round(sum(sizes) / (1.0 + jaccard))


def error(share: float, sampled: int, every: int) -> float:
    """Standard error of a share in a sample without replacement (hypergeometric)."""
    left = max(every - sampled, 0) / max(every - 1, 1)
    return math.sqrt(max(share * (1.0 - share), 0.0) / max(sampled, 1) * left)


def unbiased(share: float, sampled: int, every: int, s: int) -> Estimate:
    """Divide by the chance 1 − (1 − 1/s)^every that anything of `every` hashes was sampled."""
    if every <= 0:
        return share, error(share, sampled, every)
    left, seen, square = every, 1.0, 1.0 - 1.0 / s
    while left:
        if left & 1:
            seen *= square
        left, square = left >> 1, square * square
    return share / (1.0 - seen), error(share, sampled, every) / (1.0 - seen) if sampled else math.inf
