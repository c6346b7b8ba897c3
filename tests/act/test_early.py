"""Columns that would be added twice are refused before the work begins."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from dejalu.act import check_inputs
from dejalu.data import Input
from dejalu.errors import OutputError


def entry(path: Path, data: bytes) -> Input:
    path.write_bytes(data)
    kind = next(kind for kind in ("jsonl", "csv", "txt", "parquet") if f".{kind}" in path.name)
    return Input(0, path.name, str(path), kind, {".gz": "gz", ".zst": "zst"}.get(path.suffix, ""))


def table(**columns: list[object]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


RECORD = b'\xef\xbb\xbf\n{"text":"a","dejalu_copies":1}\n{"text":'


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.parquet", table(text=["a"], dejalu_copies=[1])),
        ("a.jsonl", RECORD.replace(b"\n{", b"{", 1)),
        ("a.jsonl.gz", gzip.compress(RECORD[4:])),
        ("a.jsonl.zst", zstandard.compress(RECORD[4:])),
        ("a.csv", b'id,"dejalu_copies"\r\n1,2\r\n'),
        ("b.csv", "\ufeffid;dejalu_copies\n1;2\n".encode("utf-16-be")),
        ("a.csv.gz", gzip.compress(b"dejalu_copies\n1\n")),
    ],
)
def test_a_column_that_is_there_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    found = entry(tmp_path / name, data)
    check_inputs([found], mode="drop", add_copies=False)
    for mode in ("drop", "tag"):
        with pytest.raises(OutputError, match=rf"{name} already has a column 'dejalu_copies'"):
            check_inputs([found], mode=mode, add_copies=True)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.parquet", table(text=["dejalu_copies"], dejalu_other=[1])),
        ("a.parquet", b"damaged"),
        ("a.jsonl", b'{"text":"dejalu_copies","meta":{"dejalu_copies":1}}\n'),
        ("a.jsonl", b""),
        ("a.jsonl", b"[1]\n"),
        ("a.jsonl.gz", b"damaged"),
        ("a.jsonl.zst", b"damaged"),
        ("a.csv", b"id,dejalu_copies_old,my_dejalu_copies\ndejalu_copies,2,3\n"),
        ("a.txt", b"dejalu_copies"),
    ],
)
def test_others_pass(tmp_path: Path, name: str, data: bytes) -> None:
    check_inputs([entry(tmp_path / name, data)], mode="tag", add_copies=True)
