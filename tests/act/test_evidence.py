"""Evidence files, the type of ids, and the logical digest."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import json
import struct
from functools import reduce
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from hypothesis import given
from hypothesis import strategies as st

from dejalu.act import (
    IdSummary,
    IdType,
    convert,
    logical_digest,
    read_removed,
    removed_table,
    summarise,
    unify,
    write_removed,
    write_set_aside,
)
from dejalu.act.evidence import read_set_aside
from dejalu.data import ABSENT, BOOLEAN, INTEGER, NESTED, NULL, REAL, STRING, Problem
from dejalu.errors import OutputError

COLUMNS = ["row", "id", "twin_file", "twin_row", "twin_id", "similarity", "measure", "method"]


def table(rows: list[int], ids: pa.Array | None = None, *, twin_files: list[str] | None = None) -> pa.Table:
    """Evidence of some removed rows: twins are rows 0, 1, …; every second one is an equal copy."""
    m = len(rows)
    near = np.arange(m, dtype=np.uint8) % 2
    return removed_table(
        np.array(rows, np.int64),
        pa.array([f"id{r}" for r in rows], pa.string()) if ids is None else ids,
        np.array(twin_files or ["a.parquet"] * m, object),
        np.arange(m, dtype=np.int64),
        pa.array([f"twin{i}" for i in range(m)], pa.string()) if ids is None else ids,
        np.where(near, 0.8, 1.0),
        near,
        near + 1,
    )


def test_the_columns_and_their_types(tmp_path: Path) -> None:
    written = write_removed(tmp_path, "sub/a.jsonl.gz", table([3, 5, 9]))
    path = tmp_path / "removed" / "sub" / "a.jsonl.gz.parquet"
    assert written.name == "removed/sub/a.jsonl.gz.parquet" and written.size == path.stat().st_size
    assert written.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    result = pq.read_table(path)
    assert result.column_names == COLUMNS
    kinds = [pa.int64(), pa.string(), pa.string(), pa.int64(), pa.string(), pa.float64(), pa.string(), pa.string()]
    assert result.schema.types == kinds
    assert result["similarity"].to_pylist() == [1.0, 0.8, 1.0]
    assert result["measure"].to_pylist() == ["equal", "jaccard", "equal"]
    assert result["method"].to_pylist() == ["exact", "minhash", "exact"]
    assert pl.read_parquet(path)["row"].to_list() == [3, 5, 9]
    assert duckdb.sql(f"select twin_id from '{path}'").fetchall() == [("twin0",), ("twin1",), ("twin2",)]


def test_every_file_has_evidence_also_when_nothing_was_removed(tmp_path: Path) -> None:
    write_removed(tmp_path, "a.parquet", table([]))
    result = read_removed(tmp_path, "a.parquet")
    assert result.num_rows == 0 and result.column_names == COLUMNS
    write_removed(tmp_path, "b.parquet", table([1]))
    assert pq.read_table(tmp_path / "removed").num_rows == 1
    data = load_dataset(str(tmp_path / "removed"), split="train", cache_dir=str(tmp_path / "cache"))
    assert data["row"][:] == [1]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    rows = list(range(0, 300_000, 2))
    whole = table(rows)
    digests = set()
    for name, given_table in {
        "whole": whole,
        "chunks": pa.concat_tables([whole.slice(0, 7), whole.slice(7)]),
        "unsorted": pa.concat_tables([whole.slice(1000), whole.slice(0, 1000)]),
        "large": whole.set_column(2, "twin_file", whole["twin_file"].cast(pa.large_string())),
        "dictionary": whole.set_column(6, "measure", whole["measure"].dictionary_encode()),
        "columns": whole.select(COLUMNS[::-1]),
    }.items():
        digests.add(write_removed(tmp_path / name, "a", given_table).sha256)
    assert len(digests) == 1
    meta = pq.ParquetFile(tmp_path / "whole" / "removed" / "a.parquet").metadata
    assert [meta.row_group(i).num_rows for i in range(meta.num_row_groups)] == [131_072, 150_000 - 131_072]
    assert {meta.row_group(0).column(i).compression for i in range(8)} == {"ZSTD"}


def test_missing_and_damaged_evidence(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is missing"):
        read_removed(tmp_path, "a.parquet")
    write_removed(tmp_path, "a.parquet", table([1]))
    path = tmp_path / "removed" / "a.parquet.parquet"
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(OutputError, match="is damaged"):
        read_removed(tmp_path, "a.parquet")
    with pytest.raises(OutputError, match="not a name below"):
        write_removed(tmp_path, "../a.parquet", table([1]))


def test_set_aside_is_written_only_when_there_is_something(tmp_path: Path) -> None:
    assert write_set_aside(tmp_path, []) is None and list(tmp_path.iterdir()) == []
    problems = [
        Problem("b.jsonl", 4, 5, "no JSON object", b'{"text":"bro\xff'),
        Problem("a.parquet", -1, None, "cannot be read"),
        Problem("b.jsonl", 1, 2, "text is a number", b"{}"),
    ]
    written = write_set_aside(tmp_path, problems)
    assert written is not None and written == write_set_aside(tmp_path, problems[::-1])
    result = pq.read_table(tmp_path / "set_aside.parquet")
    assert result.column_names == ["file", "row", "line", "reason", "raw"]
    assert list(result.to_pylist()[2].values()) == ["b.jsonl", 4, 5, "no JSON object", problems[0].raw]
    found = [(p.file, p.row, p.line) for p in read_set_aside(tmp_path)]
    assert found == [("a.parquet", -1, None), ("b.jsonl", 1, 2), ("b.jsonl", 4, 5)]


# Ids.


def json_ids(*values: Any) -> tuple[pa.Array, np.ndarray[Any, np.dtype[np.uint8]]]:
    """Ids as the jsonl reader gives them: strings unescaped, all else raw, with kinds."""
    kinds = {str: STRING, int: INTEGER, float: REAL, bool: BOOLEAN, type(None): NULL, dict: NESTED, list: NESTED}
    texts = [v if isinstance(v, str) else None if v is None else json.dumps(v) for v in values]
    return pa.array(texts, pa.large_string()), np.array([kinds[type(v)] for v in values], np.uint8)


def through(*files: Any) -> tuple[IdType, list[list[Any]]]:
    """Unify the ids of some files, each an Arrow array, (array, kinds), or None for a file without ids; convert all."""
    pairs = [file if isinstance(file, tuple) else (file, None) for file in files]
    target = unify(*(summarise(column, kinds) for column, kinds in pairs))
    arrays = [convert(column, kinds, target, 2 if column is None else len(column)) for column, kinds in pairs]
    assert all(array.type == target.type for array in arrays)
    return target, [array.to_pylist() for array in arrays]


def test_ids_keep_their_type_when_all_files_agree() -> None:
    assert through(pa.array(["a", None]), json_ids("b", None)) == (IdType(pa.string()), [["a", None], ["b", None]])
    assert through(pa.array([7, None]), json_ids(2**63 - 1, -5)) == (IdType(pa.int64()), [[7, None], [2**63 - 1, -5]])
    assert through(pa.array(["a"], pa.large_string())) == (IdType(pa.large_string()), [["a"]])
    assert through(pa.array(["a"]), pa.array(["b"], pa.large_string())) == (IdType(pa.string()), [["a"], ["b"]])
    assert through(pa.array(["a"], pa.string_view())) == (IdType(pa.string()), [["a"]])
    assert through(pa.array(["a", "b", "a"]).dictionary_encode()) == (IdType(pa.string()), [["a", "b", "a"]])
    assert through(json_ids(True, False)) == (IdType(pa.bool_()), [[True, False]])
    when = dt.datetime(2024, 2, 29, tzinfo=dt.UTC)
    for kind, value in (
        (pa.timestamp("us", "UTC"), when),
        (pa.uint64(), 2**64 - 1),
        (pa.int32(), 5),
        (pa.decimal128(10, 2), decimal.Decimal("1.50")),
        (pa.binary(), b"\xff"),
        (pa.struct([("a", pa.int64())]), {"a": 1}),
    ):
        assert through(pa.array([value], kind), None) == (IdType(kind), [[value], [None, None]])


def test_files_without_ids_agree_with_all() -> None:
    assert through(None) == (IdType(pa.string()), [[None, None]])
    expected = [[None, None], [None, None], [None], [1]]
    assert through(None, pa.nulls(2), json_ids(None), pa.array([1])) == (IdType(pa.int64()), expected)
    assert through(pa.array([None], pa.string()), pa.array([3])) == (IdType(pa.int64()), [[None], [3]])
    column, kinds = json_ids("x", 4)
    absent = kinds * 0 + ABSENT
    assert through((column, absent)) == (IdType(pa.string()), [[None, None]])


def test_ids_that_do_not_agree_become_json_text() -> None:
    text = IdType(pa.string(), json=True)
    # As in the wild: numbers beyond 2^53 and 2^63, a number as a string, null.
    wild = json_ids(9007199254740992, 9007199254740993, "72057594038135102", 18446744073709551615, None)
    raw = ["9007199254740992", "9007199254740993", '"72057594038135102"', "18446744073709551615", None]
    assert through(wild) == (text, [raw])
    assert through(json_ids(1.5, 2.0)) == (text, [["1.5", "2.0"]])
    assert through(json_ids({"a": [1]}, "x")) == (text, [['{"a": [1]}', '"x"']])
    strange = ['quo"te', "back\\slash", "tab\t", "石", "plain", "k\0"]
    target, (found, numbers) = through(pa.array(strange), pa.array([1, None]))
    assert target == text and [json.loads(v) for v in found] == strange and numbers == ["1", None]
    assert through(pa.array([1], pa.int32()), pa.array([2], pa.int64())) == (text, [["1"], ["2"]])
    mixed = [
        pa.array([True]),
        pa.array([decimal.Decimal("1.50")]),
        pa.array([0.5]),
        pa.array([dt.date(2024, 2, 29)]),
        pa.array([b"\xff"]),
        pa.array([{"a": 1}]),
    ]
    assert through(*mixed) == (text, [["true"], ["1.50"], ["0.5"], ['"2024-02-29"'], ['"ff"'], ['{"a": 1}']])


@given(st.lists(st.lists(st.one_of(st.none(), st.text(), st.integers(-(2**70), 2**70), st.booleans()), min_size=1)))
def test_ids_do_not_depend_on_batches_and_read_back(files: list[list[Any]]) -> None:
    files = [[v.encode("utf-8", "ignore").decode() if isinstance(v, str) else v for v in file] for file in files]
    target, found = through(*(json_ids(*file) for file in files))
    single = (summarise(*json_ids(value)) for file in files for value in file)
    assert unify(reduce(lambda a, b: b | a, single, IdSummary())) == target
    for file, ids in zip(files, found, strict=True):
        read = [None if i is None else json.loads(i) for i in ids] if target.json else ids
        assert read == file and [type(v) for v in read] == [type(v) for v in file]


# The logical digest.


def by_hand(tables: list[tuple[str, pa.Table]]) -> str:
    """The digest as digest.py describes it, one value at a time."""

    def strings(values: list[str]) -> bytes:
        names = sorted({v.encode() for v in values})
        head = struct.pack("<I", len(names)) + b"".join(struct.pack("<I", len(n)) + n for n in names)
        return head + b"".join(struct.pack("<I", names.index(v.encode())) for v in values)

    data = b"dejalu verdicts 1\n"
    for file, found in tables:
        if found.num_rows:
            data += struct.pack("<I", len(file.encode())) + file.encode() + struct.pack("<Q", found.num_rows)
            data += b"".join(struct.pack("<q", v) for v in found["row"].to_pylist())
            data += strings(found["twin_file"].to_pylist())
            data += b"".join(struct.pack("<q", v) for v in found["twin_row"].to_pylist())
            data += b"".join(struct.pack("<d", v) for v in found["similarity"].to_pylist())
            data += strings(found["measure"].to_pylist()) + strings(found["method"].to_pylist())
    return hashlib.sha256(data).hexdigest()


def test_the_digest_is_what_its_description_says() -> None:
    tables = [
        ("b/ü.jsonl", table([0, 3, 2**39], twin_files=["z", "é", "a.parquet"])),
        ("empty.csv", table([])),
        ("a.parquet", table([7])),
    ]
    assert logical_digest(tables) == by_hand(tables)
    assert logical_digest([]) == hashlib.sha256(b"dejalu verdicts 1\n").hexdigest()
    chunks = [(f, pa.concat_tables([t.slice(0, 1), t.slice(1)])) for f, t in tables]
    assert logical_digest(chunks) == by_hand(tables)


def test_the_digest_changes_with_every_verdict_but_not_with_ids(tmp_path: Path) -> None:
    base = table([1, 2, 3])
    seen = {logical_digest([("a", base)]), logical_digest([("b", base)]), logical_digest([("a", base.slice(1))])}
    other = {"row": 9, "twin_file": "x", "twin_row": 9, "similarity": 0.9, "measure": "x", "method": "x"}
    for name, value in other.items():
        place = base.schema.get_field_index(name)
        values = [*base[name].to_pylist()[:2], value]
        seen.add(logical_digest([("a", base.set_column(place, name, pa.array(values, base.schema.field(name).type)))]))
    assert len(seen) == 9
    numbered = table([1, 2, 3], pa.array([1, 2, 3]))
    assert logical_digest([("a", numbered)]) == logical_digest([("a", base)])
    write_removed(tmp_path, "a", base)
    assert logical_digest([("a", read_removed(tmp_path, "a"))]) == logical_digest([("a", base)])
