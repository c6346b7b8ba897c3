"""Texts for verification: those of the first pass while they fit, else read once more, file by file.

The second pass writes, for each file, the texts that need verification into one table per partition (compressed when
the
store is on a disk), so that settling a partition reads only its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data import I64, Docs, part_of, row_of
from ..engines import Store
from ..errors import ChangedInput
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


def fetch(corpus: Corpus, cache: TextCache, stored: Sequence[pa.Table], places: I64) -> tuple[pa.LargeStringArray, I64]:
    """Gather the texts of `places` (any order) from the cache and from stored tables.

    Returns:
        the texts, some order, and for each of `places` the row of its text.
    """
    order = np.argsort(places, kind="stable")
    ascending = places[order]
    parts: list[pa.Array] = []
    where: list[I64] = []
    borders = np.searchsorted(ascending, corpus.start)
    for i in np.flatnonzero(np.diff(borders)):
        batches = cache.get(corpus.pieces[i].name)
        if batches is None:
            continue
        wanted = ascending[borders[i] : borders[i + 1]]
        first = int(corpus.start[i])
        for batch in batches:
            lo, hi = np.searchsorted(wanted, (first, first + len(batch)))
            if hi > lo:
                parts.append(batch.take(pa.array(wanted[lo:hi] - first)))
                where.append(wanted[lo:hi])
            first += len(batch)
    for table in stored:
        parts += table.column("text").chunks
        where.append(table.column("place").to_numpy())
    texts = pa.concat_arrays(parts) if parts else pa.array([], pa.large_string())
    have = np.concatenate(where) if where else np.zeros(0, np.int64)
    at = np.argsort(have, kind="stable")
    return texts, at[np.searchsorted(have[at], places)]


def in_order(texts: pa.LargeStringArray, rows: I64) -> pa.LargeStringArray:
    """The texts in the order wanted."""
    return pc.take(texts, pa.array(rows))


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
    texts, rows = fetch(corpus, cache, tables, places)
    return in_order(texts, rows)


def as_strings(text: pa.LargeStringArray) -> list[str | None]:
    """Python strings for showing; invalid UTF-8 as U+FFFD, null as None."""
    return [None if raw is None else raw.decode("utf-8", "replace") for raw in text.cast(pa.large_binary()).to_pylist()]
