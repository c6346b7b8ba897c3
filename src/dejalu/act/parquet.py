"""Rewrite one parquet file without some rows, or with columns added, and otherwise as it was.

Row groups that lose nothing keep their boundaries, so that memory holds one of them, decoded. Schema, metadata and what
the footer tells of the writer's settings (compression, dictionaries, encodings, statistics, page version, decimals,
INT96, list names) are kept.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..data import Bool
from ..errors import ChangedInput, DamagedInput
from .files import atomic
from .tags import Decisions, check_columns

_BATCH_BYTES = 32 << 20  # bytes read at a time, as encoded
_BATCH_ROWS = 1024  # and rows: a dictionary can make few encoded bytes many decoded ones
_GROUP_BYTES = 256 << 20  # a row group that loses rows is split above this, so that memory stays bounded
_ARROW_SCHEMA = b"ARROW:schema"
# Copies of the schema that other readers trust more than the schema itself: with them, added columns stay hidden.
_SCHEMA_COPIES = {b"org.apache.spark.sql.parquet.row.metadata", b"parquet.avro.schema", b"iceberg.schema"}
_ENCODINGS = {"DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"}
_OPTIONS = set(inspect.signature(pq.ParquetWriter.__init__).parameters)


def rewrite(
    source: Path | Callable[[], BinaryIO], target: Path, decisions: Decisions, *, whole: bool = True
) -> None:
    """Write `source`, a file or what opens one, to `target` by the decisions.

    `whole=False`: the file was found damaged; only its first `decisions.rows` rows can be read and are written.

    Raises:
        ChangedInput: the file does not have the number of rows that it had.
        DamagedInput: a column that was not needed before cannot be read.
        OutputError: an added column is there already, or the output cannot be written.
    """
    with _open(source) as raw, _reader(source) as reader:
        meta = reader.metadata
        if meta.num_rows != decisions.rows and (whole or meta.num_rows < decisions.rows):
            raise ChangedInput(
                f"{decisions.file}: the file has {meta.num_rows:,} rows, {decisions.rows:,} were read. "
                "It changed during the run: start anew with --overwrite."
            )
        check_columns(decisions.file, reader.schema_arrow.names, decisions.added)
        schema = _schema(reader.schema_arrow, decisions)
        keys = dict(meta.metadata or {})
        verbatim = not decisions.added.names
        settings = writer_settings(raw, meta, reader.schema_arrow, added=decisions.added.names)
        settings["store_schema"] = not verbatim and _ARROW_SCHEMA in keys
        if not settings["store_schema"]:
            # Without a schema of its own the writer adds no metadata; ours is the file's, key by key, as it was.
            schema = schema.remove_metadata()
        with atomic(target) as temporary, pq.ParquetWriter(temporary, schema, **settings) as writer:
            for table in _tables(reader, decisions, schema):
                # At least 1: a row group holds what one call gives it.
                writer.write_table(table, row_group_size=max(1, table.num_rows))
            if not settings["store_schema"]:
                writer.add_key_value_metadata(
                    {key: value for key, value in keys.items() if verbatim or key not in _SCHEMA_COPIES}
                )


def _open(source: Path | Callable[[], BinaryIO]) -> BinaryIO:
    return open(source, "rb") if isinstance(source, Path) else source()


def _reader(source: Path | Callable[[], BinaryIO]) -> pq.ParquetFile:
    if isinstance(source, Path):
        return pq.ParquetFile(source)
    return pq.ParquetFile(source(), pre_buffer=True)  # far away: few requests, each for much


def _schema(schema: pa.Schema, decisions: Decisions) -> pa.Schema:
    for field in decisions.added:
        schema = schema.append(field)
    kept = {key: value for key, value in (schema.metadata or {}).items() if key not in _SCHEMA_COPIES}
    return schema.with_metadata(kept) if decisions.added.names else schema


def _tables(reader: pq.ParquetFile, decisions: Decisions, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield what becomes one row group each, in order."""
    first = 0
    for group in range(reader.metadata.num_row_groups):
        shape = reader.metadata.row_group(group)
        count = min(shape.num_rows, decisions.rows - first)
        if count <= 0:
            continue
        lost = decisions.written(first, count) is not None
        gathered: list[pa.RecordBatch] = []
        held = 0
        for decoded in _batches(reader, group, shape, decisions.file):
            if first >= decisions.rows:
                break
            batch = decoded.slice(0, min(decoded.num_rows, decisions.rows - first))
            mask = decisions.written(first, batch.num_rows)
            kept = batch.columns if mask is None else _filter(batch, mask)
            columns = [*kept, *decisions.columns(first, batch.num_rows, mask)]
            first += batch.num_rows
            if mask is None or mask.any():
                gathered.append(pa.RecordBatch.from_arrays(columns, schema=schema))
                held += gathered[-1].nbytes
            if lost and held >= _GROUP_BYTES:
                yield _join(gathered)
                gathered, held = [], 0
        if gathered:
            yield _join(gathered)


