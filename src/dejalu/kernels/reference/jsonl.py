"""What `jsonl_extract` does, in plain Python on top of the standard library's JSON scanner: the specification."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

ABSENT, NULL, STRING, INTEGER, REAL, BOOLEAN, NESTED = range(7)
GOOD, NOT_OBJECT, BROKEN, TRAILING = range(4)
MAX_DEPTH = 512
BLANKS = re.compile(r"[ \t\r\n]*")
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")

# Numbers are not converted: they may be of any size, and only their text is wanted.
DECODER = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=len)


class Value(NamedTuple):
    """Kind and text of a value; `replaced` where a lone surrogate or invalid UTF-8 became U+FFFD."""

    kind: int = ABSENT
    text: bytes = b""
    replaced: bool = False


class Record(NamedTuple):
    """One record: places as in `Extracted`, and the values of the fields."""

    row: int
    line: int
    start: int
    end: int
    status: int
    values: list[Value]


class Extract(NamedTuple):
    """Counts of the whole block, and the records given."""

    rows: int
    lines: int
    consumed: int
    records: list[Record]


def jsonl_extract(block: bytes, fields: Sequence[str], *, final: bool, wanted: Sequence[int] | None = None) -> Extract:
    """Extract fields from a block of JSON lines; see `kernels.formats.jsonl_extract`."""
    records: list[Record] = []
    row = line = start = 0
    while start < len(block):
        newline = block.find(b"\n", start)
        if newline < 0 and not final:
            break
        end = len(block) if newline < 0 else newline + 1
        raw = block[start:end]
        if raw.strip(b" \t\r\n"):
            if wanted is None or row in wanted:
                status, values = _record(raw, fields)
                records.append(Record(row, line, start, end, status, values))
            row += 1
        line += 1
        start = end
    return Extract(row, line, start, records)


def _record(raw: bytes, fields: Sequence[str]) -> tuple[int, list[Value]]:
    nothing = [Value() for _ in fields]
    line = raw.decode("utf-8", "replace")  # U+FFFD for each maximal ill-formed part
    at = _blanks(line, 0)
    if line[at] != "{":
        return NOT_OBJECT, nothing
    if _depth(line) > MAX_DEPTH + 1:
        return BROKEN, nothing
    try:
        members, end = _object(line, at)
    except (ValueError, IndexError):
        return BROKEN, nothing
    if _blanks(line, end) < len(line):
        return TRAILING, nothing
    values = []
    for name in fields:
        found = members.get(name)
        if found is None and "." in name:
            found = _path(members, name.split("."))
        values.append(Value() if found is None else _value(raw, *found))
    return GOOD, values


def _object(s: str, at: int) -> tuple[dict[str, tuple[str, object]], int]:
    """The members of the object at `at` as (raw text, decoded value), the last of equal keys, and where it ends."""
    members: dict[str, tuple[str, object]] = {}
    at = _blanks(s, at + 1)
    if s[at] == "}":
        return members, at + 1
    while True:
        if s[at] != '"':
            raise ValueError("no key")
        key, at = DECODER.raw_decode(s, at)
        at = _blanks(s, at)
        if s[at] != ":":
            raise ValueError("no colon")
        at = _blanks(s, at + 1)
        try:
            value, end = DECODER.raw_decode(s, at)
        except RecursionError as e:  # of another interpreter's limits; the depth was checked
            raise ValueError("too deep") from e
        members[key] = (s[at:end], value)
        at = _blanks(s, end)
        if s[at] == "}":
            return members, at + 1
        if s[at] != ",":
            raise ValueError("no comma")
        at = _blanks(s, at + 1)


def _path(members: dict[str, tuple[str, object]], path: list[str]) -> tuple[str, object] | None:
    """Walk a dotted path through objects."""
    for i, name in enumerate(path):
        found = members.get(name)
        if found is None or i == len(path) - 1:
            return found
        if not isinstance(found[1], dict):
            return None
        members, _ = _object(found[0], 0)
    return None


def _value(raw: bytes, text: str, value: object) -> Value:
    if text.startswith('"'):
        assert isinstance(value, str)
        clean = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
        return Value(STRING, clean.encode(), clean != value or _repaired(raw, text))
    if text[0] in "{[":
        return Value(NESTED, text.encode(), _repaired(raw, text))
    if text in ("true", "false"):
        return Value(BOOLEAN, text.encode())
    if text == "null":
        return Value(NULL)
    number = NUMBER.fullmatch(text)
    integer = number is not None and number[1] is None and number[2] is None
    return Value(INTEGER if integer else REAL, text.encode())


def _repaired(raw: bytes, text: str) -> bool:
    """Did this text hold invalid UTF-8? Then it does not stand in the line as it is now."""
    return text.encode() not in raw


def _blanks(s: str, at: int) -> int:
    match = BLANKS.match(s, at)
    return match.end() if match else at


def _depth(s: str) -> int:
    """How deep brackets nest outside strings."""
    deepest = depth = 0
    for c in STRINGS.sub("", s):
        depth += (c in "{[") - (c in "}]")
        deepest = max(deepest, depth)
    return deepest
