"""Kernels of band grouping: keys dealt to partitions in bounded memory, equal keys united in one array of places.

Arrays hold all state. For a range of keys: `scatter_rows` with every piece of the keys, then `join_rows`; after all
ranges and bands, `flatten`. Threads may share `parent`, nothing else. Twins: `kernels.reference.grouping`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import _native
from .arrays import I64, U8, U32, U64

ROW_WORDS, WIDE_ROW_WORDS = 3, 5  # 32-bit words of a row: key, (second half of a 128-bit key,) place
MOST_PLACES = 2**32 - 2


class Scratch(NamedTuple):
    """Memory for rows, used for one range of keys after the other.

    rows   (blocks, block, 3 or 5) uint32: the rows; `block`, a power of two, is how many lie together
    chain  (blocks + 2,) uint32: the block after each block; the first free block; the number of free blocks
    parts  (4, partitions) uint32: row to write next, first block, number of blocks, number at which to compact
    """

    rows: U32
    chain: U32
    parts: U32


class Span(NamedTuple):
    """A range of spread keys, low … low + span, in partitions of 2**shift keys."""

    low: int
    span: int
    shift: int


def scatter_rows(
    key: U64,
    high: U64 | None,
    skip: U8 | None,
    first: int,
    keys: Span,
    scratch: Scratch,
    parent: U32,
    *,
    sketched: bool,
    limit: int,
) -> bool:
    """Deal one piece of keys to the partitions of the scratch memory.

    Where a partition outgrows its share, or no block is free, keys of more documents than matter are united at once and
    their rows dropped: so a hot key needs no memory.

    Args:
        key: (m,) uint64 keys of the places first … first + m - 1. Pieces come in the order of places.
        high: (m,) uint64, the other half of 128-bit keys, with rows of 5 words; else None.
        skip: (m,) uint8 or None; places with 1 take no part.
        keys: the range wanted; other keys are passed over.
        scratch: changed.
        parent: (n,) uint32 forest of places, n < 2**32 - 1; changed.
        sketched: whether buckets up to `limit` documents wait for the test of their pairs (`join_rows` with `packed`).
        limit: a bucket of more documents is joined whole; without sketches every bucket is.

    Returns:
        False when the rows of this range do not fit: cut it, and begin anew. What was united may stay.

    Raises:
        ValueError: a shape or number is out of range.
    """
    return _native.scatter_rows(
        key, high, skip, first, keys.low, keys.span, keys.shift, *scratch, parent, sketched, limit
    )


def join_rows(
    keys: Span, scratch: Scratch, parent: U32, packed: U8 | None = None, *, min_matches: int = 0, limit: int = 64
) -> None:
    """Unite the documents of equal keys that the scratch memory holds.

    Args:
        keys, scratch, limit: as given to `scatter_rows`.
        parent: (n,) uint32; changed.
        packed: (n, width) uint8 compact sketches or None. With them, of buckets up to `limit` documents only pairs with
            at least `min_matches` equal bytes are united.

    Raises:
        ValueError: the arrays do not belong together.
    """
    _native.join_rows(keys.low, keys.span, keys.shift, *scratch, parent, packed, min_matches, limit)


def flatten(parent: U32) -> None:
    """Replace each entry of a forest by its root, the smallest place of the component, in place.

    Raises:
        ValueError: an entry is larger than its place.
    """
    _native.flatten(parent)


def empty(scratch: Scratch, share: int) -> None:
    """Make the scratch memory hold no rows: one block for each partition, the others free.

    Args:
        scratch: changed; `rows` stays as it is.
        share: blocks at which a partition is compacted.
    """
    blocks, count = len(scratch.rows), scratch.parts.shape[1]
    scratch.chain[:blocks] = np.arange(1, blocks + 1, dtype=np.uint32)
    scratch.chain[:count] = 0xFFFFFFFF
    scratch.chain[blocks:] = count, blocks - count
    own = np.arange(count, dtype=np.uint32)
    scratch.parts[:] = own * np.uint32(scratch.rows.shape[1]), own, np.ones_like(own), np.full_like(own, share)


def sizes(scratch: Scratch) -> I64:
    """Count the rows of each partition, (partitions,) int64; one that did not fit counts as far as it went."""
    block = scratch.rows.shape[1]
    at, _, held, _ = scratch.parts.astype(np.int64)
    rows: I64 = (held - 1) * block + at % block
    return rows
