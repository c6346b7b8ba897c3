"""Rewritten jsonl, csv and txt files: original bytes, added members and fields, compression."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq
import pytest
from act.helpers import pack, records, unpack, verdicts
from datasets import load_dataset
from hypothesis import given
from hypothesis import strategies as st

from dejalu.act import write_corpus
from dejalu.act.members import _number
from dejalu.act.splice import gather
from dejalu.data import Records
from dejalu.errors import ChangedInput, OutputError

BOM = b"\xef\xbb\xbf"
GOOD = [
    b'{"id":9007199254740993,"text":"slate roof"}',
    b'{ "text" : "broken \\ud835 glyph", "id":null }  ',
    b'{"text":"line \xe2\x80\xa8 separator and \\"dejalu_keep\\": in a string"}',
    b'{"id":1.50,"text":"","meta":{"dejalu_keep":1,"a":[{}]}}',
    b"{}",
    b' { } ',
    b'{"id":"\\u00e9","text":"bad \xff byte"}',
]


def write(
    folder: Path, data: bytes, removed: list[int], *, rows: int, name: str = "a.jsonl", size: int = 3, **options: Any
) -> bytes:
    """Write one file by verdicts, and return its decompressed bytes."""
    compression = {"gz": "gz", "zst": "zst"}.get(name.rsplit(".", 1)[-1], "")
    kind = "csv" if ".csv" in name else "jsonl"
    source, target = folder / name, folder / "out" / name
    source.write_bytes(pack(data, compression))
    splitter = {key: options.pop(key) for key in ("preamble", "newline", "blank") if key in options}
    told = {"set_aside": options.pop("set_aside", ()), "twin_file": options.pop("twin_file", "first.jsonl")}
    found = verdicts(rows, removed, format=kind, compression=compression, file=name, similarity=0.875, **told)
    write_corpus(found, source, target, records=records(data, size=size, **splitter), **options)
    return unpack(target)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
@pytest.mark.parametrize("removed", [[0], [1, 2], [6], [0, 2, 4, 6], list(range(7))], ids=str)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_kept_jsonl_records_are_their_original_bytes(tmp_path: Path, name: str, removed: list[int], end: bytes) -> None:
    data = end.join(GOOD) + end
    result = write(tmp_path, data, removed, rows=7, name=name)
    assert result == b"".join(line + end for row, line in enumerate(GOOD) if row not in removed)


def test_bom_blank_lines_and_no_line_end_at_the_end(tmp_path: Path) -> None:
    data = BOM + b"\r\n".join([GOOD[0], b"", b"   ", GOOD[2], GOOD[3]])
    options: dict[str, Any] = {"rows": 3, "preamble": BOM}
    assert write(tmp_path, data, [], **options) == data  # a copy
    assert write(tmp_path, data, [1], **options) == BOM + GOOD[0] + b"\r\n" + GOOD[3]
    assert write(tmp_path, data, [2], **options) == BOM + GOOD[0] + b"\r\n" + GOOD[2] + b"\r\n"
    assert write(tmp_path, data, [0, 1, 2], **options) == b""


def test_records_set_aside_are_in_no_output(tmp_path: Path) -> None:
    data = b'{"id":1}\n{"id":2,"text":"bro\n{"id":3}\n{"id":4}\n'
    assert write(tmp_path, data, [3], rows=4, set_aside=[1]) == b'{"id":1}\n{"id":3}\n'
    tagged = write(tmp_path, data, [3], rows=4, set_aside=[1], mode="tag").splitlines()
    assert [json.loads(line)["id"] for line in tagged] == [1, 3, 4]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("last", [True, False], ids=["with", "without"])
def test_tag_puts_members_before_the_closing_brace(tmp_path: Path, end: bytes, last: bool) -> None:
    lines = [*GOOD, b'{"a":"}"}' + b" " * 100]
    data = end.join(lines) + (end if last else b"")
    result = write(tmp_path, data, [1, 4], rows=8, mode="tag", twin_file='naïve "x".jsonl')
    out = result.split(end)
    assert len(out) == 8 + last
    for row, (before, after) in enumerate(zip(lines, out, strict=False)):
        brace = before.rindex(b"}")
        assert after.startswith(before[:brace]) and after.endswith(before[brace:])
        added = json.loads(b"{" + after[brace : len(after) - len(before) + brace].lstrip(b",") + b"}")
        gone = row in (1, 4)
        assert list(added) == [f"dejalu_{n}" for n in ("keep", "twin_file", "twin_row", "similarity", "copies")]
        assert list(added.values()) == (
            [False, 'naïve "x".jsonl', [1, 4].index(row), 0.875, 0] if gone else [True, None, None, None, row + 1]
        )
        if row != 6:  # invalid UTF-8 stays what it was
            assert json.loads(after) == json.loads(before) | added


def test_copies_are_added_when_dropping(tmp_path: Path) -> None:
    result = write(tmp_path, b'{"a":1}\n{}\n{"a":3}\n', [0], rows=3, add_copies=True)
    assert result == b'{"dejalu_copies":2}\n{"a":3,"dejalu_copies":3}\n'


@pytest.mark.parametrize("line", [b'{"dejalu_copies" : 1}', b'{"id":2,"dejalu_keep":true}'])
def test_a_member_that_is_there_already_is_refused(tmp_path: Path, line: bytes) -> None:
    data = GOOD[0] + b"\n" + GOOD[3] + b"\n" + line + b"\n"
    with pytest.raises(OutputError, match=r"a\.jsonl already has a column 'dejalu_\w+'.*Drop or rename"):
        write(tmp_path, data, [], rows=3, mode="tag")
    assert not (tmp_path / "out" / "a.jsonl").exists() and list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_the_bytes_do_not_depend_on_the_pieces(tmp_path: Path, name: str) -> None:
    rng = random.Random(3)
    lines = [json.dumps({"id": i, "text": "".join(rng.choices("abcdef ", k=300))}).encode() for i in range(9000)]
    data, removed = b"\n".join(lines), list(range(0, 9000, 7))
    write(tmp_path, data, removed, rows=9000, name=name, size=1)
    first = (tmp_path / "out" / name).read_bytes()
    for size in (10, 10_000):
        write(tmp_path, data, removed, rows=9000, name=name, size=size)
        assert (tmp_path / "out" / name).read_bytes() == first
    if name.endswith("gz"):
        assert first[:10] == bytes.fromhex("1f8b08000000000000ff")


def test_other_readers_see_the_kept_rows_and_nothing_else(tmp_path: Path) -> None:
    data = b"".join(b'{"id":%d,"text":"text %d"}\n' % (i, i) for i in range(9))
    for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl.zst"):
        write(tmp_path, data, [0, 8], rows=9, name=name)
    out, expected = tmp_path / "out", list(range(1, 8))
    with pa.input_stream(out / "b.jsonl.gz", compression="gzip") as stream:
        assert pyarrow.json.read_json(stream)["id"].to_pylist() == expected
    for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl.zst"):
        assert pd.read_json(out / name, lines=True)["id"].tolist() == expected
        assert pl.read_ndjson(unpack(out / name))["id"].to_list() == expected
        assert [r[0] for r in duckdb.sql(f"select id from read_json('{out / name}')").fetchall()] == expected
        kwargs: Any = {"data_files": str(out / name), "split": "train", "cache_dir": str(tmp_path / "cache")}
        assert load_dataset("json", **kwargs)["id"][:] == expected


@pytest.mark.parametrize(
    ("encoding", "delimiter", "bom"),
    [
        ("utf-8", ",", b""),
        ("utf-8", ";", BOM),
        ("utf-8-sig", "\t", BOM),
        ("utf-16", ",", b"\xff\xfe"),
        ("utf-16", "|", b"\xfe\xff"),
        ("utf-16-le", ",", b""),
        ("gb18030", ",", b""),
        ("cp1252", ";", b""),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("last", [True, False], ids=["with", "without"])
def test_csv_in_every_encoding(
    tmp_path: Path, *, encoding: str, delimiter: str, bom: bytes, end: str, last: bool
) -> None:
    plain = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(bom, encoding.removesuffix("-sig"))
    words = "石板" if encoding in {"utf-8", "gb18030", "utf-16"} else "café"
    fields = [["id", f"te {words}"], ["1", f'"{words}{delimiter} ""x"""'], ["2", ""], ["3", f"{words} end"]]
    lines = [delimiter.join(row) for row in fields]
    text = end.join(lines) + (end if last else "")
    data, header = text.encode(plain), (lines[0] + end).encode(plain)
    options: dict[str, Any] = {
        "rows": 3,
        "name": "a.csv",
        "preamble": bom + header,
        "newline": end.encode(plain),
        "encoding": encoding,
        "delimiter": delimiter,
    }
    dropped = write(tmp_path, bom + data, [1], **options)
    assert dropped == bom + header + (lines[1] + end).encode(plain) + (lines[3] + (end if last else "")).encode(plain)
    assert write(tmp_path, bom + data, [0, 1, 2], **options) == bom + header
    twin = f"{words}{delimiter}.csv"
    tagged = write(tmp_path, bom + data, [1], mode="tag", twin_file=twin, **options)
    assert tagged.startswith(bom)
    rows = list(csv.reader(io.StringIO(tagged[len(bom) :].decode(plain), newline=""), delimiter=delimiter))
    names = [f"dejalu_{n}" for n in ("keep", "twin_file", "twin_row", "similarity", "copies")]
    before = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    tags = [names, ["true", "", "", "", "1"], ["false", twin, "0", "0.875", "0"], ["true", "", "", "", "3"]]
    assert rows == [a + b for a, b in zip(before, tags, strict=True)]
    assert tagged.decode(plain).endswith(end) == last
    again = {**options, "preamble": bom + header.replace(b"id", b"dejalu_keep") if plain[:4] != "utf-" else b""}
    if again["preamble"]:
        with pytest.raises(OutputError, match="already has a column 'dejalu_keep'"):
            write(tmp_path, again["preamble"] + data[len(header) :], [], mode="tag", **again)


