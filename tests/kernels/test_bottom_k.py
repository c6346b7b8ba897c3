"""Bottom-k and scaled sketches: against their twins, at their borders, and the faults seen in other tools."""

from __future__ import annotations

import math
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_cases import arrow, grouped, raw_texts

from dejalu import kernels
from dejalu.data import SpecMismatch
from dejalu.errors import DamagedInput, UsageError
from dejalu.kernels.reference import bottom_k as twin
from dejalu.kernels.reference import shingles
from dejalu.represent import BottomK
from dejalu.sketching import bottom_k

texts = st.lists(raw_texts, min_size=1, max_size=3)
PLAIN = {"shingle": 1}


def sketches(sets, k):
    """Sketches of sets of integers that are taken for hashes."""
    kept = [twin.bottom_k(s, k) for s in sets]
    offsets = np.cumsum([0, *map(len, kept)], dtype=np.int64)
    return np.array([v for s in kept for v in s], np.uint64), offsets, np.array([len(set(s)) for s in sets], np.int64)


@settings(max_examples=60)
@given(
    texts, st.sampled_from([1, 2, 5, 9]), st.sampled_from([0, 1]), st.booleans(),
    st.sampled_from([1, 2, 20, 128, 5000]), st.sampled_from([1, 2, 3, 100, 1 << 40]),
)
def test_sketches_are_the_twins(raws, width, unit, unspaced, k, s):
    sets = [shingles.shingle_set(r, shingle=width, unit=("word", "char")[unit], unspaced=unspaced) for r in raws]
    how = {"shingle": width, "unit": unit, "unspaced": unspaced}
    for mode, small in (({"k": k}, lambda x: twin.bottom_k(x, k)), ({"scaled": s}, lambda x: twin.scaled(x, s))):
        values, offsets, sizes = kernels.bottom_k(*arrow(raws), **how, **mode)
        assert grouped(values.tolist(), offsets) == [small(x) for x in sets]
        assert sizes.tolist() == [len(x) for x in sets]


