"""Parquet: column-pruned, one run of row groups at a time; pyarrow's own threads stay off, the flow has its own.

A file that turns out damaged anywhere is set aside as a whole: its rows cannot be written back without the lost ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..data import I64, Docs, Input, distinct, doc_ids
from ..errors import UsageError
from . import blocks, remote
from .arrow import column_of, docs_of, find_offer, find_type, is_string, large, offers_of
from .columns import Ask, Columns, choose
from .open import Unreadable
from .pieces import BATCH_BYTES, Piece
from .problems import OnProblem

PIECE_BYTES = 48 << 20  # decoded text of a piece, about
MAX_BATCH_ROWS = 1 << 16
SOME_BYTES = 1 << 22  # decoded at once where only some rows are wanted
# A column chunk this small per row is all dictionary: decode it as one, since laid out it may be far larger.
DICTIONARY_BYTES, INDEX_BYTES = 4 << 20, 4

ERRORS = (pa.ArrowException, OSError)


def open_file(input: Input, **options: Any) -> pq.ParquetFile:
    """Open the file; no memory map, so that a file cut short meanwhile is an error and no crash."""
    if remote.is_address(input.path):  # one request for the needed columns of each row group, where they lie together
        return pq.ParquetFile(remote.open_address(input, stream=False), pre_buffer=True, **options)
    return pq.ParquetFile(input.path, memory_map=False, pre_buffer=False, buffer_size=1 << 18, **options)


def resolve(input: Input, ask: Ask) -> Columns:
    """Decide the columns from the file's schema.

    Raises:
        Unreadable: not a parquet file, or a damaged one.
    """
    try:
        return _resolve(input, ask)
    except ERRORS as e:
        raise Unreadable(damage(e)) from e


def _resolve(input: Input, ask: Ask) -> Columns:
    with open_file(input) as file:
        schema = file.schema_arrow

        def sample(name: str) -> str | None:
            for batch in file.iter_batches(16, columns=[name], use_threads=False):
                for value in large(column_of(batch, name)).drop_null().cast(pa.large_binary()).to_pylist():
                    return bytes(value).decode(errors="replace")
                break
            return None

        chosen = choose(input.file, offers_of(schema), ask, find=lambda name: find_offer(schema, name), sample=sample)
        for name in chosen.names:
            if (n := schema.names.count(name)) > 1:
                raise UsageError(f"{input.file}: {n} columns are named {name!r}; rename them")
        return chosen


def pieces(input: Input, columns: Columns) -> list[Piece]:
    """Cut the file into runs of row groups of about PIECE_BYTES of text."""
    with open_file(input) as file:
        meta = file.metadata
        places = _places(meta, columns.text)
        found: list[Piece] = []
        start = row = rows = size = 0
        for group in range(meta.num_row_groups):
            info = meta.row_group(group)
            rows += info.num_rows
            size += _size([info.column(i) for i in places])
            if size >= PIECE_BYTES or group == meta.num_row_groups - 1:
                found.append(Piece(len(found), row, rows, start, group + 1))
                start, row = group + 1, row + rows
                rows = size = 0
        return found or [Piece(0, 0, 0)]


def read(
    input: Input, piece: Piece, columns: Columns, *, batch_bytes: int, batch_rows: int | None, on_problem: OnProblem
) -> Iterator[Docs]:
    """Read a piece.

    Raises:
        Unreadable: the file is damaged.
    """
    try:
        for first, batch in _batches(input, list(range(piece.start, piece.stop)), columns, batch_bytes):
            ids = doc_ids(input.part, np.arange(first, first + batch.num_rows, dtype=np.int64))
            yield from docs_of(batch, ids, columns, batch_bytes=batch_bytes, batch_rows=batch_rows)
    except ERRORS as e:
        raise Unreadable(damage(e)) from e


def rows(input: Input, columns: Columns, wanted: I64) -> Iterator[Docs]:
    """Read only the wanted rows; row groups without any are skipped."""
    with open_file(input) as file:
        starts = _starts(file.metadata)
    groups = distinct(np.searchsorted(starts, wanted, "right") - 1)
    for first, batch in _batches(input, groups.tolist(), columns, SOME_BYTES):
        low, high = np.searchsorted(wanted, [first, first + batch.num_rows])
        if low == high:
            continue
        ids = doc_ids(input.part, np.arange(first, first + batch.num_rows, dtype=np.int64))
        places = wanted[low:high] - first
        yield from docs_of(batch, ids, columns, wanted=places, batch_bytes=BATCH_BYTES, batch_rows=None)


def damage(e: BaseException) -> str:
    """What is wrong with a parquet file, in words."""
    text = str(e).strip().rstrip(".") or type(e).__name__
    return f"not a readable parquet file ({text})"


def _places(meta: pq.FileMetaData, names: tuple[str, ...]) -> list[int]:
    """Leaf columns of the file that belong to any of the names."""
    schema = meta.schema
    return [
        i
        for i in range(meta.num_columns)
        if any((schema.column(i).path + ".").startswith(name + ".") for name in names)
    ]


def _starts(meta: pq.FileMetaData) -> I64:
    """First row of each row group, and the number of rows."""
    return np.cumsum([0] + [meta.row_group(g).num_rows for g in range(meta.num_row_groups)], dtype=np.int64)


def _batches(
    input: Input, groups: list[int], columns: Columns, batch_bytes: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Record batches of row groups, each with the row of its first record."""
    with open_file(input) as file:
        meta, schema = file.metadata, file.schema_arrow
        starts, places = _starts(meta), _places(meta, columns.text)
        for run in _runs(groups):
            infos = [meta.row_group(g) for g in run]
            n = sum(i.num_rows for i in infos)
            if n == 0:
                continue
            chunks = [i.column(p) for i in infos for p in places]
            rows = int(min(MAX_BATCH_ROWS, max(1, batch_bytes * n // max(_size(chunks), 1))))
            first = int(starts[run[0]])
            how = {"row_groups": run, "columns": list(columns.names), "use_threads": False}
            with contextlib.ExitStack() as stack:
                source = file
                if all(map(_all_dictionary, chunks)):
                    names = [t for t in columns.text if t in schema.names and is_string(find_type(schema, t))]
                    source = stack.enter_context(open_file(input, metadata=meta, read_dictionary=names))
                if source is file and _copied(schema, columns, batch_bytes):
                    rows = max(1, min(rows, blocks.STEP * n // max(_size(chunks), 1)))
                    small = _numbered(first, source.iter_batches(rows, **how))
                    yield from blocks.together(small, columns.text[0], batch_bytes, _size(chunks))
                else:
                    yield from _numbered(first, source.iter_batches(rows, **how))


def _copied(schema: pa.Schema, columns: Columns, batch_bytes: int) -> bool:
    """Is the text one plain column, and a batch large enough that decoding it in steps gains something?"""
    name = columns.text[0]
    return (
        len(columns.text) == 1
        and schema.names.count(name) == 1
        and blocks.fits(schema.field(name).type)
        and batch_bytes >= 2 * blocks.STEP
    )


def _numbered(first: int, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Each batch with the row of its first record."""
    for batch in batches:
        yield first, batch
        first += batch.num_rows


def _size(chunks: list[pq.ColumnChunkMetaData]) -> int:
    return sum(c.total_uncompressed_size for c in chunks)


def _all_dictionary(chunk: pq.ColumnChunkMetaData) -> bool:
    small = chunk.total_uncompressed_size <= DICTIONARY_BYTES + INDEX_BYTES * chunk.num_values
    return small and any("DICT" in e for e in chunk.encodings)


def _runs(groups: list[int]) -> Iterator[list[int]]:
    """Neighbouring row groups together: one decoder serves them all."""
    run: list[int] = []
    for g in groups:
        if run and g != run[-1] + 1:
            yield run
            run = []
        run.append(g)
    if run:
        yield run
