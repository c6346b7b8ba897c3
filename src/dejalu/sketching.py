"""Sketches for those who keep their own: texts in, arrays out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from . import kernels, represent
from .data import U64
from .errors import UsageError
from .plan import Plan
from .read import from_memory
from .represent import BottomK, FeatureWeights, Frequencies, Segmenter
from .run.features import features_spec


def bottom_k(
    source: Any,
    *,
    k: int | None = None,
    scaled: int | None = None,
    shingle: int = 5,
    unit: str = "word",
    segmenter: str | Segmenter | None = None,
) -> BottomK:
    """Sketch each text by its smallest shingle hashes: `k` of them (128 by default), or all below 2^64 / `scaled`.

    A sketch of k estimates Jaccard similarity; a scaled one (FracMinHash) grows with the text and estimates containment
    too. Texts with few shingles are held whole, and what is said of them is exact. See docs/method-bottom-k.md.

    Args:
        source: texts: a list of str, a column, or a table with a text column.
        k: number of hashes, 1 … 2^20.
        scaled: keep one hash in so many, 1 … 2^40; 1 keeps all.
        shingle, unit, segmenter: as for `dejalu.similarity`.

    Raises:
        UsageError: a parameter out of range, or both k and scaled.

    >>> import dejalu
    >>> old = "the ferry leaves at noon and returns before the evening tide every day but sunday"
    >>> sketches = dejalu.bottom_k([old, old.replace("noon", "two")], k=128, shingle=3)
    >>> sketches.sizes.tolist(), sketches.jaccard(0, 1)          # 10 of 16 shingles: held whole, so exact
    ([13, 13], (0.625, 0.0))
    >>> sketches.containment(0, 1)[0] == 10 / 13
    True
    """
    if k is not None and scaled is not None:
        raise UsageError(f"k={k} and scaled={scaled}: a sketch has one of them; leave the other out")
    name, value, most = ("k", 128 if k is None else k, 1 << 20) if scaled is None else ("scaled", scaled, 1 << 40)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise UsageError(f"{name}={value!r}: must be a whole number from 1 to {most:,}")
    plan = Plan(method="exact", shingle=shingle, unit=unit, segmenter=represent.name_segmenter(segmenter))
    return represent.bottom_k(
        _texts(source),
        k=value if scaled is None else 0,
        scaled=scaled or 0,
        shingle=plan.shingle,
        unit=plan.unit,
        segmenter=represent.load_segmenter(plan.segmenter, segmenter),
        segmenter_name=plan.segmenter,
    )


def simhash(
    source: Any,
    *,
    bits: int = 64,
    unit: str = "word",
    shingle: int = 1,
    weights: str = "tf",
    segmenter: str | Segmenter | None = None,
    frequencies: Frequencies | str | os.PathLike[str] | None = None,
    keywords: int = 20,
) -> U64:
    """Fingerprint each text: (n,) uint64, or (n, 2) uint64 for 128 bits. Similar texts differ in few bits.

    A text without a token has fingerprint 0. `dejalu.hamming_pairs` and `dejalu.HammingTable` find fingerprints within
    a distance; max(0, cos(π · distance / bits)) estimates the cosine of the two texts' weighted features. See
    docs/method-simhash.md.

    Args:
        source: texts: a list of str, a column, or a table with a text column.
        bits: 64 or 128.
        shingle, unit, segmenter: the features, as for `dejalu.similarity`; single words by default.
        weights: what a feature's vote counts: `none` (1), `tf` (how often it occurs), `tfidf` (that, times its inverse
            document frequency), `keywords` (only the weightiest keywords count, by jieba's extractor).
        frequencies: document frequencies for `tfidf`, or their file (`frequencies.parquet` in the evidence of a run);
            by default they are counted in `source`. Fingerprints can be compared only where these were the same.
        keywords: how many of a text, with weights `keywords`.

    Raises:
        UsageError: a parameter out of range; frequencies that were counted with other features; jieba is missing.

    >>> import dejalu
    >>> old = "the ferry leaves at noon and returns before the evening tide every day but sunday"
    >>> prints = dejalu.simhash([old, old.upper(), old.replace("noon", "two"), "no relation at all to any of them"])
    >>> [int(prints[0] ^ p).bit_count() for p in prints]
    [0, 0, 4, 32]
    """
    plan = Plan(
        method="simhash",
        bits=bits,
        shingle=shingle,
        unit=unit,
        weights=weights,
        keywords=keywords,
        segmenter=represent.name_segmenter(segmenter),
    )
    words = represent.load_segmenter(plan.segmenter, segmenter)
    table = _weights(source, plan, words, frequencies) if weights == "tfidf" else None
    prints = [np.zeros(0, np.uint64) if bits == 64 else np.zeros((0, 2), np.uint64)]
    for text in _texts(source):
        found, _ = represent.simhash(
            text,
            shingle=plan.shingle,
            unit=plan.unit,
            bits=plan.bits,
            weights=plan.weights,
            table=table,
            segmenter=words,
            keywords=plan.keywords,
        )
        prints.append(found)
    return np.concatenate(prints)


def _weights(
    source: Any, plan: Plan, segmenter: Segmenter | None, frequencies: Frequencies | str | os.PathLike[str] | None
) -> FeatureWeights:
    """The weights of features: from these frequencies, or counted in the source itself."""
    spec = features_spec(plan)
    if frequencies is None:
        counts, n = [], 0
        for text in _texts(source):
            sets = represent.shingle_sets(text, shingle=plan.shingle, unit=plan.unit, segmenter=segmenter)
            counts.append(kernels.count_features(*sets))
            n += int(np.count_nonzero(np.diff(sets[1])))
        frequencies = Frequencies(*kernels.merge_counts(counts), n, spec)
    elif not isinstance(frequencies, Frequencies | str | os.PathLike):
        raise UsageError(f"frequencies={frequencies!r}: must be document frequencies or the name of their file")
    elif not isinstance(frequencies, Frequencies):
        frequencies = Frequencies.load(frequencies)
    if frequencies.spec != spec:
        raise UsageError(f"frequencies: counted with other features ({frequencies.spec}); these are {spec}")
    features, weights, unseen = represent.idf(frequencies)
    return FeatureWeights(*kernels.weight_table(features, weights), unseen)


def _texts(source: Any) -> Iterator[pa.LargeStringArray]:
    memory = from_memory(source)
    for i in memory.inputs:
        for docs in memory.batches(i.part, memory.resolve(i.part)):
            yield docs.text


__all__ = ["bottom_k", "simhash"]
