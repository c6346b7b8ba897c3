"""The generator of corpora: one answer however it is cut, copies as like their originals as it says, others unlike."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import oracle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import records

BENCH = Path(__file__).resolve().parents[2] / "bench"
N = 20_000
GOLDEN = "ba mi he justu noporqur yisfa ranvurpus fis"
HASH = "46421f6c2fa9e02fddd4bbb4217485afc287d41fc1645bd6095709e13ffbb293"
spec = importlib.util.spec_from_file_location("bench_generate", BENCH / "generate.py")
assert spec is not None
assert spec.loader is not None
generator = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = generator
spec.loader.exec_module(generator)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> tuple[list[dict], list[dict]]:
    """Documents and truth of a small corpus."""
    out = tmp_path_factory.mktemp("generate") / "c"
    generator.generate(out, N, seed=3, files=3, threads=2)
    documents = [row for path in sorted(out.iterdir()) for row in pq.read_table(path).to_pylist()]
    return documents, pq.read_table(generator.truth_of(out)).to_pylist()


@pytest.mark.parametrize(("files", "ending", "threads"), [(1, "parquet", 1), (7, "jsonl.zst", 2)])
def test_files_and_threads_change_nothing(corpus, tmp_path, files, ending, threads):
    out = tmp_path / "c"
    generator.generate(out, N, seed=3, ending=ending, files=files, threads=threads)
    found = [row for path in sorted(out.iterdir()) for row in records(path)]
    assert found == corpus[0]
    truth = pq.read_table(generator.truth_of(out))
    assert truth.to_pylist() == corpus[1]
    about = json.loads(pq.read_metadata(generator.truth_of(out)).metadata[b"corpus"])
    assert len(about["rows"]) == files
    assert sum(about["rows"].values()) == about["documents"] == N
    assert about["text_bytes"] == sum(len(row["text"]) for row in found)


def test_another_seed_is_another_corpus(corpus):
    table = generator.block(generator.Layout.of(N, 4), 0, 100).table
    assert not set(table["text"].to_pylist()) & {row["text"] for row in corpus[0]}


def test_any_position_by_itself(corpus):
    layout = generator.Layout.of(N, 3)
    for first, last in pairwise((0, 1, 2, 900, 905)):
        assert generator.block(layout, first, last).table.to_pylist() == corpus[0][first:last]


def test_golden_texts():
    """Published figures are about these texts: they must be the same on every machine and for ever."""
    texts = generator.block(generator.Layout.of(N, 7), 0, 2000).table["text"].to_pylist()
    assert texts[4].startswith(GOLDEN)
    assert hashlib.sha256("\n".join(texts).encode()).hexdigest() == HASH


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 4096, 4097])
def test_shuffle_is_a_permutation(n):
    shuffle = generator.Shuffle(n, 12345)
    places = shuffle(np.arange(n))
    assert sorted(places.tolist()) == list(range(n))
    assert shuffle(places, back=True).tolist() == list(range(n))


def test_no_word_is_spelt_twice():
    words = generator.vocabulary().to_pylist()
    assert len({*words}) == len(words) == generator.WORDS
    assert all(word.endswith(" ") and word.strip().isalpha() for word in words)


def test_shape_of_the_corpus(corpus):
    documents, truth = corpus
    assert [row["id"] for row in documents] == [f"d{i:05d}" for i in range(N)]
    words = np.array([row["text"].count(" ") + 1 for row in documents])
    assert words.min() >= 17  # a copy may lose three
    assert words.max() in range(190, 210)
    assert np.mean([len(row["text"]) for row in documents]) > 300
    sizes = sorted(np.unique([row["original"] for row in truth], return_counts=True)[1].tolist())
    assert len(truth) == N // 10
    assert sizes[-1] == N // 100 - 1  # and the original
    assert sizes[-2] == N // 1000
    assert sizes[0] == 1
    assert any(row["original"] > row["copy"] for row in truth)
    assert any(row["original"] < row["copy"] for row in truth)


def test_the_truth_is_true(corpus):
    documents, truth = corpus
    for row in truth:
        true = oracle.jaccard(documents[row["copy"]]["text"], documents[row["original"]]["text"])
        assert row["similarity"] == true
        assert row["planted"] == (true >= 0.8)


def test_similarities_are_spread(corpus):
    similarity = np.array([row["similarity"] for row in corpus[1]])
    shares = np.histogram(similarity, [0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.01])[0] / len(similarity)
    assert similarity.min() > 0.7
    assert 0 < shares[0] < 0.05  # just below, not planted
    assert (shares[1:] > 0.1).all()


def test_texts_of_different_clusters_share_hardly_a_shingle(corpus):
    documents, truth = corpus
    copies = {row["copy"] for row in truth}
    seen: dict[tuple[str, ...], int] = {}
    shared = total = 0
    for i, row in enumerate(documents):
        if i not in copies:
            words = row["text"].rstrip(".").split(" ")
            for shingle in {tuple(words[k : k + 5]) for k in range(len(words) - 4)}:
                shared += seen.setdefault(shingle, i) != i
                total += 1
    assert total > N * 30
    assert shared < 1e-3 * total


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match="at least 1000 documents"):
        generator.generate(tmp_path / "few", 999)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "other").touch()
    with pytest.raises(FileExistsError, match="not empty"):
        generator.generate(tmp_path / "full", 1000)


def test_the_command(tmp_path):
    done = subprocess.run(
        [sys.executable, str(BENCH / "generate.py"), "c", "--documents", "1e3", "--files", "2"],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "1,000 documents" in done.stdout
    assert not done.stderr
    assert pa.concat_tables([pq.read_table(p) for p in sorted((tmp_path / "c").iterdir())]).num_rows == 1000
