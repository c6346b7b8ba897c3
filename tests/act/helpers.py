"""Small inputs of every kind, a plain splitter of records, and a naive oracle of what the output must hold."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import zstandard

from dejalu.data import FileVerdicts, Input, Records


def verdicts(
    rows: int,
    removed: Sequence[int] = (),
    *,
    set_aside: Sequence[int] = (),
    file: str = "a.parquet",
    format: str = "parquet",
    compression: str = "",
    twin_file: str = "first.parquet",
    similarity: float = 1.0,
) -> FileVerdicts:
    """Verdicts of one file: the removed rows have the twin rows 0, 1, 2, …, and row i has i + 1 copies."""
    gone = np.array(sorted(removed), np.int64)
    copies = np.arange(1, rows + 1, dtype=np.int64)
    copies[gone] = 0
    return FileVerdicts(
        input=Input(0, file, file, format, compression),
        rows=rows,
        removed=gone,
        set_aside=np.array(sorted(set_aside), np.int64),
        twin_file=np.full(len(gone), twin_file, object),
        twin_row=np.arange(len(gone), dtype=np.int64),
        similarity=np.full(len(gone), similarity, np.float64),
        copies=copies,
    )


def records(
    data: bytes, *, preamble: bytes = b"", newline: bytes = b"\n", blank: tuple[bytes, ...] = (b"",), size: int = 3
) -> Iterator[Records]:
    """Split bytes at newlines into runs of `size` records, skipping blank lines (that strip to one of `blank`)."""
    assert data.startswith(preamble)
    lines: list[tuple[int, int]] = []
    at, unit = len(preamble), 2 if 0 in newline else 1
    while at < len(data):
        end = data.find(newline, at)
        while end >= 0 and (end - len(preamble)) % unit:  # wide encodings: at a code unit
            end = data.find(newline, end + 1)
        end = len(data) if end < 0 else end + len(newline)
        if data[at:end].strip() not in blank:
            lines.append((at, end))
        at = end
    raw = np.frombuffer(data, np.uint8)
    for first in range(0, max(1, len(lines)), size):
        part = np.array(lines[first : first + size], np.int64).reshape(-1, 2)
        yield Records(first, raw, part[:, 0].copy(), part[:, 1].copy(), preamble if first == 0 else b"")


def pack(data: bytes, compression: str) -> bytes:
    """Compress with other settings than dejalu's."""
    if compression == "gz":
        half = len(data) // 2
        return gzip.compress(data[:half], 9) + gzip.compress(data[half:], 1)
    return zstandard.ZstdCompressor(level=9).compress(data) if compression == "zst" else data


def unpack(path: Path) -> bytes:
    """Read a file through its compression."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes())).read()
    return path.read_bytes()
