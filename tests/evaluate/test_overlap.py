"""The overlap kernel against its plain-Python twin, and its refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dejalu.kernels.evaluate import overlap_join, overlap_table
from dejalu.kernels.reference.overlap import overlap_join as twin

# Few distinct values make many overlaps; the large ones collide in the table's slots.
value = st.one_of(st.integers(0, 12), st.sampled_from([2**64 - 1, 2**63, 2**40, 2**40 * 3]))
collections = st.lists(st.frozensets(value, max_size=10), max_size=12)


def ragged(sets):
    return (
        np.array([v for s in sets for v in sorted(s)], np.uint64),
        np.cumsum([0, *map(len, sets)]).astype(np.int64),
    )


@given(collections, collections, st.sampled_from([0.05, 1 / 3, 0.5, 2 / 3, 0.8, 1.0]))
def test_native_equals_twin(samples, docs, threshold):
    found = overlap_join(overlap_table(*ragged(samples)), *ragged(docs), threshold=threshold)
    assert list(zip(*(c.tolist() for c in found), strict=True)) == twin(samples, docs, threshold=threshold)


def test_offsets_may_begin_anywhere():
    values, offsets = ragged([{1, 2}, {3, 4}, {3, 4}])
    found = overlap_join(overlap_table(values, offsets[1 : 2 + 1]), values, offsets[1:].copy(), threshold=0.5)
    assert [c.tolist() for c in found] == [[0, 1], [0, 0], [1.0, 1.0]]


def test_bad_arrays_are_errors():
    values, offsets = ragged([{1, 2}, {3}])
    table = overlap_table(values, offsets)
    with pytest.raises(ValueError, match=r"0\.\.3"):
        overlap_table(values, np.array([0, 4]))
    with pytest.raises(ValueError, match="must not fall"):
        overlap_join(table, values, np.array([0, 2, 1]), threshold=0.5)
    with pytest.raises(ValueError, match="none"):
        overlap_join(table, values, np.zeros(0, np.int64), threshold=0.5)
    for damaged in (
        table._replace(posting=table.posting + np.uint32(5)),
        table._replace(slot_ref=table.slot_ref[:-1]),
        table._replace(slot_ref=np.ones_like(table.slot_ref)),
        table._replace(starts=table.starts[::-1].copy()),
        table._replace(slot_ref=table.slot_ref * np.uint32(9)),
    ):
        with pytest.raises(ValueError, match="table"):
            overlap_join(damaged, values, offsets, threshold=0.5)
    with pytest.raises(TypeError):
        overlap_table(values.astype(np.int64), offsets)
