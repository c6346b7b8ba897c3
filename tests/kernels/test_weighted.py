"""Document frequencies, weights, weighted sketches and settling: against their twins, and at their borders."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_cases import arrow, raw_texts

from dejalu import kernels
from dejalu.data import SpecMismatch
from dejalu.errors import DamagedInput, OutputError, UsageError
from dejalu.kernels.reference import frequencies as twin
from dejalu.kernels.reference import shingles, weighted
from dejalu.represent import Frequencies, idf

hashes = st.integers(0, 2**64 - 1) | st.integers(0, 30)
weight = st.sampled_from([0, 1, 1024, 2**32 - 1]) | st.integers(0, 1 << 15)


def sets_of(sets):
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    return np.array([v for s in sets for v in sorted(s)], np.uint64), offsets


def table_of(weights):
    features = np.array(list(weights), np.uint64)
    return kernels.weight_table(features, np.array(list(weights.values()), np.uint32))


@given(st.lists(st.sets(hashes, max_size=30), max_size=12), st.integers(1, 4))
def test_counting_and_merging_are_the_twins(sets, parts):
    expected = twin.count(sets)
    features, documents = kernels.count_features(*sets_of(sets))
    assert dict(zip(features.tolist(), documents.tolist(), strict=True)) == expected
    assert features.tolist() == list(expected)
    pieces = [sets[i::parts] for i in range(parts)]
    merged = kernels.merge_counts([kernels.count_features(*sets_of(p)) for p in pieces])
    assert [m.tolist() for m in merged] == [features.tolist(), documents.tolist()]
    assert dict(zip(*(m.tolist() for m in merged), strict=True)) == twin.merge(twin.count(p) for p in pieces)


def test_counting_many():
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2**64, 60_000, dtype=np.uint64)[rng.integers(0, 60_000, 200_000)]
    features, documents = kernels.count_features(values, np.arange(0, 200_001, 200))
    expected, counts = np.unique(values, return_counts=True)
    np.testing.assert_array_equal(features, expected)
    np.testing.assert_array_equal(documents, counts)
    part = kernels.count_features(values, np.array([50_000, 60_000]))  # offsets need not begin at 0
    np.testing.assert_array_equal(part[0], np.unique(values[50_000:60_000]))


def test_wrong_counts():
    with pytest.raises(ValueError, match="ascend"):
        kernels.merge_counts([(np.array([2, 1], np.uint64), np.array([1, 1]))])
    with pytest.raises(ValueError, match="length"):
        kernels.merge_counts([(np.array([2], np.uint64), np.array([1, 1]))])
    with pytest.raises(ValueError, match="offsets"):
        kernels.count_features(np.zeros(1, np.uint64), np.array([0, 2]))
    assert [m.tolist() for m in kernels.merge_counts([])] == [[], []]


@given(st.integers(1, 2**64 - 1))
def test_the_logarithm_is_a_logarithm(x):
    assert abs(twin.fixed_log2(x) / 2**48 - math.log2(Fraction(x))) < 5e-8


def test_the_table_of_logarithms_is_true_to_its_last_bits():
    found = twin.table()
    getcontext().prec = 40
    ln2 = Decimal(2).ln()
    for i, v in enumerate(found):
        assert 0 <= (1 + Decimal(i) / 2048).ln() / ln2 * 2**48 - v < 1


@given(st.lists(st.integers(0, 2**40), max_size=20), st.integers(0, 2**40))
def test_idf(documents, more):
    n = max(documents, default=0) + more
    found = kernels.idf(np.array(documents, np.int64), n).tolist()
    assert found == [twin.idf(d, n) for d in documents]
    for d, w in zip(documents, found, strict=True):
        assert abs(w - 1024 * (math.log((1 + n) / (1 + d)) + 1)) < 0.501
    with pytest.raises(ValueError, match="documents"):
        kernels.idf(np.array([n + 1]), n)


@given(st.dictionaries(hashes, weight, max_size=60), st.lists(hashes, max_size=20), weight)
def test_weight_table(weights, others, unseen):
    keys, values = table_of(weights)
    assert (keys.tolist(), values.tolist()) == twin.weight_table(weights)
    asked = [*weights, *others]
    found = kernels.feature_weights(np.array(asked, np.uint64), keys, values, unseen).tolist()
    assert found == [weights.get(v, unseen) if v else unseen for v in asked]


def test_a_table_that_is_none():
    values = np.zeros(3, np.uint64)
    for keys, weights in ((3, 3), (4, 8), (1, 1), (0, 0)):
        with pytest.raises(ValueError, match="weight_table"):
            kernels.feature_weights(values, np.zeros(keys, np.uint64), np.zeros(weights, np.uint32), 1)
    full = np.arange(1, 5, dtype=np.uint64)  # no free slot: still an end
    assert kernels.feature_weights(np.array([9, 3], np.uint64), full, np.ones(4, np.uint32), 7)[0] == 7


@settings(max_examples=60)
@given(st.lists(raw_texts, min_size=1, max_size=3), st.sampled_from([1, 2, 5]), st.sampled_from([0, 1]), st.booleans())
def test_feature_counts(raws, width, unit, unspaced):
    values, counts, offsets = kernels.feature_counts(*arrow(raws), shingle=width, unit=unit, unspaced=unspaced)
    for i, raw in enumerate(raws):
        made = shingles.shingles(shingles.units(raw, unit=("word", "char")[unit], unspaced=unspaced), width)
        expected = sorted({v: made.count(v) for v in set(made)}.items())
        cut = slice(offsets[i], offsets[i + 1])
        assert list(zip(values[cut].tolist(), counts[cut].tolist(), strict=True)) == expected


@settings(max_examples=60)
@given(
    st.lists(raw_texts, min_size=1, max_size=3), st.sampled_from([1, 3]), st.sampled_from([0, 1]),
    st.sampled_from([1, 2, 7, 64, 130]), st.lists(weight, min_size=7, max_size=7), weight,
)
def test_weighted_sketch_is_the_twin(raws, width, unit, slots, some, unseen):
    made = [shingles.shingles(shingles.units(r, unit=("word", "char")[unit]), width) for r in raws]
    weights = dict(zip(sorted({v for m in made for v in m})[::2], some * 9999, strict=False))
    keys, values = table_of(weights)
    signatures, tokens = kernels.weighted_sketch(
        *arrow(raws), shingle=width, unit=unit, slots=slots, keys=keys, weights=values, unseen=unseen
    )
    for i, m in enumerate(made):
        own = {v: weights.get(v, unseen) for v in dict.fromkeys(m)}
        assert signatures[i].tolist() == weighted.signature(own, slots)
    np.testing.assert_array_equal(tokens, kernels.sketch(*arrow(raws), shingle=width, unit=unit, slots=0)[2])


def test_weighted_sketch_arguments():
    keys, values = table_of({5: 1})
    raw = arrow([b"a b", b"", b" ... "])
    signatures, tokens = kernels.weighted_sketch(
        *raw, shingle=1, slots=16, keys=keys, weights=values, unseen=3
    )
    assert tokens.tolist() == [2, 0, 0] and (signatures[1:] == 0xFFFFFFFF).all()
    nothing, _ = kernels.weighted_sketch(*raw, shingle=1, slots=16, keys=keys, weights=values, unseen=0)
    assert (nothing == 0xFFFFFFFF).all()
    for wrong in ({"slots": 0}, {"slots": 1 << 21}, {"shingle": 0}, {"unit": 2}, {"keys": keys[:1]}):
        how = {"shingle": 1, "slots": 16, "keys": keys, "weights": values, "unseen": 3} | wrong
        with pytest.raises(ValueError):
            kernels.weighted_sketch(*raw, **how)


def test_a_signature_depends_on_the_set_alone():
    keys, values = table_of({})
    texts = [b"alpha beta gamma delta", b"delta gamma beta alpha beta", b"GAMMA delta; alpha beta"]
    signatures, _ = kernels.weighted_sketch(*arrow(texts), shingle=1, slots=128, keys=keys, weights=values, unseen=9)
    assert (signatures == signatures[0]).all()


@given(
    st.lists(st.sets(st.integers(1, 30), max_size=12), min_size=1, max_size=6),
    st.lists(weight, min_size=30, max_size=30),
)
def test_weighted_jaccard(sets, some):
    weights = dict(enumerate(some, 1))
    keys, values = table_of({v: w for v, w in weights.items() if v % 3})
    weights |= {v: 77 for v in weights if v % 3 == 0}
    a, b = (g.ravel().copy() for g in np.mgrid[: len(sets), : len(sets)])
    found = kernels.weighted_jaccard(a, b, *sets_of(sets), keys, values, 77)
    assert found.tolist() == [weighted.jaccard(sets[i], sets[j], weights) for i, j in zip(a, b, strict=True)]


@st.composite
def worlds(draw):
    n = draw(st.integers(1, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    keys = rng.integers(0, draw(st.sampled_from([1, 2, 5])), (n, 4)).astype(np.uint64) + np.arange(4, dtype=np.uint64)
    packed = rng.integers(0, draw(st.sampled_from([1, 2])), (n, 16)).astype(np.uint8)
    vocabulary = draw(st.sampled_from([3, 12, 60]))
    sets = [np.unique(rng.integers(0, vocabulary, rng.integers(0, 40))) for _ in range(n)]
    return keys, packed, sets, rng.integers(0, draw(st.sampled_from([2, 5, 2**32])), vocabulary)


@given(worlds(), st.sampled_from([0.1, 0.5, 2 / 3, 0.8, 1.0]), st.integers(0, 12), st.sampled_from([0, 256]), st.data())
@settings(max_examples=300, deadline=None)
def test_settling_is_the_twin(world, threshold, min_matches, small, data):
    keys, packed, sets, weights = world
    cut = data.draw(st.integers(0, len(keys)))
    values, offsets = sets_of(sets)
    twins, similarity = kernels.settle_weighted(
        np.array([0, cut, len(keys)]), keys, packed, values, offsets,
        weights[values.astype(np.int64)].astype(np.uint32), threshold=threshold, min_matches=min_matches, small=small,
    )
    table = dict(enumerate(weights.tolist()))
    for a, b in ((0, cut), (cut, len(keys))):
        expected, shares = weighted.settle(
            keys[a:b].tolist(), [p.tobytes() for p in packed[a:b]], [s.tolist() for s in sets[a:b]], table,
            threshold=threshold, min_matches=min_matches,
        )
        assert [t - a if t >= 0 else t for t in twins[a:b].tolist()] == expected
        assert similarity[a:b].tolist() == shares


def test_settling_arguments():
    good = {
        "groups": np.array([0, 2]), "keys": np.zeros((2, 1), np.uint64), "packed": np.zeros((2, 4), np.uint8),
        "set_values": np.array([1, 1], np.uint64), "set_offsets": np.array([0, 1, 2]),
        "element_weights": np.ones(2, np.uint32), "threshold": 0.5, "min_matches": 0,
    }
    assert kernels.settle_weighted(**good)[0].tolist() == [-1, 0]
    for wrong in (
        {"groups": np.array([0, 1])}, {"groups": np.array([0, 2, 1, 2])}, {"packed": np.zeros((1, 4), np.uint8)},
        {"set_offsets": np.array([0, 1])}, {"element_weights": np.ones(1, np.uint32)}, {"threshold": 0.0},
        {"threshold": 1.5}, {"set_offsets": np.array([0, 1, 3])},
    ):
        with pytest.raises(ValueError):
            kernels.settle_weighted(**(good | wrong))


def test_bug_038_each_measure_by_its_name():
    texts = ["apple " * 40 + "banana " * 2, "apple " * 2 + "banana " * 40]
    raw = arrow([t.encode() for t in texts])
    values, counts, offsets = kernels.feature_counts(*raw, shingle=1)
    x, y = (counts[a:b].astype(int) for a, b in ((offsets[0], offsets[1]), (offsets[1], offsets[2])))
    assert values[:2].tolist() == values[2:].tolist()
    assert np.minimum(x, y).sum() / np.maximum(x, y).sum() == 0.05
    assert round(float(x @ y / np.sqrt(x @ x * (y @ y))), 4) == 0.0998
    keys, weights = kernels.weight_table(values[:2], np.array([5, 1000], np.uint32))
    sets = kernels.shingle_sets(*raw, shingle=1)
    assert kernels.weighted_jaccard(np.array([0]), np.array([1]), *sets, keys, weights, 1).tolist() == [1.0]


def counted(texts, spec="word-1"):
    return Frequencies.count(kernels.shingle_sets(*arrow(texts), shingle=1), spec)


def test_frequencies_of_parts_are_those_of_the_whole():
    texts = [b"a b c", b"a b", b"", b"a z", b"q"]
    whole = counted(texts)
    parts = counted(texts[:2]).add(counted(texts[2:4]), counted(texts[4:]))
    np.testing.assert_array_equal(whole.features, parts.features)
    np.testing.assert_array_equal(whole.documents, parts.documents)
    assert whole.n == parts.n == 4 and whole.fingerprint() == parts.fingerprint()
    assert sorted(whole.documents.tolist()) == [1, 1, 1, 2, 3]
    features, weights, unseen = idf(whole)
    assert len(features) == 2
    expected = [round(1024 * (math.log(5 / (1 + d)) + 1)) for d in (2, 3, 1)]
    assert [*sorted(weights.tolist()), unseen] == [*sorted(expected[:2]), expected[2]]
    with pytest.raises(SpecMismatch, match="char-3"):
        whole.add(counted(texts, "char-3"))


def test_frequencies_are_kept_in_a_file(tmp_path):
    found = counted([b"a b c", b"a b", b"a"])
    path = tmp_path / "frequencies.parquet"
    found.save(path)
    back = Frequencies.load(path)
    assert back.documents.tolist() == [d for d in found.documents.tolist() if d > 1]
    assert (back.n, back.spec, back.fingerprint()) == (3, "word-1", found.fingerprint())
    assert [a.tolist() for a in idf(back)[:2]] == [a.tolist() for a in idf(found)[:2]]
    again = tmp_path / "again.parquet"
    counted([b"a", b"b a", b"c a b"]).save(again)
    assert again.read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.parquet", "frequencies.parquet"]
    empty = tmp_path / "empty.parquet"
    counted([]).save(empty)
    assert Frequencies.load(empty).n == 0 and idf(Frequencies.load(empty))[2] == 1024


def test_files_that_hold_no_frequencies(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pytest.raises(UsageError, match="cannot be read"):
        Frequencies.load(tmp_path / "nowhere.parquet")
    (tmp_path / "text.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(UsageError, match="cannot be read"):
        Frequencies.load(tmp_path / "text.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(UsageError, match="no document frequencies"):
        Frequencies.load(tmp_path / "other.parquet")
    table = counted([b"a b", b"a b"]).to_table()
    wrong = table.set_column(1, "documents", pa.array([2, 3])).replace_schema_metadata(table.schema.metadata)
    pq.write_table(wrong, tmp_path / "changed.parquet")
    with pytest.raises(DamagedInput, match="checksum"):
        Frequencies.load(tmp_path / "changed.parquet")
    with pytest.raises(OutputError, match="folder"):
        counted([b"a"]).save(tmp_path / "no" / "folder.parquet")
