"""The oracle's fast parts against its slow ones: it must be above suspicion before it judges others."""

import itertools
import random
import runpy
from pathlib import Path

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "bugs" / "ref.py"
WORDS = ["a", "b", "c", "Straße", "図書", "館", "ครับ", "हिन्दी", "👍🏽", "_x", "!", "é", "12"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join), max_size=9)


@given(texts, st.sampled_from([0.2, 0.5, 0.8, 1.0]), st.integers(1, 4), st.sampled_from(["word", "char"]))
def test_all_pairs_equal_plain_sets(docs, threshold, shingle, unit):
    found = oracle.Collection(docs, shingle, unit).pairs(threshold).as_dict()
    plain = {
        (i, j): s
        for (i, a), (j, b) in itertools.combinations(enumerate(docs), 2)
        if (s := oracle.jaccard(a, b, shingle, unit)) >= threshold
    }
    assert found == plain


def test_all_pairs_of_many_equal_plain_sets():
    r = random.Random(0)
    docs = [" ".join(r.choice("abcdefgh") for _ in range(r.randrange(1, 12))) for _ in range(150)]
    docs += [" ".join(f"w{i + k}" for i in range(200)) for k in range(0, 100, 3)]
    found = oracle.Collection(docs, 2).pairs(0.5).as_dict()
    plain = {
        (i, j): s
        for (i, a), (j, b) in itertools.combinations(enumerate(docs), 2)
        if (s := oracle.jaccard(a, b, 2)) >= 0.5
    }
    assert found == plain


@pytest.mark.skipif(not REFERENCE.exists(), reason="the shared reference of the text definitions is not here")
@given(
    st.text(
        st.one_of(st.characters(exclude_categories=["Cs", "Cn", "Co"]), st.sampled_from("aà ̂กัा_ー👍©")),
        max_size=30,
    )
)
def test_tokens_equal_the_shared_reference(text):
    reference = _reference()
    assert oracle.fold(text) == reference["fold"](text)
    assert oracle.tokens(text) == reference["tokens"](text)


def _reference(cache=[]):  # noqa: B006  one load per session
    if not cache:
        cache.append(runpy.run_path(str(REFERENCE)))
    return cache[0]


def test_check_verdicts_names_each_fault():
    docs = ["a b c d e f", "a b c d e f", "a b c d e g", "x y z"]
    collection = oracle.Collection(docs, 2)

    def faults(keep, twin, similarity):
        return oracle.check_verdicts(
            collection, np.array(keep, bool), np.array(twin), np.array(similarity), threshold=0.9
        )

    nan = float("nan")
    assert faults([1, 0, 1, 1], [-1, 0, -1, -1], [nan, 1.0, nan, nan]) == []
    assert "not kept" in faults([0, 0, 1, 1], [1, 0, -1, -1], [1.0, 1.0, nan, nan])[0]
    assert "below 0.9" in faults([1, 1, 0, 1], [-1, -1, 0, -1], [nan, nan, 4 / 6, nan])[0]
    assert "in truth" in faults([1, 0, 1, 1], [-1, 0, -1, -1], [nan, 0.95, nan, nan])[0]
    assert "later in keep order" in faults([0, 1, 1, 1], [1, -1, -1, -1], [1.0, nan, nan, nan])[0]
    assert "a kept document" in faults([1, 1, 1, 1], [-1, 0, -1, -1], [nan, nan, nan, nan])[0]
