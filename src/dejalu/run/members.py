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
from ..data import I64, U8, as_arrow, distinct, text_buffers
from ..errors import StoreError
from .corpus import Corpus, fixed
from .job import Job
from .texts import Members, View, fetch, files_of, find, missing, stream

TRIES = 3  # readings of a work file that is damaged and made again each time


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
        self._keys = corpus.keys_at(groups.place, plan.bands.bands)
        self._packed = corpus.packed_at(groups.place, plan.slots) if packed is None else packed[groups.place]

    def of(self, p: int) -> Members:
        """The members of partition p."""
        first, last = self._groups.cut(p)
        texts = fetch(self._corpus, self._job.cache, (), self._groups.place[first:last])
        return Members(self._keys[first:last], self._packed[first:last], texts)


class Stored:
    """Members in work files; the files of an input that turn out missing or damaged are made again."""

    def __init__(
        self, job: Job, groups: Groups, deal: Callable[[int, bool], list[Dealt]], parts: Sequence[int]
    ) -> None:
        """Deal the members of some inputs.

        Args:
            deal: deals those of one input, and with True does it again whatever is there.
        """
        self._job, self._groups, self._deal = job, groups, deal
        self._lock = threading.Lock()
        self._files = dict(zip(parts, job.engine.map(lambda part: deal(part, False), parts), strict=True))

    def of(self, p: int) -> Members:
        """The members of partition p."""
        return self._members(p, [batch for part in self._files for batch in self._batches(part, p)])

    def _batches(self, part: int, p: int) -> list[pa.RecordBatch]:
        store = self._job.store
        for left in reversed(range(TRIES)):
            files = self._files[part]
            try:
                return [store.batch(f.name, f.partitions.index(p)) for f in files if p in f.partitions]
            except StoreError:
                if not left:
                    raise
                with self._lock:
                    if self._files[part] is files:
                        self._files[part] = self._deal(part, True)
        raise AssertionError("the last try gives or raises")

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
        texts = [text_buffers(b.column("text")) for b in batches]
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(offsets) for _, offsets in texts)])
        return Members(keys[at], packed[at], View(texts, which[at], row[at], sizes[at]))


def _rows(batches: Sequence[pa.RecordBatch], name: str, width: int) -> U8:
    """A column of fixed width over all batches, (m, width) uint8."""
    return np.concatenate([np.zeros((0, width), np.uint8), *(fixed(b.column(name), width) for b in batches)])


def gather_members(
    job: Job, corpus: Corpus, groups: Groups, packed: U8 | None, todo: set[int], layout: str
) -> Held | Stored:
    """Make ready what settling the partitions `todo` needs; `layout` tells these work groups from others."""
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

    def deal(part: int, again: bool) -> list[Dealt]:
        name = f"texts/{layout}-{part:07d}"
        if again:
            job.store.drop(name)
        found = _deal(job, corpus, part, own[part], partition[np.searchsorted(places, own[part])], name)
        job.progress.advance("texts", len(own[part]))
        return found

    stored = Stored(job, groups, deal, list(own))
    job.progress.finish("texts")
    job.cache.clear()
    return stored


def _deal(job: Job, corpus: Corpus, part: int, places: I64, partition: I64, done: str) -> list[Dealt]:
    """Write the members of one input, `budget.buffer` bytes of text at a time, and then a list of the files.

    What an interrupted run wrote is used where it is whole and has all these partitions.
    """
    if job.store.has(done):
        found = [Dealt(name, parts) for name, parts in json.loads(job.store.note(done))]
        dealt = {p for file in found for p in file.partitions}
        if dealt.issuperset(distinct(partition).tolist()) and all(job.store.has(file.name) for file in found):
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

    for own, text in job.meter.iterate("read", texts_by_part(job, corpus, part, places)):
        held.append((own, text, partition[np.searchsorted(places, own)]))
        size += text.nbytes
        if size >= job.budget.buffer:
            write()
    if held:
        write()
    empty = pa.schema([pa.field("none", pa.int8())])
    job.store.stream(done, empty, (), lambda: json.dumps([[file.name, list(file.partitions)] for file in found]))
    return found


def texts_by_part(
    job: Job, corpus: Corpus, part: int, places: I64, *, keep: bool = False
) -> Iterator[tuple[I64, pa.LargeStringArray]]:
    """Texts of some places (ascending) of one input: first those in memory, then the others, read again.

    Pieces in memory are let go as they are passed, unless they are to be kept.
    """
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
                yield own[lo:hi], text.take(as_arrow(own[lo:hi] - first))
            first += len(text)
        if not keep:
            job.cache.release(name)
    if absent:
        yield from stream(job.source, corpus, part, np.concatenate(absent))


def _write(job: Job, corpus: Corpus, name: str, held: list[tuple[I64, pa.LargeStringArray, I64]]) -> Dealt:
    """Write buffered members as one table: a batch per partition, ascending."""
    plan, bands = job.plan, job.plan.bands.bands
    places, partition = np.concatenate([h[0] for h in held]), np.concatenate([h[2] for h in held])
    keys, packed = corpus.keys_at(places, bands), corpus.packed_at(places, plan.slots)
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
            taken = text.take(as_arrow(rows))
            columns = [
                as_arrow(places[rows].astype(np.uint32)),
                pa.FixedSizeBinaryArray.from_buffers(pa.binary(8 * bands), n, [None, pa.py_buffer(keys[rows])]),
                pa.FixedSizeBinaryArray.from_buffers(pa.binary(plan.slots), n, [None, pa.py_buffer(packed[rows])]),
                taken,
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    job.store.stream(name, schema, batches())
    return Dealt(name, parts.tolist())
