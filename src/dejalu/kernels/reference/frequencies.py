"""Document frequencies, the weights that come of them, and the logarithm they need, all in integers.

Twin of `native/frequencies.hpp`, `feature_weights.hpp` and `fixed_log.hpp`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from .hashing import M64

FRACTION, STEPS = 48, 11
LN2 = 0xB17217F8                                 # ln 2 · 2^32, rounded
GOLDEN = 0x9E3779B97F4A7C15


def count(sets: Iterable[Iterable[int]]) -> dict[int, int]:
    """In how many texts each feature occurs, by feature ascending."""
    return dict(sorted(Counter(v for s in sets for v in set(s)).items()))


def merge(parts: Iterable[dict[int, int]]) -> dict[int, int]:
    """Add the counts of several parts."""
    total: Counter[int] = Counter()
    for part in parts:
        total.update(part)
    return dict(sorted(total.items()))


def idf(documents: int, n: int) -> int:
    """ln((1 + n) / (1 + documents)) + 1 with 10 fractional bits."""
    apart = fixed_log2(n + 1) - fixed_log2(documents + 1)
    return 1024 + ((apart >> 24) * LN2 + (1 << 45) >> 46)


def fixed_log2(x: int) -> int:
    """log2(x) · 2^48 for 0 < x < 2^64, off by less than 5e-8 · 2^48: a table, and a line between two entries."""
    zeros = 64 - x.bit_length()
    m = x << zeros
    i, f = m >> 63 - STEPS & (1 << STEPS) - 1, m >> 39 - STEPS & 0xFFFFFF
    low = table()[i]
    return (63 - zeros << FRACTION) + low + ((table()[i + 1] - low) * f >> 24)


@cache
def table() -> list[int]:
    """log2(1 + i / 2048) · 2^48 rounded down, bit by bit: a square in [1, 4) tells the next bit."""
    out = []
    for i in range(1 << STEPS):
        x, log = 1 << 63 | i << 63 - STEPS, 0
        for _ in range(FRACTION):
            high = x * x >> 63                   # x² / 2^126 in [1, 4), 2^63 for 1
            two = high >> 64
            x = high >> two & M64
            log = log << 1 | two
        out.append(log)
    return [*out, 1 << FRACTION]


def weight_table(weights: dict[int, int]) -> tuple[list[int], list[int]]:
    """Lay weights out as an open-addressing table of 2^p slots, at most half full, in the order given."""
    p = 1
    while 1 << p < 2 * len(weights):
        p += 1
    keys, values = [0] * (1 << p), [0] * (1 << p)
    for feature, weight in weights.items():
        if feature:
            s = (feature * GOLDEN & M64) >> 64 - p
            while keys[s]:
                s = (s + 1) % (1 << p)
            keys[s], values[s] = feature, weight
    return keys, values
