"""Documents that share band keys, grouped within a bounded memory: components over all bands, equal texts.

Each band is a column of keys that comes in pieces, from memory or file by file. Its rows (key, place) are dealt to
partitions by the leading bits of the key, in scratch memory that is allocated once and used again; rows that do not fit
at once are taken range by range, the pieces being read again. Within a partition equal keys are united in one array of
places (union-find). The result does not depend on pieces, memory, ranges or threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, Protocol

import numpy as np

from ..data import U8, U32, U64
from ..errors import StoreError, UsageError
from ..kernels import grouping as kernel
from ..kernels.grouping import Scratch, Span

BUCKET = 64  # documents of a bucket that are tested pair by pair; a larger bucket is joined whole
SCRATCH_ROWS = 1 << 24  # 200 MB of narrow rows
ROWS_A_PARTITION = 1 << 13  # a partition is grouped in the cache
MOST_PARTITIONS = 4096  # ends of chains that are written in turn: more would not fit the cache
LEAST_PARTITIONS = 32
LEAST_ROWS = 1024


class Map(Protocol):
    """What an engine's `map` is: run a task on every item, results in the order of the items."""

    def __call__(self, task: Callable[[Any], Any], items: Iterable[Any], /) -> list[Any]: ...


def in_turn(task: Callable[[Any], Any], items: Iterable[Any], /) -> list[Any]:
    """Run the tasks one after another."""
    return [task(item) for item in items]


def group(
    n: int,
    band_chunks: Callable[[int], Iterable[U64]],
    bands: int,
    *,
    skip: U8 | None = None,
    packed: U8 | None = None,
    min_matches: int = 0,
    limit: int = BUCKET,
    scratch_rows: int = SCRATCH_ROWS,
    map: Map = in_turn,
    done: Callable[[int], object] | None = None,
) -> U32:
    """Label each document with the smallest place of its component over all bands.

    Args:
        n: number of documents, below 2**32 - 1.
        band_chunks: gives the keys of a band from the beginning, in pieces (m,) uint64 in the order of places. It is
            called once or more for each band, from several threads if `map` uses several. A piece is let go before the
            next one is asked for.
        bands: number of bands.
        skip: (n,) uint8; documents with 1 stay alone.
        packed: (n, width) uint8 compact sketches. With them, documents of a bucket of up to `limit` are united when
            at least `min_matches` bytes agree; without, and in larger buckets, all of them are.
        scratch_rows: rows held at once by each running task, 12 bytes each (and half as much again in hard cases); at
            least 1,024. Fewer rows cost more readings of the keys, and change nothing else.
        map: the engine's.
        done: told the number of each band when all of it is grouped; from several threads if `map` uses several.

    Returns:
        (n,) uint32.

    Raises:
        UsageError: more documents than 32 bits can number, or too little scratch memory.
        StoreError: a band's pieces do not hold n keys.
    """

    def pieces(band: int) -> Iterable[tuple[U64, None]]:
        return ((keys, None) for keys in band_chunks(band))

    job = _Job(n, pieces, "band {}", skip, packed, min_matches, limit, kernel.ROW_WORDS)
    return job.run(bands, scratch_rows, map, done)


def equal(
    n: int,
    chunks: Callable[[], Iterable[tuple[U64, U64]]],
    *,
    skip: U8 | None = None,
    scratch_rows: int = SCRATCH_ROWS,
    map: Map = in_turn,
) -> U32:
    """Label each document with the smallest place that has the same 128-bit hash.

    Args:
        n: number of documents, below 2**32 - 1.
        chunks: gives the halves (high, low), each (m,) uint64, from the beginning, in the order of places.
        skip, scratch_rows, map: as for `group`; a row takes 20 bytes.

    Returns:
        (n,) uint32.

    Raises:
        UsageError, StoreError: as for `group`.
    """

    def pieces(_: int) -> Iterable[tuple[U64, U64]]:
        return ((low, high) for high, low in chunks())

    return _Job(n, pieces, "text hashes", skip, None, 0, 1, kernel.WIDE_ROW_WORDS).run(1, scratch_rows, map, None)


