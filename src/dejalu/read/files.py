"""The questions asked of a file, answered by the module of its format.

A format is a module with `resolve`, `pieces`, `read` and `rows`, and `records` where the format has lines; its suffixes
stand in `discover.SUFFIXES`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import BinaryIO

from ..data import I64, Docs, Input, Problem, Records
from ..errors import UsageError
from . import csv, html, jsonl, parquet, remote, txt, warc
from .columns import TEXT_NAMES, Ask, Columns, named
from .open import Unreadable
from .pieces import BATCH_BYTES, Piece
from .problems import OnPassed, OnProblem, stop

FORMATS: dict[str, ModuleType] = {
    "parquet": parquet,
    "jsonl": jsonl,
    "csv": csv,
    "txt": txt,
    "html": html,
    "warc": warc,
}
WITHOUT_TEXT = {"warc"}  # formats with records that are no documents: their `read` takes on_passed


def resolve(
    input: Input,
    *,
    text_columns: Sequence[str] = (),
    id_column: str | None = None,
    extra: Sequence[str] = (),
    encoding: str | None = None,
    on_error: str = "stop",
) -> Columns:
    """Decide which columns of a file are read.

    The text is `text_columns`, else `text`, `content` or `body`, else the only string column. The id is `id_column`,
    else `id` where there is one, else none. Names may be paths, `a.b`, where no column has that very name.

    Args:
        on_error: "skip": a file that cannot be read gives Columns whose `damage` says why; `read` then reports it.

    Raises:
        UsageError: a column that is not there; a text column that cannot be told; an unknown encoding.
        DamagedInput: the file cannot be read.
    """
    ask = Ask(named(text_columns), id_column, named(extra), encoding)
    try:
        columns: Columns = FORMATS[input.format].resolve(input, ask)
        return columns
    except Unreadable as e:
        reason = str(e)
    if on_error != "skip":
        stop(Problem(input.file, -1, None, reason))
    return Columns(ask.text or (TEXT_NAMES[0],), damage=reason)


def pieces(input: Input, columns: Columns) -> list[Piece]:
    """Cut a file into independent units: runs of row groups of parquet, the whole of any other file."""
    if columns.damage:
        return [Piece(0, 0, 0)]
    with _named(input):
        found: list[Piece] = FORMATS[input.format].pieces(input, columns)
    return found


def opener(input: Input) -> Callable[[], BinaryIO] | None:
    """What opens an input for writing it back, where it does not lie on this machine; else None."""
    return partial(remote.open_address, input, stream=False) if remote.is_address(input.path) else None


def versions(inputs: Sequence[Input]) -> dict[str, str]:
    """What besides dejalu and pyarrow shapes the texts of these inputs, by name, with its version."""
    return {"main text by": html.extractor()} if any(i.format in ("html", "warc") for i in inputs) else {}


@contextlib.contextmanager
def _named(input: Input) -> Iterator[None]:
    """Add the file's name and the remedies to what could not be read."""
    try:
        yield
    except (Unreadable, *parquet.ERRORS) as e:
        stop(Problem(input.file, -1, None, str(e) if isinstance(e, Unreadable) else parquet.damage(e)))


def read(
    input: Input,
    piece: Piece,
    columns: Columns,
    *,
    batch_bytes: int = BATCH_BYTES,
    batch_rows: int | None = None,
    on_problem: OnProblem = stop,
    on_passed: OnPassed = lambda row, kind: None,
) -> Iterator[Docs]:
    """Read a piece as batches of documents: only the columns asked for, in bounded memory.

    Args:
        batch_bytes: text of a batch, about; one longer document is a batch of its own.
        batch_rows: documents of a batch at most; it changes nothing but the cuts.
        on_problem: called with each damaged record or file, which is left out; `stop` raises.
        on_passed: called with row and kind of each record that is no document (WARC).

    Yields:
        Docs, in the order of the file.
    """
    if columns.damage:
        on_problem(Problem(input.file, -1, None, columns.damage))
        return
    module = FORMATS[input.format]
    more = {"on_passed": on_passed} if input.format in WITHOUT_TEXT else {}
    try:
        yield from module.read(
            input, piece, columns, batch_bytes=batch_bytes, batch_rows=batch_rows, on_problem=on_problem, **more
        )
    except Unreadable as e:
        on_problem(Problem(input.file, -1, None, str(e)))


def rows(input: Input, columns: Columns, wanted: I64) -> Iterator[Docs]:
    """Read only the wanted rows, (k,) int64 ascending; rows that were set aside are not given."""
    if len(wanted) and not columns.damage:
        with _named(input):
            yield from FORMATS[input.format].rows(input, columns, wanted)


def records(input: Input, columns: Columns) -> Iterator[Records]:
    """Read a jsonl, csv or warc file as raw records, as stored, with the row numbers of `read`; at least one run."""
    module = FORMATS[input.format]
    if not hasattr(module, "records"):
        raise UsageError(f"{input.file}: {input.format} has no raw records")
    with _named(input):
        yield from module.records(input, columns)
