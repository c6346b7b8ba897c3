"""WARC files (ISO 28500:2017, 4) as a row of records: where each begins and ends, and which bytes are its own.

A record is a header, an empty line, a block of `Content-Length` bytes and line ends. The ready-made iterators go on
silently where a file is cut short or a member is damaged, so the borders are found and checked here.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import zstandard

from ..data import Input
from .open import CHUNK, MAX_WINDOW, STEP, open_file, open_text

MAX_HEAD = 1 << 20  # bytes of a record's header
MAX_MEMBER = 1 << 28  # bytes: a larger gz member or zst frame is not kept for copying, its records are packed anew
HEAD_END = re.compile(rb"\r?\n\r?\n")
FOLDED = re.compile(r"\r?\n[ \t]+")  # WARC 1.0 allows a value to go on in the next line
DIGITS = re.compile("[0-9]{1,18}")
ENDS = b"\r\n"
LINE_ENDS = re.compile(rb"[\r\n]+")
MAGIC = b"WARC/"

Fields = dict[str, str]


@dataclass(frozen=True, slots=True)
class Frame:
    """One record.

    row     0-based record of the file
    fields  header values by lower-case name, bytes as Latin-1; {} for a damaged record
    head    the header with its empty line
    block   what follows it, or b"" where it was passed over
    damage  why it cannot be read, or ""
    rest    the file breaks off here
    raw     all bytes from the header to the last line end, when asked for
    """

    row: int
    fields: Fields
    head: bytes = b""
    block: bytes = b""
    damage: str = ""
    rest: bool = False
    raw: bytes = b""


def fields_of(head: bytes) -> Fields:
    """Header values by lower-case name, bytes as Latin-1; the first of a repeated one."""
    text = head.decode("latin-1")
    if "\n " in text or "\n\t" in text:
        text = FOLDED.sub(" ", text)
    found: Fields = {}
    for line in text.split("\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip().lower(), value.strip())
    return found


class Stream:
    """Bytes that come in pieces, looked at from one place on."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._data = b""
        self._at = 0
        self.offset = 0  # of the place in all bytes

    @property
    def left(self) -> int:
        """How many bytes are at hand before the next piece."""
        return len(self._data) - self._at

    def push(self, piece: bytes) -> None:
        """Put a piece at the end of what is at hand."""
        self._data = self._data[self._at :] + piece if self.left else piece
        self._at = 0

    def more(self) -> bool:
        """Get the next piece that is not empty; False at the end."""
        for piece in self._pieces:
            if piece:
                self.push(piece)
                return True
        return False

    def peek(self, n: int) -> bytes:
        """The next n bytes, fewer only at the end."""
        while self.left < n and self.more():
            pass
        return self._data[self._at : self._at + n]

    def until(self, end: re.Pattern[bytes], limit: int) -> bytes | None:
        """Take the bytes up to and with a pattern (of at most 4 bytes); None where it is not within the limit."""
        searched = 0
        while True:
            found = end.search(self._data, self._at + max(0, searched - 3))
            if found:
                return self.take(found.end() - self._at)
            searched = self.left
            if searched > limit or not self.more():
                return None

    def take(self, n: int) -> bytes:
        """Take n bytes, fewer only at the end."""
        if self._at + n <= len(self._data):
            self._at += n
            self.offset += n
            return self._data[self._at - n : self._at]
        return b"".join(self._parts(n))

    def drop(self, n: int) -> int:
        """Pass over n bytes without holding them; how many there were."""
        return sum(map(len, self._parts(n)))

    def _parts(self, n: int) -> Iterator[bytes]:
        while n and (self.left or self.more()):
            part = self._data[self._at : self._at + n]
            self._at += len(part)
            self.offset += len(part)
            n -= len(part)
            yield part

    def line_ends(self) -> bytes:
        """Take all CR and LF that come next."""
        taken = []
        while self.peek(1) and (found := LINE_ENDS.match(self._data, self._at)):
            taken.append(self.take(found.end() - self._at))
        return b"".join(taken)

    def resync(self) -> bytes:
        """Take everything up to the next line that begins with WARC/, or to the end."""
        taken = []
        while self.peek(1):
            self.peek(len(MAGIC) + 1)
            at = self._data.find(b"\n" + MAGIC, self._at)
            if at >= 0:
                taken.append(self.take(at + 1 - self._at))
                break
            held = self.left
            if held > len(MAGIC):
                taken.append(self.take(held - len(MAGIC)))
            elif not self.more():
                taken.append(self.take(held))
        return b"".join(taken)


