"""Fast similarity sketches and their b-bit form. Twin of `native/sketch.hpp` and `bbit.hpp`.

Source: Dahlgaard, Knudsen, Thorup, "Fast Similarity Sketching", FOCS 2017, section 2, with few scatter rounds before
the direct one (docs/decisions/0001-sketch.md); Li, König, "b-Bit Minwise Hashing", WWW 2010.
"""

from __future__ import annotations

from collections.abc import Sequence

from .hashing import M32, M64, avalanche, avalanche32

GOLDEN, SLOT_SEED = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03
NOTHING = M32                     # every slot of a text without a token


def signature(shingles: Sequence[int], slots: int) -> list[int]:
    """Sketch a set of shingle hashes (repetitions do not matter) to `slots` values of 32 bits."""
    if not shingles:
        return [NOTHING] * slots
    out: list[int | None] = [None] * slots
    for i in range(-(-slots // 128)):
        smallest: dict[int, int] = {}
        for h in shingles:
            g = avalanche(h + i * GOLDEN & M64) if i else h
            slot = (g >> 32) * slots >> 32
            if g != M64:                         # the mark of an empty slot in the native kernel
                smallest[slot] = min(g, smallest.get(slot, M64))
        for slot, g in smallest.items():
            if out[slot] is None:
                out[slot] = g & M32
    return [_direct(shingles, j) if v is None else v for j, v in enumerate(out)]


def _direct(shingles: Sequence[int], slot: int) -> int:
    r = avalanche(SLOT_SEED + (slot + 1) * GOLDEN & M64)
    factor, offset = r & M32 | 1, r >> 32
    return avalanche32(min(((h & M32) ^ offset) * factor & M32 for h in shingles))


def pack(values: Sequence[int], bits: int) -> bytes:
    """Keep the lowest `bits` bits of each slot, in a little-endian stream of bits."""
    stream = 0
    for j, v in enumerate(values):
        stream |= (v & (1 << bits) - 1) << j * bits
    return stream.to_bytes(-(-len(values) * bits // 8), "little")


def estimate(a: Sequence[int], b: Sequence[int], *, bits: int) -> float:
    """Estimate Jaccard similarity without bias from the lowest `bits` bits (32: all) of signatures."""
    mask = (1 << bits) - 1
    share = sum((x ^ y) & mask == 0 for x, y in zip(a, b, strict=True)) / len(a)
    c = 0.0 if bits == 32 else 2.0**-bits
    return (share - c) / (1 - c)


def collision(r: float, bits: int) -> float:
    """Chance A(r, b) that the lowest bits of different minima agree, for a set that fills a share r of the hash range.

    Theorem 1 of Li and König; it goes to 2^−b for r → 0, which is our case (a set is small against 2^32 or 2^64).
    """
    if r == 0:
        return float(2.0**-bits)
    q = 1 - r
    return float(r * q ** (2**bits - 1) / (1 - q ** (2**bits)))
