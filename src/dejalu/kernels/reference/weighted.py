"""Weighted sketches, weighted Jaccard similarity and settling by it.

Twin of `native/weighted_sketch.hpp` and `weighted_sets.hpp`.

Source: Chum, Philbin, Zisserman, BMVC 2008, word weighting; Ertl, "ProbMinHash", arXiv:1911.00675, ProbMinHash1a.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .frequencies import FRACTION, GOLDEN, fixed_log2
from .hashing import M32, M64, avalanche

NOTHING = M32                     # every slot of a text without a feature of positive weight


def signature(weights: Mapping[int, int], slots: int) -> list[int]:
    """Sketch a set of features, each with its weight, to `slots` values of 32 bits.

    Each feature is a Poisson process of points at the rate of its weight; a point falls to a random slot, and the first
    point there gives its value.
    """
    alive = [(x, 0.0, 1.0 / w) for x, w in weights.items() if w and x]
    first: list[tuple[float, int] | None] = [None] * slots
    limit, step = float("inf"), 0
    while alive:
        left = []
        for x, before, slow in alive:
            r = avalanche(x + step * GOLDEN & M64) if step else x
            slot, u = r * slots >> 64, r * slots & M64
            time = before + float((64 << FRACTION) - fixed_log2(u | 1)) * slow
            best = first[slot]
            if best is None or time < best[0]:
                first[slot] = (time, r & M32)
            if time < limit:
                left.append((x, time, slow))
        alive, step = left, step + 1
        if all(first):
            limit = max(f[0] for f in first if f)
    return [NOTHING if f is None else f[1] for f in first]


def jaccard(a: Iterable[int], b: Iterable[int], weight: Mapping[int, int]) -> float:
    """Weight of the features of both / weight of the features of either; 0.0 when there is none."""
    a, b = set(a), set(b)
    either = sum(weight[x] for x in a | b)
    return sum(weight[x] for x in a & b) / either if either else 0.0


def settle(
    keys: Sequence[Sequence[int]],
    packed: Sequence[bytes],
    sets: Sequence[Sequence[int]],
    weight: Mapping[int, int],
    *,
    threshold: float,
    min_matches: int,
) -> tuple[list[int], list[float]]:
    """Settle one group in keep order: (twin or −1, similarity or 0.0) of each document."""
    twin, similarity = [-1] * len(keys), [0.0] * len(keys)
    for d in range(len(keys)):
        for other in range(d):
            if (
                twin[other] < 0
                and any(x == y for x, y in zip(keys[d], keys[other], strict=True))
                and sum(x == y for x, y in zip(packed[d], packed[other], strict=True)) >= min_matches
            ):
                found = jaccard(sets[d], sets[other], weight)
                if found >= threshold:
                    twin[d], similarity[d] = other, found
                    break
    return twin, similarity
