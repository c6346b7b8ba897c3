"""Batches put together: the same rows in the same order, whatever the sizes, with nulls, slices and long texts."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dejalu.data import Docs, Input
from dejalu.read import blocks, parquet
from dejalu.read.columns import Ask

TEXTS = st.lists(st.one_of(st.none(), st.text(max_size=12), st.just("long " * 9)), max_size=40)


def cut(texts: list[str | None], step: int, kind: pa.DataType) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Slices of one batch, so that offsets begin anywhere."""
    whole = pa.record_batch({"id": pa.array(range(len(texts)), pa.int64()), "text": pa.array(texts, kind)})
    for first in range(0, len(texts), step):
        yield first, whole.slice(first, step)


@given(
    TEXTS, st.integers(1, 9), st.integers(0, 60), st.integers(0, 400), st.sampled_from([pa.string(), pa.large_string()])
)
def test_same_rows(texts: list[str | None], step: int, size: int, total: int, kind: pa.DataType) -> None:
    found = list(blocks.together(cut(texts, step, kind), "text", size, total))
    rows = [row for _, batch in found for row in batch.to_pylist()]
    assert rows == [{"id": i, "text": text} for i, text in enumerate(texts)]
    firsts = [first for first, _ in found]
    assert firsts == [batch.column(0)[0].as_py() for _, batch in found]
    for _, batch in found:
        batch.validate(full=True)


@given(TEXTS, st.integers(1, 9))
def test_nothing_is_kept_of_a_decoded_batch(texts: list[str | None], step: int) -> None:
    """All texts together need one block, and no batch is larger than it may be."""
    found = list(blocks.together(cut(texts, step, pa.string()), "text", 1 << 16, 1 << 16))
    assert len(found) == bool(texts)
    if found:
        assert found[0][1].schema.field("text").type == pa.large_string()


@pytest.mark.parametrize("dictionary", [False, True])
def test_parquet_in_steps(tmp_path, monkeypatch, dictionary: bool) -> None:
    """A file read in many small steps gives the batches' documents as they are, in batches of the size asked for."""
    texts = [None if i % 17 == 0 else f"text {i} " * (i % 23) for i in range(3000)]
    table = pa.table({"id": pa.array(range(3000)), "text": pa.array(texts, pa.string())})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=700, use_dictionary=dictionary, data_page_size=2000)
    monkeypatch.setattr(blocks, "STEP", 3000)
    input = Input(
        part=0, file="a.parquet", path=str(path), format="parquet", compression="", size=path.stat().st_size, mtime_ns=0
    )
    columns = parquet.resolve(input, Ask())
    docs: list[Docs] = []
    for piece in parquet.pieces(input, columns):
        docs += parquet.read(
            input,
            piece,
            columns,
            batch_bytes=20_000,
            batch_rows=None,
            on_problem=lambda problem: pytest.fail(str(problem)),
        )
    assert [text for d in docs for text in d.text.to_pylist()] == texts
    assert [int(i) for d in docs for i in d.ids] == list(range(3000))
    assert all(d.text.nbytes <= 20_000 + 9 * len(d) for d in docs)
    assert len(docs) < 30