@dataclass(frozen=True, slots=True)
class _Job:
    """What all tasks of one grouping share."""

    n: int
    pieces: Callable[[int], Iterable[tuple[U64, U64 | None]]]
    what: str
    skip: U8 | None
    packed: U8 | None
    min_matches: int
    limit: int
    words: int

    def run(self, bands: int, scratch_rows: int, map: Map, done: Callable[[int], object] | None) -> U32:
        """Unite band by band, range by range; a task is one range of one band."""
        if self.n > kernel.MOST_PLACES:
            raise UsageError(
                f"{self.n:,} documents: one run numbers at most {kernel.MOST_PLACES:,}; "
                "cut the collection, or use a cluster engine"
            )
        least = max(LEAST_ROWS, 8 * (self.limit + 1))
        if scratch_rows < least:
            raise UsageError(f"scratch_rows={scratch_rows}: grouping needs at least {least:,}; give more memory")
        parent = np.arange(self.n, dtype=np.uint32)
        active = self.n - (int(np.count_nonzero(self.skip)) if self.skip is not None else 0)
        shape = _Shape.choose(max(1, active), scratch_rows)
        idle: list[Scratch] = []  # each running task has one of its own; append and pop are atomic
        finished = [count(1) for _ in range(bands)]  # ranges of each band; so is next

        def task(item: tuple[int, int, int]) -> None:
            try:
                scratch = idle.pop()
            except IndexError:
                scratch = shape.allocate(self.words)
            self.unite(*item, shape, scratch, parent)
            idle.append(scratch)
            if next(finished[item[0]]) == len(shape.ranges) and done:
                done(item[0])

        map(task, [(band, low, span) for band in range(bands) for low, span in shape.ranges])
        kernel.flatten(parent)
        return parent

    def unite(self, band: int, low: int, span: int, shape: _Shape, scratch: Scratch, parent: U32) -> None:
        """Unite the equal keys of one range of one band; where they do not fit, of its parts in turn."""
        todo = [(low, span)]
        while todo:
            low, span = todo.pop()
            keys = Span(low, span, max(0, (span // scratch.parts.shape[1]).bit_length()))
            kernel.empty(scratch, shape.share)
            if self.scatter(band, keys, scratch, parent):
                kernel.join_rows(keys, scratch, parent, self.packed, min_matches=self.min_matches, limit=self.limit)
            elif span == 0:
                raise UsageError(f"{self.what.format(band)}: too many keys are alike; give more memory")
            else:
                todo += _cut(keys, kernel.sizes(scratch))

    def scatter(self, band: int, keys: Span, scratch: Scratch, parent: U32) -> bool:
        """Fill the scratch memory with the rows of a range; False when they do not fit."""
        first = 0
        for key, high in self.pieces(band):
            last = first + len(key)
            if last > self.n:
                raise self.mismatch(band, f"more than {self.n:,}")
            skip = self.skip[first:last] if self.skip is not None else None
            fits = kernel.scatter_rows(
                key, high, skip, first, keys, scratch, parent, sketched=self.packed is not None, limit=self.limit
            )
            if not fits:
                return False
            first = last
        if first < self.n:
            raise self.mismatch(band, f"{first:,}")
        return True

    def mismatch(self, band: int, keys: str) -> StoreError:
        """Say that the pieces are not those of the documents."""
        return StoreError(
            f"{self.what.format(band)}: {keys} keys for {self.n:,} documents; the work files do not belong together, "
            "start again with --overwrite"
        )


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the scratch memory is cut: blocks of `block` rows, partitions, and the ranges that fit at once."""

    blocks: int
    block: int
    partitions: int
    share: int
    ranges: list[tuple[int, int]]

    @classmethod
    def choose(cls, active: int, scratch_rows: int) -> _Shape:
        """Choose for `active` rows: keys are hashes, so partitions and ranges get much the same number each."""
        block = 256 if scratch_rows >= 1 << 20 else 64 if scratch_rows >= 1 << 16 else 8
        most = scratch_rows // block
        passes = 1
        while True:
            rows = -(-active // passes)
            partitions = max(LEAST_PARTITIONS, min(MOST_PARTITIONS, -(-rows // ROWS_A_PARTITION)))
            partitions = 1 << (partitions - 1).bit_length()
            need = rows // block + rows // (block * 32) + 2 * partitions  # a half-empty block each, 3% by chance
            if need <= most:
                break
            passes += 1
        share = 4 * (rows // (partitions * block)) + 16
        border = [(1 << 64) * i // passes for i in range(passes + 1)]
        ranges = [(a, b - a - 1) for a, b in pairwise(border)]
        return cls(max(need, min(most, 8 * partitions)), block, partitions, share, ranges)

    def allocate(self, words: int) -> Scratch:
        """Take the memory; it is touched only as far as rows come."""
        return Scratch(
            np.empty((self.blocks, self.block, words), np.uint32),
            np.empty(self.blocks + 2, np.uint32),
            np.empty((4, self.partitions), np.uint32),
        )


def _cut(keys: Span, sizes: Any) -> list[tuple[int, int]]:
    """Cut a range that did not fit at the partition that holds the middle of the rows."""
    middle = int(np.searchsorted(np.cumsum(sizes), int(sizes.sum()) / 2))
    end = keys.low + keys.span + 1
    low = keys.low + (middle << keys.shift)
    high = min(end, low + (1 << keys.shift))
    borders = sorted({keys.low, low, high, end})
    return [(a, b - a - 1) for a, b in pairwise(borders)]