def test_a_name_that_the_encoding_cannot_hold_is_an_error(tmp_path: Path) -> None:
    options: dict[str, Any] = {"rows": 2, "name": "a.csv", "preamble": b"id\n", "encoding": "cp1252"}
    with pytest.raises(OutputError, match=r"cannot be written in cp1252.*--mode drop"):
        write(tmp_path, b"id\n1\n2\n", [1], mode="tag", twin_file="石.csv", **options)


def test_quoted_newlines_stay_inside_their_record(tmp_path: Path) -> None:
    data = b'id,text\n1,"two\nlines"\n2,"a\n\nb"\n3,c'
    raw = np.frombuffer(data, np.uint8)
    found = verdicts(3, [0], format="csv", file="a.csv")
    runs = [Records(0, raw, np.array([8, 22, 31]), np.array([22, 31, 34]), b"id,text\n")]
    (tmp_path / "a.csv").write_bytes(data)
    target = tmp_path / "b.csv"
    write_corpus(found, tmp_path / "a.csv", target, records=iter(runs))
    assert target.read_bytes() == b'id,text\n2,"a\n\nb"\n3,c'
    write_corpus(found, tmp_path / "a.csv", target, records=iter(runs), add_copies=True)
    assert target.read_bytes() == b'id,text,dejalu_copies\n2,"a\n\nb",2\n3,c,3'
    options = pyarrow.csv.ParseOptions(newlines_in_values=True)
    assert pyarrow.csv.read_csv(target, parse_options=options)["dejalu_copies"].to_pylist() == [2, 3]
    assert pl.read_csv(target)["id"].to_list() == pd.read_csv(target)["id"].tolist() == [2, 3]
    assert duckdb.sql(f"select id from read_csv('{target}')").fetchall() == [(2,), (3,)]


