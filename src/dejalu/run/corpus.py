"""The first pass over all inputs, as the later stages see it: one row per document that was read, in input order.

A document's place is its row here (0 … n - 1). Its position is what users see: its record counted over all inputs,
set-aside records included. Columns stay in the store and come piece by piece; what is held for every document is one
byte.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ..data import I64, U8, U64, Problem, SpecMismatch, distinct, doc_ids, part_of, row_of
from ..engines import Store
from ..errors import ChangedInput, StoreError
from .sources import Piece

ID, ID_KIND, SOURCE, KEEP, KEEP_KIND = "id", "id_kind", "source", "keep_value", "keep_kind"
FINGERPRINT = ("fingerprint", "fingerprint_low")  # first and second 64 bits
APART = "within"  # documents with different values are not compared
COUNTS = (
    "spec", "columns", "docs", "first", "gaps", "rows", "null", "empty", "invalid", "invalid_rows", "long_tokens",
    "passed",
)  # fmt: skip
WIDE = 160  # bytes of a row's wide columns: compact sketch, id
MANY = 1 << 16  # tokens
TOGETHER = 8  # bands read at once, so that memory holds no more of a piece
TEXT, EMPTY, NULL = 0, 1, 2  # states of a document: it has tokens, it has none, it is null


@dataclass(slots=True)
class Facts:
    """Counts of one piece, or of all of them; kept beside the piece's table, so that a resumed run has them."""

    spec: str = ""  # fingerprint of the plan that shaped the table (Plan.spec)
    columns: list[str] = field(default_factory=list)  # of the table
    docs: int = 0  # rows of the table
    first: int = 0  # row of the first document in its file
    gaps: bool = False  # whether records between the documents were set aside or are none
    rows: int = 0  # records up to the end of this piece, set-aside ones included
    null: int = 0
    empty: int = 0
    invalid: int = 0
    invalid_rows: list[int] = field(default_factory=list)
    long_tokens: int = 0
    passed: dict[str, int] = field(default_factory=dict)  # records that are no documents, by kind
    problems: list[Problem] = field(default_factory=list)

    def to_json(self) -> str:
        """Pack for the store."""
        plain = {name: getattr(self, name) for name in COUNTS}
        plain["problems"] = [
            [p.file, p.row, p.line, p.reason, None if p.raw is None else base64.b64encode(p.raw).decode(), p.rest]
            for p in self.problems
        ]
        return json.dumps(plain)

    def of_lost_file(self) -> Facts:
        """The counts when the file is set aside as a whole: its problems only."""
        return Facts(columns=self.columns, problems=[p for p in self.problems if p.row < 0])

    @classmethod
    def from_json(cls, packed: str) -> Facts:
        """Unpack."""
        plain: dict[str, Any] = json.loads(packed)
        plain["problems"] = [
            Problem(f, row, line, reason, None if raw is None else base64.b64decode(raw), rest)
            for f, row, line, reason, raw, rest in plain["problems"]
        ]
        return cls(**plain)


def sketch_name(piece: Piece) -> str:
    """Name of a piece's first-pass table in the store."""
    return f"sketch/{piece.name}"


