"""`dejalu sketch`: one row per document in input order, the library's sketches, the same bytes for any threads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dejalu
from dejalu import errors, represent
from dejalu.plan import Execution
from dejalu.run import sketches
from dejalu.run.sketches import Sketching
from dejalu.run.sketching import sketch_files

RUN = "from dejalu.cli import main; main()"
SPECS: list[dict[str, Any]] = [
    {"method": "minhash"},
    {"method": "minhash", "slots": 30, "shingle": 2, "unit": "char"},
    {"method": "simhash"},
    {"method": "simhash", "bits": 128, "weights": "none", "shingle": 2},
    {"method": "bottom-k"},
    {"method": "bottom-k", "k": 3},
    {"method": "bottom-k", "scaled": 4, "shingle": 3, "unit": "char"},
]


def texts(n: int, seed: int = 5) -> list[str | None]:
    rng = np.random.default_rng(seed)
    words = [f"word{i}" for i in range(200)] + ["河流", "ab."]
    out: list[str | None] = [
        " ".join(words[w] for w in rng.integers(0, len(words), rng.integers(0, 60))) for _ in range(n)
    ]
    out[1], out[2] = None, "…"
    return out


def folder(path: Path, n: int = 400) -> Path:
    """Four formats of input; only some have an id."""
    path.mkdir()
    some = texts(n)
    pq.write_table(pa.table({"text": some, "id": list(range(n))}), path / "a.parquet", row_group_size=90)
    with (path / "b.jsonl").open("w", encoding="utf-8") as f:
        for i, text in enumerate(texts(n, 6)):
            f.write(json.dumps({"id": None if i % 7 == 0 else i if i % 2 else f"x{i}", "text": text}) + "\n")
    pq.write_table(pa.table({"text": texts(50, 7)}), path / "c.parquet")
    (path / "d.txt").write_text("a text file of its own", "utf-8")
    return path


def made(what: Sketching, source: Path, to: Path, **more: Any) -> pa.Table:
    sketch_files([source], to, what, **more)
    return pq.read_table(to)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_same_bytes_for_every_way_of_running(
    spec: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sketches, "GROUP", 1 << 12)  # several row groups
    source = folder(tmp_path / "in")
    what = Sketching.of(**spec)
    found = set()
    for i, execution in enumerate(
        [Execution(threads=1), Execution(threads=3), Execution(threads=2, batch_rows=7), Execution(memory="64MiB")]
    ):
        to = tmp_path / f"{i}.parquet"
        assert sketch_files([source], to, what, execution=execution).texts == 851
        found.add(to.read_bytes())
    assert len(found) == 1
    assert pq.ParquetFile(to).num_row_groups == -(-851 // what.group)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.parquet", "1.parquet", "2.parquet", "3.parquet", "in"]


def test_rows_and_ids(tmp_path: Path) -> None:
    table = made(Sketching.of("minhash"), folder(tmp_path / "in"), tmp_path / "s.parquet")
    assert table.column_names == ["file", "row", "id", "tokens", "sketch"]
    assert table.column("file").to_pylist() == ["a.parquet"] * 400 + ["b.jsonl"] * 400 + ["c.parquet"] * 50 + ["d.txt"]
    assert table.column("row").to_pylist() == [*range(400), *range(400), *range(50), 0]
    ids = table.column("id").to_pylist()
    assert ids[:3] == ["0", "1", "2"] and ids[400:404] == [None, "1", "x2", "3"] and ids[800:] == [None] * 51
    tokens = table.column("tokens").to_pylist()
    assert tokens[1:3] == [None, 0] and tokens[-1] == 6
    plain = tmp_path / "plain.txt"
    plain.write_text("one", "utf-8")
    assert "id" not in made(Sketching.of("minhash"), plain, tmp_path / "p.parquet").column_names


def test_minhash_is_the_library_s(tmp_path: Path) -> None:
    table = made(Sketching.of("minhash", slots=64, shingle=3), folder(tmp_path / "in"), tmp_path / "s.parquet")
    signatures = table.column("sketch").combine_chunks().flatten().to_numpy().reshape(-1, 64)
    assert signatures.dtype == np.uint32
    some = ["" if t is None else t for t in texts(400)]
    assert (signatures[:400] == dejalu.minhash(some, slots=64, shingle=3)).all()


def test_bottom_k_is_the_library_s(tmp_path: Path) -> None:
    source = folder(tmp_path / "in")
    some = ["" if t is None else t for t in texts(400)]
    for spec in ({"k": 20}, {"scaled": 3}):
        table = made(Sketching.of("bottom-k", shingle=2, **spec), source, tmp_path / f"{spec}.parquet")
        ours = represent.BottomK.from_table(table)
        theirs = represent.bottom_k(
            [pa.array(some, pa.large_string())],
            k=spec.get("k", 0),
            scaled=spec.get("scaled", 0),
            shingle=2,
            unit="word",
        )
        assert ours.spec == theirs.spec
        assert (ours.sizes[:400] == theirs.sizes).all()
        assert (ours.values[: len(theirs.values)] == theirs.values).all()
        assert ours.jaccard(3, 3)[0] == pytest.approx(1.0)


def test_simhash_is_the_room_s(tmp_path: Path) -> None:
    source = folder(tmp_path / "in")
    some = pa.array(["" if t is None else t for t in texts(400)], pa.large_string())
    for bits in (64, 128):
        table = made(Sketching.of("simhash", bits=bits), source, tmp_path / f"{bits}.parquet")
        words = np.stack([table.column(name).to_numpy() for name in ("sketch", "sketch_2")[: bits // 64]], axis=1)
        prints, _ = represent.simhash(some, shingle=1, unit="word", bits=bits, weights="tf")
        assert (words[:400] == prints.reshape(-1, bits // 64)).all()
        assert words[2].tolist() == [0] * (bits // 64)


def test_the_file_says_how_it_was_made(tmp_path: Path) -> None:
    source = folder(tmp_path / "in", 10)
    specs = set()
    for i, spec in enumerate(SPECS):
        meta = made(Sketching.of(**spec), source, tmp_path / f"{i}.parquet").schema.metadata
        said = json.loads(meta[b"dejalu"])
        assert said["method"] == spec["method"] and spec.items() <= said.items()
        specs.add(meta[b"spec"])
    assert len(specs) == len(SPECS)


def test_damaged_records(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "one"}\n{"text": "two\n{"text": "three"}\n', "utf-8")
    to = tmp_path / "s.parquet"
    with pytest.raises(errors.DamagedInput, match="line 2"):
        sketch_files([bad], to, Sketching.of("minhash"))
    assert not to.exists()
    done = sketch_files([bad], to, Sketching.of("minhash", on_error="skip"))
    assert done.texts == 2 and len(done.problems) == 1 and "line 2" in done.problems[0]
    assert pq.read_table(to).column("row").to_pylist() == [0, 2]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    source, what = folder(tmp_path / "in", 10), Sketching.of("minhash", slots=4)
    to = tmp_path / "new" / "s.parquet"
    sketch_files([source], to, what)
    before = to.read_bytes()
    with pytest.raises(errors.OutputError, match="--overwrite"):
        sketch_files([source], to, what)
    sketch_files([source], to, what, overwrite=True)
    assert to.read_bytes() == before
    for place in (source / "s.parquet", source / "a.parquet"):
        with pytest.raises(errors.OutputError, match="input"):
            sketch_files([source], place, what, overwrite=True)
    with pytest.raises(errors.OutputError, match="folder"):
        sketch_files([source], tmp_path, what)
    alias = tmp_path / "alias.parquet"
    alias.symlink_to(source / "a.parquet")
    with pytest.raises(errors.OutputError, match="input"):
        sketch_files([source / "a.parquet"], alias, what, overwrite=True)
    assert pq.read_table(source / "a.parquet").num_rows == 10


def test_no_document_at_all(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", "utf-8")
    for spec in SPECS:
        to = tmp_path / "s.parquet"
        assert sketch_files([empty], to, Sketching.of(**spec), overwrite=True).texts == 0
        assert pq.read_table(to).num_rows == 0


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"method": "exact"}, "method='exact'"),
        ({"method": "minhash", "k": 3}, "bottom-k"),
        ({"method": "bottom-k", "k": 3, "scaled": 3}, "leave the other out"),
        ({"method": "bottom-k", "k": 0}, "k=0"),
        ({"method": "bottom-k", "scaled": 1 << 41}, "scaled="),
        ({"method": "simhash", "bits": 65}, "bits=65"),
    ],
)
def test_wrong_parameters(spec: dict[str, Any], told: str) -> None:
    with pytest.raises(errors.UsageError, match=told):
        Sketching.of(**spec)


def test_weights_need_frequencies(tmp_path: Path) -> None:
    source = folder(tmp_path / "in", 30)
    with pytest.raises(errors.UsageError, match="--frequencies"):
        sketch_files([source], tmp_path / "s.parquet", Sketching.of("simhash", weights="tfidf"))
    sets = represent.shingle_sets(pa.array([t or "" for t in texts(30)], pa.large_string()), shingle=1, unit="word")
    represent.Frequencies.count(sets, "word-1").save(tmp_path / "f.parquet")
    what = Sketching.of("simhash", weights="tfidf", frequencies=str(tmp_path / "f.parquet"))
    weighed = made(what, source, tmp_path / "s.parquet")
    assert weighed.column("sketch") != made(Sketching.of("simhash"), source, tmp_path / "t.parquet").column("sketch")
    assert str(tmp_path) not in str(weighed.schema.metadata)


def test_the_verb(tmp_path: Path) -> None:
    folder(tmp_path / "in", 20)

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", RUN, "sketch", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    done = ran("in", "-o", "s.parquet", "--slots", "16", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["texts"], said["slots"], said["method"], said["set_aside"]) == (91, 16, "minhash", 0)
    assert pq.read_table(tmp_path / "s.parquet").num_rows == 91
    again = ran("in", "-o", "s.parquet")
    assert again.returncode == 1 and "--overwrite" in again.stderr
    quiet = ran("in", "-o", "s.parquet", "--overwrite", "--quiet", "--method", "bottom-k", "--k", "5", "--threads", "2")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    loud = ran("in", "-o", "t.parquet")
    assert "91 texts of 4 files" in loud.stdout and "sketch:" in loud.stderr
    assert ran("in", "-o", "u.parquet", "--method", "magic").returncode == 2
    assert ran("in").returncode == 2


@pytest.mark.parametrize("wrong", [{"method": "minhash", "bits": 128}, {"method": "simhash", "slots": 64}])
def test_parameters_of_another_kind_are_told(wrong):
    with pytest.raises(errors.UsageError, match=f"not a parameter of {wrong['method']} sketches"):
        Sketching.of(**wrong)


def test_another_ending_than_parquet_is_told(tmp_path):
    here = folder(tmp_path / "in")
    with pytest.raises(errors.OutputError, match=r"name it out\.parquet"):
        sketch_files([here], tmp_path / "out.csv", Sketching.of("minhash"))
