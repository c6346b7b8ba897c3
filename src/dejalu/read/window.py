"""A file's bytes in arrays: read or decoded in place, and looked at through a window that moves over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np
import zstandard

from ..data import U8, Input
from . import remote
from .open import MAX_WINDOW, open_binary, open_text

FIRST_ROOM = 1 << 18  # bytes that a window begins with, since many files are small
BLOCK = 1 << 22  # bytes held at once, at most: they and their texts stay near the cache, and their pages are used again
READ = 1 << 17  # compressed bytes read at once

Fill = Callable[[U8], int]  # writes the next bytes of a stream into an array, and says how many; 0: there are no more


def fill_from(chunks: Iterator[bytes]) -> Fill:
    """Fill arrays with the bytes of an iterator."""
    pending = memoryview(b"")

    def fill(room: U8) -> int:
        nonlocal pending
        if not pending:
            pending = memoryview(next(chunks, b""))
        n = min(len(pending), len(room))
        room[:n] = np.frombuffer(pending[:n], np.uint8)
        pending = pending[n:]
        return n

    return fill


class Filler:
    """Fills arrays with what `open_text` gives, without bytes objects in between where the file is whole.

    What is damaged, and how, is `open_text`'s to say: it goes on from the place where reading in place failed.
    """

    def __init__(self, input: Input, on_break: Callable[[str], None], skip: int = 0) -> None:
        self._input, self._on_break = input, on_break
        self._place = skip  # in the stream
        self._rest: Fill | None = None
        try:
            self._source = _in_place(input)
            if self._source is not None and len(self._source.read(skip)) < skip:
                self._leave()
        except (OSError, zstandard.ZstdError):
            self._leave()

    def __call__(self, room: U8) -> int:
        """Write the next bytes."""
        if self._source is not None:
            try:
                n: int = self._source.readinto(room)
            except (OSError, zstandard.ZstdError):
                self._leave()
            else:
                self._place += n
                if not n:
                    self._leave()
                    self._rest = fill_from(iter(()))
                return n
        if self._rest is None:
            self._rest = fill_from(open_text(self._input, self._on_break, self._place))
        return self._rest(room)

    def __del__(self) -> None:
        self._leave()  # a reader may stop before the end

    def _leave(self) -> None:
        source, self._source = getattr(self, "_source", None), None
        if source is not None:
            source.close()


def _in_place(input: Input) -> Any:
    """Something with `readinto` that gives the whole stream of a file of this machine; None: not this one."""
    if remote.is_address(input.path) or input.compression == "gz":
        return None
    file = open_binary(input.path)
    if not input.compression:
        return file
    if not whole_frames(file):
        file.close()
        return None
    file.seek(0)
    decoder = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
    return decoder.stream_reader(file, read_size=READ, read_across_frames=True, closefd=True)


def whole_frames(file: BinaryIO) -> bool:
    """Whether a file holds whole zst frames and nothing else, by the sizes of their blocks (RFC 8878 §3.1).

    `stream_reader` takes a frame that is cut off for one that ends, so it may be used for whole files only.
    """
    size, at = file.seek(0, os.SEEK_END), 0

    def number(n: int, at: int) -> int:
        file.seek(at)
        return int.from_bytes(file.read(n), "little")

    while at < size:
        magic = number(4, at)
        if magic & 0xFFFFFFF0 == 0x184D2A50:  # a skippable frame
            at += 8 + number(4, at + 4)
            continue
        if magic != 0xFD2FB528:
            return False
        flags = number(1, at + 4)
        single = flags >> 5 & 1
        at += 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
        last = 0
        while not last:
            if at + 3 > size:
                return False
            block = number(3, at)
            last = block & 1
            at += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        at += 4 if flags & 4 else 0  # the checksum
    return at == size


class Window:
    """A view that moves over a stream of bytes: it grows until it holds whole records, and drops what was used.

    view    (bytes,) uint8: what is held
    offset  place of the view's first byte in the stream
    final   the stream ended with the view, and whole
    """

    def __init__(self, stream: Callable[[Callable[[str], None]], Fill], size: int, *, lasting: bool = False) -> None:
        """Hold about `size` bytes, `BLOCK` at most, and one record in any case.

        With `lasting`, views stay valid for good, else until the next `read`.
        """
        self.view: U8 = np.zeros(0, np.uint8)
        self.offset = 0
        self.final = False
        self._reasons: list[str] = []  # no method of this window, which would keep its memory in a cycle
        self._fill = stream(self._reasons.append)
        self._size = min(max(size, 1), BLOCK)
        self._lasting = lasting
        self._room = self.view
        self._ended = False
        self._used = True

    @property
    def broken(self) -> str:
        """Why the stream broke off after the view, or ""."""
        return self._reasons[0] if self._reasons else ""

    def read(self) -> bool:
        """Hold as many bytes as it should, or twice as many as before if none were used; False: there are no more."""
        if self._ended:
            return False
        want = self._size if self._used else max(self._size, 2 * len(self.view))
        room, have = self._room, len(self.view)
        self._used = False
        if have >= want:  # the beginning of a large record
            return True
        if self._lasting or len(room) <= have:
            room = np.empty(min(want, max(FIRST_ROOM, 2 * have)), np.uint8)
        room[:have] = self.view
        while have < want:
            if have == len(room):
                room = np.concatenate([room, np.empty(min(want, 4 * have) - have, np.uint8)])
            n = self._fill(room[have:want])
            have += n
            if not n:
                self._ended = True
                self.final = not self.broken
                break
        self._room, self.view = room, room[:have]
        return True

    def drop(self, n: int) -> None:
        """Forget the first n bytes."""
        self.view = self.view[n:]
        self.offset += n
        self._used = self._used or n > 0
