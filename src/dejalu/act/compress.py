"""Compress an output stream the same way every time: fixed level, no time, no name, blocks of one size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol

import zstandard

_BLOCK = 1 << 20
_GZ_LEVEL = 6
_ZST_LEVEL = 3


class Sink(Protocol):
    """What can be written to."""

    def write(self, data: bytes | memoryview, /) -> int: ...


class _Packer(Protocol):
    def compress(self, data: bytes | memoryview, /) -> bytes: ...
    def flush(self) -> bytes: ...


@contextmanager
def compressed(file: BinaryIO, compression: str) -> Iterator[Sink]:
    """Give the stream to write to: plain, "gz" (level 6, no time, no name) or "zst" (level 3, checksum)."""
    if not compression:
        yield file
    else:
        blocks = _Blocks(file, _packer(compression))
        yield blocks
        blocks.finish()


def _packer(compression: str) -> _Packer:
    if compression == "gz":
        return _Gzip()
    if compression == "zst":
        packer: _Packer = zstandard.ZstdCompressor(level=_ZST_LEVEL, write_checksum=True).compressobj()
        return packer
    raise ValueError(f"no compression {compression!r}")


class _Gzip:
    """One gzip member (RFC 1952) whose header tells nothing of time, name or system."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(_GZ_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
        self._crc = 0
        self._size = 0

    def compress(self, data: bytes | memoryview) -> bytes:
        self._crc = zlib.crc32(data, self._crc)
        self._size += len(data)
        head, self._head = self._head, b""
        return head + self._deflate.compress(data)

    def flush(self) -> bytes:
        tail = self._crc.to_bytes(4, "little") + (self._size & 0xFFFFFFFF).to_bytes(4, "little")
        return self._head + self._deflate.flush() + tail


class _Blocks:
    """Compresses in blocks of one size, so that the bytes do not depend on the pieces they came in."""

    def __init__(self, file: BinaryIO, packer: _Packer) -> None:
        self._file = file
        self._packer = packer
        self._held = bytearray()

    def write(self, data: bytes | memoryview) -> int:
        self._held += data
        whole = len(self._held) - len(self._held) % _BLOCK
        with memoryview(self._held) as view:
            for at in range(0, whole, _BLOCK):
                self._file.write(self._packer.compress(view[at : at + _BLOCK]))
        del self._held[:whole]
        return len(data)

    def finish(self) -> None:
        self._file.write(self._packer.compress(bytes(self._held)))
        self._file.write(self._packer.flush())
