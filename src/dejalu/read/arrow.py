"""From Arrow columns of any string type to Docs, in batches of bounded size.

Nothing is decoded or validated: invalid UTF-8 goes through as bytes, and the text kernels flag it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data import I64, Docs, as_arrow
from ..errors import UsageError
from .columns import Columns, Offer

# Between joined text columns. U+001F U+001E cannot stand in a field, where U+001F is doubled, so different fields give
# different bytes. Before it stands U+1FFFD, reserved for a pictograph that was never given: a token of its own, so that
# a shingle which spans a border equals none inside a field. Where no field has a letter or number it is left out, and
# the text stays one without tokens. In a field, U+1FFFD itself becomes another of those code points.
MARK, BORDER = "\U0001fffd", "\x1f\x1e"
ESCAPES = (("\x1f", "\x1f\x1f"), (MARK, "\x1f\x1d\U0001fffc"))
WORD = "[^\\P{L}\u115f\u1160\u3164\uffa0]|\\p{N}|_"  # a letter that folding does not drop, a number, or _


def is_string(t: pa.DataType) -> bool:
    """Is it a string proper: string, large_string, string_view, or a dictionary of one?"""
    if pa.types.is_dictionary(t):
        return is_string(t.value_type)
    if isinstance(t, pa.BaseExtensionType):
        return is_string(t.storage_type)
    return bool(pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t))


def is_text(t: pa.DataType) -> bool:
    """Can it be read as text: a string, bytes (taken as UTF-8), or nothing but nulls?"""
    if pa.types.is_dictionary(t):
        return is_text(t.value_type)
    if isinstance(t, pa.BaseExtensionType):
        return is_text(t.storage_type)
    if pa.types.is_run_end_encoded(t):
        return is_text(t.value_type)
    binary = pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_binary_view(t)
    return bool(is_string(t) or binary or pa.types.is_null(t))


def offers_of(schema: pa.Schema) -> dict[str, Offer]:
    """The top-level columns of a schema."""
    return {f.name: Offer(str(f.type), is_text(f.type), is_string(f.type)) for f in schema}


def find_type(schema: pa.Schema, name: str) -> pa.DataType | None:
    """Type of a column by its literal name, else by its dotted path through structs."""
    if name in schema.names:
        return schema.field(schema.names.index(name)).type
    first, *rest = name.split(".")
    if first not in schema.names:
        return None
    t = schema.field(schema.names.index(first)).type
    for part in rest:
        if not pa.types.is_struct(t) or t.get_field_index(part) < 0:
            return None
        t = t.field(part).type
    return t


def find_offer(schema: pa.Schema, name: str) -> Offer | None:
    """As `find_type`, as an Offer."""
    t = find_type(schema, name)
    return None if t is None else Offer(str(t), is_text(t), is_string(t))


def column_of(batch: pa.RecordBatch, name: str) -> pa.Array:
    """The column of a batch by literal name, else by path; a null struct gives a null."""
    if name in batch.schema.names:
        return batch.column(batch.schema.names.index(name))
    first, *rest = name.split(".")
    column = batch.column(batch.schema.names.index(first))
    return pc.struct_field(column, rest)


def large(column: pa.Array) -> pa.LargeStringArray:
    """View a text column as large_string; strings and bytes keep their buffers, views and dictionaries are laid out."""
    t = column.type
    if isinstance(t, pa.BaseExtensionType):
        return large(column.storage)
    if pa.types.is_large_string(t):
        return column
    if pa.types.is_string(t) or pa.types.is_string_view(t):
        return column.cast(pa.large_string())
    if pa.types.is_null(t):
        return pa.nulls(len(column), pa.large_string())
    if pa.types.is_dictionary(t):
        return large(column.dictionary).take(column.indices)
    if pa.types.is_run_end_encoded(t):
        return large(pc.run_end_decode(column))
    if is_text(t):
        column = column.cast(pa.large_binary())
        validity, offsets, data = column.buffers()
        return pa.LargeStringArray.from_buffers(len(column), offsets, data, validity, column.null_count, column.offset)
    raise UsageError(f"a text column of type {t}: needs strings")


def is_view(t: pa.DataType) -> bool:
    """Is it string_view or binary_view? Most of pyarrow's functions do not take those."""
    return bool(pa.types.is_string_view(t) or pa.types.is_binary_view(t))