@pytest.mark.parametrize("count", [1, 15, 16, 17, 33, 300, 8192, 8193, 20_000])
@pytest.mark.parametrize("repeats", [1, 7])
def test_counts_and_cuts_at_every_size(count, repeats):
    rng = np.random.default_rng(count)
    words = [b"%x" % w for w in rng.integers(0, 1 << 60, count // repeats + 1)]
    text = b" ".join(words[i] for i in rng.integers(0, len(words), count)) if repeats > 1 else b" ".join(words[:count])
    full, _ = kernels.shingle_sets(*arrow([text]), **PLAIN)
    for k in (1, 2, len(full) // 2 + 1, len(full), len(full) + 1):
        values, _, sizes = kernels.bottom_k(*arrow([text]), **PLAIN, k=k)
        assert sizes[0] == len(full)
        np.testing.assert_array_equal(values, full[:k])
    for s in (1, 3, 50):
        values, _, sizes = kernels.bottom_k(*arrow([text]), **PLAIN, scaled=s)
        assert sizes[0] == len(full)
        np.testing.assert_array_equal(values, full[full <= np.uint64(((1 << 64) - 1) // s)])


def test_arguments():
    raw = arrow([b"a b c"])
    for wrong in ({}, {"k": 3, "scaled": 2}, {"k": -1}):
        with pytest.raises(ValueError, match="k, scaled"):
            kernels.bottom_k(*raw, **PLAIN, **wrong)
    with pytest.raises(ValueError, match="shingle"):
        kernels.bottom_k(*raw, shingle=0, k=1)
    found = kernels.bottom_k(*raw, **PLAIN, k=3)
    with pytest.raises(ValueError, match="no such"):
        kernels.shared_values(np.array([1]), np.array([0]), found)
    with pytest.raises(ValueError, match="same length"):
        kernels.shared_values(np.array([0]), np.array([0, 0]), found)
    with pytest.raises(ValueError, match="most"):
        kernels.shared_values(np.array([0]), np.array([0]), found, most=0)


_sets = st.sets(st.integers(0, 60), max_size=40)


@given(st.lists(_sets, min_size=2, max_size=4), st.integers(1, 30), st.integers(1, 50))
def test_estimates_are_the_twins(sets, k, s):
    sets = [{v << 58 | v for v in x} for x in sets]
    a, b = (g.ravel().copy() for g in np.mgrid[: len(sets), : len(sets)])
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    held = sketches(sets, k)
    small = [twin.bottom_k(x, k) for x in sets]
    found = zip(*kernels.bottom_k_jaccard(a, b, held, k=k), strict=True)
    assert list(found) == [
        twin.bottom_k_jaccard(small[i], small[j], (len(sets[i]), len(sets[j])), k) for i, j in pairs
    ]
    kept = [twin.scaled(x, s) for x in sets]
    held = (
        np.array([v for x in kept for v in x], np.uint64),
        np.cumsum([0, *map(len, kept)], dtype=np.int64),
        np.array([len(x) for x in sets], np.int64),
    )
    found = zip(*kernels.scaled_jaccard(a, b, held, scaled=s), strict=True)
    assert list(found) == [twin.scaled_jaccard(kept[i], kept[j], (len(sets[i]), len(sets[j])), s) for i, j in pairs]
    found = zip(*kernels.scaled_containment(a, b, held, scaled=s), strict=True)
    assert list(found) == [twin.scaled_containment(kept[i], kept[j], len(sets[i]), s) for i, j in pairs]


@given(_sets, _sets)
def test_exact_where_the_sketches_hold_everything(x, y):
    place = (np.array([0]), np.array([1]))
    (estimate,), (error,) = kernels.bottom_k_jaccard(*place, sketches([x, y], 40), k=40)
    assert (estimate, error) == (len(x & y) / len(x | y) if x | y else 0.0, 0.0)
    (estimate,), (error,) = kernels.scaled_jaccard(*place, sketches([x, y], 40), scaled=1)
    assert (estimate, error) == (len(x & y) / len(x | y) if x | y else 0.0, 0.0)
    (estimate,), (error,) = kernels.scaled_containment(*place, sketches([x, y], 40), scaled=1)
    assert (estimate, error) == (len(x & y) / len(x) if x else 0.0, 0.0)


def test_bug_005_containment_of_short_texts():
    words = "alpha beta gamma delta epsilon"
    for how in ({"k": 8}, {"scaled": 1}):
        held = bottom_k([words, words + " zeta", words], **how)
        assert held.sizes.tolist() == [1, 2, 1]
        assert held.jaccard(0, [1, 2])[0].tolist() == [0.5, 1.0]
        assert held.containment(0, 1) == (1.0, 0.0) and held.containment(1, 0) == (0.5, 0.0)


def test_bug_029_the_union_estimator():
    a, b = list(range(1, 40, 2)), [*range(2, 37, 2), 37, 39]
    held = np.array(a + b, np.uint64), np.array([0, 20, 40]), np.array([50, 50])
    for i, j in ((0, 1), (1, 0)):
        (estimate,), _ = kernels.bottom_k_jaccard(np.array([i]), np.array([j]), held, k=20)
        assert estimate == 0.0


def test_texts_that_are_held_whole_are_compared_exactly():
    a, b = list(range(1, 61)), list(range(13, 73))  # 60 each, 48 of both, 72 of either
    held = np.array(a + b, np.uint64), np.array([0, 60, 120]), np.array([60, 60])
    (estimate,), (error,) = kernels.bottom_k_jaccard(np.array([0]), np.array([1]), held, k=60)
    assert (estimate, error) == (48 / 72, 0.0)


def test_bug_031_containment():
    r = random.Random(7)
    vocabulary = [f"v{i:05d}" for i in range(50_000)]
    small = [r.choice(vocabulary) for _ in range(1000)]
    big = [r.choice(vocabulary) for _ in range(9000)] + small + [r.choice(vocabulary) for _ in range(10_000)]
    documents = [" ".join(small), " ".join(big)]
    held = bottom_k(documents, scaled=4, shingle=4)
    assert np.diff(held.offsets)[0] >= 200
    assert held.containment(0, 1)[0] >= 0.98
    assert abs(held.containment(1, 0)[0] - 0.0499) < 0.01
    assert abs(held.jaccard(0, 1)[0] - 0.0499) < 0.01
    assert bottom_k(documents, scaled=1, shingle=4).containment([0, 1], [1, 0])[0].tolist() == [1.0, 997 / 19_997]
    with pytest.raises(UsageError, match="scaled"):
        bottom_k(documents, k=500, shingle=4).containment(0, 1)


def test_a_sketch_of_k_that_holds_both_texts_tells_containment():
    held = bottom_k(["a b c", "a b c d", "", "z"], shingle=1)
    estimate, error = held.containment([0, 1, 2, 0], [1, 0, 0, 3])
    assert estimate.tolist() == [1.0, 0.75, 0.0, 0.0] and not error.any()


def test_scalars_arrays_and_other_sketches():
    held = bottom_k(["a b c", "a b d", ""], k=8, shingle=1)
    other = bottom_k(["a b c d"], k=8, shingle=1)
    assert len(held) == 3
    assert held.jaccard(0, 1) == (0.5, 0.0)
    estimate, error = held.jaccard([[0], [1]], [0, 1])
    assert estimate.tolist() == [[1.0, 0.5], [0.5, 1.0]] and error.shape == (2, 2)
    assert held.jaccard([0, 2], 0, other)[0].tolist() == [0.75, 0.0]
    assert held.jaccard(2, 2) == (0.0, 0.0)
    for places in ((0, 3), (-1, 0), (0, [0, 9])):
        with pytest.raises(UsageError, match="3 texts"):
            held.jaccard(*places)
    for wrong in ({"k": 9, "shingle": 1}, {"k": 8}, {"k": 8, "shingle": 1, "unit": "char"}, {"scaled": 8}):
        with pytest.raises(SpecMismatch, match="spec"):
            held.jaccard(0, 0, bottom_k(["a b c d"], **wrong))


def test_standard_error_of_nothing():
    held = bottom_k(["one two three"], scaled=1 << 40, shingle=1)
    assert held.jaccard(0, 0) == (0.0, math.inf) and held.containment(0, 0) == (0.0, math.inf)


@pytest.mark.parametrize("mode", [{"k": 3}, {"scaled": 2}])
def test_tables(mode):
    held = bottom_k(["a b c d e f", "", "a b", "x y z " * 9], shingle=1, **mode)
    table = held.to_table()
    assert table.schema.field("sketch").type == pa.list_(pa.uint64())
    back = BottomK.from_table(pa.concat_tables([table.slice(0, 1), table.slice(1)]))
    for name in ("values", "offsets", "sizes"):
        np.testing.assert_array_equal(getattr(back, name), getattr(held, name))
    assert (back.k, back.scaled, back.spec) == (held.k, held.scaled, held.spec)
    assert back.jaccard(0, 2, held) == held.jaccard(0, 2)
    part = BottomK.from_table(table.slice(2, 2))
    assert len(part) == 2 and part.jaccard(0, 0, held) == held.jaccard(2, 0)
    empty = BottomK.from_table(table.slice(0, 0))
    assert len(empty) == 0
    meta = table.schema.metadata
    with pytest.raises(UsageError, match="no sketches"):
        BottomK.from_table(table.replace_schema_metadata(None))
    wrong = table.set_column(1, "shingles", pa.array([1, 0, 1, 1]))
    with pytest.raises(DamagedInput, match="sketch again"):
        BottomK.from_table(wrong.replace_schema_metadata(meta))
    back_to_front = pa.array([s[::-1] for s in table.column(0).to_pylist()], pa.list_(pa.uint64()))
    with pytest.raises(DamagedInput, match="ascending"):
        BottomK.from_table(table.set_column(0, "sketch", back_to_front).replace_schema_metadata(meta))


def test_parameters():
    for wrong, said in (
        ({"k": 0}, "k=0"), ({"k": True}, "k=True"), ({"k": 2.5}, "k=2.5"), ({"scaled": 0}, "scaled=0"),
        ({"k": 4, "scaled": 4}, "one of them"), ({"shingle": 0}, "shingle"), ({"unit": "line"}, "unit"),
    ):
        with pytest.raises(UsageError, match=said):
            bottom_k(["a"], **wrong)


def test_a_segmenter_gives_the_words():
    held = bottom_k(["北京大学", "北京 大学"], shingle=1, segmenter=lambda t: t.split() if " " in t else [t[:2], t[2:]])
    assert held.sizes.tolist() == [2, 2] and held.jaccard(0, 1) == (1.0, 0.0)
    assert held.spec != bottom_k(["a"], shingle=1).spec
