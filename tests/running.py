"""Running the command line in real processes, and reading what it wrote."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import zstandard

START = "import sys; from dejalu.cli import main; sys.exit(main())"


def command(*args: object) -> list[str]:
    """The command line of one verb, in this interpreter."""
    return [sys.executable, "-c", START, *map(str, args)]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment with some values changed."""
    return {**os.environ, **(extra or {})}


def dejalu(
    *args: object, cwd: Path, env: Mapping[str, str] | None = None, code: int | None = 0, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run a verb and check its exit code (None: any)."""
    done = subprocess.run(
        command(*args), cwd=cwd, env=environment(env), capture_output=True, text=True, timeout=timeout, check=False
    )
    if code is not None:
        assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@dataclass(frozen=True)
class Evidence:
    """What a run left in its evidence folder."""

    folder: Path

    @property
    def report(self) -> dict[str, Any]:
        """report.json"""
        return json.loads((self.folder / "report.json").read_text(encoding="utf-8"))

    def removed(self) -> list[dict[str, Any]]:
        """The rows of all evidence files in order of their names, each with its `file`."""
        base = self.folder / "removed"
        return [
            {"file": str(path.relative_to(base)).removesuffix(".parquet"), **row}
            for path in sorted(base.rglob("*.parquet"))
            for row in pq.read_table(path).to_pylist()
        ]

    def removed_ids(self) -> list[Any]:
        """The ids of the removed rows."""
        return [row["id"] for row in self.removed()]


def evidence_of(output: Path) -> Evidence:
    """The evidence beside an output folder."""
    return Evidence(output.with_name(output.name + "-evidence"))


def raw(path: Path) -> bytes:
    """A file's bytes, decompressed."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()
    return data


def lines(path: Path) -> list[bytes]:
    """The lines of a jsonl file that are not blank."""
    return [line for line in raw(path).split(b"\n") if line.strip()]


def records(path: Path) -> list[Any]:
    """The records of a jsonl or parquet file."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return [json.loads(line) for line in lines(path)]


def write_jsonl(path: Path, rows: list[Any]) -> Path:
    """Write records, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def tree(folder: Path, *, leave_out: tuple[str, ...] = ()) -> dict[str, str]:
    """SHA-256 of every file below a folder, by relative name."""
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (name := path.relative_to(folder).as_posix()) not in leave_out
    }


def steady(output: Path) -> dict[str, str]:
    """Everything that must be the same for every way of running: corpus, removed/, plan.json, report without `run`."""
    evidence = evidence_of(output)
    found = {f"corpus/{k}": v for k, v in tree(output).items()}
    # The manifest records where the inputs lie and when they were written: facts of the machine, like `run`.
    own = ("report.json", "manifest.json")
    found |= {f"evidence/{k}": v for k, v in tree(evidence.folder, leave_out=own).items()}
    report = evidence.report
    report.pop("run", None)
    found["report"] = json.dumps(report, sort_keys=True)
    return found
