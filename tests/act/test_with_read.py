"""Files through `read` and back: what is written holds the kept records byte for byte, and reads as them."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from act.helpers import unpack

from dejalu import read
from dejalu.act import write_corpus
from dejalu.data import FileVerdicts, Input, row_of


def texts(path: Path, **options: Any) -> tuple[list[str | None], list[int]]:
    """All texts of a file, and the rows that were set aside."""
    found = read.discover([path]).inputs[0]
    columns = read.resolve(found, **options)
    collector = read.Collector()
    out: dict[int, str | None] = {}
    for piece in read.pieces(found, columns):
        for docs in read.read(found, piece, columns, on_problem=collector):
            out.update(zip(row_of(docs.ids).tolist(), docs.text.to_pylist(), strict=True))
    return [out[row] for row in sorted(out)], sorted(p.row for p in collector.problems)


def judged(found: Input, rows: int, removed: list[int], aside: list[int]) -> FileVerdicts:
    m = len(removed)
    return FileVerdicts(
        found,
        rows,
        np.array(removed, np.int64),
        np.array(aside, np.int64),
        np.full(m, "t,w;i\tn.csv", object),
        np.zeros(m, np.int64),
        np.full(m, 0.8125),
        np.ones(rows, np.int64),
    )


CASES: dict[str, tuple[str, bytes, dict[str, Any]]] = {
    "jsonl": ("a.jsonl", b'{"text":"one"}\n{"text":"two"}\n{"text":"three \xe2\x80\xa8 x"}\n{"text":"four"}', {}),
    "crlf": ("a.jsonl", b'\xef\xbb\xbf{"text":"1"}\r\n\r\n {"text":"2"}  \r\n{"text":null}\r\n{"text":"4"}\r\n', {}),
    "bad": ("a.jsonl", b'{"text":"1"}\n{"text":"bro\n{"text":"2"}\n{"text":5}\n{"text":"3"}\n{"text":"4"}\n', {}),
    "gz": ("a.jsonl.gz", b"".join(b'{"text":"%d"}\n' % i for i in range(4)), {}),
    "zst": ("a.jsonl.zst", b"".join(b'{"text":"%d"}\n' % i for i in range(4)), {}),
    "csv": ("a.csv", b'id,text\n1,one\n2,"t""w\no"\n3,three\n4,four', {}),
    "csv crlf bom": ("a.csv", b"\xef\xbb\xbfid;text\r\n1;one\r\n2;two\r\n3;three\r\n4;four\r\n", {}),
    "csv ragged": ("a.csv", b"id,text\n1,one\n2,two,2\n3,three\n4,four\n5,five\n", {}),
    "tsv gz": ("a.tsv.gz", b"id\ttext\n1\tone\n2\ttwo\n3\tthree\n4\tfour\n", {}),
    "utf-16": ("a.csv", "\ufeffid,text\r\n1,石板\r\n2,two\r\n3,ਊ㐊\r\n4,four\r\n".encode("utf-16-le"), {}),
    "utf-16 be": ("a.csv", "\ufeffid,text\n1,one\n2,ਊ\n3,three\n4,four".encode("utf-16-be"), {}),
    "gb18030": ("a.csv", "id,text\n1,石板\n2,two\n3,三\n4,four\n".encode("gb18030"), {"encoding": "gb18030"}),
    "cp1252": ("a.csv", "id,text\n1,café\n2,two\n3,…\n4,four\n".encode("cp1252"), {"encoding": "cp1252"}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mode", ["drop", "tag", "copies"])
@pytest.mark.parametrize("removed", [[0], [1, 3], [0, 1, 2, 3]], ids=str)
def test_kept_records_read_back_as_they_were(tmp_path: Path, case: str, mode: str, removed: list[int]) -> None:
    name, data, options = CASES[case]
    source, target = tmp_path / "in" / name, tmp_path / "out" / name
    source.parent.mkdir()
    packed = {"gz": gzip.compress, "zst": zstandard.compress}.get(name.rsplit(".", 1)[-1], bytes)(data)
    source.write_bytes(packed)
    before, aside = texts(source, **options)
    good = [row for row in range(len(before) + len(aside)) if row not in aside]
    removed = [good[place] for place in removed]
    found = read.discover([source]).inputs[0]
    columns = read.resolve(found, on_error="skip", **options)
    write_corpus(
        judged(found, len(good) + len(aside), removed, aside),
        source,
        target,
        mode="tag" if mode == "tag" else "drop",
        add_copies=mode == "copies",
        records=read.records(found, columns),
        encoding=columns.encoding,
        delimiter=columns.delimiter or ",",
    )
    expected = [text for row, text in zip(good, before, strict=True) if mode == "tag" or row not in removed]
    if not expected:
        left = unpack(target)
        assert left == b"" if ".jsonl" in name else data.startswith(left) or mode == "copies"
        return
    after, problems = texts(target, text_columns=("text",), **options)
    assert after == expected and problems == []
    if mode == "tag":
        twin, none = texts(target, text_columns=("dejalu_twin_file",), **options)
        assert none == [] and twin == [
            "t,w;i\tn.csv" if row in removed else None if ".jsonl" in name else "" for row in good
        ]
    if mode == "drop" and unpack(target).count(b"\n") > 1:
        for line in unpack(target).splitlines():
            assert line.removeprefix(b"\xef\xbb\xbf") in data


def test_many_records_over_many_blocks(tmp_path: Path) -> None:
    rng = random.Random(7)
    lines = [b'{"id":%d,"text":"%s"}' % (i, b"w" * rng.randrange(2000)) for i in range(30_000)]
    source, target = tmp_path / "a.jsonl", tmp_path / "out" / "a.jsonl"
    source.write_bytes(b"\n".join(lines))
    found = read.discover([source]).inputs[0]
    columns = read.resolve(found)
    removed = sorted(rng.sample(range(30_000), 9_000))
    verdicts = judged(found, 30_000, removed, [])
    write_corpus(verdicts, source, target, records=read.records(found, columns))
    gone = set(removed)
    kept = [line for row, line in enumerate(lines) if row not in gone]
    assert target.read_bytes() == b"\n".join(kept) + (b"\n" if 29_999 in gone else b"")


def test_parquet_through_read(tmp_path: Path) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "out" / "a.parquet"
    pq.write_table(pa.table({"text": ["a", None, "c", "a"]}), source)
    found = read.discover([source]).inputs[0]
    write_corpus(judged(found, 4, [3], []), source, target)
    assert texts(target)[0] == ["a", None, "c"]
