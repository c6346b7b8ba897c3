"""The whole job on a corpus larger than its memory budget, held against what the generator knows.

    python bench/scale.py CORPUS [--memory 600MB] [--threads 2] [--compare SMALL] [--sample 500] [--json FILE]

CORPUS (and SMALL, a smaller one of the same kind) come from bench/generate.py. `dejalu dedup CORPUS --mode report
--memory ...` runs as a fresh process; meanwhile its memory is read from /proc 20 times a second, and twice a second the
disk that its work folder takes. Then its evidence is compared with the truth:

    missed     planted pairs (similarity with the original >= .8) with both documents kept, at most 1%
    untwinned  removals whose twin is not kept: none
    wrong      removals of a sample whose similarity, computed again from the texts with the plain reference, is another
               or below the threshold: none

and the peak of resident memory with 1.15 x budget + 300 MB. With SMALL, documents per second of the whole job (process
start to end) are compared too: at most 1.4 x as many as with CORPUS. The exit code is 1 when something falls short.
On a shared machine the ratio of CPU seconds, printed beside, tells more than that of the clock.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from generate import SHINGLE, THRESHOLD, truth_of

from dejalu.kernels.reference.tokens import tokens
from dejalu.plan import Execution

__all__ = ["Corpus", "Cost", "Truth", "run"]

I64 = npt.NDArray[np.int64]

MISSED, SLOWER = 0.01, 1.4  # at most: share of planted pairs with both kept, ratio of documents per second
LOOK, WEIGH = 0.05, 0.5  # seconds between looks at the memory, and at the disk


def limit_of(budget: int) -> int:
    """Return the bytes that may be resident under a budget: what Python and its libraries take comes on top."""
    return int(1.15 * budget) + 300_000_000


@dataclass(frozen=True, slots=True)
class Corpus:
    """A generated corpus: its files in input order, and the position of the first document of each."""

    folder: Path
    documents: int
    text_bytes: int
    start: dict[str, int]

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        """Read what the generator noted.

        Raises:
            FileNotFoundError: no truth beside the folder.
        """
        about = json.loads(pq.read_metadata(truth_of(folder)).metadata[b"corpus"])
        starts = np.cumsum([0, *about["rows"].values()]).tolist()
        return cls(folder, about["documents"], about["text_bytes"], dict(zip(about["rows"], starts, strict=False)))

    def texts(self, positions: I64) -> dict[int, str]:
        """Read the texts at some positions, file by file and no more than a row group at once."""
        wanted = np.unique(positions)
        bounds = [*self.start.values(), self.documents]
        found: dict[int, str] = {}
        for (name, start), end in zip(self.start.items(), bounds[1:], strict=True):
            rows = wanted[(wanted >= start) & (wanted < end)] - start
            reader = parquet_rows if name.endswith(".parquet") else jsonl_rows
            found |= {start + row: text for row, text in reader(self.folder / name, rows)}
        return found


def parquet_rows(path: Path, rows: I64) -> Iterator[tuple[int, str]]:
    """Read some rows of a parquet file."""
    with pq.ParquetFile(path) as file:
        first = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            inside = rows[(rows >= first) & (rows < first + size)]
            if len(inside):
                texts = file.read_row_group(group, columns=["text"])["text"].take(pa.array(inside - first))
                yield from zip(inside.tolist(), texts.to_pylist(), strict=True)
            first += size


def jsonl_rows(path: Path, rows: I64) -> Iterator[tuple[int, str]]:
    """Read some lines of a jsonl.zst file."""
    wanted = set(rows.tolist())
    with path.open("rb") as file:
        plain = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        for row, line in enumerate(io.BufferedReader(plain, 1 << 20)):
            if row in wanted:
                yield row, json.loads(line)["text"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took: seconds, bytes (peak, anonymous part of it, work folder), and when the peak was, of its wall."""

    wall: float
    cpu: float
    peak: int
    anonymous: int
    peak_at: float
    disk: int


