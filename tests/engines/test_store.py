"""The store keeps whole tables, and nothing that a killed run half wrote."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dejalu.engines import FileStore, Local, MemoryStore, SpillStore
from dejalu.errors import StoreError

TABLE = pa.table({"a": [1, 2, 3], "t": ["x", "y", None]}).replace_schema_metadata({b"k": b"v"})


@pytest.fixture(params=["memory", "files", "spilling", "spilling from the start"])
def store(request, tmp_path):
    if request.param == "memory":
        return MemoryStore()
    if request.param == "files":
        return FileStore(tmp_path / "store")
    return SpillStore(0 if "start" in request.param else 200, lambda: FileStore(tmp_path / "store"))


def test_what_was_put_is_got(store):
    assert not store.has("s/1")
    store.put("s/1", TABLE)
    assert store.has("s/1")
    assert store.get("s/1").equals(TABLE, check_metadata=True)
    store.drop("s/1")
    assert not store.has("s/1")
    with pytest.raises(StoreError):
        store.get("s/1")


def test_some_columns_of_a_table(store):
    store.put("s/2", TABLE)
    assert store.get("s/2", ["t"]).to_pydict() == {"t": ["x", "y", None]}
    assert store.get("s/2", ["t", "a"]).schema.names == ["t", "a"]
    assert store.get("s/2", []).schema.names == []
    store.stream("s/3", TABLE.schema, [TABLE.to_batches()[0].slice(i, 1) for i in range(3)])
    assert [store.batch("s/3", i).column(0)[0].as_py() for i in range(3)] == [1, 2, 3]


def test_a_note_is_asked_after_the_last_batch(store):
    seen = []

    def batches():
        for batch in TABLE.to_batches():
            seen.append(batch.num_rows)
            yield batch

    store.stream("noted", TABLE.schema, batches(), lambda: f"{sum(seen)} rows")
    assert store.note("noted") == "3 rows"
    store.stream("plain", TABLE.schema, [])
    assert store.note("plain") == ""
    assert store.get("plain").num_rows == 0


def test_another_process_finds_whole_tables_only(tmp_path):
    FileStore(tmp_path).put("one", TABLE)
    FileStore(tmp_path).put("two", TABLE)
    FileStore(tmp_path).put("three", TABLE)
    damaged = bytearray((tmp_path / "two.table").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "two.table").write_bytes(damaged)  # a flipped bit
    (tmp_path / "three.table").write_bytes((tmp_path / "three.table").read_bytes()[:-5])
    (tmp_path / "four.table").write_bytes((tmp_path / "one.table").read_bytes())  # killed before it was vouched for
    again = FileStore(tmp_path)
    assert [again.has(name) for name in ("one", "two", "three", "four")] == [True, False, False, False]
    assert again.get("one").equals(TABLE)


def test_work_files_never_look_like_data(tmp_path):
    FileStore(tmp_path).put("sketch/0", TABLE)
    suffixes = {p.suffix for p in tmp_path.rglob("*") if p.is_file()}
    assert suffixes == {".table", ".ok"}


@pytest.mark.parametrize("threads", [1, 4])
def test_local_engine_keeps_the_order_of_items(threads):
    assert Local(threads).map(lambda x: x * x, range(50)) == [x * x for x in range(50)]


@pytest.mark.parametrize("threads", [1, 4])
def test_local_engine_raises_what_a_task_raised(threads):
    def task(x):
        if x == 3:
            raise ValueError("three")
        return x

    with pytest.raises(ValueError, match="three"):
        Local(threads).map(task, range(8))


def test_tables_beyond_the_limit_go_to_files_and_free_their_share(tmp_path):
    size = TABLE.nbytes
    store = SpillStore(2 * size, lambda: FileStore(tmp_path / "store"))
    for i in range(4):
        store.put(f"t/{i}", TABLE)
    assert len(list(tmp_path.rglob("*.table"))) == 2
    store.drop("t/0")
    store.put("t/4", TABLE)
    assert len(list(tmp_path.rglob("*.table"))) == 2
    assert all(store.get(f"t/{i}").equals(TABLE) for i in (1, 2, 3, 4))


def test_what_changes_after_it_was_written_is_noticed(tmp_path):
    store = FileStore(tmp_path)
    for name in ("column", "batch", "whole"):
        store.put(name, TABLE)
        data = bytearray((tmp_path / f"{name}.table").read_bytes())
        data[data.index(b"\x01\0\0\0\0\0\0\0\x02")] = 9  # the first value of column a
        (tmp_path / f"{name}.table").write_bytes(data)
    assert store.get("column", ["t"]).num_rows == 3  # which it does not touch
    for read in (lambda: store.get("column", ["a"]), lambda: store.batch("batch", 0), lambda: store.get("whole")):
        with pytest.raises(StoreError, match="content has changed"):
            read()
    assert not store.has("whole")
