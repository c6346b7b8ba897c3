"""Faults that users met in other tools, as far as reading goes (the cases of the shared fault list, by number)."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tracemalloc
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dejalu import read
from dejalu.data import INTEGER, NULL, STRING
from dejalu.errors import DamagedInput, UsageError

from .helpers import load, one, texts

LIST = Path(__file__).resolve().parents[3] / "shared" / "bugs" / "handed.jsonl"


@pytest.fixture
def case(tmp_path, monkeypatch):
    """Run the code of a case in an empty folder; gives its variables."""
    monkeypatch.chdir(tmp_path)

    def run(number: int) -> dict[str, object]:
        if not LIST.exists():
            pytest.skip(f"needs the shared fault list at {LIST}")
        cases = {c["id"]: c for c in map(json.loads, LIST.read_text(encoding="utf-8").splitlines())}
        variables: dict[str, object] = {}
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # the cases do not close what they write
            exec(cases[f"BUG-{number:03}"]["input"]["python"], variables)
        return variables

    return run


def test_017_lone_surrogates(case):
    case(17)
    docs, _ = load("a.jsonl")
    assert docs["invalid"] == [False, True, True, False]
    assert docs["text"][1] == docs["text"][2]
    assert docs["text"][1].decode().startswith("broken \ufffd glyph")
    assert "\U0001f389" in docs["text"][3].decode()


def test_019_nul_in_the_text(case):
    head = str(case(19)["head"])
    found = texts("a.parquet")
    assert len(set(found)) == 3 and found[2] == head
    assert all(t.startswith(head + "\0") for t in found[:2])


def test_020_nul_at_the_end_of_ids(case):
    case(20)
    docs, _ = load("a.parquet")
    assert docs["id"] == ["k", "k\0", "k\0\0", ""]


def test_077_bom_crlf_and_blank_lines(case):
    case(77)
    docs, problems = load("bom_crlf.jsonl", skip=True)
    assert docs["id"] == ["a", "b", "c", "d"] and problems == []
    assert docs["text"][0] == docs["text"][2]


@pytest.mark.parametrize(("name", "lines"), [("mid", [5]), ("end", [11]), ("type", [11, 12, 13])])
def test_079_damaged_lines(case, name, lines):
    case(79)
    with pytest.raises(DamagedInput, match=rf"{name}\.jsonl, line {lines[0]} .*--on-error skip"):
        load(f"{name}.jsonl")
    docs, problems = load(f"{name}.jsonl", skip=True)
    assert len(docs["row"]) == 10
    assert [p.line for p in problems] == lines
    assert [p.row for p in problems] == [line - 1 for line in lines]


def test_081_gzip_members(case):
    case(81)
    assert texts("multi.jsonl.gz") == [f"diary page {i} written at anchor in bay {i}" for i in range(50)]


def test_083_long_records(case):
    case(83)
    where = one("long.jsonl")
    size = where.size
    columns = read.resolve(where)
    tracemalloc.start()
    found = [
        t for docs in read.read(where, read.Piece(0), columns) for t in pa.compute.utf8_length(docs.text).to_pylist()
    ]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[0] == 12 and found[3] == 18 and found[2] == found[1] + 4 > 30_000_000
    assert peak < 4 * size


@pytest.mark.parametrize("megabytes", [60, pytest.param(2400, marks=pytest.mark.heavy)])
def test_085_columns_over_2_gib(case, monkeypatch, megabytes):
    monkeypatch.setenv("BUG085_MB", str(megabytes))
    case(85)
    where = one("big.parquet")
    columns = read.resolve(where)
    pa.default_memory_pool().release_unused()
    n = size = largest = 0
    for piece in read.pieces(where, columns):
        for docs in read.read(where, piece, columns):
            n += len(docs)
            size += docs.text.nbytes
            largest = max(largest, docs.text.nbytes)
    assert n == -(-megabytes // 50) * 50
    assert size > n * 900_000 and largest < 64 << 20


def test_085_in_memory(case, monkeypatch):
    monkeypatch.setenv("BUG085_MB", "100")
    case(85)
    table = pq.read_table("big.parquet")
    memory = read.from_memory(pa.concat_tables([table] * 25))  # 2.5 GB of text in one chunked column
    sizes = [docs.text.nbytes for docs in memory.batches(0)]
    assert sum(sizes) > 1 << 31 and max(sizes) < 64 << 20


def test_086_arrow_types(case):
    tables = case(86)["tables"]
    expected = ["a note on the tides", "a note on the moon", "a note on the tides", None]
    for name, table in tables.items():
        assert texts(f"{name}.parquet") == expected, name
        found = [t for docs in read.from_memory(table).batches(0) for t in docs.text.to_pylist()]
        assert found == expected, name


def test_088_nulls(case):
    case(88)
    assert texts("n.parquet") == [None, "nan", None, "None", "", "null", "nan"]


def test_090_empty_files(case):
    case(90)
    found = {i.file: load(i)[0] for i in read.discover(["in"]).inputs}
    assert [len(d["row"]) for d in found.values()] == [3, 0, 0, 2, 0, 1]
    assert found["p3.parquet"]["text"] == [None, None]


def test_093_ids_are_exact(case):
    case(93)
    docs, _ = load("i.jsonl")
    assert docs["id"] == ["9007199254740992", "9007199254740993", "72057594038135102", "18446744073709551615", None]
    assert docs["id:kind"] == [INTEGER, INTEGER, STRING, INTEGER, NULL]


def test_095_duplicate_ids(case):
    case(95)
    docs, _ = load("d.jsonl")
    assert docs["id"] == ["x", "x", "y", "x"] and docs["row"] == [0, 1, 2, 3]


def test_101_odd_names(case):
    names = case(101)["names"]
    for i, name in enumerate(names):
        assert texts(name) == [f"page {i} on kilns and ovens"]
        assert one(name).file == name
    assert len(read.discover(["."]).inputs) == len(read.discover(["*.jsonl"]).inputs) == 10
    for nothing in ("none*.jsonl", "none.jsonl"):
        with pytest.raises(UsageError, match=r"none.*\.jsonl"):
            read.discover([nothing])
    assert sorted(os.listdir(".")) == sorted(names)
