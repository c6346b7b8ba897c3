"""The first pass over all inputs, as the later stages see it: one row per document that was read, in input order.

A document's place is its row here (0 … n - 1). Its position is what users see: its record counted over all inputs,
set-aside records included.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ..data import I64, U8, U64, Problem, SpecMismatch, part_of, row_of
from .sources import Piece

ID, ID_KIND, SOURCE, KEEP, KEEP_KIND = "id", "id_kind", "source", "keep_value", "keep_kind"


@dataclass(slots=True)
class Facts:
    """Counts of one piece, or of all of them; kept beside the piece's table, so that a resumed run has them."""

    spec: str = ""  # fingerprint of the plan that shaped the table (Plan.spec)
    rows: int = 0  # records up to the end of this piece, set-aside ones included
    null: int = 0
    empty: int = 0
    invalid: int = 0
    invalid_rows: list[int] = field(default_factory=list)
    long_tokens: int = 0
    problems: list[Problem] = field(default_factory=list)

    def to_json(self) -> str:
        """Pack for the store."""
        plain = {
            name: getattr(self, name)
            for name in ("spec", "rows", "null", "empty", "invalid", "invalid_rows", "long_tokens")
        }
        plain["problems"] = [
            [p.file, p.row, p.line, p.reason, None if p.raw is None else base64.b64encode(p.raw).decode(), p.rest]
            for p in self.problems
        ]
        return json.dumps(plain)

    def of_lost_file(self) -> Facts:
        """The counts when the file is set aside as a whole: its problems only."""
        return Facts(problems=[p for p in self.problems if p.row < 0])

    @classmethod
    def from_json(cls, packed: str) -> Facts:
        """Unpack."""
        plain: dict[str, Any] = json.loads(packed)
        plain["problems"] = [
            Problem(f, row, line, reason, None if raw is None else base64.b64decode(raw), rest)
            for f, row, line, reason, raw, rest in plain["problems"]
        ]
        return cls(**plain)


class Corpus:
    """Columns over all pieces."""

    def __init__(self, pieces: Sequence[Piece], tables: Sequence[pa.Table], facts: Sequence[Facts], parts: int) -> None:
        if len({f.spec for f in facts}) > 1:
            raise SpecMismatch("the first pass holds sketches of different plans; start anew with --overwrite")
        self.pieces = list(pieces)
        lost = {p.part for p, f in zip(pieces, facts, strict=True) if any(x.row < 0 for x in f.problems)}
        self.tables = [t.slice(0, 0) if p.part in lost else t for p, t in zip(pieces, tables, strict=True)]
        self.facts = [f.of_lost_file() if p.part in lost else f for p, f in zip(pieces, facts, strict=True)]
        self.start: I64 = np.concatenate(([0], np.cumsum([t.num_rows for t in self.tables]))).astype(np.int64)
        self.n = int(self.start[-1])
        self.ids: I64 = self.numbers("doc", np.int64)
        self.tokens: I64 = self.numbers("tokens", np.int64)
        self.equal: U64 = np.stack(
            [self.numbers("equal_high", np.uint64), self.numbers("equal_low", np.uint64)], axis=1
        )
        self.part_rows: I64 = np.zeros(parts, np.int64)
        for piece, counts in zip(self.pieces, self.facts, strict=True):
            self.part_rows[piece.part] = max(self.part_rows[piece.part], counts.rows)
        self.part_start: I64 = np.concatenate(([0], np.cumsum(self.part_rows))).astype(np.int64)

    def numbers(self, name: str, kind: Any) -> Any:
        """A numeric column over all pieces, (n,)."""
        found = [t.column(name).to_numpy() for t in self.tables]
        return found[0] if len(found) == 1 else np.concatenate([np.zeros(0, kind), *found])

    def has(self, name: str) -> bool:
        """Whether the first pass kept this column."""
        return bool(self.tables) and name in self.tables[0].schema.names

    def column(self, name: str) -> list[pa.ChunkedArray]:
        """A column of the users', one chunked array per piece (types may differ between files)."""
        return [t.column(name) for t in self.tables]

    def band(self, b: int) -> U64:
        """Band keys of band `b`, (n,) uint64."""
        keys: U64 = self.numbers(f"band{b:03d}", np.uint64)
        return keys

    def packed(self, width: int) -> U8:
        """Compact sketches, (n, width) uint8."""
        out = np.empty((self.n, width), np.uint8)
        first = 0
        for table in self.tables:
            for chunk in table.column("packed").chunks:
                view = np.frombuffer(chunk.buffers()[1], np.uint8)[chunk.offset * width :][: len(chunk) * width]
                out[first : first + len(chunk)] = view.reshape(-1, width)
                first += len(chunk)
        return out

    def positions(self, places: I64) -> I64:
        """Positions of places: records counted over all inputs."""
        ids = self.ids[places]
        positions: I64 = self.part_start[part_of(ids)] + row_of(ids)
        return positions

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
        return out
