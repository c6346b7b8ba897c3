"""Write the evidence: one parquet of removed rows per input file, and one of records set aside.

The writer settings are fixed, so that one table gives one sequence of bytes with one pyarrow version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ..data import F64, I32, I64, MEASURES, METHODS, U8, Problem, as_arrow
from ..errors import OutputError
from .files import Written, atomic, describe, inside

REMOVED = "removed"
TAGS = "tags"
SET_ASIDE = "set_aside.parquet"
_ROW_GROUP = 131_072
_FIXED: dict[str, Any] = {
    "version": "2.6",
    "compression": "zstd",
    "compression_level": 3,
    "data_page_version": "1.0",
    "data_page_size": 1 << 20,
    "write_statistics": True,
    "write_page_checksum": True,
}


def removed_schema(id_type: pa.DataType, *, distance: bool = False) -> pa.Schema:
    """Return the columns of `removed/<file>.parquet`; `id_type` is that of the ids of all files.

    `distance`: methods that compare fingerprints say their Hamming distance, too.
    """
    far = [("distance", pa.int32())] if distance else []
    return pa.schema(
        [
            ("row", pa.int64()),
            ("id", id_type),
            ("twin_file", pa.string()),
            ("twin_row", pa.int64()),
            ("twin_id", id_type),
            ("similarity", pa.float64()),
            ("measure", pa.string()),
            ("method", pa.string()),
            *far,
        ]
    )


def removed_table(
    row: I64,
    ids: pa.Array,
    twin_file: pa.Array | npt.NDArray[np.object_],
    twin_row: I64,
    twin_ids: pa.Array,
    similarity: F64,
    measure: U8,
    method: U8,
    distance: I32 | None = None,
) -> pa.Table:
    """Gather the evidence columns of one file; all (m,), `measure` and `method` as places in MEASURES and METHODS."""
    files = twin_file if isinstance(twin_file, pa.Array | pa.ChunkedArray) else pa.array(twin_file, pa.string())
    columns = [
        as_arrow(row),
        ids,
        files,
        as_arrow(twin_row),
        twin_ids,
        as_arrow(similarity),
        _names(measure, MEASURES),
        _names(method, METHODS),
    ]
    if distance is not None:
        columns.append(pa.array(distance, pa.int32(), mask=distance < 0))
    schema = removed_schema(ids.type, distance=distance is not None)
    return pa.table([_as(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)


def write_removed(folder: Path, file: str, table: pa.Table) -> Written:
    """Write `removed/<file>.parquet`: the evidence columns, sorted by row; zero rows where nothing was removed."""
    schema = removed_schema(table.schema.field("id").type, distance="distance" in table.schema.names)
    table = pa.table([_as(table.column(field.name), field.type) for field in schema], schema=schema)
    rows = table.column("row").to_numpy()
    if rows.size and np.any(rows[1:] <= rows[:-1]):
        table = table.sort_by("row")
    return write_table(inside(folder / REMOVED, f"{file}.parquet"), table, f"{REMOVED}/{file}.parquet")


def read_removed(folder: Path, file: str) -> pa.Table:
    """Read `removed/<file>.parquet` of a finished run.

    Raises:
        OutputError: it is missing or damaged.
    """
    path = inside(folder / REMOVED, f"{file}.parquet")
    try:
        with pq.ParquetFile(path) as reader:
            return reader.read()
    except FileNotFoundError as error:
        raise OutputError(f"the evidence {path} is missing. Run dedup again to make it.") from error
    except (pa.ArrowException, OSError) as error:
        raise OutputError(f"the evidence {path} is damaged: {error}. Run dedup again to make it.") from error


def write_set_aside(folder: Path, problems: Iterable[Problem]) -> Written | None:
    """Write `set_aside.parquet` (file, row, line, reason, raw), sorted; None, and no file, where there are none."""
    found = sorted(problems, key=lambda p: (p.file, p.row, p.line or 0, p.reason))
    if not found:
        return None
    table = pa.table(
        {
            "file": pa.array([p.file for p in found], pa.string()),
            "row": pa.array([p.row for p in found], pa.int64()),
            "line": pa.array([p.line for p in found], pa.int64()),
            "reason": pa.array([p.reason for p in found], pa.string()),
            "raw": pa.array([p.raw for p in found], pa.large_binary()),
        }
    )
    return write_table(folder / SET_ASIDE, table, SET_ASIDE)


def read_set_aside(folder: Path) -> list[Problem]:
    """Read `set_aside.parquet` without the raw bytes; empty where there is none."""
    path = folder / SET_ASIDE
    if not path.exists():
        return []
    with pq.ParquetFile(path) as reader:
        table = reader.read(columns=["file", "row", "line", "reason"])
    return [Problem(**record) for record in table.to_pylist()]


def write_table(path: Path, table: pa.Table, name: str) -> Written:
    """Write an evidence table with the fixed settings; strings that repeat (not ids) get a dictionary."""
    table = table.combine_chunks()
    repeated: Sequence[str] = [
        field.name
        for field in table.schema
        if pa.types.is_string(field.type) and field.name not in {"id", "twin_id"}
    ]
    with atomic(path) as temporary:
        with pq.ParquetWriter(temporary, table.schema, use_dictionary=list(repeated), **_FIXED) as writer:
            if table.num_rows:  # a row group without rows stops some readers (datasets), a file without groups none
                writer.write_table(table, row_group_size=_ROW_GROUP)
        # Measured before the rename: what was recorded is what was written, whatever happens to the file later.
        return describe(temporary, name)


def _names(codes: U8, names: Sequence[str]) -> pa.Array:
    values = pa.array(names, pa.string())
    return pa.DictionaryArray.from_arrays(as_arrow(codes.astype(np.int8)), values).dictionary_decode()


def _as(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return column if column.type == kind else column.cast(kind)
