"""Texts: those of the first pass while they fit, else read once more, file by file."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..data import I64, U8, U64, distinct, row_of, text_buffers
from ..errors import ChangedInput, StoreError
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

    def release(self, name: str) -> None:
        """Forget a piece."""
        self._pieces.pop(name, None)

    def clear(self) -> None:
        """Forget everything."""
        self._pieces.clear()


def missing(corpus: Corpus, cache: TextCache, places: I64) -> I64:
    """Which of these places (ascending) have no cached text."""
    which = np.searchsorted(corpus.start, places, "right") - 1
    cached = np.array([cache.get(piece.name) is not None for piece in corpus.pieces], np.bool_)
    return places[~cached[which]] if len(places) else places


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


@dataclass(frozen=True, slots=True)
class Members:
    """Documents of one or more partitions, in the order of their Groups.place.

    keys (m, bands) uint64; packed (m, slots) uint8; texts: View over m texts
    """

    keys: U64
    packed: U8
    texts: View


def fetch(corpus: Corpus, cache: TextCache, further: Sequence[tuple[I64, pa.LargeStringArray]], places: I64) -> View:
    """Find the texts of `places` (any order) in the cache and in further arrays; nothing is copied yet.

    Args:
        further: places (m,) int64 ascending, and their texts.
    """
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
    for own, text in further:
        batches.append(text_buffers(text))
        where.append(own)
        rows.append(np.arange(len(text)))
    none = np.zeros(0, np.int64)
    sizes = [np.diff(offsets)[r] if len(r) else none for (_, offsets), r in zip(batches, rows, strict=True)]
    which = np.repeat(np.arange(len(batches)), [len(r) for r in rows])
    chosen = find(np.concatenate([none, *where]), places)
    return View(batches, which[chosen], np.concatenate([none, *rows])[chosen], np.concatenate([none, *sizes])[chosen])


def find(have: I64, wanted: I64) -> I64:
    """Where each wanted place stands in `have` (any order, each once).

    Raises:
        StoreError: one is not there.
    """
    order = np.argsort(have, kind="stable")
    at = np.searchsorted(have[order], wanted)
    if len(wanted) and (not len(have) or at.max() == len(have) or not np.array_equal(have[order[at]], wanted)):
        raise StoreError("a text that was kept for verification is not there any more; start again with --overwrite")
    found: I64 = order[at]
    return found


def files_of(corpus: Corpus, places: I64) -> list[tuple[int, I64]]:
    """Split ascending places by input: (part, places) of each input that has any."""
    parts = np.array([piece.part for piece in corpus.pieces], np.int64)
    part = parts[np.searchsorted(corpus.start, places, "right") - 1] if len(places) else places
    borders = np.flatnonzero(np.diff(part)) + 1
    return [
        (int(p[0]), own) for p, own in zip(np.split(part, borders), np.split(places, borders), strict=True) if len(own)
    ]


def stream(source: Source, corpus: Corpus, part: int, places: I64) -> Iterator[tuple[I64, pa.LargeStringArray]]:
    """Read the texts of some places (ascending) of one input again: their places and texts, batch by batch.

    Raises:
        ChangedInput: other rows came than in the first pass.
    """
    ids, done = corpus.ids_at(places), 0
    for docs in source.rows(part, row_of(ids)):
        own = places[done : done + len(docs)]
        if not np.array_equal(docs.ids, ids[done : done + len(docs)]):
            break
        yield own, docs.text
        done += len(docs)
    if done != len(places):
        raise ChangedInput(
            f"{source.inputs[part].file}: other rows than in the first pass; it was changed during the run"
        )


def texts_of(source: Source, corpus: Corpus, cache: TextCache, places: I64) -> pa.LargeStringArray:
    """Texts of these places (any order), from memory or by reading their inputs again."""
    absent = missing(corpus, cache, distinct(places))
    found = [batch for part, own in files_of(corpus, absent) for batch in stream(source, corpus, part, own)]
    return fetch(corpus, cache, found, places).take(0, len(places))


def as_strings(text: pa.LargeStringArray) -> list[str | None]:
    """Python strings for showing; invalid UTF-8 as U+FFFD, null as None."""
    return [None if raw is None else raw.decode("utf-8", "replace") for raw in text.cast(pa.large_binary()).to_pylist()]
