"""Put the values of added columns into raw jsonl and csv records, whose other bytes stay as they are."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data import I64, U8, Bool
from ..errors import OutputError
from .splice import insert
from .tags import Decisions, check_columns

_OURS = b'"dejalu_'
_JSON_SPACE = np.frombuffer(b" \t\r\n", np.uint8)


class Jsonl:
    """Adds members before the closing brace of each record."""

    def __init__(self, decisions: Decisions) -> None:
        self._names = decisions.added.names
        self._file = decisions.file
        self._added = decisions.added

    def preamble(self, before: bytes) -> bytes:
        return before

    def join(self, data: U8, start: I64, end: I64, values: list[pa.Array]) -> memoryview:
        self._check(data, start, end)
        brace = _last_not_space(data, start, end)
        before = _last_not_space(data, start, brace)
        empty = data[before] == ord("{")  # only an object without members ends so
        parts: list[pa.Array | pa.Scalar] = [pc.if_else(pa.array(empty), "", ",")]
        for place, (name, array) in enumerate(zip(self._names, values, strict=True)):
            parts += [pa.scalar(f'{"," if place else ""}"{name}":'), pc.fill_null(_json(array), "null")]
        text = pc.binary_join_element_wise(*_strings(parts), "")
        return insert(data, start, brace, end, text)

    def _check(self, data: U8, start: I64, end: I64) -> None:
        """Refuse records that have one of the added members; a record is parsed only where such a name occurs in it."""
        block = data.tobytes()
        at = block.find(_OURS)
        while at >= 0:
            record = int(np.searchsorted(end, at, side="right"))
            if record == len(start):
                return
            if start[record] <= at:
                check_columns(self._file, json.loads(block[start[record] : end[record]]), self._added)
            at = block.find(_OURS, int(end[record]))


def _last_not_space(data: U8, start: I64, end: I64) -> I64:
    """Place of the last byte of each span that is not JSON white space."""
    at = end - 1
    open_ = np.flatnonzero(np.isin(data[at], _JSON_SPACE))
    steps = 0
    while open_.size and steps < 64:  # each step looks at all records still in white space: rarely more than two
        at[open_] -= 1
        open_ = open_[np.isin(data[at[open_]], _JSON_SPACE)]
        steps += 1
    for record in open_.tolist():  # records with long tails of blanks
        at[record] = start[record] + len(data[start[record] : at[record]].tobytes().rstrip(b" \t\r\n")) - 1
    return at


class Csv:
    """Adds fields at the end of the header and of each record, before the line end, in the file's encoding."""

    def __init__(self, decisions: Decisions, encoding: str, delimiter: str) -> None:
        self._names = decisions.added.names
        self._file = decisions.file
        self._added = decisions.added
        utf8 = encoding.lower().replace("_", "-") in {"utf-8", "utf8", "utf-8-sig", "ascii"}
        self._encoding = "utf-8" if utf8 else encoding
        self._delimiter = delimiter
        self._wide: str | None = None  # the UTF-16 or UTF-32 of the file, without BOM

    def preamble(self, before: bytes) -> bytes:
        if not self._names:
            return before
        self._wide = _wide(self._encoding, before)
        header = before.decode(self._wide or self._encoding).removeprefix("\ufeff")
        rows = [row for row in csv.reader(io.StringIO(header, newline=""), delimiter=self._delimiter) if row]
        check_columns(self._file, rows[-1] if rows else (), self._added)
        body = len(before) - self._line_end(before)
        return before[:body] + self._encode("".join(self._delimiter + name for name in self._names)) + before[body:]

    def join(self, data: U8, start: I64, end: I64, values: list[pa.Array]) -> memoryview:
        parts: list[pa.Array | pa.Scalar] = []
        for array in values:
            parts += [pa.scalar(self._delimiter), pc.fill_null(_plain(array, self._delimiter), "")]
        text = pc.binary_join_element_wise(*_strings(parts), "")
        if self._encoding != "utf-8":
            unique = text.dictionary_encode()  # few: most records are kept and have one copy
            coded = pa.array([self._encode(value) for value in unique.dictionary.to_pylist()], pa.large_binary())
            text = coded.take(unique.indices)
        return insert(data, start, self._ends(data, start, end), end, text)

    def _encode(self, text: str) -> bytes:
        try:
            return text.encode(self._wide or self._encoding)
        except UnicodeEncodeError as error:
            raise OutputError(
                f"{self._file}: {text!r} cannot be written in {self._encoding} ({error.reason}). "
                "Use --mode drop, or convert the file to UTF-8 first."
            ) from error

    def _line_end(self, record: bytes) -> int:
        """Number of bytes of the line end (CR LF, LF or CR) of a record; 0 without."""
        for ending in ("\r\n", "\n", "\r"):
            mark = ending.encode(self._wide or "ascii")
            if record.endswith(mark):
                return len(mark)
        return 0

    def _ends(self, data: U8, start: I64, end: I64) -> I64:
        """Place of the line end of each record, (n,); its end where there is none."""
        at = end.copy()
        lf, cr = (np.frombuffer(mark.encode(self._wide or "ascii"), np.uint8) for mark in "\n\r")
        found = _ends_with(data, start, at, lf)
        at[found] -= len(lf)
        found = _ends_with(data, start, at, cr)
        at[found] -= len(cr)
        return at


def _ends_with(data: U8, start: I64, at: I64, mark: U8) -> Bool:
    width = len(mark)
    found: Bool = at - start >= width
    for place in range(width):
        spot = np.maximum(at - width + place, 0)
        found &= data[spot] == mark[place]
    return found


def _wide(encoding: str, before: bytes) -> str | None:
    """Name the UTF-16 or UTF-32 with its byte order, from the name or the BOM; None for other encodings."""
    name = encoding.lower().replace("_", "-").replace("utf16", "utf-16").replace("utf32", "utf-32")
    if not name.startswith(("utf-16", "utf-32")):
        return None
    if name.endswith(("le", "be")):
        return name
    return f"{name}-{'be' if before[:1] in {bytes([0xFE]), bytes([0])} else 'le'}"


def _strings(parts: list[pa.Array | pa.Scalar]) -> list[pa.Array | pa.Scalar]:
    return [part.cast(pa.string()) for part in parts]


def _plain(array: pa.Array, delimiter: str) -> pa.Array:
    """Write values as csv fields: quoted only where needed."""
    if pa.types.is_string(array.type):
        unique = array.dictionary_encode()
        special = set(f'{delimiter}"\r\n')
        quoted = [
            '"' + value.replace('"', '""') + '"' if special & set(value) else value
            for value in unique.dictionary.to_pylist()
        ]
        return pa.array(quoted, pa.string()).take(unique.indices)
    return _number(array)


def _json(array: pa.Array) -> pa.Array:
    """Write values as JSON."""
    if pa.types.is_string(array.type):  # file names: few
        unique = array.dictionary_encode()
        texts = [json.dumps(value, ensure_ascii=False) for value in unique.dictionary.to_pylist()]
        return pa.array(texts, pa.string()).take(unique.indices)
    return _number(array)


def _number(array: pa.Array) -> pa.Array:
    """Write booleans as true/false, numbers as their shortest text that reads back the same."""
    text = array.cast(pa.string())
    if pa.types.is_floating(array.type):  # 1 would read as an integer
        return pc.if_else(pc.match_substring_regex(text, r"^-?\d+$"), pc.binary_join_element_wise(text, "0", "."), text)
    return text
