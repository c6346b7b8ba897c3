"""from_memory: every kind of source reads alike, and is filtered as its own type."""

from __future__ import annotations

from pathlib import Path

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dejalu.errors import UsageError
from dejalu.read import from_memory, is_paths

from .helpers import merge

WORDS = ["a note", None, "", "é中", "nan"]
TABLE = pa.table({"id": [1, 2, 3, 4, 5], "text": WORDS, "lang": ["en", "en", None, "zh", "en"]})
KEEP = np.array([True, False, True, True, False])

COLUMNS = {
    "list": WORDS,
    "tuple": tuple(WORDS),
    "numpy object": np.array(WORDS, object),
    "pandas object": pd.Series(WORDS, dtype=object, index=[9, 8, 7, 6, 5]),
    "pandas str": pd.Series(WORDS, dtype="str", index=list("abcde")),
    "pandas arrow": pd.Series(WORDS, dtype=pd.ArrowDtype(pa.large_string())),
    "pandas category": pd.Series(WORDS, dtype="category"),
    "polars": pl.Series(WORDS),
    "arrow": pa.array(WORDS),
    "arrow view": pa.array(WORDS, pa.string_view()),
    "arrow dictionary": pa.array(WORDS).dictionary_encode(),
    "arrow chunked": pa.chunked_array([WORDS[:2], [], WORDS[2:]]),
    "arrow sliced": pa.array(["x", *WORDS, "y"])[1:-1],
}
TABLES = {
    "pandas": TABLE.to_pandas().set_index(pd.Index([4, 3, 2, 1, 0])),
    "pandas object": TABLE.to_pandas().astype({"text": object}),
    "polars": pl.from_arrow(TABLE),
    "arrow": TABLE,
    "arrow chunks": pa.concat_tables([TABLE[:2], TABLE[2:2], TABLE[2:]]),
    "arrow batch": TABLE.to_batches()[0],
    "datasets": datasets.Dataset(TABLE),
    "datasets shuffled": datasets.Dataset(TABLE.take([4, 3, 2, 1, 0])).select([4, 3, 2, 1, 0]),
}


def docs(source, part=0, **ask):
    memory = from_memory(source)
    columns = memory.resolve(part, **ask)
    whole = merge(memory.batches(part, columns))
    assert (
        whole
        == merge(memory.batches(part, columns, batch_rows=1))
        == merge(memory.batches(part, columns, batch_bytes=3))
    )
    n = memory.lengths[part]
    some = merge(memory.rows(part, columns, np.arange(1, n, 2)))
    assert some == {k: v[1::2] for k, v in whole.items()} or n < 2
    return whole


@pytest.mark.parametrize("source", COLUMNS.values(), ids=COLUMNS)
def test_columns_read_alike(source):
    assert docs(source) == {"row": [0, 1, 2, 3, 4], "text": [None if w is None else w.encode() for w in WORDS]}
    (only,) = from_memory(source).inputs
    assert (only.part, only.file, only.format) == (0, "memory", "memory")


@pytest.mark.parametrize("source", TABLES.values(), ids=TABLES)
def test_tables_read_alike(source):
    expected = {
        "row": [0, 1, 2, 3, 4],
        "text": [None if w is None else w.encode() for w in WORDS],
        "id": [1, 2, 3, 4, 5],
        "lang": ["en", "en", None, "zh", "en"],
    }
    assert docs(source, extra=("lang",)) == expected


def listed(x):
    if hasattr(x, "to_pylist"):
        return x.to_pylist()
    if isinstance(x, pd.DataFrame):
        return [None if pd.isna(v) else v for v in x["text"]]
    if isinstance(x, pd.Series):
        return [None if pd.isna(v) else v for v in x]
    return x.to_dicts() if isinstance(x, pl.DataFrame) else list(x)


@pytest.mark.parametrize(
    "source", [*COLUMNS.values(), *TABLES.values()], ids=[*COLUMNS, *(f"table {t}" for t in TABLES)]
)
def test_filter_gives_the_same_type_and_keeps_the_index(source):
    kept = from_memory(source).filter(KEEP)
    assert type(kept) is type(source)
    rows = listed(kept)
    assert len(rows) == 3
    assert [r if isinstance(r, str) else r["text"] for r in rows] == ["a note", "", "é中"]
    if isinstance(source, pd.Series | pd.DataFrame):
        assert kept.index.tolist() == [source.index[i] for i in (0, 2, 3)]


