"""Faults that users met in other tools, each with its right value: methods beyond `minhash`.

docs/quality.md lists all cases and where each is tested.
"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import dejalu
from dejalu.data import SpecMismatch


def listed(texts, column="similarity", **options):
    """{(a, b): value} of `pairs`."""
    a, b, value = (dejalu.pairs(texts, **options).column(c).to_pylist() for c in ("a", "b", column))
    return dict(zip(zip(a, b, strict=True), value, strict=True))


def test_bug_022_pairs_are_those_of_the_measure_by_the_exact_join():
    line = "Bus line {} runs from the Old Market to the {} terminus every {} minutes on weekdays."
    texts = [line.format(*x) for x in ((41, "North", 10), (42, "North", 10), (43, "North", 12), (51, "Harbour", 10))]
    found = listed(texts, method="short", unit="word", shingle=3, threshold=0.4)
    shares = {(0, 1): 0.6667, (0, 2): 0.4286, (0, 3): 0.4286, (1, 2): 0.4286, (1, 3): 0.4286}
    assert {p: round(s, 4) for p, s in found.items()} == shares
    assert listed(texts, method="short", unit="word", shingle=1, threshold=0.8).keys() == {(0, 1)}
    assert listed(texts, method="short", unit="word", shingle=1, threshold=0.8, differ="numbers") == {}


def test_bug_031_containment_is_asymmetric_and_exact():
    r = random.Random(7)
    vocabulary = [f"v{i:05d}" for i in range(50000)]
    small = [r.choice(vocabulary) for _ in range(1000)]
    big = [r.choice(vocabulary) for _ in range(9000)] + small + [r.choice(vocabulary) for _ in range(10000)]
    docs = [" ".join(small), " ".join(big)]
    assert listed(docs, method="containment", shingle=4, threshold=0.9) == {(0, 1): 1.0}
    both = listed(docs, method="containment", shingle=4, threshold=0.01)
    assert abs(both[1, 0] - 0.0499) < 0.01
    result = dejalu.dedup(docs, method="containment", shingle=4)
    assert result.twin.tolist() == [1, -1]  # the small one goes, though it comes first
    assert result.removed().column("measure").to_pylist() == ["containment_a"]
    sketches = dejalu.bottom_k(docs, scaled=4, shingle=4)
    assert sketches.containment(0, 1)[0] >= 0.98
    assert abs(sketches.containment(1, 0)[0] - 0.0499) < 0.01
    with pytest.raises(dejalu.UsageError, match="scaled"):
        dejalu.bottom_k(docs, k=128, shingle=4).containment(0, 1)


def test_bug_035_sketches_of_different_settings_are_never_compared():
    text = ["the same text about the same river and the same boats every single day of the year"]
    one = dejalu.bottom_k(text)
    assert one.jaccard(0, 0, dejalu.bottom_k(text))[0] == 1.0
    assert one.jaccard(0, 0, type(one).from_table(one.to_table()))[0] == 1.0
    for other in ({"k": 64}, {"shingle": 3}, {"unit": "char"}, {"scaled": 10}):
        with pytest.raises(SpecMismatch):
            one.jaccard(0, 0, dejalu.bottom_k(text, **other))


def test_bug_038_sets_and_weights_are_different_measures():
    docs = [" ".join(["apple"] * 40 + ["banana"] * 2), " ".join(["apple"] * 2 + ["banana"] * 40)]
    assert dejalu.similarity(*docs, shingle=1) == 1.0
    cosine = listed(docs, method="tfidf", measure="cosine", threshold=0.05)
    assert abs(cosine[0, 1] - 160 / 1604) < 1e-9  # both words are in both texts, so both weigh the same
    assert listed(docs, method="tfidf", threshold=0.05) == {(0, 1): 1.0}  # sets: how often does not count
    removed = dejalu.dedup(docs, method="tfidf", measure="cosine", threshold=0.09).removed()
    assert removed.column("measure").to_pylist() == ["cosine"]


def test_bug_058_a_word_a_million_times():
    go, *prints = dejalu.simhash(["go", "go " * 346 + "stop", "go " * 100_000 + "stop", "go " * 1_000_000 + "stop"])
    assert all(p == go for p in prints)


def test_bug_059_unrelated_texts_are_not_half_alike():
    report = "The hydrology office reports that the river fell by {} centimetres overnight while upstream gauges still "
    report += "show a slow rise after the storm of last week."
    texts = ["hospital", report.format("twelve"), report.format("eleven")]
    pairs = listed(texts, method="simhash", distance=8)
    assert not {(0, 1), (0, 2)} & pairs.keys()
    far = listed(texts, "distance", method="simhash", distance=31)
    assert far[1, 2] < 16
    prints = dejalu.simhash(texts)
    assert int(prints[0] ^ prints[1]).bit_count() > far[1, 2] + 8
    # Of many unrelated texts the similarity that is reported is about 0.
    r = random.Random(1)
    many = dejalu.simhash([" ".join(f"w{r.randrange(10**6)}" for _ in range(30)) for _ in range(60)])
    distances = [int(a ^ b).bit_count() for a, b in itertools.combinations(many, 2)]
    mean = np.mean([max(0.0, float(np.cos(np.pi * d / 64))) for d in distances])
    assert mean < 0.15


def test_bug_062_equal_fingerprints_are_a_pair():
    prints = np.array([193817277094257410, 193817277094257410, 10105197385570471215], np.uint64)
    found = dejalu.hamming_pairs(prints, 3)
    assert found.to_pylist() == [{"a": 0, "b": 1, "distance": 0}]


def test_bug_063_the_search_is_complete():
    base = 0x9E3779B97F4A7C15
    prints = [base]
    for bits in (3, 2, 1):
        prints += [base ^ sum(1 << b for b in some) for some in itertools.combinations(range(64), bits)]
    table = dejalu.HammingTable(np.array(prints, np.uint64), 3)
    found = table.query(np.array([base], np.uint64))
    assert found.num_rows == 43745
    distance = found.column("distance").to_numpy()
    assert [(distance <= k).sum() for k in (0, 1, 2, 3)] == [1, 65, 2081, 43745]


def test_bug_115_numbers_and_negation_can_keep_texts_apart():
    texts = [
        "Give the patient 5 mg of the drug every eight hours.",
        "Give the patient 50 mg of the drug every eight hours.",
        "The application was approved by the board on Tuesday.",
        "The application was not approved by the board on Tuesday.",
    ]
    options = {"method": "short", "unit": "word", "shingle": 1, "threshold": 0.75}
    assert dejalu.dedup(texts, **options).keep.tolist() == [True, False, True, False]
    assert dejalu.dedup(texts, **options, differ="numbers,negation").keep.all()
