"""Documents to sketches: folding, tokens, shingles and hashes happen in one kernel call per batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .. import kernels
from ..data import I64, U8, U32, U64, Docs, text_buffers
from .segment import Segmenter, segmented

UNITS = {"word": 0, "char": 1}
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
) -> Signed:
    """Sketch a batch.

    Args:
        docs: n documents.
        method: `minhash` (signatures and token hashes), `exact` (token hashes) or `bytes` (hashes of the bytes).
        shingle, unit, slots: as in the plan; used by `minhash` only.
        bands: number of bands and rows per band: give band keys and compact sketches instead of signatures.
        segmenter: splits unspaced scripts into words, instead of one token per character.
    """
    data, offsets = text_buffers(docs.text)
    sizes = np.diff(offsets)
    null = docs.text.is_null().to_numpy(zero_copy_only=False) if docs.text.null_count else None
    n = len(docs)
    if method == "bytes":
        equal = kernels.bytes_hash(data, offsets)
        tokens = sizes.copy()
        signatures, keys, packed = _nothing(n)
        invalid = np.zeros(n, np.bool_)
        long_tokens = 0
    else:
        words = segmented(data, offsets, segmenter) if segmenter else (data, offsets)
        unspaced = segmenter is None
        signatures, keys, packed = _nothing(n)
        if method == "minhash" and bands is not None:
            keys, packed, equal, tokens, flags, long = kernels.sketch_bands(
                *words, shingle=shingle, unit=UNITS[unit], unspaced=unspaced, slots=slots, bands=bands[0], rows=bands[1]
            )
        else:
            signatures, equal, tokens, flags, long = kernels.sketch(
                *words,
                shingle=shingle,
                unit=UNITS[unit],
                unspaced=unspaced,
                slots=slots if method == "minhash" else 0,
            )
        invalid = (flags & INVALID) != 0
        long_tokens = int(long.sum())
    if docs.invalid is not None:
        invalid = invalid | docs.invalid
    if null is not None:
        tokens = np.where(null, np.int64(-1), tokens)
    return Signed(docs.ids, equal, tokens, signatures, keys, packed, invalid, long_tokens, sizes)


def _nothing(n: int) -> tuple[U32, U64, U8]:
    return np.zeros((n, 0), np.uint32), np.zeros((0, n), np.uint64), np.zeros((n, 0), np.uint8)


def shingle_sets(
    text: pa.LargeStringArray, *, shingle: int, unit: str, segmenter: Segmenter | None = None
) -> tuple[U64, I64]:
    """Return the distinct shingle hashes of each text, ascending: values (m,) uint64 and offsets (n + 1,) int64."""
    data, offsets = text_buffers(text)
    words = segmented(data, offsets, segmenter) if segmenter else (data, offsets)
    return kernels.shingle_sets(*words, shingle=shingle, unit=UNITS[unit], unspaced=segmenter is None)
