"""Documents to sketches: folding, tokens, shingles and hashes happen in one kernel call per batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from .. import kernels
from ..data import I64, U8, U32, U64, Docs, text_buffers
from .segment import Segmenter, segmented
from .simhash import simhash
from .units import UNITS
from .weights import FeatureWeights

INVALID = 1  # flag of the sketch kernel: invalid UTF-8 was replaced


@dataclass(frozen=True, slots=True)
class Signed:
    """What the kernels make of a batch of documents.

    ids          (n,) int64
    equal        (n, 2) uint64: 128-bit hash of the token sequence, or of the bytes
    tokens       (n,) int64: tokens (bytes for method `bytes`); -1 for null
    signatures   (n, slots) uint32; (n, 0) for exact methods, and where band keys were asked for instead
    keys         (bands, n) uint64 band keys, and
    packed       (n, slots) uint8 compact sketches: the low 8 bits of each slot, the b-bit form with b = 8 (Li and
                 König, WWW 2010, §2); both empty where they were not asked for
    fingerprints (n, 1) or (n, 2) uint64: SimHash of 64 or 128 bits; (n, 0) for other methods
    invalid      (n,) bool: invalid UTF-8 was replaced for comparing
    long_tokens  number of tokens over 1,000 code points in the batch
    sizes        (n,) int64: UTF-8 bytes of each text
    """

    ids: I64
    equal: U64
    tokens: I64
    signatures: U32
    keys: U64
    packed: U8
    fingerprints: U64
    invalid: np.ndarray[tuple[int], np.dtype[np.bool_]]
    long_tokens: int
    sizes: I64


def sketch(
    docs: Docs,
    *,
    method: str,
    shingle: int,
    unit: str,
    slots: int,
    bands: tuple[int, int] | None = None,
    segmenter: Segmenter | None = None,
    bits: int = 64,
    weights: str = "tf",
    keywords: int = 20,
    table: FeatureWeights | None = None,
) -> Signed:
    """Sketch a batch.

    Args:
        docs: n documents.
        method: `bytes` (hashes of the bytes); `minhash` (signatures), `tfidf` with `bands` (weighted ones) and
            `simhash` (fingerprints), each with token hashes; token hashes alone for every other.
        shingle, unit, slots, bits, weights, keywords: as in the plan.
        bands: number of bands and rows per band: give band keys and compact sketches instead of signatures.
        table: weights of features, where they have any.
        segmenter: splits unspaced scripts into words, instead of one token per character.
    """
    data, offsets = text_buffers(docs.text)
    sizes = np.diff(offsets)
    null = docs.text.is_null().to_numpy(zero_copy_only=False) if docs.text.null_count else None
    n = len(docs)
    fingerprints = np.zeros((n, 0), np.uint64)
    if method == "bytes":
        equal = kernels.bytes_hash(data, offsets)
        tokens = sizes.copy()
        signatures, keys, packed = _nothing(n)
        invalid = np.zeros(n, np.bool_)
        long_tokens = 0
    else:
        words = segmented(data, offsets, segmenter) if segmenter else (data, offsets)
        unspaced = segmenter is None
        features: dict[str, Any] = {"shingle": shingle, "unit": UNITS[unit], "unspaced": unspaced}
        signatures, keys, packed = _nothing(n)
        if method in ("minhash", "auto") and bands is not None:
            keys, packed, equal, tokens, flags, long = kernels.sketch_bands(
                *words, **features, slots=slots, bands=bands[0], rows=bands[1]
            )
        else:
            own = slots if method == "minhash" else 0
            signatures, equal, tokens, flags, long = kernels.sketch(*words, **features, slots=own)
        if method == "tfidf" and bands is not None:
            assert table is not None
            weighted, _ = kernels.weighted_sketch(
                *words, **features, slots=slots, keys=table.keys, weights=table.weights, unseen=table.unseen
            )
            keys, packed = kernels.band_keys(weighted, *bands), kernels.pack(weighted, 8)
        if method == "simhash":
            fingerprints, _ = simhash(
                docs.text, shingle=shingle, unit=unit, bits=bits, weights=weights, table=table, segmenter=segmenter,
                keywords=keywords,
            )
            fingerprints = fingerprints.reshape(n, bits // 64)
        invalid = (flags & INVALID) != 0
        long_tokens = int(long.sum())
    if docs.invalid is not None:
        invalid = invalid | docs.invalid
    if null is not None:
        tokens = np.where(null, np.int64(-1), tokens)
    return Signed(docs.ids, equal, tokens, signatures, keys, packed, fingerprints, invalid, long_tokens, sizes)


def _nothing(n: int) -> tuple[U32, U64, U8]:
    return np.zeros((n, 0), np.uint32), np.zeros((0, n), np.uint64), np.zeros((n, 0), np.uint8)


def shingle_sets(
    text: pa.LargeStringArray, *, shingle: int, unit: str, segmenter: Segmenter | None = None
) -> tuple[U64, I64]:
    """Return the distinct shingle hashes of each text, ascending: values (m,) uint64 and offsets (n + 1,) int64."""
    data, offsets = text_buffers(text)
    words = segmented(data, offsets, segmenter) if segmenter else (data, offsets)
    return kernels.shingle_sets(*words, shingle=shingle, unit=UNITS[unit], unspaced=segmenter is None)


def weighted_sets(
    text: pa.LargeStringArray,
    table: FeatureWeights,
    *,
    shingle: int,
    unit: str,
    occurrences: bool = False,
    segmenter: Segmenter | None = None,
) -> tuple[U64, I64, U32]:
    """Shingle texts and weigh: hashes (m,) uint64, ascending, offsets (n + 1,) int64, weights (m,) uint32.

    Args:
        occurrences: weigh by how often a shingle occurs in its text, too (tf-idf). Weights of a text are then halved
            until their sum is below 2**31: cosine, which they are for, does not change by it.
    """
    data, offsets = text_buffers(text)
    words = segmented(data, offsets, segmenter) if segmenter else (data, offsets)
    features: dict[str, Any] = {"shingle": shingle, "unit": UNITS[unit], "unspaced": segmenter is None}
    if not occurrences:
        values, borders = kernels.shingle_sets(*words, **features)
        return values, borders, table.of(values)
    values, counts, borders = kernels.feature_counts(*words, **features)
    weights = table.of(values).astype(np.uint64) * counts
    sizes = np.diff(borders)
    total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(weights)))
    halved = _bits((total[borders[1:]] - total[borders[:-1]]) >> np.uint64(31))
    return values, borders, np.maximum(weights >> np.repeat(halved, sizes), np.uint64(1)).astype(np.uint32)


def _bits(values: U64) -> U64:
    """Number of binary digits of each value below 2**53."""
    return np.frexp(values.astype(np.float64))[1].astype(np.uint64)
