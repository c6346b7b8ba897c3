"""WARC and WET: a response with a page or plain text, or a conversion (WET), is a document; `row` counts records.

Other records (requests, metadata, pictures …) are no documents: they are counted, and stay when the file is written.
HTTP headers, chunks and compression are undone by fastwarc; a page becomes its main text (html.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from ..data import I64, Docs, Input, Problem, Records, doc_ids
from ..errors import UsageError
from .columns import TEXT_NAMES, Ask, Columns
from .frames import HEAD_END, Fields, Frame, Stream, frames, stored
from .html import decode, extractor, page_text
from .open import MAX_RECORD, Unreadable
from .pieces import BATCH_BYTES, Piece
from .problems import OnPassed, OnProblem

ID = "WARC-Record-ID"
ALIASES = {"id": ID, "url": "WARC-Target-URI", "date": "WARC-Date"}
PAGES, PLAIN = ("text/html", "application/xhtml+xml"), "text/plain"
HTTP_RECORD = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n"
MAX_HTTP = 1 << 16  # bytes of an HTTP header
PEEK = 1000  # records whose header names are offered
RUN_BYTES = 1 << 24  # of raw records handed on at once
# ISO 28500:2017, 5: names that any record may have, though the first ones do not.
KNOWN = (
    "WARC-Record-ID", "Content-Length", "WARC-Date", "WARC-Type", "Content-Type", "WARC-Concurrent-To",
    "WARC-Block-Digest", "WARC-Payload-Digest", "WARC-IP-Address", "WARC-Refers-To", "WARC-Refers-To-Target-URI",
    "WARC-Refers-To-Date", "WARC-Target-URI", "WARC-Truncated", "WARC-Warcinfo-ID", "WARC-Filename", "WARC-Profile",
    "WARC-Identified-Payload-Type", "WARC-Segment-Origin-ID", "WARC-Segment-Number", "WARC-Segment-Total-Length",
)  # fmt: skip


@cache
def _library() -> Any:
    """The record class of fastwarc, which reads HTTP.

    Raises:
        UsageError: it is not installed.
    """
    try:
        from fastwarc.warc import WarcRecord
    except ImportError as e:
        raise UsageError("HTML and WARC need the extra `web`: pip install 'dejalu[web]'") from e
    return WarcRecord


def resolve(input: Input, ask: Ask) -> Columns:
    """The text is what a record holds; other columns are headers by name, in any case, and `id`, `url` and `date`.

    Raises:
        UsageError: no such header; Unreadable: not a WARC file.
    """
    _library()
    extractor()
    names = {name.lower() for name in (*KNOWN, *ALIASES)}
    asked = [name for name in (ask.id, *ask.extra) if name is not None]
    for found in frames(input, lambda *_: False, lambda reason: None):
        if found.row == 0 and found.damage and not found.rest:
            raise Unreadable(f"not a WARC file: {found.damage}")
        names |= found.fields.keys()
        if found.row >= PEEK or all(name.lower() in names for name in asked):
            break
    for name in asked:
        if name.lower() not in names:
            raise UsageError(
                f"{input.file}: no WARC header {name!r} in its first {PEEK:,} records; they have "
                f"{', '.join(sorted(names - ALIASES.keys()))}, and id, url and date name three of them"
            )
    return Columns(ask.text[:1] or (TEXT_NAMES[0],), ask.id or ID, ask.extra)


def pieces(input: Input, columns: Columns) -> list[Piece]:
    """The whole file is one piece."""
    return [Piece(0)]


def read(
    input: Input,
    piece: Piece,
    columns: Columns,
    *,
    batch_bytes: int,
    batch_rows: int | None,
    on_problem: OnProblem,
    on_passed: OnPassed,
) -> Iterator[Docs]:
    """Read the documents of the file."""
    return _docs(input, columns, None, batch_bytes, batch_rows, on_problem, on_passed)


def rows(input: Input, columns: Columns, wanted: I64) -> Iterator[Docs]:
    """Read only the wanted records; the blocks of the others are passed over."""
    return _docs(input, columns, wanted, BATCH_BYTES, None, lambda problem: None, lambda row, kind: None)


def records(input: Input, columns: Columns) -> Iterator[Records]:
    """All records as they are stored: a gz member or zst frame where a record has one to itself, else unpacked."""
    held: list[bytes] = []
    first = size = 0
    for record in stored(input):
        held.append(record)
        size += len(record)
        if size >= RUN_BYTES:
            yield _run(first, held)
            first, held, size = first + len(held), [], 0
    yield _run(first, held)


def _run(first: int, held: list[bytes]) -> Records:
    end = np.cumsum(np.array([len(r) for r in held], np.int64), dtype=np.int64)
    start = np.concatenate((np.zeros(min(1, len(end)), np.int64), end[:-1]))
    return Records(first, np.frombuffer(b"".join(held), np.uint8), start, end)


def _docs(
    input: Input,
    columns: Columns,
    wanted: I64 | None,
    batch_bytes: int,
    batch_rows: int | None,
    on_problem: OnProblem,
    on_passed: OnPassed,
) -> Iterator[Docs]:
    batch = _Batch(input, columns)
    chosen = None if wanted is None else set(wanted.tolist())
    last = -1 if wanted is None else int(wanted[-1])
    at = 0

    def hold(stream: Stream, fields: Fields, size: int) -> bool:
        return (chosen is None or at in chosen) and not passed_over(fields, stream.peek(min(size, MAX_HTTP)))

    broken: list[str] = []
    for found in frames(input, hold, broken.append):
        at = found.row + 1
        if found.damage:
            on_problem(_problem(input, found.row, found.damage, found.rest))
        elif found.block or not int(found.fields["content-length"]):
            text = document(found)
            if isinstance(text, bytes):
                if batch.rows and (batch.size + len(text) > batch_bytes or len(batch.rows) == batch_rows):
                    yield batch.docs()
                batch.add(found, text)
            elif text is None:
                on_passed(found.row, kind_of(found.fields))
            else:
                on_problem(_problem(input, found.row, text.reason, False))
        elif chosen is None:
            on_passed(found.row, kind_of(found.fields))
        if found.row == last:
            break
    if broken:
        on_problem(_problem(input, at, broken[0], True))
    if batch.rows:
        yield batch.docs()


def _problem(input: Input, row: int, reason: str, rest: bool) -> Problem:
    return Problem(input.file, row, None, f"{reason}; nothing after it was read" if rest else reason, rest=rest)


class _Batch:
    """Documents gathered for one Docs."""

    def __init__(self, input: Input, columns: Columns) -> None:
        self._part, self._names = input.part, columns.others
        self._keys = [ALIASES.get(name.lower(), name).lower() for name in self._names]
        self._clear()

    def _clear(self) -> None:
        self.rows: list[int] = []
        self.size = 0
        self._texts: list[bytes] = []
        self._values: list[list[str | None]] = [[] for _ in self._names]

    def add(self, found: Frame, text: bytes) -> None:
        """One document more."""
        self.rows.append(found.row)
        self.size += len(text)
        self._texts.append(text)
        for values, key in zip(self._values, self._keys, strict=True):
            value = found.fields.get(key)
            values.append(None if value is None else value.encode("latin-1").decode("utf-8", "replace"))

    def docs(self) -> Docs:
        """What was gathered; then there is nothing."""
        offsets = np.cumsum([0, *map(len, self._texts)], dtype=np.int64)
        data = pa.py_buffer(b"".join(self._texts))
        text = pa.LargeStringArray.from_buffers(len(self.rows), pa.py_buffer(offsets), data)
        ids = doc_ids(self._part, np.array(self.rows, np.int64))
        others = {n: pa.array(v, pa.string()) for n, v in zip(self._names, self._values, strict=True)}
        self._clear()
        return Docs(ids, text, others)


class Undecoded:
    """A document whose HTTP message cannot be undone, and why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def kind_of(fields: Fields) -> str:
    """The record's type in words, for the count of what is no document."""
    kind = fields.get("warc-type", "without a type").lower()
    return f"{kind}, not text" if kind in ("response", "conversion") else kind


