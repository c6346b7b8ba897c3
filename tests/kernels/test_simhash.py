"""SimHash fingerprints against their plain twin, and the cases that other tools got wrong."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_cases import arrow, raw_texts

from dejalu import kernels
from dejalu.kernels.reference import shingles
from dejalu.kernels.reference import simhash as twin

UNITS = ("word", "char")


def rows(prints):
    return prints.tolist() if prints.ndim == 2 else [[p] for p in prints.tolist()]


@given(
    st.lists(raw_texts, max_size=5),
    st.sampled_from([1, 2, 3, 5, 9]),
    st.sampled_from([0, 1]),
    st.sampled_from([64, 128]),
    st.sampled_from([0, 1]),
    st.integers(0, 2**32),
)
@settings(max_examples=150, deadline=None)
def test_fingerprints_are_their_twins(texts, width, unit, bits, weights, seed):
    made = [shingles.shingles(shingles.units(t, unit=UNITS[unit]), width) for t in texts]
    how = {"shingle": width, "unit": unit, "bits": bits, "weights": weights}
    prints, tokens = kernels.simhash(*arrow(texts), **how)
    assert prints.shape == ((len(texts),) if bits == 64 else (len(texts), 2))
    assert rows(prints) == [twin.fingerprint(twin.votes(m, once=weights == 0), bits) for m in made]
    assert tokens.tolist() == kernels.sketch(*arrow(texts), shingle=1, slots=0)[2].tolist()

    rng = np.random.default_rng(seed)
    features = np.unique(np.array([x for m in made for x in m if rng.random() < 0.7], np.uint64))
    most = int(rng.choice([2, 300, 20_000, 2**32]))
    of = rng.integers(0, most, len(features), dtype=np.uint64).astype(np.uint32)
    table = dict(zip(features.tolist(), of.tolist(), strict=True))
    unseen = int(rng.integers(0, most))
    found, _ = kernels.simhash(*arrow(texts), **how, weight_table=(*kernels.weight_table(features, of), unseen))
    wanted = [twin.fingerprint(twin.votes(m, once=weights == 0, weight=table, unseen=unseen), bits) for m in made]
    assert rows(found) == wanted


@pytest.mark.parametrize("n", [0, 1, 7, 8, 63, 64, 65, 511, 512, 513, 1024, 5000])
@pytest.mark.parametrize("spread", [3, 40, 10**6])
def test_any_number_of_features(n, spread):
    rng = np.random.default_rng(n)
    text = b" ".join(b"%d" % i for i in rng.integers(0, spread, n))
    made = shingles.shingles(shingles.units(text), 2)
    for weights in (0, 1):
        found, _ = kernels.simhash(*arrow([text]), shingle=2, bits=128, weights=weights)
        assert rows(found) == [twin.fingerprint(twin.votes(made, once=weights == 0), 128)]


@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 2**64 - 1) | st.integers(0, 7), st.integers(-3, 3) | st.integers(-(2**50), 2**50)),
            max_size=9,
        ),
        max_size=5,
    ),
    st.sampled_from([64, 128]),
)
def test_given_features_are_their_twins(texts, bits):
    values = np.array([x for t in texts for x, _ in t], np.uint64)
    weights = np.array([w for t in texts for _, w in t], np.int64)
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    found = kernels.simhash_features(values, weights, offsets, bits)
    assert rows(found) == [twin.fingerprint(t, bits) for t in texts]


def test_both_ways_give_the_same_fingerprint():
    raw = arrow([b"one two three two one two", b"", b"red red blue"])
    values, counts, offsets = kernels.feature_counts(*raw, shingle=1)
    for bits in (64, 128):
        found = kernels.simhash_features(values, counts.astype(np.int64), offsets, bits)
        assert rows(found) == rows(kernels.simhash(*raw, shingle=1, bits=bits)[0])


def test_arguments():
    raw = arrow([b"a b c"])
    for wrong in ({"bits": 65}, {"bits": 0}, {"weights": 2}, {"shingle": 0}, {"unit": 2}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            kernels.simhash(*raw, **({"shingle": 1} | wrong))
    none = np.zeros(3, np.uint64), np.zeros(3, np.uint32), 1
    with pytest.raises(ValueError, match="weight_table"):
        kernels.simhash(*raw, shingle=1, weight_table=none)
    one, ends = np.ones(1, np.uint64), np.array([0, 1])
    with pytest.raises(ValueError, match="2\\^63"):
        kernels.simhash_features(np.ones(2, np.uint64), np.array([2**62, -(2**62)]), np.array([0, 2]))
    single = np.ones(1, np.int64)
    for weights, offsets in ((np.ones(2, np.int64), ends), (single, np.array([0, 2])), (single, ends[:0])):
        with pytest.raises(ValueError, match=r"weights|offsets"):
            kernels.simhash_features(one, weights, offsets)


def test_bug_058_a_word_repeated_a_hundred_thousand_times():
    raw = arrow([b"go " * 346 + b"stop", b"go " * 100_000 + b"stop", b"go", b"go " * 1_000_000])
    go = kernels.shingle_sets(*arrow([b"go"]), shingle=1)[0].tolist()
    assert kernels.simhash(*raw, shingle=1)[0].tolist() == go * 4
    heavy = (*kernels.weight_table(np.array(go, np.uint64), np.array([2**32 - 1], np.uint32)), 2**32 - 1)
    assert kernels.simhash(*raw, shingle=1, weight_table=heavy)[0].tolist() == go * 4


def test_bug_061_a_sum_of_zero_gives_zero():
    features, weights = np.array([3, 5], np.uint64), np.ones(2, np.int64)
    assert kernels.simhash_features(features, weights, np.array([0, 2])).tolist() == [1]
    assert twin.word([(3, 1), (5, 1)]) == 1


def test_a_text_without_a_token_has_fingerprint_zero():
    raw = arrow([b"", b" \n\t", b"a"])
    for bits in (64, 128):
        prints, tokens = kernels.simhash(*raw, shingle=1, bits=bits)
        assert tokens.tolist() == [0, 0, 1]
        assert not prints[:2].any() and prints[2:].all()


PROGRAM = """
import hashlib, sys
import numpy as np
sys.path.insert(0, {tests!r})
from text_cases import POINTS, BROKEN, arrow
from dejalu import kernels
rng = np.random.default_rng(12)
alphabet = [c.encode("utf-8", "surrogatepass") for c in POINTS] + BROKEN
alphabet += [b"word", b" ", b"Some longer words here ", b"x" * 20] * 9
texts = [b"".join(alphabet[i] for i in rng.integers(0, len(alphabet), n)) for n in [*range(70), 300, 3000]]
texts += [b" ".join(b"%x" % i for i in rng.integers(0, spread, 12_000)) for spread in (40, 9_000, 1 << 60)]
raw = arrow(texts)
h = hashlib.sha256()
def put(arrays):
    for a in arrays: h.update(str(a.dtype).encode() + str(a.shape).encode() + a.tobytes())
