"""What others see in the output folder: pyarrow, polars, DuckDB, pandas, datasets find the kept rows, nothing else."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from pathlib import Path

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from running import dejalu, evidence_of


def rows(first: int, n: int) -> list[dict]:
    """Rows of which every third repeats the one before it."""
    return [
        {
            "id": i,
            "text": f"page {i - (i % 3 == 2)} tells of the lock keeper and the barge that came at night",
            "when": dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=i),
            "tags": [str(i % 5)],
        }
        for i in range(first, first + n)
    ]


def kept(n: int) -> list[int]:
    return [i for i in range(n) if i % 3 != 2]


@pytest.fixture(scope="module")
def parquet(tmp_path_factory) -> Path:
    here = tmp_path_factory.mktemp("parquet")
    (here / "in" / "sub").mkdir(parents=True)
    schema = pa.Table.from_pylist(rows(0, 1)).schema
    for i, name in enumerate(["a", "b", "c"]):
        table = pa.Table.from_pylist(rows(i * 30, 30), schema=schema)
        pq.write_table(table, here / "in" / f"{name}.parquet", row_group_size=7, compression="zstd")
    # One file that loses everything, in a sub-folder.
    pq.write_table(pa.Table.from_pylist(rows(0, 6), schema=schema), here / "in" / "sub" / "z.parquet")
    dejalu("dedup", "in", "-o", "clean", "--threshold", 1, cwd=here)
    return here


def test_only_the_corpus_is_there(parquet):
    names = sorted(p.relative_to(parquet / "clean").as_posix() for p in (parquet / "clean").rglob("*") if p.is_file())
    assert names == ["a.parquet", "b.parquet", "c.parquet", "sub/z.parquet"]
    report = evidence_of(parquet / "clean").report
    assert (report["read"], report["kept"]) == (96, 60)


def test_pyarrow(parquet):
    table = pyarrow.dataset.dataset(parquet / "clean", format="parquet").to_table()
    assert table["id"].to_pylist() == kept(90)
    before = pq.read_table(parquet / "in" / "a.parquet")
    after = pq.read_table(parquet / "clean" / "a.parquet")
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after.equals(before.filter(pa.array([i % 3 != 2 for i in range(30)])))


def test_polars(parquet):
    assert pl.scan_parquet(parquet / "clean" / "**" / "*.parquet").collect()["id"].to_list() == kept(90)


def test_duckdb(parquet):
    found = duckdb.sql(f"select id from '{parquet}/clean/**/*.parquet' order by id").fetchall()
    assert [i for (i,) in found] == kept(90)


def test_pandas(parquet):
    assert pd.read_parquet(parquet / "clean")["id"].tolist() == kept(90)


def test_datasets(parquet, tmp_path):
    found = datasets.load_dataset(str(parquet / "clean"), split="train", cache_dir=str(tmp_path))
    assert sorted(found["id"]) == kept(90)
    assert found.column_names == ["id", "text", "when", "tags"]


def test_json_lines(tmp_path):
    (tmp_path / "in").mkdir()
    for i, name in enumerate(["a", "b"]):
        with gzip.open(tmp_path / "in" / f"{name}.jsonl.gz", "wt") as f:
            for row in rows(i * 30, 30):
                f.write(json.dumps({**row, "when": row["when"].isoformat()}) + "\n")
    dejalu("dedup", "in", "-o", "clean", "--threshold", 1, cwd=tmp_path)
    pattern = str(tmp_path / "clean" / "*.jsonl.gz")
    assert [i for (i,) in duckdb.sql(f"select id from read_json('{pattern}') order by id").fetchall()] == kept(60)
    assert pl.read_ndjson(gzip.decompress((tmp_path / "clean" / "a.jsonl.gz").read_bytes()))["id"].to_list() == kept(30)
    found = datasets.load_dataset("json", data_files=pattern, split="train", cache_dir=str(tmp_path / "cache"))
    assert sorted(found["id"]) == kept(60)
    assert pd.read_json(tmp_path / "clean" / "b.jsonl.gz", lines=True)["id"].tolist() == [
        i for i in kept(60) if i >= 30
    ]
