"""Every method through the command line: dedup, show and apply on its evidence."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import dejalu, tree

import dejalu as library

METHODS = {
    "short": (),
    "auto": (),
    "containment": (),
    "tfidf": (),
    "cosine": ("--method", "tfidf", "--measure", "cosine"),
    "simhash": ("--distance", "8"),
    "verified": ("--method", "simhash", "--distance", "8", "--verify", "jaccard"),
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    r = random.Random(3)
    texts = []
    for _ in range(200):
        words = r.choice(texts).split() if texts and r.random() < 0.6 else [f"w{r.randrange(300)}" for _ in range(60)]
        words[r.randrange(len(words))] = f"w{r.randrange(300)}"
        texts.append(" ".join(words))
    folder = tmp_path_factory.mktemp("methods")
    (folder / "in").mkdir()
    pq.write_table(pa.table({"id": [f"d{i}" for i in range(200)], "text": texts}), folder / "in" / "a.parquet")
    return folder


@pytest.mark.parametrize("name", METHODS)
def test_evidence_is_shown_and_applied(here, name):
    given = METHODS[name]
    options = given if "--method" in given else ("--method", name, *given)
    dejalu("dedup", "in", "-o", name, "--threshold", "0.7", *options, cwd=here)
    removed = pq.read_table(here / f"{name}-evidence" / "removed" / "a.parquet.parquet")
    assert removed.num_rows > 20
    assert ("distance" in removed.column_names) == (name in ("simhash", "verified"))
    shown = dejalu("show", f"{name}-evidence", "--limit", "3", cwd=here).stdout
    measure = removed.column("measure")[0].as_py()
    assert ("simhash, an estimate, distance" if name == "simhash" else measure) in shown
    dejalu("apply", f"{name}-evidence", "-o", f"{name}-again", cwd=here)
    assert tree(here / f"{name}-again") == tree(here / name)
    dejalu("dedup", "in", "-o", name, "--threshold", "0.7", *options, "--resume", cwd=here)


@pytest.mark.parametrize("method", ["short", "containment", "tfidf", "simhash"])
def test_results_in_memory_are_shown(here, method, capsys):
    texts = pq.read_table(here / "in" / "a.parquet").column("text")
    result = library.dedup(texts, method=method, threshold=0.7, distance=8)
    result.show(2)
    assert f"method {method}" in capsys.readouterr().out
    assert result.examples(1)
    assert "removed" in repr(result)
