"""CSV and TSV, plain or compressed: a header, then records; every column is a string and no word means null.

Bytes of another encoding than UTF-8 are turned into UTF-8 on the way in; `records` gives the file's own bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ..data import I64, U8, Docs, Input, Problem, Records
from ..errors import UsageError
from ..kernels.formats import GOOD, UNCLOSED, Extracted, csv_extract, utf8_invalid
from .columns import TEXT_NAMES, Ask, Columns, Offer, choose
from .encoding import NotEncoded, encoding_of, is_utf8, not_encoded, to_utf8
from .lines import Walk, docs_of_lines, string_array
from .open import MAX_RECORD, Unreadable, open_text
from .original import Original
from .pieces import BATCH_BYTES, Piece
from .problems import OnProblem
from .window import Fill, Filler, Window, fill_from

DELIMITERS = ",;\t|"
PEEK_RECORDS, PEEK_BYTES = 100, 1 << 18
TSV = re.compile(r"\.tsv(\.gz|\.zst)?$", re.IGNORECASE)
STRING = Offer("string", True, True)
NO_RECORDS = np.zeros(0, np.int64)


def resolve(input: Input, ask: Ask) -> Columns:
    """Find encoding, delimiter and header, and decide the columns.

    Raises:
        Unreadable: the file's beginning is not of its encoding.
    """
    head = next(open_text(input, lambda reason: None), b"")
    encoding, bom = encoding_of(head[:3], ask.encoding)
    if encoding != "utf-8" and not bom and is_utf8(encoding, open_text(input, lambda reason: None)):
        encoding = "utf-8"
    found = Columns((), encoding=encoding, bom=bom, delimiter="\t" if TSV.search(input.path) else "")
    try:
        header, delimiter, sample = _peek(input, found)
    except NotEncoded as e:
        raise Unreadable(str(e)) from e
    if not header:
        return Columns(ask.text or (TEXT_NAMES[0],), ask.id, ask.extra, encoding, bom, delimiter)
    places: dict[str, int] = {}
    for i, name in enumerate(header):
        places.setdefault(name, i)
    offers = dict.fromkeys(places, STRING)
    chosen = choose(
        input.file, offers, ask, find=offers.get, sample=lambda name: sample[places[name]] if sample else None
    )
    for name in chosen.names:
        if header.count(name) > 1:
            n = header.count(name)
            raise UsageError(f"{input.file}: {n} columns are named {name!r}; rename them in the header")
    return Columns(
        chosen.text, chosen.id, chosen.extra, encoding, bom, delimiter,
        tuple(places[name] for name in chosen.names), len(header),
    )  # fmt: skip


def pieces(input: Input, columns: Columns) -> list[Piece]:
    """The whole file is one piece."""
    return [Piece(0)]


def read(
    input: Input, piece: Piece, columns: Columns, *, batch_bytes: int, batch_rows: int | None, on_problem: OnProblem
) -> Iterator[Docs]:
    """Read the file."""
    return _docs(input, columns, None, batch_bytes, batch_rows, on_problem)


def rows(input: Input, columns: Columns, wanted: I64) -> Iterator[Docs]:
    """Read only the wanted rows."""
    return _docs(input, columns, wanted, BATCH_BYTES, None, lambda problem: None)


def records(input: Input, columns: Columns) -> Iterator[Records]:
    """The file's own bytes, record by record, numbered as `read` numbers them; the header is the preamble.

    Raises:
        DamagedInput: the records of a file in another encoding cannot be told apart byte by byte (ISO-2022, UTF-7 …).
    """
    walk = _walk(input, columns, BATCH_BYTES, lasting=True)
    original = Original(input, columns.encoding, columns.bom)
    preamble: bytes | None = None
    for view, found in walk.blocks(input.file, _extractor(columns, ()), lambda problem: None):
        data, start, end = original.places(view[: found.consumed], found.start, found.end)
        first, now = walk.row, b""
        if preamble is None:
            preamble = now = original.mark + data[: end[0]].tobytes()
            first, start, end = 0, start[1:], end[1:]
        yield Records(first, data, start, end, now)
    if preamble is None:
        yield Records(0, np.zeros(0, np.uint8), NO_RECORDS, NO_RECORDS, original.mark)


def _walk(input: Input, columns: Columns, size: int, *, lasting: bool = False) -> Walk:
    """A walk in UTF-8; the header is row -1."""

    def stream(on_break: Callable[[str], None]) -> Fill:
        if columns.encoding == "utf-8":
            return Filler(input, on_break, columns.bom)
        raw = open_text(input, on_break, columns.bom)
        return fill_from(to_utf8(raw, columns.encoding, columns.bom))

    return Walk(Window(stream, size, lasting=lasting), first_row=-1)


def _extractor(columns: Columns, places: tuple[int, ...]) -> Callable[[U8, bool, I64 | None], Extracted]:
    return partial(_extract, columns.delimiter or ",", places, columns.fields if columns.fields else -1)


def _extract(
    delimiter: str, places: tuple[int, ...], expected: int, block: U8, final: bool, wanted: I64 | None
) -> Extracted:
    return csv_extract(block, delimiter, places, expected=expected, final=final, wanted=wanted)


def _check(columns: Columns, window: Window, consumed: int) -> str:
    """What is wrong with the bytes of whole records; other encodings were checked on the way in."""
    if columns.encoding != "utf-8":
        return ""
    at = utf8_invalid(window.view[:consumed])
    if at < 0:
        return ""
    return not_encoded("utf-8", columns.bom + window.offset + at, window.view[at : at + 4].tobytes())


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
    extract = _extractor(columns, columns.places)
    blocks = walk.blocks(input.file, extract, on_problem, wanted, partial(_check, columns))
    try:
        for view, found in blocks:
            good = found.status == GOOD
            for i in np.flatnonzero(~good).tolist():
                row, line = walk.row + int(found.row[i]), walk.line + int(found.line[i]) + 1
                raw = view[found.start[i] : found.end[i]].tobytes()
                on_problem(Problem(input.file, row, line, _reason(columns, found, i), raw))
            good &= found.row + walk.row >= 0
            arrays = {name: string_array(text, None) for name, text in zip(names, found.text, strict=True)}
            yield from docs_of_lines(
                input, columns, walk.row, found, good, arrays,
                batch_bytes=batch_bytes, batch_rows=batch_rows, kinds={}, invalid=None,
            )  # fmt: skip
    except NotEncoded as e:
        on_problem(Problem(input.file, -1, None, str(e)))


def _reason(columns: Columns, found: Extracted, i: int) -> str:
    if found.status[i] == UNCLOSED:
        return "a quote that is never closed"
    n = int(found.detail[i])
    return f"{n} field{'s' if n != 1 else ''} where the header has {columns.fields}"


def _peek(input: Input, columns: Columns) -> tuple[list[str], str, list[str]]:
    """Header, delimiter and first record; the header is [] where the file has no record."""
    window = _walk(input, columns, PEEK_BYTES).window
    while window.read():
        tried = {d: _counts(window, d) for d in columns.delimiter or DELIMITERS}
        if any(tried.values()) or window.final or window.broken or len(window.view) > MAX_RECORD:
            break
    else:
        return [], columns.delimiter or ",", []
    trouble = _check(columns, window, len(window.view) if window.final else _whole(window.view))
    if trouble:
        raise NotEncoded(trouble)
    delimiter = max(tried, key=lambda d: _agreement(tried[d]))  # the first of equals, in the order of DELIMITERS
    counts = tried[delimiter]
    if not counts:
        return [], delimiter, []
    found = csv_extract(window.view, delimiter, range(counts[0]), expected=-1, final=window.final, wanted=np.arange(2))
    header, *first = (
        [data[ends[i] : ends[i + 1]].tobytes().decode(errors="replace") for data, ends in found.text]
        for i in range(len(found.row))
    )
    if any("\0" in name for name in header):
        raise NotEncoded("zero bytes in the header: name its encoding (--encoding utf-16-le | utf-16-be)")
    return header, delimiter, first[0] if first else []


def _counts(window: Window, delimiter: str) -> list[int]:
    e = csv_extract(window.view, delimiter, (), expected=-1, final=window.final)
    return list(map(int, e.detail[:PEEK_RECORDS]))


def _agreement(counts: list[int]) -> float:
    """Share of records with as many fields as the header; 0 where the header has one field only."""
    return sum(c == counts[0] for c in counts) / len(counts) if counts and counts[0] > 1 else 0.0


def _whole(view: U8) -> int:
    """Bytes up to the last line end, since the view may cut a character."""
    ends = np.flatnonzero(view == ord("\n"))
    return int(ends[-1]) + 1 if len(ends) else 0
