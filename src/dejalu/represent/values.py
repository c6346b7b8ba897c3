"""Column values to 64-bit hashes: equal values, equal hashes, whatever file or Arrow type they came in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data import NULL, REAL, STRING, U8, U64, as_arrow, text_buffers
from ..kernels import bytes_hash, mix64


def hash_values(values: pa.Array, kinds: U8 | None = None) -> U64:
    """Hash each value of a column.

    A string and a number that are written alike differ, 1 and 1.0 and -0.0 and 0.0 do not; nulls all have hash 0,
    which no value has.

    Args:
        values: (n,) strings, numbers, booleans, dates …: anything Arrow can write as text.
        kinds: (n,) uint8 JSON kinds when the column comes from JSON.

    Returns:
        (n,) uint64.
    """
    text = _exact(values) if kinds is None else _plain_numbers(values, kinds)
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


def is_number(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds integers, floats or decimals."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _exact(values: pa.Array) -> pa.LargeStringArray:
    """Text that is equal exactly where the values are; bytes stand for themselves, UTF-8 or not."""
    values = _laid_out(values)
    if _is_binary(values.type):
        raw = values.cast(pa.large_binary())
        buffers = raw.buffers()
        return pa.LargeStringArray.from_buffers(
            len(raw), buffers[1], buffers[2], buffers[0], raw.null_count, raw.offset
        )
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0, values.type))  # -0.0 becomes 0.0
    return as_text(values)


def _laid_out(values: pa.Array) -> pa.Array:
    """The values themselves: what an extension type (such as uuid) stores, what a dictionary stands for."""
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.storage
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _plain_numbers(values: pa.LargeStringArray, kinds: U8) -> pa.LargeStringArray:
    """JSON numbers with a point or an exponent as Arrow would write them, so that 1.0 is 1."""
    real = kinds == REAL
    if not real.any():
        return values
    mask = as_arrow(real)
    numbers = pc.add(pc.cast(pc.filter(values, mask), pa.float64()), 0.0)
    return pc.replace_with_mask(values, mask, pc.cast(numbers, pa.large_string()))


def _is_binary(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def as_text(values: pa.Array) -> pa.LargeStringArray:
    """Write every value as text, for reading; bytes that are not UTF-8 as hexadecimal digits; nulls stay null."""
    values = _laid_out(values)
    if _is_binary(values.type):
        try:
            return values.cast(pa.large_binary()).cast(pa.large_string())
        except pa.ArrowInvalid:
            return pa.array([None if v is None else v.hex() for v in values.to_pylist()], pa.large_string())
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.large_string())
    if pa.types.is_nested(values.type):
        import json

        return pa.array(
            [None if v is None else json.dumps(v, default=str) for v in values.to_pylist()], pa.large_string()
        )
    return pc.cast(values, pa.large_string())
