"""What a Hamming distance of SimHash fingerprints says about similarity: an estimate, and how it is made the same on
every machine."""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np

from ..data import F64, I32, I64

PI = Decimal("3.14159265358979323846264338327950288419716939937511")


def simhash_similarity(distance: I32 | I64, bits: int) -> F64:
    """Estimate the cosine of the angle between two texts' weighted features: max(0, cos(π · distance / bits)).

    The share of differing bits estimates angle / π, so unrelated texts, which differ in half of them, get 0. Rounded to
    6 decimals: no machine's own cosine takes part.

    Args:
        distance: (m,) differing bits, 0 … bits.

    Returns:
        (m,) float64 in [0, 1].

    Source: Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002, §3.
    """
    return _cosines(bits)[distance]


@lru_cache
def _cosines(bits: int) -> F64:
    """The estimate for each distance 0 … bits, by the Taylor series in decimal numbers of 40 digits."""
    values = []
    with localcontext() as context:
        context.prec = 40
        for d in range(bits + 1):
            if 2 * d >= bits:
                values.append(0.0)
                continue
            square = (PI * d / bits) ** 2
            term = total = Decimal(1)
            for i in range(1, 20):
                term = -term * square / ((2 * i - 1) * (2 * i))
                total += term
            values.append(float(round(total, 6)))
    table = np.array(values)
    table.setflags(write=False)
    return table