def passed_over(fields: Fields, head: bytes) -> bool:
    """Whether a record is surely no document, by its header and the first bytes of its block."""
    kind = fields.get("warc-type", "").lower()
    if kind == "conversion":
        return not fields.get("content-type", PLAIN).lower().startswith((*PAGES, PLAIN))
    if kind != "response":
        return True
    end = HEAD_END.search(head)
    http = head[: end.start() if end else None].lower().decode("latin-1")
    if "\ncontent-type:" not in http:
        http = fields.get("warc-identified-payload-type", "").lower()
    return not any(t in http for t in (*PAGES, PLAIN))


def document(found: Frame) -> bytes | Undecoded | None:
    """The text of a record as UTF-8; None where it is no document, Undecoded where it is damaged.

    Plain text in UTF-8 keeps its bytes.
    """
    if passed_over(found.fields, found.block[:MAX_HTTP]):
        return None
    given = found.fields.get("content-type", PLAIN)
    if found.fields["warc-type"].lower() == "conversion":
        return text_of(found.block, given, None)
    data = HTTP_RECORD % len(found.block) + found.block
    try:
        record, body = _http(data, "all")
    except (OSError, ValueError) as e:
        try:  # a crawler that undid the encoding and kept the header which names it
            record, body = _http(data, "none")
        except (OSError, ValueError):
            body = b"\0"
        if b"\0" in body[:1024] or body.startswith(b"\x1f\x8b"):
            return Undecoded(f"its HTTP message cannot be decoded ({e})")
    kind = record.http_content_type or found.fields.get("warc-identified-payload-type", "")
    return text_of(body, kind, record.http_charset)


def _http(data: bytes, decode: str) -> tuple[Any, bytes]:
    """A record with its HTTP headers read, and its body."""
    record = _library().from_bytes(data)
    record.parse_http(decode, strict_mode=False)
    parts, size = [], 0
    while part := record.reader.read(1 << 20):
        parts.append(part)
        size += len(part)
        if size > MAX_RECORD:
            raise ValueError(f"it unpacks to more than {MAX_RECORD >> 20:,} MiB")
    return record, b"".join(parts)


def text_of(body: bytes, kind: str, charset: str | None) -> bytes | None:
    """A payload as UTF-8 text, by its media type."""
    media = kind.partition(";")[0].strip().lower()
    if media in PAGES:
        return page_text(decode(body, charset)).encode()
    if media != PLAIN:
        return None
    if charset is None or charset.lower() in ("utf-8", "utf8"):
        try:
            body.decode()
            return body.removeprefix(b"\xef\xbb\xbf")
        except UnicodeDecodeError:
            pass
    return decode(body, charset).encode()
