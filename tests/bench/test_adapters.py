"""The adapters of the benchmark: what they declare, what they give, and the driver's own parts. No peer is needed."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


def module(name: str):
    """Read a file of bench/ by its path; `adapter` under its own name, since the adapters import it."""
    own = name if name == "adapter" else f"bench_{name}"
    if own not in sys.modules:
        spec = importlib.util.spec_from_file_location(own, BENCH / f"{name}.py")
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[own] = loaded
        spec.loader.exec_module(loaded)
    return sys.modules[own]


adapter, measure, report, truth = (module(n) for n in ("adapter", "measure", "report", "truth"))
NAMES = sorted(p.stem.replace("_", "-") for p in (BENCH / "peers").glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_says_all_that_the_table_needs(name):
    peer = adapter.load(name)
    assert peer.rows and peer.duplicate
    if name != "dejalu":
        assert all(re.search(r"==\d", r) for r in peer.requires), f"{name}: pin the versions"
    for row in peer.rows.values():
        assert row.name and row.setting and row.threads
        assert row.tokens in truth.ABOUT
        assert (row.tokens == "own") <= (peer.shingles is not None), f"{name}: whose tokens are they?"


def test_row_names_are_told_apart():
    names = [row.name for name in NAMES for row in adapter.load(name).rows.values()]
    assert len(names) == len(set(names))


def test_shingles_of_words():
    assert adapter.shingles("A b  c\nd e F") == ["a b c d e", "b c d e f"]
    assert adapter.shingles("a b") == ["a b"]
    assert adapter.shingles(" \n") == []


def test_settling_keeps_the_first_and_never_follows_a_removed_one():
    # 1 is near 0, 2 is near 1 only: it stays. Candidates may name the document itself and later ones.
    found = adapter.settle_candidates(4, iter([(0, [0, 1]), (1, [0, 1, 2]), (2, [1, 2]), (3, [2, 0, 3])]))
    assert found == ([0, 2], [1, 3], [0, 0])


def test_clusters_are_named_by_their_first_document():
    label = adapter.clusters(6, [4, 1, 5], [1, 2, 3])
    assert label == [0, 1, 1, 3, 1, 3]
    answer = adapter.first_of(label)
    assert answer.kept.tolist() == [0, 1, 3]
    assert list(zip(answer.removed.tolist(), answer.twin.tolist(), strict=True)) == [(2, 1), (4, 1), (5, 3)]


def corpus(folder: Path) -> list[str]:
    """Write two small files, in the form that all adapters read."""
    text = "the ferry leaves at noon and returns before the evening tide every day but sunday " * 2
    files = []
    for i, texts in enumerate(([text, "something else"], [text.upper(), "one more", ""])):
        path = folder / f"part-{i}.parquet"
        pq.write_table(pa.table({"id": pa.array(range(2 * i, 2 * i + len(texts))), "text": texts}), path)
        files.append(str(path))
    return files


def test_our_own_adapter_from_files_to_ids(tmp_path):
    files = corpus(tmp_path)
    ids, texts = adapter.ids_and_texts(files)
    assert ids.tolist() == [0, 1, 2, 3, 4] and texts[1] == "something else"
    (tmp_path / "scratch").mkdir()
    answer = adapter.load("dejalu").rows["dejalu"].run(files, tmp_path / "scratch")
    assert (answer.kept.tolist(), answer.removed.tolist(), answer.twin.tolist()) == ([0, 1, 3, 4], [2], [0])


def test_what_the_runner_writes(tmp_path, monkeypatch):
    answer = adapter.Answer(kept=np.array([0, 1]), removed=[2], twin=[0], notes={"bands": 3})
    row = adapter.Row("a tool", "as it is", "words", lambda files, scratch: answer)
    monkeypatch.setattr(adapter, "load", lambda name: adapter.Peer("a tool", ("numpy==1",), "equal", {"r": row}))
    adapter.main("tool", "r", str(tmp_path), [])
    assert pq.read_table(tmp_path / "kept.parquet")["id"].to_pylist() == [0, 1]
    assert pq.read_table(tmp_path / "removed.parquet").to_pylist() == [{"id": 2, "twin": 0}]
    cost = json.loads((tmp_path / "cost.json").read_text())
    assert cost["peak"] > 1e6 and cost["versions"] == {"numpy": np.__version__} and cost["notes"] == {"bands": 3}


def test_a_command_is_measured(tmp_path):
    work = "x = bytearray(60_000_000); x[::4096] = b'1' * len(x[::4096]); t = sum(range(3_000_000)); print('done')"
    cost = measure.measure([sys.executable, "-c", work], log=tmp_path / "log", limit=60)
    assert cost.code == 0 and cost.output.strip() == "done"
    assert 0.02 < cost.cpu < 30 and cost.wall > 0.01 and cost.others >= 0


def test_children_are_counted_and_a_limit_ends_all(tmp_path):
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    cost = measure.measure([sys.executable, "-c", child], log=tmp_path / "log", limit=0.3)
    assert cost.code is None and cost.wall < 20


def row(name: str, peer: str, speed: float, **more) -> dict:
    """One line of results."""
    line = {
        "name": name, "peer": peer, "megabytes": 200.0, "mb_per_s": speed, "cpu": 200 / speed, "start_up": 0.5,
        "wall": 1.0, "others": 0.0, "peak": 500e6, "recall": 0.96, "left": 40, "removable": 1000, "removed": 990,
        "with_twin": 950, "with_any": 980, "precision": 0.95, "pair_recall": 0.9, "pair_precision": None,
        "largest": None, "same_twice": True, "tokens": "words", "versions": {"x": "1"}, "python": "3", "setting": "s",
        "threads": "1", "duplicate": "d",
    }  # fmt: skip
    return line | more


def results(*rows: dict) -> dict:
    return {
        "version": "0", "when": "now", "quick": True, "missing": {"absent": "no wheel"}, "rows": list(rows), "hard": {},
        "machine": {"cpu": "c", "cores": 2, "memory": 1e9, "python": "3"}, "load_before": 0.0, "load_after": 0.0,
        "corpus": {"documents": 1, "megabytes": 200.0, "part_megabytes": 4.0}, "seconds": 1.0,
    }  # fmt: skip


def test_targets_are_judged_and_misses_are_said():
    ours = row("dejalu", "dejalu", 200.0, left=0, removed=1000, with_twin=1000, recall=1.0, precision=1.0)
    fast = row("fast but blind", "a", 90.0, recall=0.5)
    good = row("good", "b", 20.0, peak=400e6)
    said = report.verdicts(results(ours, fast, good, row("slow", "datatrove", 1.0)))
    by_word = {sentence.split(":")[0][:60]: met for met, sentence in said}
    assert said[0][0] is True and "10.0 ×" in said[0][1] and "(good, 20.0" in said[0][1]
    assert said[1][0] is False and "400 MB" in said[1][1]  # memory: missed, and said
    assert any(met and "200 ×" in s and "slow" in s for met, s in said)
    assert any("good (400 MB" in s for _, s in said), by_word
    worse = report.verdicts(results(row("dejalu", "dejalu", 100.0, left=11, with_twin=989), good))
    assert [met for met, _ in worse].count(False) >= 4
    assert "MISSED" in report.text(results(row("dejalu", "dejalu", 100.0), good))


def test_the_page_shows_every_row_and_every_absence():
    page = report.markdown(results(row("dejalu", "dejalu", 200.0), row("other", "b", 20.0, recall=0.99999)))
    assert "| dejalu | 200 |" in page and "No figure for absent: no wheel" in page
    assert "99.9990" in page  # not quite everything is never printed as 100
