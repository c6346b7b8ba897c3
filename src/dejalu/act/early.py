"""Find out before the work begins whether a column to add is in a file already: by its schema, header or first record.

What only a later jsonl record holds is found when the file is written (members.py).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from ..data import Input
from .tags import added_schema, check_columns

_HEAD = 1 << 20


def check_inputs(inputs: Iterable[Input], *, mode: str, add_copies: bool) -> None:
    """Refuse inputs that hold a column which this run would add.

    Raises:
        OutputError: names the file, the column and the remedy.
    """
    added = added_schema(mode, add_copies)
    if not added.names:
        return
    for entry in inputs:
        check_columns(entry.file, _names(entry), added)


def _names(entry: Input) -> Iterable[str]:
    """Column names of a file as far as a glance tells; damaged files tell nothing here, reading them says more."""
    path = Path(entry.path)
    try:
        if entry.format == "parquet":
            with pq.ParquetFile(path) as reader:
                names: list[str] = reader.schema_arrow.names
                return names
        if entry.format == "csv":  # in UTF-16 too, once the zero bytes are gone
            line = _first_line(path, entry.compression).replace(b"\0", b"")
            return [name.decode() for name in re.findall(rb"\bdejalu_[a-z_]+\b", line)]
        if entry.format == "jsonl":
            record = json.loads(_first_line(path, entry.compression).removeprefix(b"\xef\xbb\xbf"))
            return list(record) if isinstance(record, dict) else ()
    except (OSError, ValueError, EOFError, zlib.error, zstandard.ZstdError, pa.ArrowException):
        pass
    return ()


def _first_line(path: Path, compression: str) -> bytes:
    """Bytes up to the first line end, of at most 1 MiB of text."""
    with open(path, "rb") as file:
        if compression == "gz":
            head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(file.read(_HEAD), _HEAD)
        elif compression == "zst":
            head = zstandard.ZstdDecompressor().stream_reader(file).read(_HEAD)
        else:
            head = file.read(_HEAD)
    return head.lstrip(b"\r\n").partition(b"\n")[0]
