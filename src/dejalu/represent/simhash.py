"""SimHash fingerprints of texts: the features of a text, and what each of them weighs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from .. import kernels
from ..data import I64, U64, text_buffers
from . import segment
from .segment import Segmenter, segmented
from .units import UNITS
from .weights import FeatureWeights

WEIGHTS = ("none", "tf", "tfidf", "keywords")
WHOLE = 1 << 32  # a shingle of so many units is made of all tokens of a text
FIXED = 1 << 20  # weights of keywords are whole multiples of 1 / FIXED


def simhash(
    text: pa.LargeStringArray,
    *,
    shingle: int,
    unit: str,
    bits: int,
    weights: str,
    table: FeatureWeights | None = None,
    segmenter: Segmenter | None = None,
    keywords: int = 20,
) -> tuple[U64, I64]:
    """Fingerprint texts: (n,) uint64, or (n, 2) for 128 bits, and their tokens, (n,) int64.

    Args:
        weights: `none` (each distinct feature votes once), `tf` (as often as it occurs), `tfidf` (each occurrence with
            its weight in `table`), `keywords` (the weightiest keywords of jieba's extractor alone, with its weights).
        table: weights of features, for `tfidf`.
        keywords: how many of a text, for `keywords`.
        All others: as in `sketch`.

    Raises:
        UsageError: `keywords` without jieba.
    """
    data, offsets = text_buffers(text)
    words = segmented(data, offsets, segmenter) if segmenter else (data, offsets)
    prints, tokens = kernels.simhash(
        *words,
        shingle=shingle,
        unit=UNITS[unit],
        unspaced=segmenter is None,
        bits=bits,
        weights=0 if weights == "none" else 1,
        weight_table=(table.keys, table.weights, table.unseen) if weights == "tfidf" and table is not None else None,
    )
    return (_by_keywords(text, bits, keywords) if weights == "keywords" else prints), tokens


def _by_keywords(text: pa.LargeStringArray, bits: int, most: int) -> U64:
    """Fingerprints of the keywords of each text; the feature of one is the hash that it has as a shingle of its own."""
    data, offsets = text_buffers(text)
    raw = data.tobytes()
    texts = (raw[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets.tolist()))
    found = segment.keywords(texts, most)
    encoded = [word.encode("utf-8", "replace") for words in found for word, _ in words]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    features, borders = kernels.shingle_sets(
        np.frombuffer(b"".join(encoded), np.uint8), ends, shingle=WHOLE, unspaced=False
    )
    weights = np.array([round(weight * FIXED) for words in found for _, weight in words], np.int64)
    held = np.diff(borders) == 1  # a keyword without a letter or digit is no feature
    counts = np.concatenate((np.zeros(1, np.int64), np.cumsum(held)))
    last = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return kernels.simhash_features(features, weights[held], counts[last], bits)
