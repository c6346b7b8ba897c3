"""Kernels of SimHash fingerprints. Twin: `kernels.reference.simhash`.

A fingerprint is one uint64 word a text, or two for 128 bits. Bit j is 1 if the votes on it sum to more than 0 (a tie is
0): each feature votes with its weight, for 1 where its hash has a 1 at j, else for 0. Features are shingle hashes;
sums are whole numbers that cannot overflow. Fingerprints are part of the format: `tests/golden` pins them.

Source: Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002; Manku, Jain, Das Sarma,
"Detecting near-duplicates for web crawling", WWW 2007, §2.
"""

from __future__ import annotations

from .. import _native
from .arrays import I64, U8, U32, U64


def simhash(
    data: U8,
    offsets: I64,
    *,
    shingle: int,
    unit: int = 0,
    unspaced: bool = True,
    bits: int = 64,
    weights: int = 1,
    weight_table: tuple[U64, U32, int] | None = None,
) -> tuple[U64, I64]:
    """Fingerprint texts.

    Args:
        bits: 64 or 128. The second word of 128 is made of avalanche(feature ^ 0xA0761D6478BD642F).
        weights: 0 = each distinct feature votes once, 1 = as often as it occurs.
        weight_table: keys, weights and the weight of all others, as in `weighted_sketch`: each vote counts that much.
        All others: as in `sketch`.

    Returns:
        fingerprints: (n,) uint64, or (n, 2) for 128 bits; 0 for a text without a token.
        tokens: (n,) int64, number of tokens.

    Raises:
        ValueError: a parameter out of range, offsets that fall or leave data, arrays that are no weight table.
    """
    if weights not in (0, 1):
        raise ValueError(f"weights={weights!r}: must be 0 (each feature once) or 1 (each occurrence)")
    keys, table, unseen = (None, None, 1) if weight_table is None else weight_table
    prints, tokens = _native.simhash(
        data, offsets, shingle=shingle, unit=unit, unspaced=unspaced, bits=bits, distinct=weights == 0, keys=keys,
        weights=table, unseen=unseen,
    )
    return _plain(prints), tokens


def simhash_features(values: U64, weights: I64, offsets: I64, bits: int = 64) -> U64:
    """Fingerprint texts whose features and weights are given.

    Args:
        values: (m,) uint64 features, text after text.
        weights: (m,) int64; a negative weight votes the other way.
        offsets: (n + 1,) int64 into both.

    Returns:
        (n,) uint64, or (n, 2) for 128 bits.

    Raises:
        ValueError: bits out of range, shapes that do not fit, offsets that fall or leave the values, weights of one
            text that sum to 2^63 or more.
    """
    return _plain(_native.simhash_features(values, weights, offsets, bits))


def _plain(prints: U64) -> U64:
    return prints.reshape(-1) if prints.shape[1] == 1 else prints
