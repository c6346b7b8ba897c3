"""Where documents come from, seen alike: files on a disk, or texts and tables in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .. import read
from ..data import I64, Docs, Input, Problem, Records
from ..plan import Plan

OnProblem = Callable[[Problem], None]
OnPassed = Callable[[int, str], None]


def ignore(row: int, kind: str) -> None:
    """Nothing is counted of a record that is no document."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One unit of the first pass: piece `index` of input `part`; `what` is the reader's own description of it.

    `size` is its share of the file in bytes and `rows` its number of records, where known (0 else): for progress only.
    """

    part: int
    index: int
    what: Any
    size: int = 0
    rows: int = 0

    @property
    def name(self) -> str:
        """A name for the store."""
        return f"{self.part:07d}-{self.index:05d}"


class Source(Protocol):
    """A collection of inputs in input order."""

    inputs: tuple[Input, ...]
    skipped: dict[str, int]

    def columns(self, part: int) -> Any:
        """The columns to read of one input; `.id` names the id column."""
        ...

    def pieces(self, on_problem: OnProblem) -> list[Piece]:
        """All units of the first pass, in input order."""
        ...

    def read(
        self, piece: Piece, batch_rows: int, batch_bytes: int, on_problem: OnProblem, on_passed: OnPassed = ignore
    ) -> Iterator[Docs]:
        """Stream a piece in batches of about `batch_bytes` of text; `batch_rows`: of so many documents, 0 = any.

        `on_passed` is told row and kind of each record that is no document.
        """
        ...

    def rows(self, part: int, rows: I64) -> Iterator[Docs]:
        """Stream only these rows (ascending) of one input."""
        ...


class FileSource:
    """Files and folders, by `dejalu.read`."""

    def __init__(
        self, inputs: Sequence[Input], plan: Plan, *, skipped: dict[str, int] | None = None, roots: Sequence[str] = ()
    ) -> None:
        self.inputs: tuple[Input, ...] = tuple(inputs)
        self.skipped: dict[str, int] = dict(skipped or {})
        self.roots: tuple[Path, ...] = tuple(Path(r) for r in roots)
        self._plan = plan
        self._columns: dict[int, read.Columns] = {}

    @classmethod
    def found(cls, paths: Sequence[str | os.PathLike[str]], plan: Plan) -> FileSource:
        """Look for the inputs under paths: files, folders, patterns."""
        found = read.discover(paths)
        return cls(found.inputs, plan, skipped=dict(found.skipped), roots=found.roots)

    def columns(self, part: int) -> read.Columns:
        """The columns to read of one file; resolved once."""
        if part not in self._columns:
            plan = self._plan
            self._columns[part] = read.resolve(
                self.inputs[part],
                text_columns=plan.text_column,
                id_column=plan.id_column,
                extra=plan.extra_columns,
                encoding=plan.encoding,
                on_error=plan.on_error,
            )
        return self._columns[part]

    def pieces(self, on_problem: OnProblem) -> list[Piece]:
        """All units of the first pass."""
        return [piece for i in self.inputs for piece in self._pieces(i)]

    def _pieces(self, i: Input) -> list[Piece]:
        found = read.pieces(i, self.columns(i.part))
        counts = [what.rows or 0 for what in found]
        total = sum(counts)
        return [
            Piece(i.part, index, what, round(i.size * (rows / total if total else 1 / len(found))), rows)
            for index, (what, rows) in enumerate(zip(found, counts, strict=True))
        ]

    def read(
        self, piece: Piece, batch_rows: int, batch_bytes: int, on_problem: OnProblem, on_passed: OnPassed = ignore
    ) -> Iterator[Docs]:
        """Stream a piece in batches of about `batch_bytes` of text; `batch_rows`: of so many documents, 0 = any.

        `on_passed` is told row and kind of each record that is no document.
        """
        return read.read(
            self.inputs[piece.part],
            piece.what,
            self.columns(piece.part),
            batch_bytes=batch_bytes,
            batch_rows=batch_rows or None,
            on_problem=on_problem,
            on_passed=on_passed,
        )

    def rows(self, part: int, rows: I64) -> Iterator[Docs]:
        """Stream some rows of one file."""
        return read.rows(self.inputs[part], self.columns(part), rows)

    def records(self, part: int) -> Iterator[Records] | None:
        """Raw records of a format that has such; None for the others."""
        if self.inputs[part].format not in ("jsonl", "csv", "warc"):
            return None
        return read.records(self.inputs[part], self.columns(part))


class MemorySource:
    """Texts and tables in memory, by `dejalu.read.from_memory`."""

    def __init__(self, data: Any, plan: Plan) -> None:
        self.memory = read.from_memory(data)
        self.inputs: tuple[Input, ...] = self.memory.inputs
        self.skipped: dict[str, int] = {}
        self._columns = [
            self.memory.resolve(
                i.part, text_columns=plan.text_column, id_column=plan.id_column, extra=plan.extra_columns
            )
            for i in self.inputs
        ]

    def columns(self, part: int) -> Any:
        """The columns to read of one table."""
        return self._columns[part]

    def pieces(self, on_problem: OnProblem) -> list[Piece]:
        """One unit per table."""
        return [Piece(i.part, 0, None) for i in self.inputs]

    def read(
        self, piece: Piece, batch_rows: int, batch_bytes: int, on_problem: OnProblem, on_passed: OnPassed = ignore
    ) -> Iterator[Docs]:
        """Stream a table."""
        return self.memory.batches(
            piece.part, self._columns[piece.part], batch_bytes=batch_bytes, batch_rows=batch_rows or None
        )

    def rows(self, part: int, rows: I64) -> Iterator[Docs]:
        """Stream some rows of one table."""
        return self.memory.rows(part, self._columns[part], rows)


def open_source(data: Any, to: Any, plan: Plan) -> FileSource | MemorySource:
    """Take what the user gave: paths, or texts.

    A str or PathLike is a path; a list is paths if `to` is given or every item is a PathLike; everything else is data.

    Raises:
        UsageError: nothing found, or data of a kind that cannot be read.
    """
    if read.is_paths(data, to):
        return FileSource.found([data] if isinstance(data, (str, os.PathLike)) else list(data), plan)
    return MemorySource(data, plan)
