"""What settling needs of the documents in work groups: texts, band keys and compact sketches.

While all their texts are still in memory they are looked up there. Else one task per input writes them, taken from
memory or read once more, into work files dealt by partition, so that settling a partition reads only its own.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..cluster import Groups
from ..data import I64, U8, U64
from ..errors import StoreError
from .corpus import Corpus
from .job import Job
from .texts import Members, View, fetch, files_of, find, missing, stream


@dataclass(frozen=True, slots=True)
class Dealt:
    """A work file: batch i of table `name` holds documents of partition `partitions[i]`."""

    name: str
    partitions: Sequence[int]


class Held:
    """Members whose texts are all in memory: sketches are gathered once, for all partitions."""

    def __init__(self, job: Job, corpus: Corpus, groups: Groups, packed: U8 | None) -> None:
        plan = job.plan
        self._job, self._corpus, self._groups = job, corpus, groups
        m, bands = len(groups.place), plan.bands.bands
        self._keys: U64 = np.empty((m, bands), np.uint64)
        self._packed: U8 = np.empty((m, plan.slots), np.uint8) if packed is None else packed[groups.place]
        order = np.argsort(groups.place, kind="stable")
        ascending = groups.place[order]
        borders = np.searchsorted(ascending, corpus.start)
        for i in np.flatnonzero(np.diff(borders)):
            own = slice(borders[i], borders[i + 1])
            rows = ascending[own] - corpus.start[i]
            self._keys[order[own]] = corpus.keys_of(int(i), rows, bands)
            if packed is None:
                self._packed[order[own]] = corpus.packed_of(int(i), rows, plan.slots)

    def of(self, p: int) -> Members:
        """The members of partition p."""
        first, last = self._groups.cut(p)
        texts = fetch(self._corpus, self._job.cache, (), self._groups.place[first:last])
        return Members(self._keys[first:last], self._packed[first:last], texts)


class Stored:
    """Members in work files; the files of an input that turn out missing or damaged are made again."""

    def __init__(self, job: Job, groups: Groups, deal: Callable[[int], list[Dealt]], parts: Sequence[int]) -> None:
        self._job, self._groups, self._deal = job, groups, deal
        self._lock = threading.Lock()
        self._files = dict(zip(parts, job.engine.map(deal, parts), strict=True))

    def of(self, p: int) -> Members:
        """The members of partition p."""
        return self._members(p, [batch for part in self._files for batch in self._batches(part, p)])

    def _batches(self, part: int, p: int) -> list[pa.RecordBatch]:
        store = self._job.store
        while True:
            files = self._files[part]
            try:
                return [store.batch(f.name, f.partitions.index(p)) for f in files if p in f.partitions]
            except StoreError:
                with self._lock:
                    if self._files[part] is files:
                        store.drop(done_name(self._job, part))
                        self._files[part] = self._deal(part)

    def _members(self, p: int, batches: list[pa.RecordBatch]) -> Members:
        first, last = self._groups.cut(p)
        places = self._groups.place[first:last]
        plan, bands = self._job.plan, self._job.plan.bands.bands
        own = [b.column("place").to_numpy().astype(np.int64) for b in batches]
        have = np.concatenate([np.zeros(0, np.int64), *own])
        keys = _rows(batches, "keys", 8 * bands).view(np.uint64)
        packed = _rows(batches, "packed", plan.slots)
        at = find(have, places)
        which = np.repeat(np.arange(len(batches)), [len(o) for o in own])
        row = np.arange(len(have)) - np.repeat(np.cumsum([0, *(len(o) for o in own)])[:-1], [len(o) for o in own])
        texts = [text_of(b) for b in batches]
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(offsets) for _, offsets in texts)])
        return Members(keys[at], packed[at], View(texts, which[at], row[at], sizes[at]))


def done_name(job: Job, part: int) -> str:
    """Name of the list of an input's work files."""
    return f"texts/{job.partitions}-{part:07d}"


def text_of(batch: pa.RecordBatch) -> tuple[U8, I64]:
    """The text column of a work file's batch as bytes and offsets."""
    column = batch.column("text")
    buffers = column.buffers()
    offsets = np.frombuffer(buffers[1], np.int64, len(column) + 1, column.offset * 8)
    return (np.frombuffer(buffers[2], np.uint8) if buffers[2] is not None and buffers[2].size else _NONE), offsets


_NONE: U8 = np.zeros(0, np.uint8)


def _rows(batches: Sequence[pa.RecordBatch], name: str, width: int) -> U8:
    """A column of fixed width over all batches, (m, width) uint8."""
    out = np.empty((sum(b.num_rows for b in batches), width), np.uint8)
    first = 0
    for b in batches:
        column = b.column(name)
        n = len(column)
        out[first : first + n] = np.frombuffer(column.buffers()[1], np.uint8, n * width, column.offset * width).reshape(
            n, width
        )
        first += n
    return out


