"""Fingerprints of texts, up to the function that people call."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import dejalu
from dejalu import kernels, represent
from dejalu.errors import UsageError
from dejalu.represent import Frequencies

TEXTS = ["the harbour ferry leaves at noon", "the ferry", "", "the the the harbour"]


def feature(word: str, shingle: int = 1) -> int:
    raw = word.encode()
    values, _ = kernels.shingle_sets(np.frombuffer(raw, np.uint8), np.array([0, len(raw)]), shingle=shingle)
    return int(values[0])


def test_weights():
    assert dejalu.simhash(["the the harbour"]).tolist() == [feature("the")]
    assert dejalu.simhash(["the the harbour"], weights="none").tolist() == [feature("the") & feature("harbour")]
    assert dejalu.simhash(TEXTS, bits=128).shape == (4, 2)
    assert dejalu.simhash([]).shape == (0,) and dejalu.simhash([], bits=128).shape == (0, 2)
    assert dejalu.simhash(TEXTS)[2] == 0
    assert dejalu.simhash(pa.table({"text": TEXTS})).tolist() == dejalu.simhash(TEXTS).tolist()


def test_bug_059_a_word_and_an_article():
    article = (
        "The hydrology office reports that the river fell by {} centimetres overnight while upstream gauges still show "
        "a slow rise after the storm of last week."
    )
    for bits in (64, 128):
        prints = dejalu.simhash(["hospital", article.format("twelve"), article.format("eleven")], bits=bits)
        words = prints.reshape(3, -1).tolist()
        far, near = (
            sum((x ^ y).bit_count() for x, y in zip(words[i], words[j], strict=True)) for i, j in ((0, 1), (1, 2))
        )
        assert far > 8 * bits // 64 and near < far / 3


def test_tfidf_takes_given_frequencies_or_counts_its_own(tmp_path):
    values, offsets = represent.shingle_sets(pa.array(TEXTS, pa.large_string()), shingle=1, unit="word")
    counted = Frequencies(*kernels.count_features(values, offsets), 3, "word-1")
    counted.save(tmp_path / "f.parquet")
    own = dejalu.simhash(TEXTS, weights="tfidf")
    assert own.tolist() == dejalu.simhash(TEXTS, weights="tfidf", frequencies=counted).tolist()
    assert own.tolist() == dejalu.simhash(TEXTS, weights="tfidf", frequencies=tmp_path / "f.parquet").tolist()
    assert dejalu.simhash(["ferry the"], weights="tfidf", frequencies=counted).tolist() == [feature("ferry")]
    with pytest.raises(UsageError, match="other features"):
        dejalu.simhash(TEXTS, weights="tfidf", shingle=2, frequencies=counted)


@pytest.mark.parametrize("wrong", [{"bits": 65}, {"weights": "idf"}, {"unit": "line"}, {"shingle": 0}, {"keywords": 0}])
def test_arguments(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        dejalu.simhash(TEXTS, **wrong)


def test_keywords():
    jieba = pytest.importorskip("jieba")
    assert jieba
    text = "本市图书馆将于下周一起延长开放时间，平日开放至晚上九点，图书馆的读者可以在网站上查询。"
    for most in (1, 5):
        found = represent.segment.keywords([text], most)[0]
        assert len(found) == most
        weight = [round(w * (1 << 20)) for _, w in found]
        values = []
        for word, _ in found:
            raw = word.encode()
            one = kernels.shingle_sets(np.frombuffer(raw, np.uint8), np.array([0, len(raw)]), shingle=9, unspaced=False)
            values.append(one[0][0])
        offsets = np.array([0, most])
        wanted = kernels.simhash_features(np.array(values, np.uint64), np.array(weight), offsets, 128)
        got = dejalu.simhash([text, "", "……"], bits=128, weights="keywords", keywords=most)
        assert got.tolist() == [*wanted.tolist(), [0, 0], [0, 0]]
