"""The S-curve: bands chosen from threshold and slots alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dejalu.candidates import choose_bands
from dejalu.errors import UsageError


@pytest.mark.parametrize(
    ("threshold", "bands", "rows"), [(0.5, 42, 3), (0.7, 32, 4), (0.8, 21, 6), (0.9, 14, 9), (1.0, 1, 128)]
)
def test_the_designs_bands_for_128_slots(threshold, bands, rows):
    chosen = choose_bands(threshold, 128)
    assert (chosen.bands, chosen.rows) == (bands, rows)


@pytest.mark.parametrize("slots", [16, 64, 128, 200, 256])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.62, 0.8, 0.95, 0.99, 1.0])
def test_recall_at_the_threshold(threshold, slots):
    try:
        chosen = choose_bands(threshold, slots)
    except UsageError:
        assert 1 - (1 - threshold) ** slots < 0.995
        return
    assert chosen.bands * chosen.rows <= slots
    assert chosen.recall(threshold) >= 0.995
    assert chosen.sketch_pass(threshold) >= 0.998
    wider = chosen.rows + 1
    if wider <= slots:
        assert 1 - (1 - threshold**wider) ** (slots // wider) < 0.995


def test_slots_that_cannot_serve_name_those_needed():
    needed = math.ceil(math.log(0.005) / math.log1p(-0.01))
    with pytest.raises(UsageError, match=f"slots={needed} or more"):
        choose_bands(0.01, 128)
    assert choose_bands(0.01, needed).bands == needed
    with pytest.raises(UsageError):
        choose_bands(0.01, needed - 1)


def test_the_sketch_filter_leaves_three_standard_errors():
    for threshold in (0.5, 0.7, 0.8, 0.9):
        chosen = choose_bands(threshold, 128)
        p = threshold + (1 - threshold) / 256
        sigma = math.sqrt(128 * p * (1 - p))
        assert chosen.min_matches <= 128 * p - 3 * sigma


def test_binomial_tail_against_simulation():
    chosen = choose_bands(0.8, 128)
    rng = np.random.default_rng(0)
    p = 0.75 + 0.25 / 256
    simulated = (rng.binomial(128, p, 200_000) >= chosen.min_matches).mean()
    assert abs(simulated - chosen.sketch_pass(0.75)) < 0.005
