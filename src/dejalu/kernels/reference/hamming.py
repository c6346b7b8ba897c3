"""Search by Hamming distance, all against all. Twin of `native/hamming_*.hpp` and `kernels.hamming`."""

from __future__ import annotations

from collections.abc import Sequence

Print = tuple[int, ...]          # the words of a fingerprint


def distance(a: Print, b: Print) -> int:
    """Number of differing bits."""
    return sum((x ^ y).bit_count() for x, y in zip(a, b, strict=True))


def pairs(prints: Sequence[Print], k: int, only: Sequence[int] | None = None) -> list[tuple[int, int, int]]:
    """(a, b, distance) of all pairs a < b within k bits, sorted."""
    return [
        (a, b, d)
        for a in range(len(prints))
        for b in range(a + 1, len(prints))
        if (only is None or only[a] == only[b]) and (d := distance(prints[a], prints[b])) <= k
    ]


def query(prints: Sequence[Print], queries: Sequence[Print], k: int) -> list[tuple[int, int, int]]:
    """(query, fingerprint, distance) of all within k bits, sorted."""
    return [(a, b, d) for a, q in enumerate(queries) for b, p in enumerate(prints) if (d := distance(q, p)) <= k]


def busy(prints: Sequence[Print], k: int, only: Sequence[int] | None, skip: Sequence[bool]) -> list[bool]:
    """Which have another within k bits; those in `skip` take no part."""
    near = {x for a, b, _ in pairs(prints, k, only) if not (skip[a] or skip[b]) for x in (a, b)}
    return [i in near for i in range(len(prints))]


def settle(
    prints: Sequence[Print],
    k: int,
    only: Sequence[int] | None,
    skip: Sequence[bool],
    sets: Sequence[set[int]] | None,
    threshold: float,
) -> list[tuple[int, int, float]]:
    """(twin, distance, similarity) of each: the earliest kept one within reach, or (-1, -1, 0.0)."""
    out = [(-1, -1, 0.0)] * len(prints)
    for d in range(len(prints)):
        for kept in range(d):
            if skip[d] or skip[kept] or out[kept][0] >= 0 or (only is not None and only[d] != only[kept]):
                continue
            far, similarity = distance(prints[d], prints[kept]), 0.0
            if far > k:
                continue
            if sets is not None:
                either = len(sets[d] | sets[kept])
                similarity = len(sets[d] & sets[kept]) / either if sets[d] and sets[kept] else -1.0
                if similarity < threshold:
                    continue
            out[d] = kept, far, similarity
            break
    return out
