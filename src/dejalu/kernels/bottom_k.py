"""Kernels of bottom-k and FracMinHash sketches, and their estimators with standard errors.

A sketch holds the smallest shingle hashes of a text, ascending. Two kinds: `k` of them, however long the text is; or,
`scaled`, all below 2^64 / s, a share 1/s of any text (FracMinHash). Twin: `kernels.reference.bottom_k`.

Arguments that recur:
    sketches: (values, offsets, sizes) as `bottom_k` gives; `others` the sketches that b speaks of, by default the same.
    a, b: (m,) int64 places of sketches, pair by pair.

Estimators give (estimate, standard error), (m,) float64 each. The standard error has the estimate in the place of the
true value and knows the number of shingles of both texts, so it is 0 where the sketches hold all of them; like every
such error it is 0 too where the sample happens to be all alike.
"""

from __future__ import annotations

import numpy as np

from .. import _native
from .arrays import F64, I64, U8, U64

Sketches = tuple[U64, I64, I64]
EVERY = (1 << 63) - 1


def bottom_k(
    data: U8, offsets: I64, *, shingle: int, unit: int = 0, unspaced: bool = True, k: int = 0, scaled: int = 0
) -> Sketches:
    """Sketch texts by their smallest distinct shingle hashes.

    The shingle hash is a random order already (native/shingle.hpp), so its values are taken as they are.

    Args:
        k: number of hashes; a text with fewer shingles gives all.
        scaled: s > 0: all hashes below 2^64 / s instead.

    Returns:
        values (m,) uint64, distinct and ascending within a text; offsets (n + 1,) int64 into them; sizes (n,) int64,
        number of distinct shingles of each text.

    Raises:
        ValueError: a parameter out of range, both or none of k and scaled, offsets that fall or leave data.

    Source: Broder, "On the resemblance and containment of documents", SEQUENCES 1997, theorem 1; Irber et al.,
        "Lightweight compositional analysis of metagenomes with FracMinHash", bioRxiv 2022.01.11.475838.
    """
    return _native.bottom_k(data, offsets, shingle=shingle, unit=unit, unspaced=unspaced, k=k, scaled=scaled)


def shared_values(
    a: I64, b: I64, sketches: Sketches, others: Sketches | None = None, most: int = EVERY
) -> tuple[I64, I64]:
    """Count, among the `most` smallest values of the union of two sketches, those of both and all there are.

    Returns:
        shared (m,) int64, seen (m,) int64.

    Raises:
        ValueError: no such sketch, lengths that differ.
    """
    other_values, other_offsets, _ = others or sketches
    return _native.shared_values(a, b, *sketches[:2], other_values, other_offsets, most)


def bottom_k_jaccard(a: I64, b: I64, sketches: Sketches, *, k: int, others: Sketches | None = None) -> tuple[F64, F64]:
    """Estimate Jaccard similarity: of the k smallest values of the UNION, the share that is in both.

    Those k values are a sample of the union without replacement, so the estimate has no bias and the variance
    J (1 − J) / k · (N − k) / (N − 1), N the size of the union. Exact where both texts have at most k shingles; 0.0 when
    either has none. (Dividing the values that two sketches share by k would be wrong: it grows with k.)

    Source: Broder 1997, theorem 1; the variance is that of a sample without replacement.
    """
    shared, seen = shared_values(a, b, sketches, others, k)
    sizes, other_sizes = sketches[2][a], (others or sketches)[2][b]
    whole = (sizes <= k) & (other_sizes <= k)  # both sketches hold all shingles: every one of them counts
    if whole.any():
        shared[whole], seen[whole] = shared_values(a[whole], b[whole], sketches, others)
    estimate = _share(shared, seen)
    return estimate, _error(estimate, seen, _union(estimate, sizes, other_sizes))


def scaled_jaccard(
    a: I64, b: I64, sketches: Sketches, *, scaled: int, others: Sketches | None = None
) -> tuple[F64, F64]:
    """Estimate Jaccard similarity from scaled sketches: values of both / values of either, without bias.

    An empty union of sketches counts as 0 and the others make up for it, by 1 − (1 − 1/s)^N, N the size of the union of
    the texts; so an estimate may be a little above 1 where texts are short for s. Where nothing was sampled the
    standard error is infinite.

    Source: Irber et al. 2022; Hera, Pierce-Ward, Koslicki, "Deriving confidence intervals for mutation rates across a
        wide range of evolutionary distances using FracMinHash", Genome Research 33, 2023, theorem 1.
    """
    shared, seen = shared_values(a, b, sketches, others)
    share = _share(shared, seen)
    union = _union(share, sketches[2][a], (others or sketches)[2][b])
    return _unbiased(share, seen, union, scaled)


def scaled_containment(
    a: I64, b: I64, sketches: Sketches, *, scaled: int, others: Sketches | None = None
) -> tuple[F64, F64]:
    """Estimate the share of the shingles of a that are in b, from scaled sketches: values of both / values of a.

    Without bias: an empty sketch of a counts as 0 and the others make up for it, by 1 − (1 − 1/s)^n, n the number of
    shingles of a; so an estimate may be a little above 1 where a is short for s. Where nothing was sampled the standard
    error is infinite.

    Source: Hera, Pierce-Ward, Koslicki 2023, theorem 1.
    """
    shared, _ = shared_values(a, b, sketches, others)
    sampled = np.diff(sketches[1])[a]
    return _unbiased(_share(shared, sampled), sampled, sketches[2][a].astype(np.float64), scaled)


def _share(part: I64, whole: I64) -> F64:
    return part / np.maximum(whole, 1)


def _union(jaccard: F64, a: I64, b: I64) -> F64:
    """Size of the union of sets of a and b members, by their Jaccard similarity: a whole number."""
    return np.rint((a + b) / (1.0 + jaccard))


def _error(share: F64, sampled: I64, every: F64) -> F64:
    """Standard error of a share in a sample without replacement of `every`."""
    left = np.maximum(every - sampled, 0.0) / np.maximum(every - 1.0, 1.0)
    return np.sqrt(np.maximum(share * (1.0 - share), 0.0) / np.maximum(sampled, 1) * left)


def _unbiased(share: F64, sampled: I64, every: F64, scaled: int) -> tuple[F64, F64]:
    seen = 1.0 - _power(1.0 - 1.0 / scaled, every)
    seen = np.where(every > 0, seen, 1.0)
    error = np.where((sampled == 0) & (every > 0), np.inf, _error(share, sampled, every))
    return share / seen, error / seen


def _power(base: float, exponent: F64) -> F64:
    """base ^ exponent, whole numbers, by squaring: products alone, so the same bits on every system."""
    left, out, square = exponent.astype(np.int64), np.ones(len(exponent)), base
    while left.any():
        out = np.where(left & 1, out * square, out)
        left, square = left >> 1, square * square
    return out