def gather_members(job: Job, corpus: Corpus, groups: Groups, packed: U8 | None, todo: set[int]) -> Held | Stored:
    """Make ready what settling the partitions `todo` needs."""
    partition = np.repeat(np.arange(job.partitions), np.diff(groups.border[groups.partition]))
    order = np.argsort(groups.place, kind="stable")
    order = order[np.isin(partition[order], list(todo))]
    places, partition = groups.place[order], partition[order]
    absent = missing(corpus, job.cache, places)
    size = len(groups.place) * (8 * job.plan.bands.bands + job.plan.slots)
    if not len(absent) and (packed is not None or size <= job.budget.members):
        return Held(job, corpus, groups, packed)
    job.progress.start("texts", len(places), "documents")

    own = dict(files_of(corpus, places))

    def deal(part: int) -> list[Dealt]:
        found = _deal(job, corpus, part, own[part], partition[np.searchsorted(places, own[part])])
        job.progress.advance("texts", len(own[part]))
        return found

    stored = Stored(job, groups, deal, list(own))
    job.progress.finish("texts")
    job.cache.clear()
    return stored


def _deal(job: Job, corpus: Corpus, part: int, places: I64, partition: I64) -> list[Dealt]:
    """Write the members of one input, `budget.buffer` bytes of text at a time, and last a list of the files."""
    done = done_name(job, part)
    if job.store.has(done):
        found = [Dealt(name, parts) for name, parts in json.loads(job.store.note(done))]
        if all(job.store.has(file.name) for file in found):
            return found
    found = []
    held: list[tuple[I64, pa.LargeStringArray, I64]] = []
    size = 0

    def write() -> None:
        nonlocal held, size
        with job.meter.room("read"):
            found.append(_write(job, corpus, f"{done}-{len(found):05d}", held))
        held, size = [], 0
        job.between()

    for own, text in job.meter.iterate("read", _texts(job, corpus, part, places)):
        held.append((own, text, partition[np.searchsorted(places, own)]))
        size += text.nbytes
        if size >= job.budget.buffer:
            write()
    if held:
        write()
    empty = pa.schema([pa.field("none", pa.int8())])
    job.store.stream(done, empty, (), lambda: json.dumps([[file.name, list(file.partitions)] for file in found]))
    return found


def _texts(job: Job, corpus: Corpus, part: int, places: I64) -> Iterator[tuple[I64, pa.LargeStringArray]]:
    """Texts of some places (ascending) of one input: first those in memory, then the others, read again."""
    which = np.searchsorted(corpus.start, places, "right") - 1
    borders = np.flatnonzero(np.diff(which)) + 1
    absent: list[I64] = []
    for own in np.split(places, borders):
        i = int(np.searchsorted(corpus.start, own[0], "right")) - 1
        name = corpus.pieces[i].name
        cached = job.cache.get(name)
        if cached is None:
            absent.append(own)
            continue
        first = int(corpus.start[i])
        for text in cached:
            lo, hi = np.searchsorted(own, (first, first + len(text)))
            if hi > lo:
                yield own[lo:hi], text.take(pa.array(own[lo:hi] - first))
            first += len(text)
        job.cache.release(name)
    if absent:
        yield from stream(job.source, corpus, part, np.concatenate(absent))


def _write(job: Job, corpus: Corpus, name: str, held: list[tuple[I64, pa.LargeStringArray, I64]]) -> Dealt:
    """Write buffered members as one table: a batch per partition, ascending."""
    plan, bands = job.plan, job.plan.bands.bands
    places, partition = np.concatenate([h[0] for h in held]), np.concatenate([h[2] for h in held])
    ascending = np.argsort(places, kind="stable")
    borders = np.searchsorted(places[ascending], corpus.start)
    keys, packed = np.empty((len(places), bands), np.uint64), np.empty((len(places), plan.slots), np.uint8)
    for i in np.flatnonzero(np.diff(borders)):
        own = ascending[borders[i] : borders[i + 1]]
        rows = places[own] - corpus.start[i]
        keys[own] = corpus.keys_of(int(i), rows, bands)
        packed[own] = corpus.packed_of(int(i), rows, plan.slots)
    text = pa.concat_arrays([h[1] for h in held])  # many selections from one array, far faster than from chunks
    order = np.argsort(partition, kind="stable")
    parts, starts = np.unique(partition[order], return_index=True)
    schema = pa.schema(
        [
            pa.field("place", pa.uint32()),
            pa.field("keys", pa.binary(8 * bands)),
            pa.field("packed", pa.binary(plan.slots)),
            pa.field("text", pa.large_string()),
        ]
    )

    def batches() -> Iterator[pa.RecordBatch]:
        for rows in np.split(order, starts[1:]):
            n = len(rows)
            taken = text.take(pa.array(rows))
            columns = [
                pa.array(places[rows].astype(np.uint32)),
                pa.FixedSizeBinaryArray.from_buffers(pa.binary(8 * bands), n, [None, pa.py_buffer(keys[rows])]),
                pa.FixedSizeBinaryArray.from_buffers(pa.binary(plan.slots), n, [None, pa.py_buffer(packed[rows])]),
                taken,
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    job.store.stream(name, schema, batches())
    return Dealt(name, parts.tolist())
