"""kill -9 at random moments of a run, each followed by --resume until it finishes: the same bytes?

    python bench/crash.py CORPUS [--kills 10] [--seed 1] [--mode drop] [--memory 600MB] [--threads 2] [-- OPTIONS]

First one run is left alone: its wall time and its output are what the others are held against. Then `--kills` runs,
each in a folder of its own, are killed: the i-th at a moment drawn from the i-th part of that time, so that the moments
cover reading, grouping, settling and writing. A run that was killed is resumed; half of the resumed runs are killed as
well, at a moment drawn from the whole time, until one finishes. Then every file of corpus and evidence must hold the
same bytes, report.json apart from its part `run`, manifest.json apart from where the inputs lie and when they were
written; and nothing else may be there. The exit code is 1 when something differs.

OPTIONS are handed to `dejalu dedup`, for instance `-- --threshold 0.7`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Killed", "content", "crash"]

AGAIN = 0.5  # chance that a resumed run is killed too


@dataclass(frozen=True, slots=True)
class Killed:
    """One run that was killed: when (shares of the whole time), what was there then, and how it ended."""

    moments: list[float]
    found: list[str]
    seconds: float  # of all attempts together
    different: list[str]


def content(out: Path) -> dict[str, str]:
    """Hash every file of a corpus and its evidence that must be the same for every run."""
    found = {}
    for folder in (out, out.with_name(out.name + "-evidence")):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
                if path.name in ("report.json", "manifest.json"):
                    facts = json.loads(path.read_text())
                    for own in ("run", "inputs"):
                        facts.pop(own, None)
                    found[name] = json.dumps(facts, sort_keys=True)
                else:
                    with path.open("rb") as file:
                        found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def stage(out: Path) -> str:
    """Say what lies there after a kill: finished tables of the work folder by kind, finished corpus files."""
    store = out.with_name(out.name + "-evidence") / ".work" / "store"
    kinds: dict[str, int] = {}
    for path in store.rglob("*.ok") if store.is_dir() else ():
        kind = path.relative_to(store).parts[0].split("-")[0].removesuffix(".ok")
        kinds[kind] = kinds.get(kind, 0) + 1
    files = sum(1 for p in out.rglob("*") if p.is_file() and not p.name.startswith(".")) if out.is_dir() else 0
    told = [f"{count} {kind}" for kind, count in sorted(kinds.items())]
    return ", ".join([*told, *([f"{files} corpus files"] if files else [])]) or "nothing finished"


def attempt(command: list[str], after: float | None) -> bool:
    """Run a command and kill it after some seconds; returns whether it was killed before it finished.

    Raises:
        subprocess.CalledProcessError: it failed by itself; its output is shown.
    """
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True
        if process.returncode:
            said.seek(0)
            sys.stderr.write(said.read().decode(errors="replace"))
            raise subprocess.CalledProcessError(process.returncode, command)
    return False


def crash(command: list[str], out: Path, moment: float, whole: float, expect: dict[str, str], seed: int) -> Killed:
    """Kill a run at a moment, resume it until it finishes, and compare what it wrote."""
    draw = random.Random(seed)
    began = time.perf_counter()
    moments: list[float] = []
    found: list[str] = []
    resume: list[str] = []
    when: float | None = moment
    while attempt([*command, "-o", str(out), *resume], when):
        moments.append((when or 0.0) / whole)
        found.append(stage(out))
        resume = ["--resume"]
        when = draw.uniform(0, whole) if draw.random() < AGAIN else None
    seconds = time.perf_counter() - began
    got = content(out)
    return Killed(moments, found, seconds, sorted(n for n in got.keys() | expect.keys() if got.get(n) != expect.get(n)))


def main() -> int:
    """Run, kill, resume, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", default="drop", choices=["drop", "tag", "report"])
    parser.add_argument("--memory", default="600MB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    draw = random.Random(args.seed)
    command = [sys.executable, "-m", "dejalu", "dedup", str(args.corpus), "--quiet", "--mode", args.mode]
    command += ["--memory", args.memory, "--threads", str(args.threads), *args.options]
    short = False
    with tempfile.TemporaryDirectory(prefix="crash-", dir=args.corpus.parent) as scratch:
        out = Path(scratch, "alone", "out")
        out.parent.mkdir()
        began = time.perf_counter()
        attempt([*command, "-o", str(out)], None)
        whole = time.perf_counter() - began
        expect = content(out)
        print(f"{args.corpus.name}, mode {args.mode}: left alone {whole:.1f} s, {len(expect)} files", flush=True)
        for i in range(args.kills):
            share = (i + draw.random()) / args.kills
            while True:
                with tempfile.TemporaryDirectory(dir=scratch) as own:
                    killed = crash(command, Path(own, "out"), share * whole, whole, expect, draw.randrange(1 << 32))
                if killed.moments or killed.different:
                    break
                whole = killed.seconds  # it finished first: the machine had more time for it
            short |= bool(killed.different)
            for moment, what in zip(killed.moments, killed.found, strict=True):
                print(f"    killed at {moment:4.0%}: {what}")
            end = "the same bytes" if not killed.different else "DIFFERENT: " + ", ".join(killed.different)
            print(f"{i + 1:3}. {killed.seconds:.1f} s in all, {end}", flush=True)
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