def test_a_text_file_is_copied_emptied_or_left_out(tmp_path: Path) -> None:
    source, target, tags = tmp_path / "a.txt", tmp_path / "out" / "a.txt", tmp_path / "tags" / "a.txt.parquet"
    source.write_bytes(b"caf\xe9\r\n")

    def run(removed: list[int], aside: list[int] = [], **options: Any) -> object:  # noqa: B006
        target.unlink(missing_ok=True)
        found = verdicts(1, removed, set_aside=aside, format="txt", file="a.txt")
        return write_corpus(found, source, target, tags_path=tags, **options)

    run([])
    assert target.read_bytes() == source.read_bytes() and not tags.exists()
    run([0])
    assert target.read_bytes() == b""
    run([0], mode="tag")
    assert target.read_bytes() == source.read_bytes()
    tag = {"dejalu_keep": False, "dejalu_twin_file": "first.parquet", "dejalu_twin_row": 0, "dejalu_similarity": 1.0}
    assert pq.read_table(tags).to_pylist() == [{"row": 0} | tag | {"dejalu_copies": 0}]
    run([], add_copies=True)
    assert pq.read_table(tags).to_pylist() == [{"row": 0, "dejalu_copies": 1}]
    assert run([], [0]) is None and not target.exists()


def test_a_changed_file_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    data = b'{"a":1}\n{"a":2}\n{"a":3}\n'
    for rows in (2, 4):
        with pytest.raises(ChangedInput, match=rf"a\.jsonl: 3 records are found now, {rows} were read"):
            write(tmp_path, data, [0], rows=rows)
        assert list((tmp_path / "out").iterdir()) == []


