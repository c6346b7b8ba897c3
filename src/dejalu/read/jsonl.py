"""JSON lines, plain or compressed: one object a line, UTF-8.

An absent key is a null; a text that is neither string nor null is damage. Lone surrogates and invalid UTF-8 become
U+FFFD for comparing, and are flagged. Blank lines count no row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

import numpy as np

from ..data import I64, NULL, STRING, U8, Docs, Input, Problem, Records
from ..kernels.formats import GOOD, NOT_OBJECT, TRAILING, Extracted, jsonl_extract
from .columns import TEXT_NAMES, Ask, Columns, Offer, choose
from .lines import Walk, docs_of_lines, string_array
from .open import open_text
from .pieces import BATCH_BYTES, Piece
from .problems import OnProblem
from .window import Filler, Window, fill_from

BOM = b"\xef\xbb\xbf"
PEEK_RECORDS, PEEK_BYTES = 1000, 1 << 20
DECODER = json.JSONDecoder(parse_int=len, parse_float=len)  # numbers may be of any size
KIND_NAMES = ("absent", "null", "a string", "a number", "a number", "true or false", "an object or array")


def resolve(input: Input, ask: Ask) -> Columns:
    """Decide the columns from the first records (up to 1,000, or 1 MiB)."""
    records, bom = _peek(input)
    if not records:
        return Columns(ask.text or (TEXT_NAMES[0],), ask.id, ask.extra, bom=bom)
    values: dict[str, list[object]] = {}
    for record in records:
        for key, value in record.items():
            values.setdefault(key, []).append(value)
    offers = {key: _offer(found) for key, found in values.items()}
    named = [name for name in TEXT_NAMES if name in offers]
    if named and not any(offers[n].text for n in named) and sum(o.string for o in offers.values()) != 1:
        # The obvious column holds only odd values so far: those records are damaged, and say so by their lines.
        offers[named[0]] = Offer("mixed", True, True)

    def find(name: str) -> Offer | None:
        found = [v for r in records for v in _at(r, name)]
        return Offer("JSON", True, True) if found else None  # a wrong value is damage of its record, not of the column

    def sample(name: str) -> str | None:
        return next((v for v in values[name] if isinstance(v, str)), None)

    chosen = choose(input.file, offers, ask, find=find, sample=sample)
    return Columns(chosen.text, chosen.id, chosen.extra, bom=bom)


def pieces(input: Input, columns: Columns) -> list[Piece]:
    """The whole file is one piece."""
    return [Piece(0)]


def read(
    input: Input, piece: Piece, columns: Columns, *, batch_bytes: int, batch_rows: int | None, on_problem: OnProblem
) -> Iterator[Docs]:
    """Read the file."""
    return _docs(input, columns, None, batch_bytes, batch_rows, on_problem)


def rows(input: Input, columns: Columns, wanted: I64) -> Iterator[Docs]:
    """Read only the wanted rows; the other lines are passed over unparsed."""
    return _docs(input, columns, wanted, BATCH_BYTES, None, lambda problem: None)


def records(input: Input, columns: Columns) -> Iterator[Records]:
    """Raw lines, numbered as `read` numbers them, damaged ones included; a line cut off by a broken stream is not."""
    walk = _walk(input, columns, BATCH_BYTES, lasting=True)
    preamble = BOM[: columns.bom]
    for view, found in walk.blocks(input.file, partial(_extract, ()), lambda problem: None):
        yield Records(walk.row, view[: found.consumed], found.start, found.end, preamble)
        preamble = b""
    if preamble:
        none = np.zeros(0, np.int64)
        yield Records(0, np.zeros(0, np.uint8), none, none, preamble)


def _walk(input: Input, columns: Columns, size: int, *, lasting: bool = False) -> Walk:
    return Walk(Window(lambda on_break: Filler(input, on_break, columns.bom), size, lasting=lasting))


def _extract(fields: tuple[str, ...], block: U8, final: bool, wanted: I64 | None) -> Extracted:
    return jsonl_extract(block, fields, final=final, wanted=wanted)


def _docs(
    input: Input,
    columns: Columns,
    wanted: I64 | None,
    batch_bytes: int,
    batch_rows: int | None,
    on_problem: OnProblem,
) -> Iterator[Docs]:
    names = columns.names
    walk = _walk(input, columns, batch_bytes)
    for view, found in walk.blocks(input.file, partial(_extract, names), on_problem, wanted):
        kinds = dict(zip(names, found.kind, strict=True))
        good = found.status == GOOD
        for name in columns.text:
            good &= kinds[name] <= STRING
        for i in np.flatnonzero(~good).tolist():
            raw = view[found.start[i] : found.end[i]].tobytes()
            line = walk.line + int(found.line[i]) + 1
            reason = _reason(columns, found, kinds, i, raw)
            on_problem(Problem(input.file, walk.row + int(found.row[i]), line, reason, raw))
        arrays = {name: string_array(text, kinds[name] > NULL) for name, text in zip(names, found.text, strict=True)}
        invalid = np.zeros(len(good), np.bool_)
        for name, replaced in zip(names, found.replaced, strict=True):
            if name in columns.text:
                invalid |= replaced.astype(np.bool_)
        yield from docs_of_lines(
            input, columns, walk.row, found, good, arrays,
            batch_bytes=batch_bytes, batch_rows=batch_rows, kinds=kinds, invalid=invalid,
        )  # fmt: skip


def _reason(columns: Columns, found: Extracted, kinds: dict[str, U8], i: int, raw: bytes) -> str:
    status, at = int(found.status[i]), int(found.detail[i])
    if status == NOT_OBJECT:
        return "not a JSON object"
    if status == TRAILING:
        return f"more text after the JSON object, from byte {at + 1:,} of the line"
    if status != GOOD:
        cut = at >= len(raw.rstrip(b"\r\n"))
        return "not JSON: it ends too early" if cut else f"not JSON at byte {at + 1:,} of the line"
    name = next(n for n in columns.text if kinds[n][i] > STRING)
    return f"{name!r} is {KIND_NAMES[int(kinds[name][i])]}, not a string or null"


def _peek(input: Input) -> tuple[list[dict[str, object]], int]:
    """The first good records as Python objects, and the length of the byte order mark."""
    window = Window(lambda on_break: fill_from(open_text(input, on_break)), PEEK_BYTES)
    found: list[dict[str, object]] = []
    bom: int | None = None
    while not found and window.read():
        if bom is None:
            bom = len(BOM) if window.view[: len(BOM)].tobytes() == BOM else 0
            window.drop(bom)
        lines = jsonl_extract(window.view, (), final=window.final)
        for i in np.flatnonzero(lines.status == GOOD)[:PEEK_RECORDS].tolist():
            line = window.view[lines.start[i] : lines.end[i]].tobytes().decode(errors="replace")
            found.append(DECODER.decode(line))
        window.drop(lines.consumed)
    return found, bom or 0


def _at(record: object, name: str) -> list[object]:
    """The value at a key, else at a dotted path, as a list of one; [] where there is none."""
    if isinstance(record, dict) and name in record:
        return [record[name]]
    for part in name.split("."):
        if not isinstance(record, dict) or part not in record:
            return []
        record = record[part]
    return [record]


def _offer(values: list[object]) -> Offer:
    string = any(isinstance(v, str) for v in values)
    null = all(v is None for v in values)
    return Offer("string" if string else "null" if null else "other", string or any(v is None for v in values), string)
