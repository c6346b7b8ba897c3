"""Texts for verification: those of the first pass while they fit, else read once more, file by file.

The second pass writes, for each file, the texts that need verification into one table per partition (compressed when
the store is on a disk), so that settling a partition reads only its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..data import I64, U8, Docs, part_of, row_of, text_buffers
from ..engines import Store
from ..errors import ChangedInput
from ..kernels import gather
from .corpus import Corpus
from .sources import Source


class TextCache:
    """Keeps the texts of whole pieces, up to `budget` bytes over all threads."""

    def __init__(self, budget: int) -> None:
        self._left = budget
        self._lock = threading.Lock()
        self._pieces: dict[str, list[pa.LargeStringArray]] = {}
        self._open: dict[str, list[pa.LargeStringArray]] = {}

    def begin(self, name: str) -> None:
        """A piece is about to be read."""
        if self._left > 0:
            self._open[name] = []

    def add(self, name: str, text: pa.LargeStringArray) -> None:
        """Keep the next batch of a piece, or give the whole piece up when it does not fit."""
        batches = self._open.get(name)
        if batches is None:
            return
        with self._lock:
            if text.nbytes <= self._left:
                self._left -= text.nbytes
                batches.append(text)
            else:
                self._left += sum(b.nbytes for b in batches)
                del self._open[name]

    def end(self, name: str) -> None:
        """The piece was read to its end."""
        if name in self._open:
            self._pieces[name] = self._open.pop(name)

    def get(self, name: str) -> list[pa.LargeStringArray] | None:
        """The batches of a piece, in order, or None."""
        return self._pieces.get(name)

    def clear(self) -> None:
        """Forget everything."""
        self._pieces.clear()


def missing(corpus: Corpus, cache: TextCache, places: I64) -> I64:
    """Which of these places (ascending) have no cached text."""
    which = np.searchsorted(corpus.start, places, "right") - 1
    cached = np.array([cache.get(piece.name) is not None for piece in corpus.pieces], np.bool_)
    return places[~cached[which]] if len(places) else places


def write_texts(
    read_rows: Callable[[int, I64], Iterator[Docs]],
    store: Store,
    corpus: Corpus,
    part: int,
    places: I64,
    partition: I64,
    name: Callable[[int, int], str],
) -> None:
    """Read the texts of one file's `places` (ascending) and store them by partition.

    Args:
        partition: (m,) int64 partition of each place.
        name: (part, partition) → name in the store; written in ascending order of partition.
    """
    ids = corpus.ids[places]
    texts: list[pa.LargeStringArray] = []
    found: list[I64] = []
    for docs in read_rows(part, row_of(ids)):
        texts.append(docs.text)
        found.append(docs.ids)
    got = np.concatenate(found) if found else np.zeros(0, np.int64)
    if not np.array_equal(got, ids):
        raise ChangedInput(f"input {part}: other rows than in the first pass; it was changed during the run")
    text = pa.chunked_array(texts, pa.large_string())
    for p in np.unique(partition):
        rows = np.flatnonzero(partition == p)
        store.put(name(part, int(p)), pa.table({"place": places[rows], "text": text.take(pa.array(rows))}))


@dataclass(frozen=True, slots=True)
class View:
    """Texts where they lie: text i is row `rows[i]` of batch `which[i]`; `sizes` (m,) int64 are their bytes."""

    batches: list[tuple[U8, I64]]
    which: I64
    rows: I64
    sizes: I64

    def take(self, first: int, last: int) -> pa.LargeStringArray:
        """Copy the texts first … last - 1 into one array."""
        data, offsets = gather(self.batches, self.which[first:last], self.rows[first:last])
        return pa.LargeStringArray.from_buffers(last - first, pa.py_buffer(offsets), pa.py_buffer(data))


def fetch(corpus: Corpus, cache: TextCache, stored: Sequence[pa.Table], places: I64) -> View:
    """Find the texts of `places` (any order) in the cache and in stored tables; nothing is copied yet."""
    batches: list[tuple[U8, I64]] = []
    where: list[I64] = []  # places of the rows of each batch that are wanted
    rows: list[I64] = []
    ascending = np.sort(places)
    borders = np.searchsorted(ascending, corpus.start)
    for i in np.flatnonzero(np.diff(borders)):
        first = int(corpus.start[i])
        wanted = ascending[borders[i] : borders[i + 1]]
        for text in cache.get(corpus.pieces[i].name) or ():
            lo, hi = np.searchsorted(wanted, (first, first + len(text)))
            if hi > lo:
                batches.append(text_buffers(text))
                where.append(wanted[lo:hi])
                rows.append(wanted[lo:hi] - first)
            first += len(text)
    for table in stored:
        own = table.column("place").to_numpy()
        for text in table.column("text").chunks:
            batches.append(text_buffers(text))
            where.append(own[: len(text)])
            rows.append(np.arange(len(text)))
            own = own[len(text) :]
    none = np.zeros(0, np.int64)
    sizes = [np.diff(offsets)[r] if len(r) else none for (_, offsets), r in zip(batches, rows, strict=True)]
    which = np.repeat(np.arange(len(batches)), [len(r) for r in rows])
    have = np.concatenate([none, *where])
    at = np.argsort(have, kind="stable")
    chosen = at[np.searchsorted(have[at], places)]
    return View(batches, which[chosen], np.concatenate([none, *rows])[chosen], np.concatenate([none, *sizes])[chosen])


def files_of(corpus: Corpus, places: I64) -> list[tuple[int, I64]]:
    """Split ascending places by input: (part, places) of each input that has any."""
    parts = part_of(corpus.ids[places])
    borders = np.flatnonzero(np.diff(parts)) + 1
    return [(int(part_of(corpus.ids[chunk[:1]])[0]), chunk) for chunk in np.split(places, borders) if len(chunk)]


def texts_of(source: Source, corpus: Corpus, cache: TextCache, places: I64) -> pa.LargeStringArray:
    """Texts of these places (any order), from memory or by reading their inputs again."""
    absent = missing(corpus, cache, np.unique(places))
    tables = []
    for part, own in files_of(corpus, absent) if len(absent) else []:
        ids = corpus.ids[own]
        for docs in source.rows(part, row_of(ids)):
            tables.append(pa.table({"place": own[np.searchsorted(ids, docs.ids)], "text": docs.text}))
    return fetch(corpus, cache, tables, places).take(0, len(places))


def as_strings(text: pa.LargeStringArray) -> list[str | None]:
    """Python strings for showing; invalid UTF-8 as U+FFFD, null as None."""
    return [None if raw is None else raw.decode("utf-8", "replace") for raw in text.cast(pa.large_binary()).to_pylist()]