def _join(batches: list[pa.RecordBatch]) -> pa.Table:
    # The batches of a row group share a dictionary; unifying makes them one for the writer too.
    return pa.Table.from_batches(batches).unify_dictionaries()


def _batches(
    reader: pq.ParquetFile, group: int, shape: pq.RowGroupMetaData, file: str
) -> Iterator[pa.RecordBatch]:
    """Decode a row group in batches (never joined: text columns may hold more than 2 GiB)."""
    width = max(1, shape.total_byte_size // max(1, shape.num_rows))
    size = max(1, min(shape.num_rows, _BATCH_ROWS, _BATCH_BYTES // width))
    batches = reader.iter_batches(batch_size=size, row_groups=[group], use_threads=False)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except (pa.ArrowException, OSError) as error:
            # The text columns were read before; so some other column is damaged, which no option can set aside now.
            raise DamagedInput(
                f"{file}: row group {group} of the file cannot be read in all columns: {error}. "
                "Repair the file, or leave it out of the input."
            ) from error
        yield batch


def _filter(batch: pa.RecordBatch, mask: Bool) -> list[pa.Array]:
    """Keep the rows of a mask in every column, whatever its type."""
    return [_filter_column(column, mask) for column in batch.columns]


def _filter_column(column: pa.Array, mask: Bool) -> pa.Array:
    try:
        return column.filter(pa.array(mask))
    except (pa.ArrowNotImplementedError, pa.ArrowKeyError):
        pass  # a type that this pyarrow cannot select from
    for view, plain in ((pa.string_view(), pa.large_string()), (pa.binary_view(), pa.large_binary())):
        if column.type == view:
            return column.cast(plain).filter(pa.array(mask)).cast(view)
    # Rare (views inside nested types): by runs of kept rows.
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    runs = [column.slice(low, high - low) for low, high in edges.reshape(-1, 2).tolist()]
    return pa.concat_arrays(runs) if runs else column.slice(0, 0)


def writer_settings(raw: BinaryIO, meta: pq.FileMetaData, schema: pa.Schema, *, added: list[str]) -> dict[str, Any]:
    """Find the settings of the file's writer from its footer and first page, as keywords of ParquetWriter.

    `added` names columns to come, which get the compression of the first column and pyarrow's other defaults.
    """
    groups = [meta.row_group(group) for group in range(meta.num_row_groups)]
    groups = [group for group in groups if group.num_rows] or groups
    settings: dict[str, Any] = {"version": "2.6", "use_dictionary": list(added)}
    leaves = [meta.schema.column(place) for place in range(meta.num_columns)]
    settings["use_deprecated_int96_timestamps"] = any(leaf.physical_type == "INT96" for leaf in leaves)
    settings["store_decimal_as_integer"] = any(
        leaf.physical_type in {"INT32", "INT64"} and str(leaf.logical_type.type) == "DECIMAL" for leaf in leaves
    )
    paths = [leaf.path for leaf in leaves]
    settings["use_compliant_nested_type"] = not any(".list.item" in path for path in paths)
    if groups and meta.num_columns:
        first = groups[0]
        columns = [first.column(place) for place in range(meta.num_columns)]
        codecs = {column.path_in_schema: _codec(column.compression) for column in columns}
        settings["compression"] = codecs | dict.fromkeys(added, _codec(columns[0].compression))
        dictionaries = {c.path_in_schema for g in groups for c in _columns(g) if c.has_dictionary_page}
        settings["use_dictionary"] = sorted(dictionaries) + list(added)
        settings["write_statistics"] = [c.path_in_schema for c in columns if c.is_stats_set] + list(added)
        encodings = {
            column.path_in_schema: found
            for column in columns
            if column.path_in_schema not in dictionaries and (found := _encoding(column.encodings))
        }
        if encodings:
            settings["column_encoding"] = encodings
        settings["write_page_index"] = any(column.has_offset_index for column in columns)
        if first.sorting_columns and all(group.sorting_columns == first.sorting_columns for group in groups):
            settings["sorting_columns"] = first.sorting_columns
        settings.update(_first_page(raw, columns[0].data_page_offset))
    return {key: value for key, value in settings.items() if key in _OPTIONS}


def _columns(group: pq.RowGroupMetaData) -> Iterator[pq.ColumnChunkMetaData]:
    return (group.column(place) for place in range(group.num_columns))


def _codec(name: str) -> str:
    return "none" if name == "UNCOMPRESSED" else name.lower().removesuffix("_raw")


def _encoding(names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in _ENCODINGS), None)


def _first_page(raw: BinaryIO, offset: int) -> dict[str, Any]:
    """Tell data page version and checksum from a page header (Thrift compact: each integer field is 0x15, a varint)."""
    raw.seek(offset)
    head = raw.read(32)
    if len(head) < 32 or head[0] != 0x15:
        return {}
    at = 0
    for _ in range(3):  # type, uncompressed size, compressed size
        if head[at] != 0x15:
            return {}
        at += 1
        while head[at] & 0x80:
            at += 1
        at += 1
    return {"data_page_version": "2.0" if head[1] == 0x06 else "1.0", "write_page_checksum": head[at] == 0x15}
