"""Which encoding a csv or txt file has, and csv bytes as UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from ..errors import UsageError

MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
WITHOUT_MARK = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


class NotEncoded(Exception):
    """Bytes that are not of the encoding; the message says which and where."""


def encoding_of(head: bytes, given: str | None) -> tuple[str, int]:
    """Encoding and length of the byte order mark: the mark decides, else what was given, else UTF-8.

    Raises:
        UsageError: an encoding that Python does not know.
    """
    for mark, name in MARKS:
        if head.startswith(mark):
            return name, len(mark)
    if given is None:
        return "utf-8", 0
    try:
        info = codecs.lookup(given)
        if not getattr(info, "_is_text_encoding", True):
            raise LookupError
    except LookupError as e:
        names = "gb18030, big5, shift_jis, cp1252, utf-16"
        raise UsageError(f"--encoding {given}: no encoding has this name; known are for example {names}") from e
    return WITHOUT_MARK.get(info.name, info.name), 0


def is_utf8(encoding: str, chunks: Iterator[bytes]) -> bool:
    """Whether bytes for which an encoding was given are UTF-8 after all: the encoding is for the files that are not.

    Never said of UTF-16 and UTF-32, whose bytes may look like it, nor of bytes that are all ASCII, which may be of a
    7-bit encoding.
    """
    if encoding.startswith(("utf-16", "utf-32")):
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    more = False
    try:
        for chunk in chunks:
            more |= not chunk.isascii()
            decoder.decode(chunk)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return more


def not_encoded(encoding: str, at: int, found: bytes) -> str:
    """What is wrong, in words: encoding, 1-based byte and what is there, and the remedy."""
    name = "UTF-8" if encoding == "utf-8" else encoding
    return f"not {name} at byte {at + 1:,} ({found[:4].hex(' ')}): name its encoding (--encoding gb18030 | cp1252 …)"


def to_utf8(chunks: Iterator[bytes], encoding: str, offset: int) -> Iterator[bytes]:
    """Decode a stream and encode it as UTF-8; `offset` is the place of its first byte in the file.

    Raises:
        NotEncoded: where the bytes are not of this encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk in chunks:
        yield _decode(decoder, chunk, encoding, offset, False)
        offset += len(chunk)
    yield _decode(decoder, b"", encoding, offset, True)


def _decode(decoder: codecs.IncrementalDecoder, chunk: bytes, encoding: str, offset: int, final: bool) -> bytes:
    pending = decoder.getstate()[0]
    try:
        return decoder.decode(chunk, final).encode()
    except UnicodeDecodeError as e:
        raise NotEncoded(not_encoded(encoding, offset - len(pending) + e.start, (pending + chunk)[e.start :])) from e
