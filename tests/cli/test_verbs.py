"""The four verbs end to end, as a user runs them."""

from __future__ import annotations

import csv
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

RUN = "from dejalu.cli import main; main()"
TEXT = "the quick brown fox jumps over the lazy dog while seven wise owls watch from an old oak tree at the edge of town"
WORDS = TEXT.split()


def dejalu(*words: object, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command line; it must end with `code`."""
    command = [sys.executable, "-c", RUN, *map(str, words)]
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two files: b.jsonl repeats texts of a.parquet, one of them with a changed last word."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    texts = [" ".join([*WORDS, f"number{n}", *reversed(WORDS)]) for n in range(20)]
    columns = {"id": [f"a{n}" for n in range(20)], "text": texts, "source": ["wiki", "web"] * 10, "n": list(range(20))}
    pq.write_table(pa.table(columns), folder / "a.parquet")
    rows = [
        {"id": "b0", "text": texts[3].upper(), "source": "books", "n": 100},
        {"id": "b1", "text": texts[5].replace("town", "city", 1), "source": "books", "n": 101},
        {"id": "b2", "text": "nothing like the others", "source": "web", "n": 102},
    ]
    (folder / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def test_dedup_writes_corpus_evidence_and_summary(corpus: Path, tmp_path: Path) -> None:
    ran = dejalu("dedup", "corpus", "-o", "clean", "--threshold", "0.95", cwd=tmp_path)
    assert "kept" in ran.stdout
    assert "sketch" in ran.stderr  # a line per stage
    assert (tmp_path / "clean/a.parquet").read_bytes() == (corpus / "a.parquet").read_bytes()
    kept = [json.loads(line)["id"] for line in (tmp_path / "clean/b.jsonl").read_text("utf-8").splitlines()]
    assert "b0" not in kept
    assert "b2" in kept
    evidence = pq.read_table(tmp_path / "clean-evidence/removed/b.jsonl.parquet").to_pylist()
    assert evidence[0]["twin_id"] == "a3"
    assert evidence[0]["similarity"] == 1.0


def test_json_is_the_report_and_nothing_else(corpus: Path, tmp_path: Path) -> None:
    ran = dejalu("dedup", "corpus", "-o", "clean", "--json", "--quiet", cwd=tmp_path)
    report = json.loads(ran.stdout)
    assert report["read"] == 23
    assert report["kept"] + report["removed_equal"] + report["removed_near"] == 23
    assert report == json.loads((tmp_path / "clean-evidence/report.json").read_text("utf-8"))


def test_quiet_says_nothing(corpus: Path, tmp_path: Path) -> None:
    ran = dejalu("dedup", corpus / "a.parquet", "-o", "clean", "--quiet", "--method", "exact", cwd=tmp_path)
    assert ran.stdout == ""
    assert [line for line in ran.stderr.splitlines() if not line.startswith("dejalu: warning: ")] == []


def test_plan_file_stands_below_what_is_given(corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "-o", "one", "--threshold", "0.9", "--keep", "last", "--quiet", cwd=tmp_path)
    dejalu("dedup", "corpus", "-o", "two", "--plan", "one-evidence/plan.json", "--quiet", cwd=tmp_path)
    one, two = ((tmp_path / f"{name}-evidence/plan.json").read_bytes() for name in ("one", "two"))
    assert one == two
    words = ["--plan", "one-evidence/plan.json", "--threshold", "0.7", "--quiet"]
    dejalu("dedup", "corpus", "-o", "three", *words, cwd=tmp_path)
    plan = json.loads((tmp_path / "three-evidence/plan.json").read_text("utf-8"))
    assert (plan["threshold"], plan["keep"]) == (0.7, "last")


def test_list_options_repeat(corpus: Path, tmp_path: Path) -> None:
    words = ["--prefer", "books,web", "--prefer", "wiki", "--source-column", "source"]
    words += ["--text-column", "text", "--text-column", "id"]
    dejalu("dedup", "corpus", "-o", "clean", *words, "--quiet", cwd=tmp_path)
    plan = json.loads((tmp_path / "clean-evidence/plan.json").read_text("utf-8"))
    assert plan["prefer"] == ["books", "web", "wiki"]
    assert plan["text_column"] == ["text", "id"]


def test_a_non_empty_output_needs_a_word(corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "-o", "clean", "--quiet", cwd=tmp_path)
    again = dejalu("dedup", "corpus", "-o", "clean", "--quiet", cwd=tmp_path, code=1)
    assert "--overwrite" in again.stderr
    dejalu("dedup", "corpus", "-o", "clean", "--quiet", "--resume", cwd=tmp_path)
    dejalu("dedup", "corpus", "-o", "clean", "--quiet", "--overwrite", "--threshold", "0.9", cwd=tmp_path)


def test_report_then_apply_is_dedup(corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "-o", "one", "--quiet", cwd=tmp_path)
    dejalu("dedup", "corpus", "-o", "two", "--mode", "report", "--quiet", cwd=tmp_path)
    assert not (tmp_path / "two").exists()
    dejalu("apply", "two-evidence", "-o", "two", "--quiet", cwd=tmp_path)
    for name in ("a.parquet", "b.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    dejalu("apply", "two-evidence", "-o", "three", "--mode", "tag", "--quiet", cwd=tmp_path)
    assert "dejalu_copies" in pq.read_schema(tmp_path / "three/a.parquet").names


def test_report_to_evidence_alone(corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "--mode", "report", "--evidence", "found", "--quiet", cwd=tmp_path)
    assert (tmp_path / "found/report.json").exists()


def test_gate_ends_with_3_and_resume_goes_on(tmp_path: Path) -> None:
    rows = [json.dumps({"text": f"the same words in every text, but for {n // 300}"}) for n in range(1_200)]
    (tmp_path / "in.jsonl").write_text("\n".join(rows), "utf-8")
    ran = dejalu("dedup", "in.jsonl", "-o", "out", "--max-removal", "0.5", "--quiet", cwd=tmp_path, code=3)
    assert "in.jsonl" in ran.stderr or "0.5" in ran.stderr or "50" in ran.stderr
    assert (tmp_path / "out-evidence/report.json").exists()
    assert not list((tmp_path / "out").glob("*")) if (tmp_path / "out").exists() else True
    dejalu("dedup", "in.jsonl", "-o", "out", "--max-removal", "1.0", "--resume", "--quiet", cwd=tmp_path)
    assert len((tmp_path / "out/in.jsonl").read_text("utf-8").splitlines()) == 4


def shown(tmp_path: Path, *words: object) -> str:
    dejalu("dedup", "corpus", "-o", "clean", "--quiet", cwd=tmp_path)
    return dejalu("show", "clean-evidence", *words, cwd=tmp_path).stdout


def test_show_marks_the_differences(corpus: Path, tmp_path: Path) -> None:
    out = shown(tmp_path, "--limit", "100")
    assert "# removed  b.jsonl row 1 id b1" in out
    assert "- city" in out
    assert "+ town" in out


def test_show_near_sorts_by_distance(corpus: Path, tmp_path: Path) -> None:
    found = json.loads(shown(tmp_path, "--near", "0.8", "--limit", "4", "--json"))
    distances = [abs(pair["similarity"] - 0.8) for pair in found["pairs"]]
    assert len(distances) == 4
    assert distances == sorted(distances)


def test_show_csv_has_every_pair_with_both_texts(corpus: Path, tmp_path: Path) -> None:
    assert shown(tmp_path, "--csv", "pairs.csv") == ""
    with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    report = json.loads((tmp_path / "clean-evidence/report.json").read_text("utf-8"))
    assert len(rows) == report["removed_equal"] + report["removed_near"]
    assert all(row["text"] and row["twin_text"] for row in rows)


def test_show_says_when_an_input_changed_or_moved(corpus: Path, tmp_path: Path) -> None:
    shown(tmp_path)
    (corpus / "b.jsonl").write_text("{}\n", "utf-8")
    assert "b.jsonl" in dejalu("show", "clean-evidence", cwd=tmp_path, code=1).stderr
    corpus.rename(tmp_path / "elsewhere")
    assert "a.parquet" in dejalu("show", "clean-evidence", cwd=tmp_path, code=1).stderr


def test_show_of_no_evidence(tmp_path: Path) -> None:
    assert "evidence" in dejalu("show", ".", cwd=tmp_path, code=1).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_show_on_a_terminal_is_side_by_side(corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "-o", "clean", "--quiet", cwd=tmp_path)
    parent, child = pty.openpty()
    env = {**os.environ, "COLUMNS": "100", "TERM": "xterm-256color"}
    command = [sys.executable, "-c", RUN, "show", "clean-evidence", "--limit", "1", "--quiet"]
    subprocess.run(command, cwd=tmp_path, stdout=child, stderr=subprocess.PIPE, env=env, check=True)
    os.close(child)
    drawn = os.read(parent, 1 << 16).decode()
    os.close(parent)
    assert "\x1b[" in drawn
    line = next(line for line in drawn.splitlines() if "removed" in line)
    assert "kept" in line


def test_demo(tmp_path: Path) -> None:
    ran = dejalu("demo", cwd=tmp_path)
    report = json.loads((tmp_path / "dejalu-demo/clean-evidence/report.json").read_text("utf-8"))
    assert report["read"] == 806
    assert report["removed_equal"] > 100
    assert report["removed_near"] > 50
    assert ran.stdout.count("# similarity") == 3
    assert "dejalu show" in ran.stdout
    assert "--overwrite" in dejalu("demo", cwd=tmp_path, code=1).stderr
    again = json.loads(dejalu("demo", "--overwrite", "--json", "--quiet", cwd=tmp_path).stdout)
    assert again["report"]["digest"] == report["digest"] if "digest" in report else True
    assert len(again["pairs"]) == 3
