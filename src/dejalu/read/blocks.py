"""Small record batches put together to larger ones, their texts copied into one block of memory.

A decoder that gives a megabyte or two at a time uses the same memory again and again, and that stays in the cache of
the processor. Decoded at once, sixteen megabytes are touched for the first time while they are laid out and again each
time the decoder's buffer grows: fresh memory costs more than the copy that is made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..data import I64, U8

STEP = 2 << 20  # bytes of text that are decoded at once


def fits(kind: pa.DataType) -> bool:
    """Is it a column whose bytes lie one after another?"""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def together(
    batches: Iterable[tuple[int, pa.RecordBatch]], text: str, size: int, total: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Put batches together while the texts of column `text` (see `fits`) stay within `size` bytes.

    Args:
        batches: each with the row of its first record.
        total: bytes of text to come, about: the last block need not be larger.

    Returns:
        the same rows in the same order; `text` as large_string. A batch with more text comes alone, as it is.
    """
    block: _Block | None = None
    for first, batch in batches:
        at = batch.schema.get_field_index(text)
        data, offsets = _parts(batch.column(at))
        if block is not None and not block.takes(data):
            yield block.first, block.batch()
            block = None
        if block is None:
            if len(data) > size:
                total -= len(data)
                yield first, batch
                continue
            block = _Block(first, batch.schema, at, min(size, max(total, len(data))))
        total -= len(data)
        block.add(batch, data, offsets)
    if block is not None:
        yield block.first, block.batch()


def _parts(column: pa.Array) -> tuple[U8, Any]:
    """The bytes (m,) uint8 of all values and their borders (n + 1,), int32 or int64, which begin anywhere."""
    kind = np.dtype(np.int64 if pa.types.is_large_string(column.type) else np.int32)
    n = len(column)
    _, borders, data = column.buffers()
    if not n or borders is None:
        return np.zeros(0, np.uint8), np.zeros(n + 1, kind)
    offsets = np.frombuffer(borders, kind, n + 1, column.offset * kind.itemsize)
    first, last = int(offsets[0]), int(offsets[-1])
    return np.frombuffer(data, np.uint8, last - first, first) if last > first else np.zeros(0, np.uint8), offsets


class _Block:
    """Batches whose texts were copied into one block. Of the batches nothing is kept but their other columns."""

    def __init__(self, first: int, schema: pa.Schema, at: int, size: int) -> None:
        self.first = first
        self._schema, self._at = schema, at
        self._bytes = np.empty(size, np.uint8)  # numpy asks for large pages; what is not filled costs nothing
        self._end = 0
        self._offsets: list[I64] = [np.zeros(1, np.int64)]
        self._valid: list[pa.Array | None] = []  # None: all of a batch are
        self._others: list[list[pa.Array]] = []

    def takes(self, data: U8) -> bool:
        """Is there room for these bytes?"""
        return self._end + len(data) <= len(self._bytes)

    def add(self, batch: pa.RecordBatch, data: U8, offsets: Any) -> None:
        """Copy the texts of a batch."""
        self._bytes[self._end : self._end + len(data)] = data
        self._offsets.append(offsets[1:] + np.int64(self._end - int(offsets[0])))
        self._end += len(data)
        text = batch.column(self._at)
        self._valid.append(text.is_valid() if text.null_count else None)
        self._others.append([column for i, column in enumerate(batch.columns) if i != self._at])

    def batch(self) -> pa.RecordBatch:
        """All of it."""
        offsets = np.concatenate(self._offsets)
        text = pa.LargeStringArray.from_buffers(
            len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(self._bytes[: self._end]), self._validity()
        )
        columns = [pa.concat_arrays(parts) for parts in zip(*self._others, strict=True)]
        columns.insert(self._at, text)
        field = self._schema.field(self._at).with_type(text.type)
        return pa.RecordBatch.from_arrays(columns, schema=self._schema.set(self._at, field))

    def _validity(self) -> pa.Buffer | None:
        if all(v is None for v in self._valid):
            return None
        sizes = [len(o) for o in self._offsets[1:]]
        valid = [pa.array(np.ones(n, np.bool_)) if v is None else v for n, v in zip(sizes, self._valid, strict=True)]
        return pa.concat_arrays(valid).buffers()[1]
