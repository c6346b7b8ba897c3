"""Text kernels: folding, tokens, hashes, shingles, sketches. Twins: `kernels.reference`.

Text comes as the buffers of an Arrow large_string array: `data` (bytes,) uint8 and `offsets` (n + 1,) int64, which may
begin above 0. Every instruction set gives the same bits (`DEJALU_ISA` forces one), the GIL is released, nothing is kept
between calls. Hashes are part of the format: `tests/golden` pins them.

Parameters that recur:
    shingle: units per shingle, at least 1. A text of 1 … shingle − 1 units has one shingle made of all of them.
    unit: 0 = word (tokens), 1 = char (code points of the concatenated tokens).
    unspaced: True splits scripts written without spaces letter by letter; False joins their runs like other letters
        (for text that a segmenter has already split).
"""

from __future__ import annotations

from typing import Literal, overload

from .. import _native
from .arrays import F64, I64, U8, U32, U64


def fold(data: U8, offsets: I64) -> tuple[U8, I64]:
    """Fold texts: NFD, then toNFKC_Casefold, Unicode 15.0; invalid UTF-8 becomes U+FFFD.

    Returns:
        data (bytes,) uint8 and offsets (n + 1,) int64, from 0.

    Raises:
        ValueError: offsets that fall or leave data.

    Source: Unicode Standard 15.0, section 3.13; UAX #15.
    """
    return _native.fold(data, offsets)


def tokens(data: U8, offsets: I64, *, unspaced: bool = True) -> tuple[U8, I64, I64]:
    """Split texts into folded tokens.

    Returns:
        data (bytes,) uint8: the tokens one after another; token_offsets (t + 1,) int64 into data; doc_offsets (n + 1,)
        int64 into token_offsets.

    Raises:
        ValueError: offsets that fall or leave data.
    """
    return _native.tokens(data, offsets, unspaced=unspaced)


def sketch(
    data: U8, offsets: I64, *, shingle: int, unit: int = 0, unspaced: bool = True, slots: int = 128
) -> tuple[U32, U64, I64, U8, U32]:
    """Sketch texts for Jaccard similarity and hash their token sequences.

    Args:
        slots: values per signature, 0 … 1,048,576; 0 gives no signature, only hashes and counts.

    Returns:
        signatures: (n, slots) uint32; all 0xFFFFFFFF for a text without a token.
        token_hash: (n, 2) uint64, XXH3 128 of the sequence of token hashes, high half first; (0, 0) without a token.
        tokens: (n,) int64, number of tokens (words, also when unit is char).
        flags: (n,) uint8; bit 0: invalid UTF-8 was replaced.
        long_tokens: (n,) uint32, number of tokens over 1,000 code points.

    Raises:
        ValueError: a parameter out of range, offsets that fall or leave data.

    Source: Dahlgaard, Knudsen, Thorup, "Fast Similarity Sketching", FOCS 2017, §2 (docs/decisions/0001-sketch.md).
    """
    return _native.sketch(data, offsets, shingle=shingle, unit=unit, unspaced=unspaced, slots=slots)


def sketch_bands(
    data: U8, offsets: I64, *, shingle: int, unit: int = 0, unspaced: bool = True, slots: int, bands: int, rows: int
) -> tuple[U64, U8, U64, I64, U8, U32]:
    """Sketch texts as `sketch` does, but give band keys and compact sketches instead of signatures.

    The same values as `band_keys(signatures, bands, rows)` and `pack(signatures, 8)`; signatures never leave the
    cache.

    Returns:
        keys: (bands, n) uint64.
        packed: (n, slots) uint8.
        token_hash, tokens, flags, long_tokens: as in `sketch`.

    Raises:
        ValueError: a parameter out of range, offsets that fall or leave data.
    """
    return _native.sketch_bands(
        data, offsets, shingle=shingle, unit=unit, unspaced=unspaced, slots=slots, bands=bands, rows=rows
    )


def shingle_sets(
    data: U8, offsets: I64, *, shingle: int, unit: int = 0, unspaced: bool = True
) -> tuple[U64, I64]:
    """Hash the shingles of each text into a set.

    Returns:
        values (m,) uint64: distinct shingle hashes, ascending, text after text; offsets (n + 1,) int64 into values.

    Raises:
        ValueError: a parameter out of range, offsets that fall or leave data.
    """
    return _native.shingle_sets(data, offsets, shingle=shingle, unit=unit, unspaced=unspaced)


def bytes_hash(data: U8, offsets: I64) -> U64:
    """Hash the bytes of each text: XXH3 128 bits, seed 0; (n, 2) uint64, high half first.

    Raises:
        ValueError: offsets that fall or leave data.
    """
    return _native.bytes_hash(data, offsets)


def pack(signatures: U32, bits: int) -> U8:
    """Keep the lowest `bits` bits of each slot.

    Args:
        signatures: (n, slots) uint32, C order.
        bits: 1, 2, 4, 8 or 16.

    Returns:
        (n, ceil(slots × bits / 8)) uint8: slots one after another in a little-endian stream of bits.

    Raises:
        ValueError: another number of bits.

    Source: Li, König, "b-Bit Minwise Hashing", WWW 2010.
    """
    return _native.pack(signatures, bits)


@overload
def estimate(a: U8, b: U8, *, bits: Literal[1, 2, 4, 8, 16], slots: int) -> F64: ...
@overload
def estimate(a: U32, b: U32, *, bits: Literal[32], slots: int) -> F64: ...
def estimate(a: U8 | U32, b: U8 | U32, *, bits: int, slots: int) -> F64:
    """Estimate the Jaccard similarity of a[i] and b[i] without bias: (m − C) / (1 − C), m the share of equal slots.

    C = 2^−bits is the chance that different values share their lowest bits (0 for bits = 32), so an estimate may be a
    little below 0. A text without a token has no similarity: its rows mean nothing here.

    Args:
        a, b: (n, width) uint8 as `pack` gives, or with bits = 32 (n, slots) uint32 signatures.

    Returns:
        (n,) float64, at most 1.

    Raises:
        ValueError: bits or slots out of range, shapes that differ or do not fit.

    Source: Li, König, "b-Bit Minwise Hashing", WWW 2010, theorem 1 for r → 0.
    """
    return _native.estimate(a, b, bits=bits, slots=slots)