def without_view(column: pa.Array) -> pa.Array:
    """The same values, laid out one after another where they were views."""
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    return column.cast(pa.large_binary()) if pa.types.is_binary_view(column.type) else column


def lengths(column: pa.Array) -> I64:
    """Bytes of each row, (n,) int64, without laying out a dictionary or views; 0 where null."""
    n = len(column)
    if n == 0:
        return np.zeros(0, np.int64)
    if isinstance(column.type, pa.BaseExtensionType):
        return lengths(column.storage)
    if pa.types.is_dictionary(column.type):
        sizes = pc.fill_null(pc.binary_length(large(column.dictionary)).take(column.indices), 0)
        return np.asarray(sizes.to_numpy(zero_copy_only=False), np.int64)
    if is_view(column.type):
        views = np.frombuffer(column.buffers()[1], np.int32).reshape(-1, 4)  # a view begins with its length
        found = views[column.offset : column.offset + n, 0].astype(np.int64)
        found[column.is_null().to_numpy(zero_copy_only=False)] = 0
        return found
    text = large(column)
    offsets: I64 = np.frombuffer(text.buffers()[1], np.int64, n + 1, text.offset * 8)
    return offsets[1:] - offsets[:-1]


def cuts(sizes: I64, batch_bytes: int, batch_rows: int | None) -> Iterator[tuple[int, int]]:
    """Cut rows into runs of at most `batch_bytes` (or one row) and `batch_rows`."""
    ends = np.cumsum(sizes)
    start, n = 0, len(sizes)
    while start < n:
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + batch_bytes, "right")))
        if batch_rows is not None:
            stop = min(stop, start + batch_rows)
        yield start, stop
        start = stop


def join(columns: Sequence[pa.LargeStringArray]) -> pa.LargeStringArray:
    r"""Join the text columns of a row into one text, so that different fields give different bytes and tokens.

    A null field counts as empty, and the text is null where all are.

    >>> join([pa.array(["a", None], pa.large_string()), pa.array(["b c", None], pa.large_string())]).to_pylist()
    ['a\U0001fffd\x1f\x1eb c', None]
    """
    if len(columns) == 1:
        return columns[0]
    fields, words, nulls = [], None, None
    for field in columns:
        word, null = pc.fill_null(pc.match_substring_regex(field, WORD), False), field.is_null()
        words = word if words is None else pc.or_(words, word)
        nulls = null if nulls is None else pc.and_(nulls, null)
        for found, instead in ESCAPES:
            if pc.any(pc.match_substring(field, found)).as_py():
                field = pc.replace_substring(field, found, instead)  # noqa: PLW2901 the same field, escaped
        fields.append(field)
    border = pc.if_else(words, pa.scalar(MARK + BORDER, pa.large_string()), pa.scalar(BORDER, pa.large_string()))
    text = pc.binary_join_element_wise(*fields, border, null_handling="replace", null_replacement="")
    return pc.if_else(nulls, pa.scalar(None, pa.large_string()), text) if pc.any(nulls).as_py() else text


def docs_of(
    batch: pa.RecordBatch,
    ids: I64,
    columns: Columns,
    *,
    wanted: I64 | None = None,
    batch_bytes: int,
    batch_rows: int | None,
) -> Iterator[Docs]:
    """Docs of a record batch, cut to size.

    Args:
        ids: (n,) int64, of all rows of the batch.
        wanted: (k,) int64 ascending places in the batch; None for all.
    """
    texts = [column_of(batch, name) for name in columns.text]
    others = {name: column_of(batch, name) for name in columns.others}
    sizes = lengths(texts[0])
    for t in texts[1:]:
        sizes = sizes + lengths(t)
    for start, stop in cuts(sizes, batch_bytes, batch_rows):
        part, places = slice(start, stop), None
        if wanted is not None:
            low, high = np.searchsorted(wanted, [start, stop])
            if low == high:
                continue
            places = wanted[low:high] - start
        text, own = join([large(t[part]) for t in texts]), ids[part]
        beside = {name: without_view(column[part]) for name, column in others.items()}
        if places is not None:
            chosen = as_arrow(places)
            text, own = text.take(chosen), own[places]
            beside = {name: column.take(chosen) for name, column in beside.items()}
        yield Docs(own, text, beside)