def status(pid: int) -> dict[str, int]:
    """Read the memory figures of a process in bytes; nothing once it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.endswith(" kB")}


def size_on_disk(folder: Path) -> int:
    """Add up the blocks of all files below a folder; files that go meanwhile count nothing."""
    size = 0
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.lstat(os.path.join(base, name)).st_blocks * 512
            except OSError:
                continue
    return size


def run(command: list[str], work: Path) -> Cost:
    """Run a command as a fresh process and watch it.

    Raises:
        subprocess.CalledProcessError: it failed; its output is shown.
    """
    done = threading.Event()
    peak = anonymous = disk = 0
    peak_at = 0.0
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)

        def watch() -> None:
            nonlocal peak, anonymous, peak_at
            while not done.wait(LOOK):
                seen = status(process.pid)
                if seen.get("VmHWM", 0) > peak:  # the high-water mark: short peaks between two looks count
                    peak, anonymous = seen["VmHWM"], seen["RssAnon"]
                    peak_at = time.perf_counter() - began

        def weigh() -> None:
            nonlocal disk
            while not done.wait(WEIGH):
                disk = max(disk, size_on_disk(work))

        watchers = [threading.Thread(target=task) for task in (watch, weigh)]
        for watcher in watchers:
            watcher.start()
        _, code, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        done.set()
        for watcher in watchers:
            watcher.join()
        process.returncode = os.waitstatus_to_exitcode(code)
        if process.returncode:
            said.seek(0)
            sys.stderr.write(said.read().decode(errors="replace"))
            raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(wall, usage.ru_utime + usage.ru_stime, peak, anonymous, peak_at / wall, disk)


@dataclass(frozen=True, slots=True)
class Truth:
    """The evidence of a run against the truth: numbers of pairs and removals."""

    planted: int
    missed: int
    removed: int
    untwinned: int
    checked: int
    wrong: int
    below: int  # copies just below the threshold that were removed all the same: through another twin

    @classmethod
    def of(cls, corpus: Corpus, evidence: Path, sample: int, seed: int = 0) -> Truth:
        """Read the evidence and compare."""
        keep = np.ones(corpus.documents, np.bool_)
        removed, twin, similarity = removals(corpus, evidence)
        keep[removed] = False
        truth = pq.read_table(truth_of(corpus.folder))
        copy, original, planted = (truth[name].to_numpy() for name in ("copy", "original", "planted"))
        missed = planted & keep[copy] & keep[original]
        some = np.random.default_rng(seed).permutation(len(removed))[:sample]
        texts = corpus.texts(np.concatenate([removed[some], twin[some]]))
        wrong = 0
        for a, b, said in zip(removed[some].tolist(), twin[some].tolist(), similarity[some].tolist(), strict=True):
            true = reference(texts[a], texts[b])
            wrong += true != said or true < THRESHOLD
        return cls(
            planted=int(planted.sum()),
            missed=int(missed.sum()),
            removed=len(removed),
            untwinned=int((~keep[twin]).sum()),
            checked=len(some),
            wrong=wrong,
            below=int((~planted & ~keep[copy]).sum()),
        )


def removals(corpus: Corpus, evidence: Path) -> tuple[I64, I64, npt.NDArray[np.float64]]:
    """Read all removals: positions of the documents and of their twins, and the similarity said."""
    removed, twin, similarity = [], [], []
    for name, start in corpus.start.items():
        table = pq.read_table(evidence / "removed" / f"{name}.parquet").combine_chunks()
        if table.num_rows:
            file = table["twin_file"].combine_chunks().dictionary_encode()
            starts = np.array([corpus.start[f] for f in file.dictionary.to_pylist()])
            removed.append(start + table["row"].to_numpy())
            twin.append(starts[file.indices.to_numpy()] + table["twin_row"].to_numpy())
            similarity.append(table["similarity"].to_numpy())
    empty = np.zeros(0, np.int64)
    return np.concatenate([empty, *removed]), np.concatenate([empty, *twin]), np.concatenate([np.zeros(0), *similarity])


def reference(a: str, b: str) -> float:
    """Compute the similarity of two texts from its definition."""
    sets = []
    for text in (a, b):
        words = tokens(text.encode())
        sets.append({tuple(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1))})
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def measure(folder: Path, memory: str, threads: int, sample: int) -> dict[str, Any]:
    """Run the job on one corpus, print what it cost and what it found, and return both."""
    corpus = Corpus.open(folder)
    with tempfile.TemporaryDirectory(prefix="scale-", dir=folder.parent) as scratch:
        out = Path(scratch, "out")
        evidence = Path(scratch, "out-evidence")
        command = [sys.executable, "-m", "dejalu", "dedup", str(folder), "-o", str(out), "--mode", "report", "--quiet"]
        cost = run([*command, "--memory", memory, "--threads", str(threads)], evidence)
        report = json.loads((evidence / "report.json").read_text())
        truth = Truth.of(corpus, evidence, sample)
    rooms = report["run"]["rooms"]
    print(
        f"{folder.name}: {corpus.documents:,} documents, {corpus.text_bytes / 1e6:,.0f} MB of text; "
        f"--memory {memory}, {threads} thread(s)"
    )
    print(
        f"    wall {cost.wall:.1f} s, {cost.cpu:.1f} CPU s: {corpus.documents / cost.wall:,.0f} documents/s, "
        f"{corpus.text_bytes / cost.cpu / 1e6:.0f} MB per CPU s"
    )
    for name, room in rooms.items():
        told = "  (grouping)" if name == "candidates" else ""
        print(f"    {name:10} {room['cpu_seconds']:7.2f} CPU s, {room['seconds']:7.2f} thread s{told}")
    counted = sum(room["cpu_seconds"] for room in rooms.values())
    print(f"    {'no room':10} {cost.cpu - counted:7.2f} CPU s: start-up, and threads that a room started")
    print(
        f"    peak {cost.peak / 1e6:,.0f} MB ({cost.anonymous / 1e6:,.0f} MB of it not files) at {cost.peak_at:.0%} of "
        f"the time; work folder {cost.disk / 1e6:,.0f} MB at most, {cost.disk / corpus.documents:.0f} bytes a document"
    )
    print(
        f"    removed {truth.removed:,}, {truth.below:,} of them copies just below the threshold with another twin; "
        f"planted pairs with both kept {truth.missed:,} of {truth.planted:,}"
    )
    return {
        "corpus": {"documents": corpus.documents, "text_bytes": corpus.text_bytes, "files": len(corpus.start)},
        "cost": {name: getattr(cost, name) for name in Cost.__slots__},
        "truth": {name: getattr(truth, name) for name in Truth.__slots__},
        "rooms": rooms,
        "digest": report["digest"],
    }


def judge(name: str, found: dict[str, Any], memory: str) -> Iterator[tuple[str, float, float, str]]:
    """Yield what a run must show: its name, the figure, the most it may be, the format of both."""
    cost, truth = found["cost"], found["truth"]
    limit = limit_of(int(Execution(memory=memory).memory))
    yield f"{name}: peak memory", cost["peak"] / 1e6, limit / 1e6, "{:,.0f} MB"
    yield f"{name}: planted pairs with both kept", truth["missed"] / max(1, truth["planted"]), MISSED, "{:.3%}"
    yield f"{name}: removals without a kept twin", truth["untwinned"], 0, "{}"
    yield f"{name}: wrong similarities of {truth['checked']} sampled removals", truth["wrong"], 0, "{}"


def main() -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--memory", default="600MB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compare", type=Path, metavar="SMALL")
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    folders = [args.compare, args.corpus] if args.compare else [args.corpus]
    runs = {folder.name: measure(folder, args.memory, args.threads, args.sample) for folder in folders}
    verdicts = [verdict for name, found in runs.items() for verdict in judge(name, found, args.memory)]
    if args.compare:
        small, big = runs[args.compare.name], runs[args.corpus.name]
        pace = {clock: [r["corpus"]["documents"] / r["cost"][clock] for r in (small, big)] for clock in ("wall", "cpu")}
        verdicts.append(("documents/s, small over big", pace["wall"][0] / pace["wall"][1], SLOWER, "{:.2f} x"))
        print(f"documents per CPU second, small over big: {pace['cpu'][0] / pace['cpu'][1]:.2f} x")
    short = False
    for what, figure, most, form in verdicts:
        short |= figure > most
        print(f"{'SHORT' if figure > most else 'ok':6}{what}: {form.format(figure)} (at most {form.format(most)})")
    if args.json:
        result = {"memory": args.memory, "threads": args.threads, "runs": runs}
        args.json.write_text(json.dumps(result, indent=2) + "\n")
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
