"""Measures against the truth, and the exact interval against the binomial sum that defines it."""

import math

import numpy as np
import pytest

from dejalu.data import Pairs
from dejalu.evaluate.metrics import interval, left_together, pair_quality


def pairs(rows):
    a, b, s = (np.array(c) for c in zip(*rows, strict=True)) if rows else (np.zeros(0, np.int64),) * 3
    return Pairs(a, b, np.asarray(s, np.float64))


def test_pair_quality_counts_each_pair_once_in_any_order():
    truth = pairs([(1, 2, 0.9), (3, 4, 0.8), (5, 6, 1.0)])
    found = pairs([(4, 3, 0.8), (2, 1, 0.9 + 1e-12), (2, 1, 0.9 + 1e-12), (7, 8, 0.9)])
    quality = pair_quality(found, truth)
    assert (quality.true, quality.found, quality.right) == (3, 3, 2)
    assert quality.precision == quality.recall == pytest.approx(2 / 3)
    assert 0 < quality.error < 1e-11


def test_pair_quality_of_nothing():
    quality = pair_quality(pairs([]), pairs([]))
    assert (quality.precision, quality.recall, quality.error) == (1.0, 1.0, 0.0)


def test_left_together():
    assert left_together(pairs([(1, 2, 1), (3, 4, 1)]), np.array([2, 9])).tolist() == [False, True]
    assert left_together(pairs([(1, 2, 1)]), np.zeros(0, np.int64)).tolist() == [True]


def tail(hits, trials, p):
    """P(X >= hits) for X ~ Binomial(trials, p)."""
    return math.fsum(math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(hits, trials + 1))


@pytest.mark.parametrize(("hits", "trials"), [(1, 10), (9, 10), (99, 100), (50, 100), (3, 300), (299, 300)])
def test_interval_by_its_definition(hits, trials):
    low, high = interval(hits, trials)
    assert tail(hits, trials, low) == pytest.approx(0.025, abs=1e-6)
    assert 1 - tail(hits + 1, trials, high) == pytest.approx(0.025, abs=1e-6)


def test_interval_at_its_edges():
    assert interval(0, 0) == (0.0, 1.0)
    assert interval(0, 30) == (0.0, pytest.approx(1 - 0.025 ** (1 / 30), abs=1e-9))
    assert interval(30, 30) == (pytest.approx(0.025 ** (1 / 30), abs=1e-9), 1.0)
    assert interval(1e6, 1e6)[0] > 0.999996
    assert interval(2.5, 7.25)[0] < 2.5 / 7.25 < interval(2.5, 7.25)[1]
    with pytest.raises(ValueError, match="hits"):
        interval(3, 2)
