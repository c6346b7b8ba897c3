"""Shingles of tokens or code points. Twin of `native/shingle.hpp` and `hash_set.hpp`."""

from __future__ import annotations

from typing import Literal

from .hashing import M64, avalanche, token_hash
from .tokens import tokens

Unit = Literal["word", "char"]


def units(raw: bytes, *, unit: Unit = "word", unspaced: bool = True) -> list[int]:
    """Hash what shingles are made of: the tokens, or the code points of the concatenated tokens."""
    parts = tokens(raw, unspaced=unspaced)
    return [token_hash(p.encode()) for p in (parts if unit == "word" else "".join(parts))]


def shingle_hash(window: list[int]) -> int:
    """Hash a window of unit hashes, in order: Horner's rule with 5, then the finalizer."""
    s = 0
    for h in window:
        s = s * 5 + h & M64
    return avalanche(s)


def shingles(hashes: list[int], shingle: int) -> list[int]:
    """Hash the shingles of a text in order of place; a text of 1 … shingle − 1 units has one, made of all of them."""
    if 0 < len(hashes) < shingle:
        return [shingle_hash(hashes)]
    return [shingle_hash(hashes[i : i + shingle]) for i in range(len(hashes) - shingle + 1)]


def shingle_set(raw: bytes, *, shingle: int, unit: Unit = "word", unspaced: bool = True) -> list[int]:
    """List the distinct shingle hashes of a text, ascending."""
    return sorted(set(shingles(units(raw, unit=unit, unspaced=unspaced), shingle)))