def test_a_file_cut_off_is_never_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    data = b'{"a":1}\n{"a":2}\n'
    source.write_bytes(pack(data, "gz")[:-6])
    found = verdicts(2, format="jsonl", compression="gz")
    write_corpus(found, source, target, records=records(data), whole=False)
    assert unpack(target) == data


def test_an_input_that_changes_is_noticed(tmp_path: Path) -> None:
    from dataclasses import replace

    source = tmp_path / "a.jsonl"
    source.write_bytes(b'{"a":1}\n')
    stat = source.stat()
    found = verdicts(1, format="jsonl")
    found = replace(found, input=replace(found.input, size=stat.st_size, mtime_ns=stat.st_mtime_ns))
    assert write_corpus(found, source, tmp_path / "b.jsonl") is not None
    source.write_bytes(b'{"a":2}\n{"a":2}\n')
    with pytest.raises(ChangedInput, match=r"has 16 bytes, it had 8"):
        write_corpus(found, source, tmp_path / "c.jsonl")

    def meanwhile() -> Iterator[Records]:
        yield from records(b'{"a":1}\n')
        source.write_bytes(b'{"a":9}\n')

    source.write_bytes(b'{"a":1}\n')
    stat = source.stat()
    found = replace(found, input=replace(found.input, size=stat.st_size, mtime_ns=stat.st_mtime_ns))
    with pytest.raises(ChangedInput):
        write_corpus(found, source, tmp_path / "c.jsonl", add_copies=True, records=meanwhile())
    assert not (tmp_path / "c.jsonl").exists()


@given(st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=3), st.booleans())))
def test_gather_joins_spans(parts: list[tuple[bytes, bytes, bool]]) -> None:
    data = b"".join(record + gap for record, gap, _ in parts)
    start = np.cumsum([0] + [len(r) + len(g) for r, g, _ in parts])[:-1].astype(np.int64)
    end = start + np.array([len(r) for r, _, _ in parts], np.int64)
    keep = np.array([k for _, _, k in parts], bool)
    raw = np.frombuffer(data, np.uint8)
    assert bytes(gather(raw, start[keep], end[keep])) == b"".join(r for r, _, k in parts if k)


@given(st.lists(st.one_of(st.floats(0, 1), st.fractions(0, 1, max_denominator=10_000).map(float)), min_size=1))
def test_similarities_are_written_so_that_they_read_back(values: list[float]) -> None:
    texts = _number(pa.array(values, pa.float64())).to_pylist()
    assert [float(text) for text in texts] == values
    assert all(isinstance(json.loads(text), float) for text in texts)
