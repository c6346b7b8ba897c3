"""A memory budget changes what is held, never what is found."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dejalu
from dejalu import flow
from dejalu.errors import UsageError
from dejalu.plan import Execution
from dejalu.run.budget import Budget
from dejalu.run.meter import Silent

N = 70_000  # beyond what 64 MiB hold as compact sketches


def texts() -> list[str]:
    """Short texts; every seventh repeats an earlier one, with a word changed or as it is."""
    rng = np.random.default_rng(5)
    words = rng.integers(0, 50_000, (N, 30))
    for i in range(7, N, 7):
        words[i] = words[rng.integers(0, i)]
        if i % 3:
            words[i, rng.integers(0, 30)] = 77
    return [" ".join(f"w{w}" for w in row) for row in words.tolist()]


def test_the_same_answer_in_little_memory(tmp_path):
    collection = texts()
    plenty = dejalu.dedup(collection, threads=1)
    assert plenty.report["removed_near"] > 100
    assert plenty.report["removed_equal"] > 100
    for threads in (1, 2):
        tight = dejalu.dedup(collection, memory="64MiB", text_cache=1 << 20, tmp=tmp_path, threads=threads)
        np.testing.assert_array_equal(tight.twin, plenty.twin)
        np.testing.assert_array_equal(tight.similarity, plenty.similarity)
        assert tight.report["digest"] == plenty.report["digest"]
    assert list(tmp_path.iterdir()) == []


class Stopped(Exception):
    pass


class StopsAfter(Silent):
    """Ends a run when so many partitions are settled."""

    def __init__(self, settled: int) -> None:
        self.left = settled

    def advance(self, stage: str, n: int) -> None:
        if stage == "verify":
            self.left -= 1
            if not self.left:
                raise Stopped


@pytest.mark.parametrize(("before", "after"), [("8GB", "64MiB"), ("64MiB", "8GB")])
def test_resumed_with_another_budget(tmp_path, before, after):
    """Other work groups come of another budget: what was settled of the first ones must not be mixed with them."""
    table = pa.table({"text": [*texts(), *chain_of_near_copies()]})
    pq.write_table(table, tmp_path / "one.parquet")
    whole = dejalu.dedup(table)
    how = {"threads": 1, "partitions": 4, "store": "files", "text_cache": 0}
    for settled in (1, 2, 3):
        out = tmp_path / f"out-{settled}"
        with pytest.raises(Stopped):
            flow.run(
                [tmp_path / "one.parquet"],
                out,
                execution=Execution(memory=before, **how),
                progress=StopsAfter(settled),
            )
        result = dejalu.dedup([tmp_path / "one.parquet"], out, resume=True, memory=after, **how)
        np.testing.assert_array_equal(result.twin, whole.twin)
        np.testing.assert_array_equal(result.similarity, whole.similarity)


def chain_of_near_copies() -> list[str]:
    """Chains of texts that share a band now and then: the test of pairs parts many, joining buckets whole does not."""
    rng = np.random.default_rng(6)
    found = []
    for chain in range(300):
        words = rng.integers(0, 50_000, 60)
        for _ in range(12):
            words = words.copy()
            words[rng.integers(0, 60, 2)] = rng.integers(0, 50_000, 2)
            found.append(" ".join(f"c{chain}x{w}" for w in words.tolist()))
    return found


def test_pieces_of_one_file_partly_in_memory(tmp_path, monkeypatch):
    """Texts come from memory for some pieces of a file and from the file for others, in any order."""
    from dejalu.read import parquet

    monkeypatch.setattr(parquet, "PIECE_BYTES", 200_000)
    table = pa.table({"text": texts()[:20_000]})
    pq.write_table(table, tmp_path / "one.parquet", row_group_size=1_000)
    plenty = dejalu.dedup(table)
    assert plenty.report["removed_near"] > 50
    for cache in (300_000, 1_000_000, 2_000_000):
        for threads in (1, 2):
            tight = dejalu.dedup(tmp_path / "one.parquet", text_cache=cache, threads=threads, partitions=5)
            np.testing.assert_array_equal(tight.twin, plenty.twin)
            np.testing.assert_array_equal(tight.similarity, plenty.similarity)


@pytest.mark.parametrize(
    ("given", "size"),
    [(0, 0), ("600MB", 600_000_000), ("2GB", 2 * 10**9), ("1.5GiB", 3 << 29), (" 64 MiB", 1 << 26), ("70m", 70 << 20)],
)
def test_amounts_of_memory(given, size):
    assert Execution(memory=given).memory == size


@pytest.mark.parametrize("given", ["1MB", 5, -1, "much", "2XB", True, None, "GB"])
def test_amounts_that_are_none(given):
    with pytest.raises(UsageError, match="memory="):
        Execution(memory=given)


def test_shares_stay_within_the_budget():
    for memory in (64 << 20, 600_000_000, 2_000_000_000, 64 << 30):
        for threads in (1, 2, 64):
            budget = Budget.of(Execution(memory=memory, threads=threads), 0)
            assert budget.total == memory
            assert budget.texts + budget.sketches + budget.packed + budget.members <= memory
            assert threads * budget.rows * 12 <= max(memory // 4, threads << 20)
            assert threads * (budget.batch + budget.buffer + budget.settle) <= max(memory // 4, 3 * threads << 20)
    assert Budget.of(Execution(threads=1), 16 << 30).total == 8 << 30
