"""Keep order: who is kept when texts repeat."""

from __future__ import annotations

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest

from dejalu.candidates import equal as equal_labels
from dejalu.cluster import copies, keep_rank
from dejalu.errors import UsageError


def order(rank):
    """Documents from best to worst."""
    return np.argsort(rank).tolist()


def test_first_and_last():
    assert keep_rank(4, "first") is None  # input order
    assert order(keep_rank(4, "last")) == [3, 2, 1, 0]


def test_longest_with_ties_by_input_order():
    assert order(keep_rank(4, "longest", sizes=np.array([5, 9, 9, 1]))) == [1, 2, 0, 3]


@pytest.mark.parametrize(
    ("values", "most", "least"),
    [
        (pa.array([3, None, 10, 3]), [2, 0, 3, 1], [0, 3, 2, 1]),
        (pa.array([2**63 - 1, 2**63 - 2, None, 0]), [0, 1, 3, 2], [3, 1, 0, 2]),
        (pa.array([0.5, float("nan"), 0.25, None]), [0, 2, 1, 3], [2, 0, 1, 3]),
        (pa.array(["b", "a", None, "c"]), [3, 0, 1, 2], [1, 0, 3, 2]),
        (pa.array(["9", "10", None, "-1"]), [1, 0, 3, 2], [3, 0, 1, 2]),
        (pa.array([dt.date(2020, 1, 2), None, dt.date(2021, 1, 1), dt.date(1999, 1, 1)]), [2, 0, 3, 1], [3, 0, 2, 1]),
        (pa.array([decimal.Decimal("1.5"), decimal.Decimal("2.5"), None, None]), [1, 0, 2, 3], [0, 1, 2, 3]),
        (pa.array(["x", "y", "x", None]).dictionary_encode(), [1, 0, 2, 3], [0, 2, 1, 3]),
        (pa.nulls(4), [0, 1, 2, 3], [0, 1, 2, 3]),
        (pa.array([True, False, None, True]), [0, 3, 1, 2], [1, 0, 3, 2]),
    ],
)
def test_max_and_min_put_nulls_last(values, most, least):
    assert order(keep_rank(4, "max:c", values=values)) == most
    assert order(keep_rank(4, "min:c", values=values)) == least


def test_prefer_comes_before_the_keep_rule():
    sources = pa.array(["web", "wiki", None, "books"])
    ranked = keep_rank(4, "last", sources=sources, prefer=("wiki", "books"))
    assert order(ranked) == [1, 3, 2, 0]


def test_a_column_that_cannot_be_ordered_is_named():
    with pytest.raises(UsageError, match="'meta'"):
        keep_rank(1, "max:meta", values=pa.array([{"a": 1}]))


def test_representatives_are_the_best_of_their_group():
    equal = np.array([[1, 7], [2, 7], [1, 7], [0, 0], [0, 0], [2, 7], [3, 9]], np.uint64)
    skip = np.array([0, 0, 0, 1, 1, 0, 0], np.uint8)
    label = equal_labels(7, lambda: [tuple(part.T.copy()) for part in (equal[:4], equal[4:])], skip=skip)
    assert label.tolist() == [0, 1, 0, 3, 4, 1, 6]
    last = copies(label, keep_rank(7, "last"))
    assert (last.place.tolist(), last.rep.tolist()) == ([0, 1], [2, 5])
    first = copies(label, None)
    assert (first.place.tolist(), first.rep.tolist()) == ([2, 5], [0, 1])
    assert copies(label[:2], np.arange(2)).place.tolist() == []
