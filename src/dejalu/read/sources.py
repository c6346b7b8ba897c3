"""In-memory sources: how each type of list, array, table or data set gives its columns, and how it is filtered.

A type is known by the module it comes from, so that no optional dependency is imported for being asked about.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..data import I64
from ..errors import UsageError
from .arrow import is_view, without_view

BATCH_ROWS = 1 << 16
COLUMN = "text"  # the name of the only column of a source that has no names


class Table(Protocol):
    """What every source is turned into: a schema, record batches of some columns, and rows by number."""

    schema: pa.Schema
    named: bool  # False: one column without a name

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The given columns (whole top-level ones), in order, in batches."""

    def __len__(self) -> int: ...


class ArrowTable:
    """A pyarrow table, read chunk by chunk without copying."""

    def __init__(self, table: pa.Table, named: bool = True) -> None:
        self._table = table
        self.schema = table.schema
        self.named = named

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """As Table.batches."""
        columns = [self.schema.names.index(name) for name in names]
        yield from self._table.select(columns).to_batches(max_chunksize=BATCH_ROWS)

    def __len__(self) -> int:
        return int(self._table.num_rows)


class PandasTable:
    """A pandas DataFrame whose columns are converted when they are asked for."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._done: dict[str, pa.ChunkedArray] = {}
        names = [str(name) for name in frame.columns]
        self._places = {name: i for i, name in reversed(list(enumerate(names)))}
        self.schema = pa.schema([pa.field(n, self._type(i)) for i, n in enumerate(names)])
        self.named = True

    def _type(self, place: int) -> pa.DataType:
        series = self._frame.iloc[:, place]
        if series.dtype == object:
            import pandas

            kind = pandas.api.types.infer_dtype(series, skipna=True)
            known = {"string": pa.string(), "empty": pa.null()}
            return known.get(kind, pa.struct([pa.field(f"{kind} objects", pa.null())]))
        return pa.array(series.iloc[:0], from_pandas=True).type

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """As Table.batches."""
        for name in names:
            if name not in self._done:
                self._done[name] = of_pandas(self._frame.iloc[:, self._places[name]])
        table = pa.table({name: self._done[name] for name in names}) if names else None
        if table is not None:
            yield from table.to_batches(max_chunksize=BATCH_ROWS)

    def __len__(self) -> int:
        return len(self._frame)


class DatasetTable:
    """A Hugging Face Dataset (its selection of rows included), read through its Arrow format."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset.with_format("arrow")
        self.schema = dataset.features.arrow_schema
        self.named = True

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """As Table.batches."""
        for table in self._dataset.select_columns(list(names)).iter(batch_size=BATCH_ROWS >> 4):
            yield from table.select(list(names)).to_batches()

    def __len__(self) -> int:
        return len(self._dataset)


def module_of(source: object) -> str:
    """The top-level package a source's type comes from: pandas, polars, datasets, numpy, pyarrow, builtins …"""
    return type(source).__module__.partition(".")[0]


def splits_of(source: object) -> dict[str, object]:
    """The parts of a source: the splits of a DatasetDict, else the whole as `memory`."""
    if module_of(source) == "datasets" and isinstance(source, dict):
        return {str(name): split for name, split in source.items()}
    return {"memory": source}


def table_of(source: object) -> Table:
    """Turn one part into a Table.

    Raises:
        UsageError: a type that is not served, or an item that is no string.
    """
    module = module_of(source)
    if isinstance(source, list | tuple):
        return _plain(of_strings(source))
    if module == "numpy":
        array = np.asarray(source)
        if array.ndim != 1 or array.dtype.kind not in "UOT":
            raise UsageError(
                f"a numpy array of {array.dtype} in {array.ndim} dimensions: needs strings in one dimension"
            )
        return _plain(of_strings(array.tolist()))
    if module == "pandas":
        if hasattr(source, "columns"):
            return PandasTable(source)
        if hasattr(source, "to_numpy"):
            return _plain(of_pandas(source))
    if module == "datasets":
        if hasattr(source, "select") and hasattr(source, "features") and hasattr(source, "__len__"):
            return DatasetTable(source)
        raise UsageError(
            f"{type(source).__name__}: is a stream; load it whole, or write it to parquet and give the path"
        )
    if module == "polars" and hasattr(source, "collect"):
        raise UsageError("a polars LazyFrame: call .collect() first, or write it to parquet and give the path")
    return _arrow(source)


