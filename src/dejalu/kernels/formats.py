"""Kernels of the line formats: blocks of jsonl or csv bytes to records and text columns; where UTF-8 ends.

All take and give arrays, release the GIL and keep no state. Twins: `kernels.reference.jsonl`, `kernels.reference.csv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _native
from .arrays import I64, U8

# Status of a jsonl record.
GOOD, NOT_OBJECT, BROKEN, TRAILING = range(4)
# Status of a csv record (0 is GOOD).
WRONG_COUNT, UNCLOSED = 1, 2


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a block holds.

    rows, lines, consumed  records, physical lines and bytes gone through: whole records only, unless it was final
    row, line              (n,) int64: 0-based place of each record given, from the block's first record and line
    start, end             (n,) int64: its bytes in the block, line end included
    status                 (n,) uint8: GOOD or what is wrong with it
    detail                 (n,) int64: jsonl: byte of the record where damage was found; csv: its number of fields
    text                   per field: bytes uint8 and n + 1 offsets int64; no bytes where a record is damaged
    kind                   jsonl, per field: (n,) uint8, ABSENT … NESTED of `dejalu.data`
    replaced               jsonl, per field: (n,) uint8, 1 where a lone surrogate or invalid UTF-8 became U+FFFD
    """

    rows: int
    lines: int
    consumed: int
    row: I64
    start: I64
    end: I64
    line: I64
    detail: I64
    status: U8
    text: list[tuple[U8, I64]]
    kind: list[U8]
    replaced: list[U8]


def jsonl_extract(block: U8, fields: Sequence[str], *, final: bool, wanted: I64 | None = None) -> Extracted:
    r"""Extract fields from a block of JSON lines.

    A record is a line with anything but spaces, tabs and CR on it; it is good when `json.loads` takes it and it is an
    object nested at most 512 deep. Strings are unescaped, any other value is its raw JSON text; of equal keys the last
    counts. A name with dots is a path through objects where the record has no key of that very name.

    Args:
        block: (bytes,) uint8; without `final`, bytes after the last line end are left for the next block.
        fields: names of keys.
        final: the last line may lack its line end.
        wanted: (k,) int64 ascending places of records; only these are parsed and given.

    >>> b = np.frombuffer(b'{"id":7,"text":"a"}\n\n{"text":"b"\n', np.uint8)
    >>> e = jsonl_extract(b, ["text", "id"], final=True)
    >>> e.row.tolist(), e.line.tolist(), e.status.tolist(), [k.tolist() for k in e.kind]
    ([0, 1], [0, 2], [0, 2], [[2, 0], [3, 0]])
    """
    return Extracted(*_native.jsonl_extract(block, list(fields), final, wanted))


def csv_extract(
    block: U8, delimiter: str, columns: Sequence[int], *, expected: int, final: bool, wanted: I64 | None = None
) -> Extracted:
    r"""Extract columns from a block of CSV records (the header, where there is one, counts as a record).

    A record ends at LF or CRLF outside quotes; a field that begins with a quote runs to its closing quote, "" being a
    quote (RFC 4180 §2), and what follows the closing quote is kept as it stands; an empty line is no record.

    Args:
        block: (bytes,) uint8, UTF-8 or any other superset of ASCII whose further bytes are above 0x7F.
        delimiter: one ASCII character.
        columns: distinct places of the fields wanted.
        expected: number of fields of a good record; -1 for any.
        final, wanted: as in `jsonl_extract`.

    >>> e = csv_extract(np.frombuffer(b'id,text\n1,"a ""b""\nc"\n', np.uint8), ",", [1], expected=2, final=True)
    >>> e.line.tolist(), e.text[0][0].tobytes()
    ([0, 1], b'texta "b"\nc')
    """
    places = np.asarray(columns, np.int64)
    found = (*_native.csv_extract(block, ord(delimiter), places, expected, final, wanted), [], [])
    return Extracted(*found)


def utf8_invalid(data: U8) -> int:
    r"""Find where (bytes,) uint8 stops being UTF-8: 0-based place of the first ill-formed part, -1 where there is none.

    >>> utf8_invalid(np.frombuffer(b"caf\xe9", np.uint8))
    3
    """
    return _native.utf8_invalid(data)