def test_a_dataset_dict_is_one_part_per_split():
    source = datasets.DatasetDict({"train": datasets.Dataset(TABLE), "test": datasets.Dataset(TABLE[:2])})
    memory = from_memory(source)
    assert [(i.part, i.file) for i in memory.inputs] == [(0, "train"), (1, "test")]
    assert len(memory) == 7 and memory.lengths == (5, 2)
    assert docs(source, 1)["id"] == [1, 2]
    kept = memory.filter(np.array([True] * 4 + [False] * 2 + [True]))
    assert isinstance(kept, datasets.DatasetDict)
    assert {k: v["id"] for k, v in kept.items()} == {"train": [1, 2, 3, 4], "test": [2]}


def test_streams_and_foreign_tables():
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=2))
    memory = from_memory(reader)
    assert merge(memory.batches(0))["id"] == merge(memory.batches(0))["id"] == [1, 2, 3, 4, 5]
    assert memory.filter(KEEP).column("id").to_pylist() == [1, 3, 4]

    class Foreign:
        def __init__(self, inner):
            self.inner = inner

        def __arrow_c_stream__(self, schema=None):
            return self.inner.__arrow_c_stream__(schema)

    assert docs(Foreign(TABLE))["id"] == [1, 2, 3, 4, 5]
    assert docs(Foreign(pa.chunked_array([WORDS])))["row"] == [0, 1, 2, 3, 4]

    class ForeignArray:
        def __arrow_c_array__(self, schema=None):
            return TABLE.to_batches()[0].__arrow_c_array__(schema)

    assert docs(ForeignArray())["id"] == [1, 2, 3, 4, 5]
    assert docs(duckdb.sql("select 1 as id, 'x' as text union all select 2, null order by 1"))["text"] == [b"x", None]


def test_lone_surrogates_go_through_as_bytes():
    for source in (["ok", "lone \ud835", None], pd.Series(["ok", "lone \ud835", None], dtype=object)):
        assert docs(source)["text"] == [b"ok", b"lone \xed\xa0\xb5", None]


def test_empty_sources():
    for source in ([], (), np.array([], object), pa.array([], pa.string()), pl.Series([], dtype=pl.String), TABLE[:0]):
        assert docs(source)["row"] == []
        assert len(from_memory(source).filter(np.zeros(0, bool))) == 0
    assert docs(pd.Series([], dtype=object))["row"] == []
    assert docs([None, None])["text"] == [None, None]


def test_nested_dictionary_and_joined_columns():
    table = pa.table({"m": [{"t": "x"}, None], "d": pa.array(["u", "v"]).dictionary_encode(), "id": ["a", "b"]})
    assert docs(table, text_columns=("m.t",))["text"] == [b"x", None]
    assert docs(table, text_columns=("d", "m.t"))["text"] == [
        "u\U0001fffd\x1f\x1ex".encode(),
        "v\U0001fffd\x1f\x1e".encode(),
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (["a", 5], "item 1 is an int"),
        (["a", None, b"b"], "item 2 is a bytes .*decode"),
        (["a", float("nan")], "item 1 is a float"),
        (pd.Series(["a", 5], dtype=object), "item 1 is an int"),
        (np.zeros((2, 2)), "needs strings in one dimension"),
        ({"a": 1}, "dict: cannot be read"),
        (7, "int: cannot be read"),
        (pl.LazyFrame({"text": ["a"]}), "collect"),
        (datasets.IterableDataset.from_generator(lambda: iter(())), "is a stream"),
    ],
)
def test_what_cannot_be_read_is_refused(source, message):
    with pytest.raises(UsageError, match=message):
        from_memory(source)


def test_columns_are_refused_in_words():
    with pytest.raises(UsageError, match="a list of texts has no columns"):
        from_memory(["a"]).resolve(text_columns=("text",))
    with pytest.raises(UsageError, match="holds int64, not text"):
        from_memory(pa.array([1])).resolve()
    with pytest.raises(UsageError, match=r"title: 'T'; abstract: 'A'"):
        from_memory(pl.DataFrame({"title": ["T"], "abstract": ["A"]})).resolve()
    with pytest.raises(UsageError, match="has no column 'x'; it has id, text, lang"):
        from_memory(TABLE).resolve(extra=("x",))
    with pytest.raises(UsageError, match=r"mixed.*not text"):
        from_memory(pd.DataFrame({"text": ["a", 5]}, dtype=object)).resolve(text_columns="text")
    with pytest.raises(UsageError, match="keep has 2 entries, and the source 1 rows"):
        from_memory(["a"]).filter(np.array([True, False]))


def test_is_paths():
    assert is_paths("a.txt") and is_paths(Path("a.txt")) and is_paths([Path("a"), Path("b")])
    assert is_paths(["a", "b"], to="out") and is_paths(("a",), "out")
    assert not is_paths(["a", "b"]) and not is_paths([Path("a"), "b"]) and not is_paths([])
    assert not is_paths(TABLE, to="out") and not is_paths(pd.Series(["a"]))