def _plain(column: pa.ChunkedArray | pa.Array) -> ArrowTable:
    return ArrowTable(pa.table({COLUMN: column}), named=False)


def _arrow(source: Any) -> ArrowTable:
    if isinstance(source, pa.Table):
        return ArrowTable(source)
    if isinstance(source, pa.RecordBatchReader):
        return ArrowTable(source.read_all())
    if isinstance(source, pa.RecordBatch):
        return ArrowTable(pa.Table.from_batches([source]))
    if isinstance(source, pa.Array | pa.ChunkedArray):
        column = source
    elif hasattr(source, "__arrow_c_stream__"):
        column = pa.chunked_array(source)
    elif hasattr(source, "__arrow_c_array__"):
        column = pa.array(source)
    else:
        raise UsageError(
            f"{type(source).__name__}: cannot be read; give paths, a list of str, or a numpy, pandas, polars, pyarrow "
            "or datasets column or table (anything with __arrow_c_stream__)"
        )
    if pa.types.is_struct(column.type) and not isinstance(source, pa.Array | pa.ChunkedArray):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        schema = pa.schema(list(column.type))
        return ArrowTable(pa.Table.from_batches([pa.RecordBatch.from_struct_array(c) for c in chunks], schema=schema))
    return _plain(column)


def of_strings(items: Sequence[Any]) -> pa.Array:
    """A list of str and None as large_string; lone surrogates go through as the bytes they would have.

    Raises:
        UsageError: an item that is neither, naming its position.
    """
    odd = {t for t in set(map(type, items)) if t is not type(None) and not issubclass(t, str)}
    if odd:
        at, item = next((i, x) for i, x in enumerate(items) if type(x) in odd)
        hint = "; decode bytes first" if isinstance(item, bytes) else ""
        raise UsageError(f"item {at:,} is {_article(type(item).__name__)} ({item!r:.60}), not a str or None{hint}")
    try:
        return pa.array(items, pa.large_string())
    except UnicodeEncodeError:
        data = pa.array([x if x is None else x.encode(errors="surrogatepass") for x in items], pa.large_binary())
        validity, offsets, values = data.buffers()
        return pa.LargeStringArray.from_buffers(len(data), offsets, values, validity, data.null_count)


def of_pandas(series: Any) -> pa.ChunkedArray | pa.Array:
    """A pandas Series as Arrow: missing values (None, NaN, NA) are nulls; objects must be str."""
    if series.dtype != object:
        try:
            return pa.array(series, from_pandas=True)
        except UnicodeEncodeError:
            pass
    missing = series.isna().to_numpy(bool)
    values = series.to_numpy(object, copy=True)
    values[missing] = None
    return of_strings(values.tolist())


def top_level(schema: pa.Schema, names: Sequence[str]) -> list[str]:
    """The whole columns that hold the given names, once each."""
    return list(dict.fromkeys(n if n in schema.names else n.split(".")[0] for n in names))


def filtered(source: Any, keep: npt.NDArray[np.bool_]) -> Any:
    """The rows of one part where `keep` is true, as its own type, its index kept."""
    module = module_of(source)
    if isinstance(source, list | tuple):
        kept = list(itertools.compress(source, keep.tolist()))
        return kept if isinstance(source, list) else tuple(kept)
    if module in ("numpy", "pandas"):
        return source[keep]
    if module == "datasets":
        return source.select(np.flatnonzero(keep))
    if module == "polars":
        import polars

        return source.filter(polars.Series(keep))
    if isinstance(source, pa.Array | pa.ChunkedArray):
        return _filtered(source, pa.array(keep))
    if isinstance(source, pa.Table | pa.RecordBatch):
        mask = pa.array(keep)
        return type(source).from_arrays([_filtered(c, mask) for c in source.columns], schema=source.schema)
    raise UsageError(f"{type(source).__name__}: cannot be filtered; make it a pyarrow table first (pyarrow.table(x))")


def _filtered(column: pa.Array | pa.ChunkedArray, mask: pa.BooleanArray) -> pa.Array | pa.ChunkedArray:
    if is_view(column.type):
        return without_view(column).filter(mask).cast(column.type)
    return column.filter(mask)


def _article(noun: str) -> str:
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def runs(wanted: I64, first: int, n: int) -> I64:
    """The wanted rows that lie in [first, first + n), counted from `first`."""
    low, high = np.searchsorted(wanted, [first, first + n])
    return wanted[low:high] - first
