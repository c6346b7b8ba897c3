"""Whatever stops a verb: one clear message on stderr, its exit code, no traceback unless asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from dejalu import errors
from dejalu.cli.common import friendly

RUN = "from dejalu.cli import main; main()"


def stopped_by(error: BaseException, *, resumable: bool = False) -> int:
    """Return the exit code of a verb that this error stops."""
    with pytest.raises(typer.Exit) as stopped, friendly(resumable=resumable):
        raise error
    return stopped.value.exit_code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("threshold=2"), 2),
        (errors.DamagedInput("a.jsonl line 3"), 1),
        (errors.ChangedInput("a.jsonl"), 1),
        (errors.OutputError("disk full"), 1),
        (errors.StoreError("gone"), 1),
        (errors.FloodError("too many"), 1),
        (errors.GateClosed("web lost 71%"), 3),
    ],
)
def test_exit_codes(error: errors.DejaluError, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert stopped_by(error) == code
    said = capsys.readouterr()
    assert said.err == f"dejalu: {error}\n"
    assert said.out == ""


def test_unexpected_errors_tell_how_to_see_the_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEJALU_DEBUG", raising=False)
    assert stopped_by(ZeroDivisionError("division by zero")) == 1
    said = capsys.readouterr().err
    assert said.startswith("dejalu: unexpected ZeroDivisionError: division by zero\n")
    assert "DEJALU_DEBUG=1" in said
    monkeypatch.setenv("DEJALU_DEBUG", "1")
    with pytest.raises(ZeroDivisionError), friendly():
        raise ZeroDivisionError


def test_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    assert stopped_by(KeyboardInterrupt(), resumable=True) == 130
    assert "--resume" in capsys.readouterr().err
    assert stopped_by(KeyboardInterrupt()) == 130
    assert "--resume" not in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGPIPE")
def test_a_closed_pipe_is_no_fault() -> None:
    code = "from dejalu.cli.common import friendly, print_json\nwith friendly():\n    print_json(list(range(200_000)))"
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert ran.returncode != 0
    assert "BrokenPipeError" not in ran.stderr, ran.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["dedup", "nowhere", "-o", "out"], "nowhere"),
        (["dedup", "in.txt"], "-o DIR"),
        (["dedup", "in.txt", "--mode", "report"], "--evidence DIR"),
        (["dedup", "in.txt", "-o", "out", "--threshold", "1.5"], "threshold=1.5"),
        (["dedup", "in.txt", "-o", "out", "--threshold", "0.01"], "--slots"),
        (["dedup", "in.txt", "-o", "out", "--keep", "best"], "keep='best'"),
        (["dedup", "in.txt", "-o", "out", "--prefer", "a,b"], "--source-column"),
        (["dedup", "in.txt", "-o", "out", "--overwrite", "--resume"], "--overwrite"),
        (["dedup", "in.txt", "-o", "out", "--plan", "nowhere.json"], "nowhere.json"),
        (["show", "nowhere", "--limit", "-1"], "limit=-1"),
        (["show", "nowhere", "--near", "80"], "near=80"),
    ],
)
def test_wrong_usage(words: list[str], told: str, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("one text", "utf-8")
    ran = subprocess.run([sys.executable, "-c", RUN, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.txt"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names of any bytes")
def test_no_encoding_of_the_terminal_stops_the_output(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "白.txt").write_text("白日依山盡", "utf-8")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    words = ["dedup", "in", "--mode", "report", "--evidence", "found", "--json", "--quiet"]

    def run() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-c", RUN, *words], cwd=tmp_path, capture_output=True, env=env, check=False
        )

    ran = run()
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["files"][0]["file"] == "白.txt"
    with open(os.fsencode(folder) + b"/caf\xe9.txt", "wb") as f:
        f.write(b"text")
    ran = run()
    assert ran.returncode == 2
    assert b"caf" in ran.stderr
    assert b"Unicode" not in ran.stderr
