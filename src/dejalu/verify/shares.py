"""What a result is worth against the truth: shares of pairs, and how sure a sample makes us of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data import I64, Bool, Pairs

__all__ = ["PairQuality", "interval", "left_together", "member", "pair_quality"]


@dataclass(frozen=True, slots=True)
class PairQuality:
    """How a list of pairs compares with the true one.

    true, found, right  numbers of pairs: in the truth, in the result, in both
    precision, recall   right / found and right / true; 1.0 where there is nothing to find
    error               largest |similarity - true similarity| over the right pairs (0.0 without any)
    """

    true: int
    found: int
    right: int
    precision: float
    recall: float
    error: float


def pair_quality(found: Pairs, truth: Pairs) -> PairQuality:
    """Compare found pairs with the true ones; a pair counts once, in whatever order its ids come."""
    (f, f_similarity), (t, t_similarity) = _keyed(found), _keyed(truth)
    _, at_f, at_t = np.intersect1d(f, t, assume_unique=True, return_indices=True)
    right = len(at_f)
    error = 0.0
    if right and f_similarity is not None and t_similarity is not None:
        error = float(np.abs(f_similarity[at_f] - t_similarity[at_t]).max())
    return PairQuality(
        true=len(t),
        found=len(f),
        right=right,
        precision=right / len(f) if len(f) else 1.0,
        recall=right / len(t) if len(t) else 1.0,
        error=error,
    )


def left_together(pairs: Pairs, removed: I64) -> Bool:
    """Mark the pairs whose two documents are both kept. removed: (r,) int64, ascending. Returns (p,) bool."""
    return ~(member(pairs.a, removed) | member(pairs.b, removed))


def interval(hits: float, trials: float, *, level: float = 0.95) -> tuple[float, float]:
    """Bound a share by the exact (Clopper-Pearson) interval; hits and trials may be fractions of a count.

    hits    0 ≤ hits ≤ trials;   trials: (effective) number of independent trials, 0 gives (0.0, 1.0)
    level   confidence in (0, 1)

    Clopper and Pearson, Biometrika 26 (1934) 404-413, as quantiles of beta distributions; with an effective
    number of trials as in Korn and Graubard, Survey Methodology 24 (1998) 193-201. Rounded to 9 digits, which
    all platforms share.

    >>> interval(99, 100)
    (0.945540615, 0.999746854)
    >>> interval(20, 20)
    (0.831566529, 1.0)
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"hits: must lie in 0..trials ({trials}), is {hits}")
    if trials == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else _beta_quantile(tail, hits, trials - hits + 1)
    high = 1.0 if hits == trials else _beta_quantile(1 - tail, hits + 1, trials - hits)
    return round(low, 9), round(high, 9)


def _keyed(pairs: Pairs) -> tuple[np.ndarray, np.ndarray | None]:
    """Each pair as one sortable value, smaller id first, each once; and its similarity."""
    both = np.empty(len(pairs), dtype=[("a", np.int64), ("b", np.int64)])
    both["a"], both["b"] = np.minimum(pairs.a, pairs.b), np.maximum(pairs.a, pairs.b)
    keys, first = np.unique(both, return_index=True)
    return keys, None if pairs.similarity is None else pairs.similarity[first]


def member(ids: I64, ascending: I64) -> Bool:
    """Mark the ids that are in a list. ids: (n,) int64; ascending: (r,) int64, sorted. Returns (n,) bool."""
    if len(ascending) == 0:
        return np.zeros(len(ids), np.bool_)
    place = np.minimum(np.searchsorted(ascending, ids), len(ascending) - 1)
    return np.asarray(ascending[place] == ids)


def _beta_quantile(p: float, a: float, b: float) -> float:
    """Find x with I_x(a, b) = p by halving: 60 steps give every bit that is printed."""
    low, high = 0.0, 1.0
    for _ in range(60):
        x = (low + high) / 2
        low, high = (x, high) if _incomplete_beta(x, a, b) < p else (low, x)
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function I_x(a, b): continued fraction DLMF 8.17.22, Lentz's method."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - _incomplete_beta(1 - x, b, a)
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    fraction = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return scale * fraction / a
