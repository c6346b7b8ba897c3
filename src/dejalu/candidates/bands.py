"""LSH bands: how many, how wide, and what they find.

Slots of two signatures agree with probability J, the Jaccard similarity of the shingle sets. `bands` groups of
`rows` slots each make a pair a candidate when all rows of a band agree, with probability 1 - (1 - J^rows)^bands: the
S-curve (Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, §3.4.2). Both numbers are a pure function of
threshold and slots, never of the corpus, so that incremental and batch runs, and every machine, share the same keys.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..data import U32, U64
from ..errors import UsageError
from ..kernels import band_keys

BAND_RECALL = 0.995  # of pairs exactly at the threshold; pairs above it are found more often
SKETCH_MISS = 0.00135  # chance that the sketch filter drops a pair at the threshold: three standard errors, one-sided
MAX_SLOTS = 65_536
SKETCH_BITS = 8  # bits a slot in the compact sketch


@dataclass(frozen=True, slots=True)
class Bands:
    """`bands` bands of `rows` slots each, and the sketch filter's floor.

    min_matches is the smallest number of equal 8-bit slots with which a pair may still be at the threshold.
    """

    threshold: float
    slots: int
    bands: int
    rows: int
    min_matches: int

    def recall(self, similarity: float) -> float:
        """Probability that a pair of this Jaccard similarity shares a band key."""
        return 1.0 - (1.0 - similarity**self.rows) ** self.bands

    def sketch_pass(self, similarity: float) -> float:
        """Probability that a pair of this Jaccard similarity passes the sketch filter."""
        p = similarity + (1.0 - similarity) / (1 << SKETCH_BITS)
        return 1.0 - _binomial_below(self.slots, p, self.min_matches)

    def expected_recall(self, similarity: float) -> float:
        """Probability that a pair of this similarity is compared: bands and sketch filter together."""
        return self.recall(similarity) * self.sketch_pass(similarity)


@lru_cache(maxsize=256)
def choose_bands(threshold: float, slots: int) -> Bands:
    """Choose the widest bands that still find at least .995 of the pairs at the threshold.

    Wider bands make fewer false candidates. For 128 slots: 42 × 3 at .5, 32 × 4 at .7, 21 × 6 at .8, 14 × 9 at .9, 1
    × 128 at 1.

    Args:
        threshold: in (0, 1].
        slots: slots of the signature, at least 1.

    Raises:
        UsageError: even bands of one row cannot reach .995; the message names the slots needed.
    """
    for rows in range(slots, 0, -1):
        bands = slots // rows
        if 1.0 - (1.0 - threshold**rows) ** bands >= BAND_RECALL:
            return Bands(threshold, slots, bands, rows, _min_matches(threshold, slots))
    needed = math.ceil(math.log(1.0 - BAND_RECALL) / math.log1p(-threshold))
    told = f"threshold={threshold}: {slots} slots cannot find {BAND_RECALL:.1%} of the pairs at this threshold; "
    if needed > MAX_SLOTS:
        lowest = 1.0 - (1.0 - BAND_RECALL) ** (1.0 / MAX_SLOTS)
        raise UsageError(f"{told}nor can any number up to {MAX_SLOTS:,}; use a threshold of {lowest:.1g} or more")
    raise UsageError(f"{told}use slots={needed} or more (--slots {needed}), or a higher threshold")


def keys(signatures: U32, bands: Bands) -> U64:
    """Hash each document's bands to keys.

    Args:
        signatures: (n, slots) uint32.
        bands: from `choose_bands` with the same number of slots.

    Returns:
        (bands, n) uint64, one row per band; keys of different bands never mix.
    """
    return np.ascontiguousarray(band_keys(signatures, bands.bands, bands.rows))


def _binomial_below(n: int, p: float, m: int) -> float:
    """P(X < m) for X ~ Binomial(n, p), summed in the log domain."""
    if p >= 1.0:
        return 0.0 if m <= n else 1.0
    total = 0.0
    for k in range(m):
        log_c = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        total += math.exp(log_c + k * math.log(p) + (n - k) * math.log1p(-p))
    return min(total, 1.0)


def _min_matches(threshold: float, slots: int) -> int:
    """Largest floor of equal slots that a pair at the threshold undercuts with chance ≤ .00135, at least 3
    standard errors down.
    """
    p = threshold + (1.0 - threshold) / (1 << SKETCH_BITS)
    if p >= 1.0:
        return slots
    three_sigma = math.floor(slots * p - 3.0 * math.sqrt(slots * p * (1.0 - p)))
    m = max(three_sigma, 0)
    while m > 0 and _binomial_below(slots, p, m) > SKETCH_MISS:
        m -= 1
    return m
