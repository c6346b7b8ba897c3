"""Estimators against theory, reduced: bench/estimators.py has the full table (10,000 pairs a line)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "bench" / "estimators.py"


def bench():
    """Read the benchmark by its path: the folder is no package."""
    if "bench_estimators" not in sys.modules:
        spec = importlib.util.spec_from_file_location("bench_estimators", PATH)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = loaded
        spec.loader.exec_module(loaded)
    return sys.modules["bench_estimators"]


@pytest.mark.parametrize("similarity", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("sketch", list(bench().sketches()))
def test_bias_and_variance(sketch, similarity):
    row = bench().measure(sketch, similarity, 1500)
    assert abs(row.bias) < 4
    assert row.variance <= 1.1 + 3 * (2 / 1500) ** 0.5
    if row.stated is not None:
        assert 0.9 < row.stated < 1.1


def test_the_full_figures_are_asked_for_in_the_words_of_the_claim():
    passes = bench().Row("any", 0.5, 10_000, 2.9, 1.1, None)
    assert passes.passes
    assert not bench().Row("any", 0.5, 10_000, 3.1, 1.0, None).passes
    assert not bench().Row("any", 0.5, 10_000, 0.0, 1.11, None).passes
    assert set(bench().SIMILARITIES) >= {0.1, 0.95}
