"""The one place where files are opened: plain, gz (any number of members) and zst (any number of frames)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import zstandard

from ..data import Input
from ..errors import DamagedInput
from . import remote

CHUNK = 1 << 20  # bytes read at once from a plain file
STEP = 1 << 15  # compressed bytes decoded at once: bounds what one call can return
MAX_RECORD = 1 << 30  # bytes; a record beyond this is a missing line end or quote
MAX_WINDOW = 1 << 31  # bytes of history that a zst frame may ask for (zstd --long=31)


class Unreadable(DamagedInput):
    """A file that cannot be read as a whole; the message says why, and the room adds which file."""


class Broken(Exception):
    """A compressed stream that ends too early or does not decode."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.at = at  # compressed bytes before the call that failed


def open_binary(path: str, buffering: int = 0) -> BinaryIO:
    """Open a file of this machine for reading bytes."""
    return open(path, "rb", buffering=buffering)


def open_file(input: Input, buffering: int = 0) -> BinaryIO:
    """Open an input for reading bytes, wherever it lies."""
    return remote.open_address(input) if remote.is_address(input.path) else open_binary(input.path, buffering)


def open_text(input: Input, on_break: Callable[[str], None], skip: int = 0) -> Iterator[bytes]:
    """Yield the file's bytes from `skip` on, decompressed, in pieces of any size.

    A stream that breaks gives every byte before the break; then `on_break` is called with the reason, and it ends.

    Raises:
        Unreadable: the file cannot be opened or read.
    """
    try:
        for piece in _whole(input, on_break):
            if skip >= len(piece):
                skip -= len(piece)
            else:
                yield piece[skip:] if skip else piece
                skip = 0
    except OSError as e:
        raise Unreadable(f"cannot be read ({e.strerror or e})") from e


def _whole(input: Input, on_break: Callable[[str], None]) -> Iterator[bytes]:
    if not input.compression:
        with open_file(input) as file:
            while chunk := file.read(CHUNK):
                yield chunk
        return
    given = 0
    try:
        for piece in _decoded(input, 1 << 62):
            yield piece
            given += len(piece)
    except Broken as broken:
        yield from _rest(input, broken.at, given)
        on_break(str(broken))


def _rest(input: Input, at: int, given: int) -> Iterator[bytes]:
    """What the failing call held before the break: decode once more, there byte by byte."""
    try:
        for piece in _decoded(input, at):
            if given >= len(piece):
                given -= len(piece)
            else:
                yield piece[given:]
                given = 0
    except Broken:
        return


def _decoded(input: Input, slowly_from: int) -> Iterator[bytes]:
    """Decode members (gz, RFC 1952 §2.2) or frames (zst, RFC 8878 §3.1) one after another."""
    error: type[Exception]
    if input.compression == "gz":
        new: Callable[[], Any] = lambda: zlib.decompressobj(31)  # noqa: E731 a name for each would say no more
        error = zlib.error
    else:
        new = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj
        error = zstandard.ZstdError
    kind = f"the {input.compression} stream"
    with open_file(input, CHUNK) as file:
        begin = end = 0
        data, member = b"", None
        while True:
            if not data:
                data = file.read(STEP if end < slowly_from else 1)
                begin, end = end, end + len(data)
                if not data:
                    if member is not None:
                        raise Broken(f"{kind} ends too early", begin)
                    return
            if member is None:
                if input.compression == "gz":
                    data = data.lstrip(b"\0")  # padding after a member (tar, tapes)
                    if not data:
                        continue
                member = new()
            try:
                out = member.decompress(data)
            except error as e:
                raise Broken(f"{kind} is damaged ({e})", begin) from e
            data = b""
            if member.eof:
                data, member = member.unused_data, None
            if out:
                yield out
