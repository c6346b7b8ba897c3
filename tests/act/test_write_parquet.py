"""Rewritten parquet files: rows, types, metadata, row groups and settings."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from act.helpers import verdicts
from datasets import load_dataset

from dejalu.act import parquet, write_corpus
from dejalu.errors import ChangedInput, DamagedInput, OutputError

ROWS = 40


def everything(rows: int = ROWS) -> pa.Table:
    """One column of each type that is seen in the field."""
    n = range(rows)
    utc = dt.datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=dt.UTC)
    nested = pa.struct([("lang", pa.string()), ("p", pa.list_(pa.float64())), ("m", pa.map_(pa.string(), pa.int32()))])
    columns = {
        "url": pa.array([f"u{i}" for i in n]),
        "text": pa.array([None if i % 7 == 3 else f"iron gate {i}" for i in n], pa.large_string()),
        "view": pa.array([f"a view that is longer than twelve bytes {i}" for i in n], pa.string_view()),
        "dict": pa.array([f"v{i % 3}" for i in n]).dictionary_encode(),
        "when": pa.array([utc] * rows, pa.timestamp("us", "UTC")),
        "ns": pa.array(np.arange(rows), pa.timestamp("ns")),
        "day": pa.array([dt.date(2024, 2, 29)] * rows, pa.date32()),
        "took": pa.array(np.arange(rows), pa.duration("us")),
        "price": pa.array([decimal.Decimal(i) / 100 for i in n], pa.decimal128(10, 2)),
        "big": pa.array([decimal.Decimal(i) for i in n], pa.decimal256(60, 0)),
        "n": pa.array([None if i % 5 == 0 else 2**63 - 1 - i for i in n], pa.int64()),
        "u": pa.array([2**64 - 1 - i for i in n], pa.uint64()),
        "small": pa.array([i % 100 for i in n], pa.int8()),
        "half": pa.array(np.arange(rows, dtype=np.float16)),
        "x": pa.array([float("nan") if i % 4 == 0 else i / 3 for i in n]),
        "raw": pa.array([bytes([i, 255]) for i in n], pa.binary()),
        "key": pa.array([bytes([i] * 16) for i in n], pa.binary(16)),
        "flag": pa.array([i % 2 == 0 for i in n]),
        "none": pa.nulls(rows),
        "meta": pa.array([{"lang": "en", "p": [0.1, i], "m": [("a", i)]} if i % 6 else None for i in n], nested),
        "fixed": pa.array([[i, i + 1] for i in n], pa.list_(pa.int16(), 2)),
        "tags": pa.array([[] if i % 3 else ["a", None] for i in n], pa.large_list(pa.string())),
    }
    schema = pa.schema(
        [pa.field(name, c.type, nullable=name != "url", metadata={"note": name}) for name, c in columns.items()],
        metadata={"owner": "library", "ключ": "значение"},
    )
    return pa.table(list(columns.values()), schema=schema)


def run(source: Path, target: Path, removed: list[int], **options: Any) -> pa.Table:
    rows = pq.ParquetFile(source).metadata.num_rows
    write_corpus(verdicts(rows, removed), source, target, **options)
    return pq.read_table(target)


def kept(table: pa.Table, removed: list[int]) -> list[dict[str, Any]]:
    return [row for place, row in enumerate(table.to_pylist()) if place not in set(removed)]


REMOVALS = [[0], [1, 2, 3], list(range(10, 20)), list(range(ROWS)), [ROWS - 1], list(range(0, ROWS, 2))]


@pytest.mark.parametrize("removed", REMOVALS, ids=str)
def test_every_type_and_all_metadata_come_back(tmp_path: Path, removed: list[int]) -> None:
    table = everything()
    source, target = tmp_path / "a.parquet", tmp_path / "out" / "a.parquet"
    pq.write_table(table, source, row_group_size=10)
    result = run(source, target, removed)
    before = pq.read_table(source)
    assert result.schema.equals(before.schema, check_metadata=True)
    assert result.schema.field("text").metadata == before.schema.field("text").metadata
    assert repr(result.to_pylist()) == repr(kept(before, removed))  # NaN equals NaN in text
    old, new = pq.ParquetFile(source), pq.ParquetFile(target)
    assert new.schema.equals(old.schema)  # the parquet types, not only what Arrow makes of them
    assert new.metadata.metadata == old.metadata.metadata


def test_row_groups_that_lose_nothing_keep_their_boundaries(tmp_path: Path) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    with pq.ParquetWriter(source, pa.schema([("text", pa.string())])) as writer:
        for size in (5, 17, 1, 8, 9):
            writer.write_table(pa.table({"text": [f"t{i}" for i in range(size)]}))
    run(source, target, [6, 7, 22])  # of the groups of 17 and of 1
    meta = pq.ParquetFile(target).metadata
    sizes = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
    assert sizes == [5, 15, 8, 9]


def test_a_file_that_loses_nothing_is_copied_byte_for_byte(tmp_path: Path) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(everything(), source)
    run(source, target, [])
    assert target.read_bytes() == source.read_bytes()


def test_same_bytes_whenever_it_is_written(tmp_path: Path) -> None:
    source = tmp_path / "a.parquet"
    pq.write_table(everything(), source, row_group_size=7)
    for name in ("b", "c"):
        run(source, tmp_path / name, [1, 8, 30])
    assert (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


SETTINGS: list[dict[str, Any]] = [
    {"compression": "snappy"},
    {"compression": "zstd", "data_page_version": "2.0"},
    {"compression": {"url": "gzip", "text": "brotli", "n": "lz4", "meta.p.list.element": "none"}},
    {"compression": "none", "use_dictionary": False},
    {"use_dictionary": ["url", "meta.lang"]},
    {"use_dictionary": False, "column_encoding": {"n": "DELTA_BINARY_PACKED", "text": "DELTA_LENGTH_BYTE_ARRAY"}},
    {"write_statistics": False, "write_page_checksum": True},
    {"write_statistics": ["n"], "write_page_index": True},
    {"store_decimal_as_integer": True},
    {"use_compliant_nested_type": False},
    {"store_schema": False},
    {"use_deprecated_int96_timestamps": True},
    {"sorting_columns": [pq.SortingColumn(0)]},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=",".join)
def test_the_settings_of_the_writer_are_kept(tmp_path: Path, settings: dict[str, Any]) -> None:
    table = everything()
    if "store_schema" in settings or "use_deprecated_int96_timestamps" in settings:
        table = table.drop_columns(["none", "took"])
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table, source, row_group_size=10, **settings)
    result = run(source, target, [3, 4])
    old, new = pq.ParquetFile(source), pq.ParquetFile(target)
    assert new.schema.equals(old.schema)
    assert result.schema.equals(pq.read_table(source).schema, check_metadata=True)
    assert (new.metadata.metadata or {}) == (old.metadata.metadata or {})
    a, b = old.metadata.row_group(0), new.metadata.row_group(0)
    assert a.sorting_columns == b.sorting_columns
    for place in range(a.num_columns):
        x, y = a.column(place), b.column(place)
        told = ("path_in_schema", "physical_type", "compression", "encodings", "has_dictionary_page", "is_stats_set",
                "has_offset_index")
        assert {k: getattr(x, k) for k in told} == {k: getattr(y, k) for k in told}
    with open(source, "rb") as p, open(target, "rb") as q:
        pages = [parquet._first_page(f, g.column(0).data_page_offset) for f, g in ((p, a), (q, b))]
    assert pages[0] == pages[1]
    assert pages[0]["data_page_version"] == settings.get("data_page_version", "1.0")
    assert pages[0]["write_page_checksum"] == settings.get("write_page_checksum", False)


@pytest.mark.parametrize("rows", [0, 3])
def test_zero_rows_are_a_file_with_its_schema(tmp_path: Path, rows: int) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"id": pa.array(range(rows), pa.int64()), "text": ["x"] * rows}), source)
    result = run(source, target, list(range(rows)))
    assert result.num_rows == 0 and result.schema == pq.read_schema(source)
    assert len(pd.read_parquet(target)) == 0
    assert pl.read_parquet(target).shape == (0, 2)
    assert duckdb.sql(f"select * from '{target}'").fetchall() == []


@pytest.mark.parametrize("index", ["range", "offset", "step", "labels", "two"])
def test_pandas_reads_the_kept_rows_with_the_right_index(tmp_path: Path, index: str) -> None:
    frame = pd.DataFrame({"id": range(6), "text": list("abcdef")})
    frame["kind"] = pd.Categorical(list("xyxyxx"), categories=["z", "y", "x"], ordered=True)
    labels: dict[str, Any] = {
        "range": pd.RangeIndex(6),
        "offset": pd.RangeIndex(100, 106),
        "step": pd.RangeIndex(0, 12, 2),
        "labels": pd.Index(list("uvwxyz"), name="key"),
        "two": pd.MultiIndex.from_tuples([(i // 2, i % 2) for i in range(6)], names=["a", "b"]),
    }
    frame.index = labels[index]
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    frame.to_parquet(source)
    run(source, target, [1, 4])
    result = pd.read_parquet(target)
    expected = pd.read_parquet(source).iloc[[0, 2, 3, 5]]
    if index in {"range", "offset", "step"}:  # labels that the file does not hold are counted anew
        expected = expected.reset_index(drop=True)
    pd.testing.assert_frame_equal(result, expected)
    assert list(result["kind"].cat.categories) == ["z", "y", "x"] and result["kind"].cat.ordered
    assert pq.read_metadata(target).metadata == pq.read_metadata(source).metadata


def test_all_readers_see_the_kept_rows_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    table = pa.table({"id": list(range(9)), "text": [f"text {i}" for i in range(9)]})
    for name, removed in (("a", [0, 8]), ("b", []), ("c", list(range(9)))):
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=4)
        run(tmp_path / f"{name}.parquet", tmp_path / "out" / f"{name}.parquet", removed)
    expected = list(range(1, 8)) + list(range(9))
    assert pq.read_table(tmp_path / "out")["id"].to_pylist() == expected
    assert pl.read_parquet(tmp_path / "out" / "*.parquet")["id"].to_list() == expected
    assert pl.scan_parquet(tmp_path / "out").collect()["id"].to_list() == expected
    found = duckdb.sql(f"select id from '{tmp_path}/out/*.parquet' order by filename, file_row_number").fetchall()
    assert [row[0] for row in found] == expected
    data = load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / "cache"))
    assert sorted(data["id"]) == sorted(expected)


@pytest.mark.parametrize("removed", [[], [1, 2, 25]], ids=str)
def test_tag_appends_columns_and_keeps_all_rows(tmp_path: Path, removed: list[int]) -> None:
    table = everything()
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table, source, row_group_size=10)
    result = run(source, target, removed, mode="tag")
    before = pq.read_table(source)
    assert repr(result.select(before.column_names).to_pylist()) == repr(before.to_pylist())
    assert result.schema.metadata == before.schema.metadata
    assert [f.type for f in result.schema][-5:] == [pa.bool_(), pa.string(), pa.int64(), pa.float64(), pa.int64()]
    tags = result.select(result.column_names[-5:]).to_pylist()
    for row, tag in enumerate(tags):
        assert tag["dejalu_keep"] == (row not in removed)
        assert tag["dejalu_copies"] == (0 if row in removed else row + 1)
        assert tag["dejalu_twin_file"] == ("first.parquet" if row in removed else None)
        assert tag["dejalu_twin_row"] == (removed.index(row) if row in removed else None)
        assert tag["dejalu_similarity"] == (1.0 if row in removed else None)
    meta = pq.ParquetFile(target).metadata
    assert [meta.row_group(i).num_rows for i in range(meta.num_row_groups)] == [10] * 4
    assert len(pd.read_parquet(target)) == ROWS


def test_copies_are_added_when_dropping(tmp_path: Path) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"text": list("abcd")}), source)
    result = run(source, target, [2], add_copies=True)
    assert result.to_pydict() == {"text": ["a", "b", "d"], "dejalu_copies": [1, 2, 4]}
    assert run(source, target, [], add_copies=True)["dejalu_copies"].to_pylist() == [1, 2, 3, 4]
    with pytest.raises(OutputError, match=r"already has a column 'dejalu_copies'.*Drop or rename"):
        write_corpus(verdicts(4), target, tmp_path / "c.parquet", mode="tag")
    assert not (tmp_path / "c.parquet").exists()


def test_added_columns_show_in_data_sets_and_beside_copied_schemas(tmp_path: Path) -> None:
    from datasets import Dataset

    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    Dataset.from_dict({"id": [1, 2], "text": ["a", "b"]}).to_parquet(str(source))
    table = pq.read_table(source)
    spark = {"org.apache.spark.sql.parquet.row.metadata": "{}", "org.apache.spark.version": "4.0.0"}
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, **spark}), source)
    run(source, target, [1], mode="tag")
    data = load_dataset("parquet", data_files=str(target), split="train", cache_dir=str(tmp_path / "cache"))
    assert data["dejalu_keep"][:] == [True, False] and data["text"][:] == ["a", "b"]
    keys = pq.read_metadata(target).metadata
    assert b"org.apache.spark.sql.parquet.row.metadata" not in keys and b"org.apache.spark.version" in keys


@pytest.mark.parametrize("tool", ["polars", "duckdb", "pandas"])
def test_files_of_other_writers(tmp_path: Path, tool: str) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    frame = pl.DataFrame(
        {
            "id": list(range(30)),
            "text": [None if i % 9 == 0 else f"stone bridge {i}" for i in range(30)],
            "tags": [["a", "b"]] * 30,
            "meta": [{"k": i} for i in range(30)],
            "when": [dt.datetime(2024, 1, 1)] * 30,
        }
    )
    if tool == "polars":
        frame = frame.with_columns(cat=pl.col("text").cast(pl.Categorical), day=pl.col("when").dt.date())
        frame.write_parquet(source, row_group_size=10)
    elif tool == "duckdb":
        duckdb.sql(f"copy frame to '{source}' (format parquet)")
    else:
        frame.to_pandas().to_parquet(source)
    removed = [2, 3, 17]
    result = run(source, target, removed)
    before = pq.read_table(source)
    assert result.schema.equals(before.schema, check_metadata=True)
    assert result.to_pylist() == kept(before, removed)
    assert shape(target) == shape(source)
    index = [i for i in range(30) if i not in removed]
    old, new = pl.read_parquet(source), pl.read_parquet(target)
    assert new.schema == old.schema and new.equals(old[index])
    query = "select * from '{}'"
    assert duckdb.sql(query.format(target)).types == duckdb.sql(query.format(source)).types


def shape(path: Path) -> list[str]:
    """The parquet schema without the name of its root and without a note on int64 that says nothing more."""
    lines = str(pq.ParquetFile(path).schema).splitlines()[2:]
    return [line.replace(" (Int(bitWidth=64, isSigned=true))", "") for line in lines]


def test_large_row_groups_are_read_in_batches_and_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_BATCH_BYTES", 1000)
    monkeypatch.setattr(parquet, "_GROUP_BYTES", 4000)
    table = everything(200)
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table, source, row_group_size=100)
    result = run(source, target, [5])
    before = pq.read_table(source)
    assert repr(result.to_pylist()) == repr(kept(before, [5]))
    meta = pq.ParquetFile(target).metadata
    sizes = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
    assert len(sizes) > 2 and sizes[-1] == 100 and sum(sizes) == 199


def test_a_file_damaged_from_some_row_on(tmp_path: Path) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"text": [f"t{i}" for i in range(30)]}), source, row_group_size=10)
    write_corpus(verdicts(20, [1]), source, target, whole=False)
    assert pq.read_table(target)["text"].to_pylist() == [f"t{i}" for i in range(20) if i != 1]
    write_corpus(verdicts(15), source, target, whole=False)  # not a plain copy
    assert pq.read_table(target).num_rows == 15
    source.write_bytes(b"no parquet")
    assert write_corpus(verdicts(0), source, tmp_path / "c.parquet", whole=False) is None
    assert not (tmp_path / "c.parquet").exists()


def test_a_changed_or_damaged_file_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"text": [f"text {i}" * 50 for i in range(30)]}), source, use_dictionary=False)
    with pytest.raises(ChangedInput, match=r"a\.parquet: .* has 30 rows, 29 were read"):
        write_corpus(verdicts(29, [1]), source, target)
    data = bytearray(source.read_bytes())
    data[40:400] = bytes(360)
    source.write_bytes(data)
    with pytest.raises(DamagedInput, match=r"row group 0 .* cannot be read in all columns.*leave it out"):
        write_corpus(verdicts(30, [1]), source, target)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.parquet"]
