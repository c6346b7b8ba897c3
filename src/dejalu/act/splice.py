"""Join and extend spans of raw bytes without a loop over them, by laying Arrow binary arrays over the bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data import I64, U8


def gather(data: U8, start: I64, end: I64) -> memoryview:
    """Join the spans start[i] … end[i] of `data` (ascending, not overlapping), without a loop over them."""
    return _bytes_of(spans(data, start, end))


def spans(data: U8, start: I64, end: I64) -> pa.LargeBinaryArray:
    """View spans of `data` (ascending, not overlapping) as Arrow binaries; gaps between them are left out."""
    n = len(start)
    if n == 0:
        return pa.array([], pa.large_binary())
    edges = np.empty(2 * n, np.int64)  # record, gap, record, gap, …, record
    edges[0::2], edges[1::2] = start, end
    if np.any(edges[1:] < edges[:-1]):
        raise ValueError("records overlap or are not in order")
    if not np.any(start[1:] > end[:-1]):  # no gaps: the records alone are the same bytes
        return _binary(data, np.append(start, end[-1:]))
    return _binary(data, edges).take(pa.array(np.arange(0, 2 * n - 1, 2)))


def _binary(data: U8, edges: I64) -> pa.LargeBinaryArray:
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(edges) - 1, buffers)


def _bytes_of(array: pa.LargeBinaryArray) -> memoryview:
    if len(array) == 0:
        return memoryview(b"")
    _, offsets, data = array.buffers()
    edges = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return memoryview(data)[int(edges[0]) : int(edges[-1])] if data is not None else memoryview(b"")


def insert(data: U8, start: I64, at: I64, end: I64, text: pa.Array) -> memoryview:
    """Join records with `text[i]` put in at byte `at[i]` of each."""
    head, tail = spans(data, start, at), spans(data, at, end)
    nothing = pa.scalar(b"", pa.large_binary())
    return _bytes_of(pc.binary_join_element_wise(head, text.cast(pa.large_binary()), tail, nothing))