for unit in (0, 1):
    for shingle in (1, 3):
        values, offsets = kernels.shingle_sets(*raw, shingle=shingle, unit=unit)
        features, documents = kernels.count_features(values, offsets)
        table = (*kernels.weight_table(features, kernels.idf(documents, len(texts))), 3000)
        for bits in (64, 128):
            for weights in (0, 1):
                for weight_table in (None, table):
                    put(kernels.simhash(*raw, shingle=shingle, unit=unit, bits=bits, weights=weights,
                                        weight_table=weight_table))
for words in (1, 2):
    prints = rng.integers(0, 2**64, (40, words), np.uint64)[rng.integers(0, 40, 3000)]
    for _ in range(12):
        flips = np.uint64(1) << rng.integers(0, 64, 3000).astype(np.uint64)
        prints[np.arange(3000), rng.integers(0, words, 3000)] ^= flips
    for k in (0, 3, 8, 20, 64):
        put(kernels.hamming_pairs(prints, k, most=10**8, threads=2)[:3])
        put(kernels.hamming_settle(prints, k, threads=2))
    scan = kernels.HammingPlan(np.zeros((1, words), np.uint64), 0)
    tables = kernels.hamming_tables(prints, scan, threads=1)
    for n in (1, 70, 3000):
        put(kernels.hamming_query(tables, scan, prints, prints[:n], 10, most=10**8, threads=1)[:3])
print(kernels.isa(), h.hexdigest())
"""


def run(isa: str) -> str:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(tests=here)],
        env=os.environ | {"DEJALU_ISA": isa},
        capture_output=True,
        text=True,
        check=True,
    )
    name, digest = done.stdout.split()
    assert name == isa
    return digest


def test_same_bits_from_every_instruction_set():
    names = kernels.available_isas()
    if len(names) == 1:
        pytest.skip("this machine and build have one instruction set only")
    assert len({run(n) for n in names}) == 1
