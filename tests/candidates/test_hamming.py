"""`hamming_pairs`, `HammingTable` and the similarity that a distance estimates."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from dejalu import candidates, kernels, verify
from dejalu.errors import FloodError, UsageError


@pytest.fixture
def prints():
    rng = np.random.default_rng(0)
    some = rng.integers(0, 2**64, 3000, np.uint64)
    return np.concatenate((some, some[:40], some[:40] ^ np.uint64(0b111)))


def test_pairs(prints):
    table = candidates.hamming_pairs(prints, 3)
    assert table.schema == pa.schema({"a": pa.int64(), "b": pa.int64(), "distance": pa.int32()})
    expected = sorted([(i, 3000 + i, 0) for i in range(40)] + [(i, 3040 + i, 3) for i in range(40)])
    expected = sorted(expected + [(3000 + i, 3040 + i, 3) for i in range(40)])
    assert list(zip(*table.to_pydict().values(), strict=True)) == expected
    assert candidates.hamming_pairs(prints, 3, threads=1).equals(table)
    assert candidates.hamming_pairs(pa.chunked_array([prints[:9], prints[9:]]), 3).equals(table)
    assert candidates.hamming_pairs(prints.tolist(), 3).equals(table)
    only = np.arange(len(prints), dtype=np.uint64) % np.uint64(20)
    assert len(candidates.hamming_pairs(prints, 3, only=only)) == 120
    assert len(candidates.hamming_pairs(prints, 3, only=np.arange(len(prints), dtype=np.uint64))) == 0


def test_a_table_keeps_its_own_fingerprints():
    """Also where it scans: the caller may write over what it gave."""
    given = np.array([1, 2, 1 << 60], np.uint64)
    for k in (1, 9):
        table = candidates.HammingTable(given.copy(), k)
        other = given.copy()
        scanned = candidates.HammingTable(other, k)
        other[:] = 0
        assert scanned.query(given, k=0).equals(table.query(given, k=0))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p: candidates.hamming_pairs(pa.array([1, None], pa.uint64()), 1), "null"),
        (lambda p: candidates.hamming_pairs(np.ma.masked_array(p, p > 5), 1), "masked"),
        (lambda p: candidates.hamming_pairs(p, 1, only=[1, 2]), "one value for each"),
        (lambda p: candidates.hamming_pairs(p, 1, only=["x"] * len(p)), "only: must be whole numbers"),
        (lambda p: candidates.hamming_pairs(p, 1, max_pairs="x"), "max_pairs='x'"),
        (lambda p: candidates.HammingTable(p, 1).query(p, max_pairs=-1), "max_pairs=-1"),
    ],
)
def test_wrong_arguments_are_told(prints, call, said):
    with pytest.raises(UsageError, match=said):
        call(prints)


def test_only_takes_what_an_array_is_made_of(prints):
    only = (np.arange(len(prints)) % 20).tolist()
    assert len(candidates.hamming_pairs(prints, 3, only=only)) == 120
    assert len(candidates.hamming_pairs(prints, 3, only=np.array(only))) == 120


def test_pairs_of_128_bits_and_of_none(prints):
    wide = np.stack([prints, prints[::-1]], axis=1)
    assert len(candidates.hamming_pairs(wide, 3)) == 0
    assert len(candidates.hamming_pairs(np.stack([prints, prints], axis=1), 6)) == 120
    for none in ([], np.zeros((0, 2), np.uint64), np.zeros(0, np.uint64)):
        assert len(candidates.hamming_pairs(none, 3)) == 0
        assert len(candidates.HammingTable(none, 3).query(none)) == 0
    assert len(candidates.hamming_pairs(np.zeros(70, np.uint64), 10**9)) == 35 * 69


def test_table(prints):
    table = candidates.HammingTable(prints, 3, threads=2)
    assert len(table) == len(prints) and table.tables > 1
    found = table.query(prints[:2])
    assert found.column("a").to_pylist() == [0, 0, 0, 1, 1, 1]
    assert found.column("b").to_pylist() == [0, 3000, 3040, 1, 3001, 3041]
    assert found.column("distance").to_pylist() == [0, 0, 3, 0, 0, 3]
    assert table.query(prints[:2], k=2).column("b").to_pylist() == [0, 3000, 1, 3001]
    scan = candidates.HammingTable(prints, 20)
    assert scan.tables == 0
    assert scan.query(prints[:2], k=3).equals(found)


def test_floods(prints):
    with pytest.raises(FloodError, match="max_pairs=100 "):
        candidates.hamming_pairs(np.zeros(1000, np.uint64), 3, max_pairs=100)
    assert len(candidates.hamming_pairs(prints, 3, max_pairs=120)) == 120
    with pytest.raises(FloodError, match="max_pairs=5 "):
        candidates.HammingTable(prints, 3).query(prints, max_pairs=5)


@pytest.mark.parametrize(
    ("wrong", "k", "message"),
    [
        ([1.5, 2.5], 3, "whole numbers"),
        ([-1, 2], 3, "2\\^64"),
        ([2**64], 3, "2\\^64"),
        (np.zeros((3, 3), np.uint64), 3, "shape"),
        (["a"], 3, "whole numbers"),
        ([1, 2], -1, "k=-1"),
        ([1, 2], 1.0, "k=1.0"),
        ([1, 2], True, "k=True"),
    ],
)
def test_arguments(wrong, k, message):
    for call in (candidates.hamming_pairs, candidates.HammingTable):
        with pytest.raises(UsageError, match=message):
            call(wrong, k)


def test_more_arguments(prints):
    with pytest.raises(UsageError, match="threads"):
        candidates.hamming_pairs(prints, 3, threads=-1)
    with pytest.raises(UsageError, match="only"):
        candidates.hamming_pairs(prints, 3, only=prints[1:])
    table = candidates.HammingTable(prints, 3)
    with pytest.raises(UsageError, match="as many bits"):
        table.query(np.zeros((2, 2), np.uint64))
    with pytest.raises(UsageError, match="up to 3"):
        table.query(prints, k=4)


def test_small_sets_and_great_distances_are_scanned():
    rng = np.random.default_rng(1)
    prints = rng.integers(0, 2**64, 1_000_000, np.uint64)
    assert kernels.hamming_plan(prints[:60], 3).scans
    assert kernels.hamming_plan(prints, 9).scans
    assert len(kernels.hamming_plan(prints, 3).masks) == 4
    # a crowd that agrees in a block asks for finer ones
    crowd = prints & np.uint64(0xFFFFFFFFFFFF0000)
    assert len(kernels.hamming_plan(crowd, 3).masks) > 4


def test_similarity():
    for bits in (64, 128):
        found = verify.simhash_similarity(np.arange(bits + 1), bits)
        wanted = [max(0.0, math.cos(math.pi * d / bits)) for d in range(bits + 1)]
        assert np.abs(found - wanted).max() <= 5.1e-7
        assert found[0] == 1.0 and not found[bits // 2 :].any()
        assert (np.diff(found[: bits // 2 + 1]) < 0).all()
    assert verify.simhash_similarity(np.array([3, 3, 0], np.int32), 64).tolist() == [0.989177, 0.989177, 1.0]


def test_bug_059_unrelated_texts_are_worth_nothing():
    assert verify.simhash_similarity(np.array([32, 40]), 64).tolist() == [0.0, 0.0]