def frame(stream: Stream, row: int, hold: Callable[[Stream, Fields, int], bool], raw: bool = False) -> Frame | None:
    """Take the next record; None at the end.

    Args:
        hold: says by its header fields and Content-Length whether a record's block is wanted; it may peek.
        raw: give all its bytes.
    """
    stream.line_ends()
    start = stream.offset
    if not (magic := stream.peek(len(MAGIC))):
        return None
    head = stream.until(HEAD_END, MAX_HEAD) if magic == MAGIC else None
    if head is None:
        short = MAGIC.startswith(magic) if len(magic) < len(MAGIC) else magic == MAGIC
        if short and len(stream.peek(MAX_HEAD + 1)) <= MAX_HEAD:
            return Frame(row, {}, damage="the file ends in the header of a record", rest=True)
        damage = f"no WARC record begins at byte {start:,} ({magic!r})"
        lost = stream.take(1) + stream.resync()
        return Frame(row, {}, damage=damage, raw=lost if raw else b"")
    fields = fields_of(head)
    length = fields.get("content-length", "")
    if not DIGITS.fullmatch(length):
        lost = stream.resync()
        what = f"Content-Length is {length!r}" if length else "it has no Content-Length"
        return Frame(row, {}, damage=f"the header cannot be read: {what}", raw=head + lost if raw else b"")
    size = int(length)
    held = raw or hold(stream, fields, size)
    block = stream.take(size) if held else b""
    got = len(block) if held else stream.drop(size)
    if got < size:
        return Frame(row, {}, damage=f"the file ends {size - got:,} bytes before the end of a record", rest=True)
    ends = stream.line_ends()
    following = stream.peek(len(MAGIC))
    if not ends and following and following != MAGIC:
        lost = stream.resync()
        damage = f"the record does not end where its Content-Length ({size:,}) says"
        return Frame(row, {}, damage=damage, raw=head + block + lost if raw else b"")
    return Frame(row, fields, head, block, raw=head + block + ends if raw else b"")


def frames(
    input: Input, hold: Callable[[Stream, Fields, int], bool], on_break: Callable[[str], None]
) -> Iterator[Frame]:
    """Records of a file in order, numbered from 0, damaged ones too; the last may be a `rest`."""
    broken: list[str] = []
    stream = Stream(open_text(input, broken.append))
    row = 0
    while (found := frame(stream, row, hold)) is not None and not (found.rest and broken):
        yield found
        row += 1
        if found.rest:
            return
    if broken:
        on_break(broken[0])


def stored(input: Input) -> Iterator[bytes]:
    """Each record's own bytes on the disk: its gz member or zst frame where it has one to itself, else the record
    itself, unpacked; numbered as `frames` does, and up to where the file breaks off.
    """
    last = (b"", b"")

    def pieces() -> Iterator[bytes]:
        nonlocal last
        for last in _units(input):
            if last[0]:
                yield last[0]

    stream = Stream(pieces())
    row = 0
    while stream.left or stream.more():
        plain, packed = last
        if packed and stream.left == len(plain) and _alone(plain):  # at the beginning of a member
            stream.drop(len(plain))
            yield packed
        else:
            found = frame(stream, row, lambda *_: True, raw=True)
            if found is None or found.rest:
                return
            yield found.raw
        row += 1


def _alone(plain: bytes) -> bool:
    """Whether bytes are one whole record with its line ends, and nothing else."""
    head = HEAD_END.search(plain, 0, MAX_HEAD) if plain.startswith(MAGIC) else None
    if head is None:
        return False
    length = fields_of(plain[: head.end()]).get("content-length", "")
    if not DIGITS.fullmatch(length):
        return False
    end = head.end() + int(length)
    return end < len(plain) and not plain[end:].strip(ENDS)


def _units(input: Input) -> Iterator[tuple[bytes, bytes]]:
    """The file's bytes in pieces, unpacked: (plain, packed), where `packed` are the bytes of a whole member or frame,
    or b"" for a piece that is none. Ends where the file is damaged.
    """
    if not input.compression:
        yield from ((piece, b"") for piece in open_text(input, lambda reason: None))
        return
    gz = input.compression == "gz"
    error: type[Exception] = zlib.error if gz else zstandard.ZstdError
    frames_of = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
    with open_file(input, CHUNK) as file:
        data, given = b"", 0
        while True:
            data = data or file.read(STEP)
            data = data.lstrip(b"\0") if gz else data
            if not data:
                if file.read(1):
                    file.seek(-1, 1)
                    continue
                return
            member: Any = zlib.decompressobj(31) if gz else frames_of.decompressobj()
            packed: list[bytes] = []
            plain: list[bytes] = []
            size = 0
            while not member.eof:
                data = data or file.read(STEP)
                if not data:
                    yield b"".join(plain), b""
                    return
                try:
                    out = member.decompress(data)
                except error:  # what the failing call held before the break is found by decoding once more
                    yield from ((piece, b"") for piece in open_text(input, lambda reason: None, given))
                    return
                rest = member.unused_data
                if packed or not size:
                    packed.append(data[: len(data) - len(rest)])
                data = rest
                size += len(out)
                plain.append(out)
                if size > MAX_MEMBER:
                    given += sum(map(len, plain))
                    yield b"".join(plain), b""
                    packed, plain = [], []
            given += sum(map(len, plain))
            yield b"".join(plain), b"".join(packed) if size <= MAX_MEMBER else b""
