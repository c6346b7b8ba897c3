"""Column values to 64-bit hashes: equal values, equal hashes, whatever file or Arrow type they came in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data import NULL, STRING, U8, U64, text_buffers
from ..kernels import bytes_hash, mix64


def hash_values(values: pa.Array, kinds: U8 | None = None) -> U64:
    """Hash each value of a column.

    A string and a number that are written alike differ; nulls all have hash 0, which no value has.

    Args:
        values: (n,) strings, numbers, booleans, dates …: anything Arrow can write as text.
        kinds: (n,) uint8 JSON kinds when the column comes from JSON.

    Returns:
        (n,) uint64.
    """
    text = as_text(values)
    data, offsets = text_buffers(text)
    hashes = bytes_hash(data, offsets)[:, 1].copy()
    if kinds is None:
        stringy = is_string(values.type)
        kind = np.full(len(values), STRING if stringy else 0, np.uint64)
    else:
        kind = np.where(kinds == STRING, STRING, 0).astype(np.uint64)
    hashes = mix64(hashes ^ kind) | np.uint64(1)
    null = text.is_null().to_numpy(zero_copy_only=False)
    if kinds is not None:
        null = null | (kinds <= NULL)
    hashes[null] = 0
    return hashes


def is_string(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds strings, in any of its layouts."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def as_text(values: pa.Array) -> pa.LargeStringArray:
    """Write every value as text; nulls stay null."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.large_string())
    if pa.types.is_nested(values.type):
        import json

        return pa.array(
            [None if v is None else json.dumps(v, default=str) for v in values.to_pylist()], pa.large_string()
        )
    return pc.cast(values, pa.large_string())
