"""The four verbs end to end, as a user runs them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dejalu.cli import main

RUN = "from dejalu.cli import main; main()"
TEXT = "the quick brown fox jumps over a lazy dog while seven wise owls watch from an old oak tree at the edge of town"
WORDS = TEXT.split()


@dataclass(frozen=True)
class Ran:
    stdout: str
    stderr: str


Dejalu = Callable[..., Ran]


@pytest.fixture
def dejalu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dejalu:
    """Run a command line in tmp_path, as the console script does; it must end with `code`."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object, code: int = 0) -> Ran:
        monkeypatch.setattr(sys, "argv", ["dejalu", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code or 0) == code, said.out + said.err
        return Ran(said.out, said.err)

    return run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two files: b.jsonl repeats texts of a.parquet, one of them with a changed last word."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    texts = [" ".join(f"{word}{n}" for word in WORDS * 3) for n in range(20)]
    columns = {"id": [f"a{n}" for n in range(20)], "text": texts, "source": ["wiki", "web"] * 10, "n": list(range(20))}
    pq.write_table(pa.table(columns), folder / "a.parquet")
    rows = [
        {"id": "b0", "text": texts[3].upper(), "source": "books", "n": 100},
        {"id": "b1", "text": texts[5].replace("town5", "city5", 1), "source": "books", "n": 101},
        {"id": "b2", "text": "nothing like the others", "source": "web", "n": 102},
    ]
    (folder / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def test_dedup_writes_corpus_evidence_and_summary(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    ran = dejalu("dedup", "corpus", "-o", "clean", "--threshold", "0.95")
    assert "kept" in ran.stdout
    assert "read: " in ran.stderr  # a line per stage
    assert (tmp_path / "clean/a.parquet").read_bytes() == (corpus / "a.parquet").read_bytes()
    kept = [json.loads(line)["id"] for line in (tmp_path / "clean/b.jsonl").read_text("utf-8").splitlines()]
    assert "b0" not in kept
    assert "b2" in kept
    evidence = pq.read_table(tmp_path / "clean-evidence/removed/b.jsonl.parquet").to_pylist()
    assert evidence[0]["twin_id"] == "a3"
    assert evidence[0]["similarity"] == 1.0


def test_json_is_the_report_and_nothing_else(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    ran = dejalu("dedup", "corpus", "-o", "clean", "--json", "--quiet")
    report = json.loads(ran.stdout)
    assert report["read"] == 23
    assert report["kept"] + report["removed_equal"] + report["removed_near"] == 23
    assert report == json.loads((tmp_path / "clean-evidence/report.json").read_text("utf-8"))


def test_quiet_says_nothing(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    ran = dejalu("dedup", corpus / "a.parquet", "-o", "clean", "--quiet", "--method", "exact")
    assert ran.stdout == ""
    assert [line for line in ran.stderr.splitlines() if not line.startswith("dejalu: warning: ")] == []


def test_plan_file_stands_below_what_is_given(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "-o", "one", "--threshold", "0.9", "--keep", "last", "--quiet")
    dejalu("dedup", "corpus", "-o", "two", "--plan", "one-evidence/plan.json", "--quiet")
    one, two = ((tmp_path / f"{name}-evidence/plan.json").read_bytes() for name in ("one", "two"))
    assert one == two
    words = ["--plan", "one-evidence/plan.json", "--threshold", "0.7", "--quiet"]
    dejalu("dedup", "corpus", "-o", "three", *words)
    plan = json.loads((tmp_path / "three-evidence/plan.json").read_text("utf-8"))
    assert (plan["threshold"], plan["keep"]) == (0.7, "last")


def test_list_options_repeat(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    words = ["--prefer", "books,web", "--prefer", "wiki", "--source-column", "source"]
    words += ["--text-column", "text", "--text-column", "id"]
    dejalu("dedup", "corpus", "-o", "clean", *words, "--quiet")
    plan = json.loads((tmp_path / "clean-evidence/plan.json").read_text("utf-8"))
    assert plan["prefer"] == ["books", "web", "wiki"]
    assert plan["text_column"] == ["text", "id"]


def test_a_non_empty_output_needs_a_word(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "-o", "clean", "--quiet")
    again = dejalu("dedup", "corpus", "-o", "clean", "--quiet", code=1)
    assert "--overwrite" in again.stderr
    dejalu("dedup", "corpus", "-o", "clean", "--quiet", "--resume")
    dejalu("dedup", "corpus", "-o", "clean", "--quiet", "--overwrite", "--threshold", "0.9")


def test_report_then_apply_is_dedup(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "-o", "one", "--quiet")
    dejalu("dedup", "corpus", "-o", "two", "--mode", "report", "--quiet")
    assert not (tmp_path / "two").exists()
    dejalu("apply", "two-evidence", "-o", "two", "--quiet")
    for name in ("a.parquet", "b.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    dejalu("apply", "two-evidence", "-o", "three", "--mode", "tag", "--quiet")
    assert "dejalu_copies" in pq.read_schema(tmp_path / "three/a.parquet").names


def test_report_to_evidence_alone(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "--mode", "report", "--evidence", "found", "--quiet")
    assert (tmp_path / "found/report.json").exists()


def test_gate_ends_with_3_and_resume_goes_on(dejalu: Dejalu, tmp_path: Path) -> None:
    rows = [json.dumps({"text": f"the same words in every text, but for {n // 300}"}) for n in range(1_200)]
    (tmp_path / "in.jsonl").write_text("\n".join(rows), "utf-8")
    ran = dejalu("dedup", "in.jsonl", "-o", "out", "--max-removal", "0.5", "--quiet", code=3)
    assert "in.jsonl" in ran.stderr or "0.5" in ran.stderr or "50" in ran.stderr
    assert (tmp_path / "out-evidence/report.json").exists()
    assert not list(tmp_path.glob("out/*"))
    dejalu("dedup", "in.jsonl", "-o", "out", "--max-removal", "1.0", "--resume", "--quiet")
    assert len((tmp_path / "out/in.jsonl").read_text("utf-8").splitlines()) == 4


def shown(dejalu: Dejalu, *words: object) -> str:
    dejalu("dedup", "corpus", "-o", "clean", "--quiet")
    return dejalu("show", "clean-evidence", *words).stdout


def test_show_marks_the_differences(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    out = shown(dejalu, "--limit", "100")
    assert "# removed  b.jsonl row 1 id b1" in out
    assert "- city5" in out
    assert "+ town5" in out


def test_show_near_sorts_by_distance(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    found = json.loads(shown(dejalu, "--near", "0.8", "--limit", "2", "--json"))
    assert found["removed"] == 2
    assert [pair["id"] for pair in found["pairs"]] == ["b1", "b0"]
    assert found["pairs"][0]["similarity"] < found["pairs"][1]["similarity"] == 1.0
    assert found["pairs"][1]["text"] == found["pairs"][1]["twin_text"].upper()


def test_show_csv_has_every_pair_with_both_texts(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    assert shown(dejalu, "--csv", "pairs.csv") == ""
    with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    report = json.loads((tmp_path / "clean-evidence/report.json").read_text("utf-8"))
    assert len(rows) == report["removed_equal"] + report["removed_near"]
    assert all(row["text"] and row["twin_text"] for row in rows)


def test_show_says_when_an_input_changed_or_moved(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    shown(dejalu)
    (corpus / "b.jsonl").write_text("{}\n", "utf-8")
    assert "b.jsonl" in dejalu("show", "clean-evidence", code=1).stderr
    corpus.rename(tmp_path / "elsewhere")
    assert "a.parquet" in dejalu("show", "clean-evidence", code=1).stderr


def test_show_of_no_evidence(dejalu: Dejalu, tmp_path: Path) -> None:
    assert "evidence" in dejalu("show", ".", code=1).stderr


def test_show_parts_several_text_columns_by_an_empty_line(dejalu: Dejalu, tmp_path: Path) -> None:
    row = {"title": "A title", "body": " ".join(WORDS)}
    (tmp_path / "in.jsonl").write_text(f"{json.dumps(row)}\n" * 2, "utf-8")
    dejalu("dedup", "in.jsonl", "-o", "out", "--text-column", "title", "--text-column", "body", "--quiet")
    pair = json.loads(dejalu("show", "out-evidence", "--json").stdout)["pairs"][0]
    assert pair["text"] == f"{row['title']}\n\n{row['body']}"


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_show_on_a_terminal_is_side_by_side(dejalu: Dejalu, corpus: Path, tmp_path: Path) -> None:
    dejalu("dedup", "corpus", "-o", "clean", "--quiet")
    import pty  # Unix only

    parent, child = pty.openpty()
    env = {**os.environ, "COLUMNS": "100", "TERM": "xterm-256color"}
    command = [sys.executable, "-c", RUN, "show", "clean-evidence", "--limit", "1", "--quiet"]
    subprocess.run(command, stdout=child, stderr=subprocess.PIPE, env=env, check=True)
    os.close(child)
    drawn = os.read(parent, 1 << 16).decode()
    os.close(parent)
    assert "\x1b[" in drawn
    line = next(line for line in drawn.splitlines() if "removed" in line)
    assert "kept" in line


def test_demo(dejalu: Dejalu, tmp_path: Path) -> None:
    ran = dejalu("demo")
    report = json.loads((tmp_path / "dejalu-demo/clean-evidence/report.json").read_text("utf-8"))
    assert report["read"] == 806
    assert report["removed_equal"] > 50
    assert report["removed_near"] > 50
    assert ran.stdout.count("# similarity") == 3
    assert "dejalu show" in ran.stdout
    assert "--overwrite" in dejalu("demo", code=1).stderr
    again = json.loads(dejalu("demo", "--overwrite", "--json", "--quiet").stdout)
    assert again["report"]["digest"] == report["digest"]
    assert len(again["pairs"]) == 3


def test_the_console_script_does_without_pandas(tmp_path: Path) -> None:
    """pyarrow imports pandas, if it can, for every list it is given: a quarter of a second in each process."""
    (tmp_path / "in.jsonl").write_text('{"id": 1, "text": "a b c"}\n{"id": 2, "text": "A, b, c"}\n')
    code = (
        "import sys\n"
        "from dejalu.cli import console\n"
        "sys.argv = ['dejalu', 'dedup', 'in.jsonl', '-o', 'out', '--quiet']\n"
        "try:\n    console()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