class Corpus:
    """The tables of all pieces.

    Attributes:
        n: number of documents.
        start: (pieces + 1,) int64: piece i holds the places start[i] … start[i + 1] - 1.
        state: (n,) uint8: TEXT, EMPTY or NULL.
        lengths: (v,) int64 numbers of tokens that occur, ascending, and how many documents have each.
        part_start: (parts + 1,) int64: positions of the first record of each input.
    """

    def __init__(
        self,
        store: Store,
        pieces: Sequence[Piece],
        facts: Sequence[Facts],
        parts: int,
        redo: Callable[[Piece], None],
        held: int = 0,
    ) -> None:
        """Open the first pass.

        Args:
            redo: does a piece again whose table turns out missing or damaged.
            held: tables are kept open when all of them are within so many bytes.
        """
        if len({f.spec for f in facts}) > 1:
            raise SpecMismatch("the first pass holds sketches of different plans; start anew with --overwrite")
        self._store, self._redo = store, redo
        self._lock = threading.Lock()
        self.pieces = list(pieces)
        lost = {p.part for p, f in zip(pieces, facts, strict=True) if any(x.row < 0 for x in f.problems)}
        self.facts = [f.of_lost_file() if p.part in lost else f for p, f in zip(pieces, facts, strict=True)]
        self.start: I64 = np.concatenate(([0], np.cumsum([f.docs for f in self.facts]))).astype(np.int64)
        self.n = int(self.start[-1])
        self.part_rows: I64 = np.zeros(parts, np.int64)
        for piece, counts in zip(self.pieces, self.facts, strict=True):
            self.part_rows[piece.part] = max(self.part_rows[piece.part], counts.rows)
        self.part_start: I64 = np.concatenate(([0], np.cumsum(self.part_rows))).astype(np.int64)
        fields = max((len(f.columns) for f in self.facts), default=0)
        fits = self.n * (8 * fields + WIDE) <= held
        self._held: list[pa.Table] | None = None
        self._held = [self._whole(i, None) for i in range(len(pieces))] if fits else None
        self.state: U8 = np.empty(self.n, np.uint8)
        self.lengths: tuple[I64, I64] = self._lengths()
        self._base: I64 = np.concatenate(
            [
                np.zeros(0, np.int64),
                *(doc_ids(p.part, np.array([f.first])) for p, f in zip(pieces, self.facts, strict=True)),
            ]
        )
        self._gaps = np.array([f.gaps for f in self.facts], np.bool_)

    def _lengths(self) -> tuple[I64, I64]:
        """Read the numbers of tokens once: fills `state`."""
        seen: list[tuple[I64, I64]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        first = 0
        for tokens in self.chunks("tokens", np.int64):
            self.state[first : first + len(tokens)] = np.where(tokens > 0, TEXT, np.where(tokens < 0, NULL, EMPTY))
            first += len(tokens)
            seen.append(_counted(tokens[tokens > 0]))
            if len(seen) > 64:
                seen = [_merged(seen)]
        return _merged(seen)

    def table(self, i: int, *columns: str) -> pa.Table:
        """Columns of piece i, those that it has."""
        have = [c for c in columns if c in self.facts[i].columns]
        if not have:
            return pa.table({})
        table = self._whole(i, have) if self._held is None else self._held[i].select(have)
        return table if self.facts[i].docs == table.num_rows else table.slice(0, 0)

    def _whole(self, i: int, columns: list[str] | None) -> pa.Table:
        """A table of the store; a missing or damaged one is made again."""
        piece = self.pieces[i]
        name = sketch_name(piece)
        try:
            return self._store.get(name, columns)
        except StoreError:
            with self._lock:
                if not self._store.has(name):
                    self._redo(piece)
            again = Facts.from_json(self._store.note(name))
            if self.facts[i].docs not in (0, again.docs):
                raise ChangedInput(
                    f"input {piece.part}: {again.docs:,} documents in a piece that had {self.facts[i].docs:,}; it was "
                    "changed during the run. Start again with --overwrite."
                ) from None
            return self._store.get(name, columns)

    def has(self, name: str) -> bool:
        """Whether the first pass kept this column for any piece."""
        return any(name in f.columns for f in self.facts)

    def chunks(self, name: str, kind: Any) -> Iterator[Any]:
        """Pieces of a numeric column in the order of places; zeros where a piece lacks it."""
        for i, facts in enumerate(self.facts):
            if not facts.docs:
                continue
            if name not in facts.columns:
                yield np.zeros(facts.docs, kind)
                continue
            for chunk in self.table(i, name).column(0).chunks:
                yield chunk.to_numpy()

    def numbers(self, name: str, kind: Any) -> Any:
        """A numeric column over all pieces, (n,)."""
        out = np.empty(self.n, kind)
        first = 0
        for chunk in self.chunks(name, kind):
            out[first : first + len(chunk)] = chunk
            first += len(chunk)
        return out

    def column(self, name: str) -> list[pa.Array]:
        """A column of the users', one array per piece (types may differ between files); nulls where it is lacking."""
        return [
            _one(self.table(i, name).column(0)) if name in facts.columns else pa.nulls(facts.docs)
            for i, facts in enumerate(self.facts)
        ]

    def keys(self, band: int) -> Iterator[U64]:
        """Band keys of band `band`, piece by piece."""
        return self.chunks(band_name(band), np.uint64)

    def equal_hashes(self) -> Iterator[tuple[U64, U64]]:
        """Halves of the hashes of token sequences (or bytes): high, low; piece by piece."""
        for i, facts in enumerate(self.facts):
            if facts.docs:
                table = self.table(i, "equal_high", "equal_low")
                for batch in table.to_batches():
                    yield batch.column(0).to_numpy(), batch.column(1).to_numpy()

    def packed(self, width: int) -> U8:
        """Compact sketches of all documents, (n, width) uint8."""
        out = np.empty((self.n, width), np.uint8)
        for i in range(len(self.pieces)):
            first = int(self.start[i])
            for chunk in self.table(i, "packed").column(0).chunks if self.facts[i].docs else ():
                out[first : first + len(chunk)] = fixed(chunk, width)
                first += len(chunk)
        return out

    def keys_at(self, places: I64, bands: int) -> U64:
        """Band keys (m, bands) uint64 of places (any order)."""
        keys = np.empty((len(places), bands), np.uint64)
        for low in range(0, bands, TOGETHER):
            some = range(low, min(low + TOGETHER, bands))
            for batch, where, rows in self._batches_at(places, *(band_name(b) for b in some)):
                for at, b in enumerate(some):
                    keys[where, b] = batch.column(at).to_numpy()[rows]
        return keys

    def packed_at(self, places: I64, width: int) -> U8:
        """Compact sketches (m, width) uint8 of places (any order)."""
        out = np.empty((len(places), width), np.uint8)
        for batch, where, rows in self._batches_at(places, "packed"):
            out[where] = fixed(batch.column(0), width)[rows]
        return out

    def _batches_at(self, places: I64, *columns: str) -> Iterator[tuple[pa.RecordBatch, I64, I64]]:
        """Batches that hold some of the places: which of `places` those are, and their rows in the batch."""
        order = np.argsort(places, kind="stable")
        ascending = places[order]
        borders = np.searchsorted(ascending, self.start)
        for i in np.flatnonzero(np.diff(borders)):
            first, at = int(self.start[i]), int(borders[i])
            for batch in self.table(int(i), *columns).to_batches():
                end = int(np.searchsorted(ascending, first + len(batch)))
                if end > at:
                    yield batch, order[at:end], ascending[at:end] - first
                first, at = first + len(batch), end

    def ids_at(self, places: I64) -> I64:
        """DocIds of places (any order)."""
        which = np.searchsorted(self.start, places, "right") - 1
        out: I64 = self._base[which] + (places - self.start[which])
        for i in distinct(which[self._gaps[which]]):
            own = which == i
            out[own] = _numbers(self.table(int(i), "doc"))[places[own] - self.start[i]]
        return out

    def ids_of(self, i: int) -> I64:
        """DocIds of piece i, ascending."""
        return self.ids_at(np.arange(self.start[i], self.start[i + 1]))

    def positions(self, places: I64) -> I64:
        """Positions of places: records counted over all inputs."""
        ids = self.ids_at(places)
        positions: I64 = self.part_start[part_of(ids)] + row_of(ids)
        return positions

    def set_aside(self) -> I64:
        """Positions of the records that were set aside."""
        found = [
            self.part_start[piece.part] + np.array([p.row for p in facts.problems if p.record], np.int64)
            for piece, facts in zip(self.pieces, self.facts, strict=True)
            if facts.problems
        ]
        return np.concatenate([np.zeros(0, np.int64), *found])

    @property
    def total(self) -> Facts:
        """The counts of all pieces together; `rows` is the number of records, set-aside ones included."""
        out = Facts(rows=int(self.part_start[-1]))
        for facts in self.facts:
            out.null += facts.null
            out.empty += facts.empty
            out.invalid += facts.invalid
            out.long_tokens += facts.long_tokens
            out.problems += facts.problems
            for kind, n in facts.passed.items():
                out.passed[kind] = out.passed.get(kind, 0) + n
        return out


def band_name(band: int) -> str:
    """Name of a band's column of keys."""
    return f"band{band:03d}"


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks()


def _numbers(table: pa.Table) -> Any:
    return table.column(0).to_numpy()


def fixed(column: pa.FixedSizeBinaryArray, width: int) -> U8:
    """View a column of values of one width as (m, width) uint8."""
    n = len(column)
    return np.frombuffer(column.buffers()[1], np.uint8, n * width, column.offset * width).reshape(n, width)


def _counted(numbers: I64) -> tuple[I64, I64]:
    """Values that occur, ascending, and how often; small numbers are counted without being sorted."""
    small = numbers[numbers < MANY]
    times = np.bincount(small)
    values = np.flatnonzero(times)
    large, many = np.unique(numbers[numbers >= MANY], return_counts=True)
    return np.concatenate((values, large)), np.concatenate((times[values], many)).astype(np.int64)


def _merged(seen: list[tuple[I64, I64]]) -> tuple[I64, I64]:
    """Add up counts of the same values."""
    values, back = np.unique(np.concatenate([v for v, _ in seen]), return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, back, np.concatenate([c for _, c in seen]))
    return values, counts
