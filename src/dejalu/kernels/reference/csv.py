"""What `csv_extract` does, in plain Python, one character at a time: the specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

GOOD, WRONG_COUNT, UNCLOSED = range(3)


class Record(NamedTuple):
    """One record: places as in `Extracted`, its number of fields, and the text of the columns asked for."""

    row: int
    line: int
    start: int
    end: int
    fields: int
    status: int
    values: list[bytes]


class Extract(NamedTuple):
    """Counts of the whole block, and the records given."""

    rows: int
    lines: int
    consumed: int
    records: list[Record]


def csv_extract(
    block: bytes,
    delimiter: str,
    columns: Sequence[int],
    *,
    expected: int,
    final: bool,
    wanted: Sequence[int] | None = None,
) -> Extract:
    """Extract columns from a block of CSV records; see `kernels.formats.csv_extract`."""
    records: list[Record] = []
    row = line = at = 0
    while at < len(block):
        empty = 1 if block[at : at + 1] == b"\n" else 2 if block[at : at + 2] == b"\r\n" else 0
        if empty:
            at += empty
            line += 1
            continue
        fields, end, ended, unclosed = _record(block, at, ord(delimiter))
        if not ended and not final:
            break
        if wanted is None or row in wanted:
            status = UNCLOSED if unclosed else WRONG_COUNT if 0 <= expected != len(fields) else GOOD
            values = [fields[c] if status == GOOD and c < len(fields) else b"" for c in columns]
            records.append(Record(row, line, at, end, len(fields), status, values))
        row += 1
        line += block[at:end].count(b"\n") + (not ended)
        at = end
    return Extract(row, line, at, records)


def _record(block: bytes, at: int, delimiter: int) -> tuple[list[bytes], int, bool, bool]:
    """The fields of the record at `at`, where it ends, whether a line end ended it, whether a quote was left open."""
    fields: list[bytes] = []
    while True:
        field = bytearray()
        if block[at : at + 1] == b'"':
            at += 1
            while True:
                quote = block.find(b'"', at)
                if quote < 0:
                    field += block[at:]
                    return [*fields, bytes(field)], len(block), False, True
                field += block[at:quote]
                at = quote + 1
                if block[at : at + 1] != b'"':
                    break
                field += b'"'
                at += 1
        tail = at
        while at < len(block) and block[at] not in (delimiter, ord("\n")):
            at += 1
        plain = block[tail:at]
        line_end = at < len(block) and block[at] == ord("\n")
        if line_end and plain.endswith(b"\r"):
            plain = plain[:-1]
        fields.append(bytes(field) + plain)
        if at == len(block):
            return fields, at, False, False
        at += 1
        if line_end:
            return fields, at, True, False
