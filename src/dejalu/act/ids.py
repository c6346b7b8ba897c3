"""One type for the ids of all files: their own where all files agree, else their JSON text.

Each batch gives a small summary; summaries merge with `|` in any order; `unify` chooses; `convert` then turns any
batch's ids into the chosen type.

    all files string                       string (large_string stays large_string)
    all files another Arrow type           that type; JSON integers within 64 bits count as int64, JSON booleans as bool
    no id anywhere (none, or all null)     string, all null
    anything else                          JSON text in a string column: "a" with its quotes, 7 without, null stays null
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data import BOOLEAN, INTEGER, STRING, U8, as_arrow

_SAFE_DIGITS = 18  # an integer of so many characters always fits 64 bits
_MIXED = pa.null()  # stands for: no single type, only JSON text will do


@dataclass(frozen=True, slots=True)
class IdSummary:
    """The types of the ids seen so far, each once; empty where all were null or no file had an id column."""

    types: frozenset[pa.DataType] = frozenset()

    def __or__(self, other: IdSummary) -> IdSummary:
        return IdSummary(self.types | other.types)


@dataclass(frozen=True, slots=True)
class IdType:
    """The type of the id columns in all evidence; `json` tells that it is JSON text."""

    type: pa.DataType
    json: bool = False


def summarise(column: pa.Array | None, kinds: U8 | None = None) -> IdSummary:
    """Summarise the ids of one batch: an Arrow column, or JSON values as text with their kinds ((n,) uint8)."""
    if column is None or len(column) == 0:
        return IdSummary()
    if kinds is None:
        return IdSummary() if column.null_count == len(column) else IdSummary(frozenset({_plain(column.type)}))
    seen = np.flatnonzero(np.bincount(kinds, minlength=BOOLEAN + 2))
    types: set[pa.DataType] = set()
    for kind in seen[seen >= STRING]:
        if kind == STRING:
            types.add(pa.string())
        elif kind == INTEGER:
            types.add(pa.int64() if _fits(column.filter(as_arrow(kinds == INTEGER))) else _MIXED)
        elif kind == BOOLEAN:
            types.add(pa.bool_())
        else:  # numbers with a point have no one text, objects and arrays no one type
            types.add(_MIXED)
    return IdSummary(frozenset(types))


def unify(*summaries: IdSummary) -> IdType:
    """Choose the type of the id columns from the summaries of all files."""
    types = reduce(lambda a, b: a | b, summaries, IdSummary()).types
    if not types:
        return IdType(pa.string())
    if len(types) == 1 and _MIXED not in types:
        return IdType(next(iter(types)))
    if all(_is_text(kind) for kind in types):
        return IdType(pa.string())
    return IdType(pa.string(), json=True)


def convert(column: pa.Array | None, kinds: U8 | None, target: IdType, rows: int) -> pa.Array:
    """Turn one batch's ids into the chosen type: (rows,) of `target.type`; null stays null."""
    if column is None:
        return pa.nulls(rows, target.type)
    if kinds is not None:
        return _from_json(column, kinds, target)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not target.json:
        return column if column.type == target.type else pc.cast(column, target.type)
    return _to_json(column)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that an id column of this type gets in the evidence."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.string()
    return kind


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _fits(text: pa.Array) -> bool:
    """Tell whether all these integers, as text, fit int64."""
    longest = pc.max(pc.binary_length(text)).as_py()
    if longest is None or longest <= _SAFE_DIGITS:
        return True
    try:
        pc.cast(text, pa.int64())
    except pa.ArrowInvalid:
        return False
    return True


def _from_json(column: pa.Array, kinds: U8, target: IdType) -> pa.Array:
    """Turn JSON values (strings unescaped, all others raw) into the chosen type."""
    valued = as_arrow(kinds >= STRING)
    text = pc.if_else(valued, column, pa.scalar(None, column.type))
    if not target.json:
        return text if text.type == target.type else pc.cast(text, target.type)
    quoted = as_arrow(kinds == STRING)
    if not pc.any(quoted).as_py():
        return pc.cast(text, pa.string())
    return pc.if_else(quoted, _quote(text), pc.cast(text, pa.string()))


def _to_json(column: pa.Array) -> pa.Array:
    """Write Arrow values as JSON text."""
    kind = column.type
    if _is_text(kind):
        return _quote(column)
    numbers = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    if any(of(kind) for of in numbers):
        return pc.cast(column, pa.string())
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return _quote(pc.cast(column, pa.string()))
    # Rare: binary, nested and extension ids, and only those of removed rows and their twins.
    return pa.array([None if value is None else _dump(value) for value in column.to_pylist()], pa.string())


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda v: v.hex() if isinstance(v, bytes) else str(v))


def _quote(text: pa.Array) -> pa.Array:
    """Write strings as JSON strings: only `"`, `\\` and control characters are escaped."""
    text = pc.cast(text, pa.string())
    risky = pc.any(pc.match_substring_regex(text, r'["\\\x00-\x1f]')).as_py()
    if risky:
        escaped = [None if v is None else json.dumps(v, ensure_ascii=False)[1:-1] for v in text.to_pylist()]
        text = pa.array(escaped, pa.string())
    mark = pa.scalar('"', pa.string())
    return pc.binary_join_element_wise(mark, text, mark, "")
