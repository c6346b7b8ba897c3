"""The benchmark: every tool on the same files, from raw bytes to kept ids; started by bench/run.

Each run is a fresh process of the tool's own environment. Rounds go over all rows in turn, so that a change in the
machine's load does not fall on one tool; medians are reported. What is timed runs alone; the hard sets, whose times are
not compared, run two at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS, CACHE = ROOT / "build" / "peers", ROOT / "build" / "bench"
sys.path.insert(0, str(HERE))

import corpora  # noqa: E402
import report  # noqa: E402
import truth  # noqa: E402
from adapter import ONE_THREAD, Peer, Row, load  # noqa: E402
from corpora import Corpus  # noqa: E402
from measure import Cost, measure  # noqa: E402

THRESHOLD = 0.8


class Entry(NamedTuple):
    """One row of the table, ready to run."""

    key: str  # file of bench/peers
    row_key: str
    peer: Peer
    row: Row


class Outcome(NamedTuple):
    """One run: what it cost and what it decided; failed: why there is no answer."""

    cost: Cost
    peak: int
    kept: np.ndarray | None
    removed: np.ndarray | None
    twin: np.ndarray | None
    told: dict[str, Any]
    failed: str


def entries(only: list[str]) -> tuple[list[Entry], dict[str, str]]:
    """List the rows that can run, dejalu first, and why others cannot."""
    found, missing = [], {}
    names = sorted(p.stem.replace("_", "-") for p in (HERE / "peers").glob("*.py"))
    for name in sorted(names, key=lambda n: (n != "dejalu", n)):
        if only and name not in only:
            continue
        peer, state = load(name), PEERS / name / "state.json"
        told = json.loads(state.read_text()) if state.exists() else {"failed": "not installed: bench/setup"}
        if "failed" in told:
            missing[peer.name] = told["failed"]
        else:
            found += [Entry(name, key, peer, row) for key, row in peer.rows.items()]
    return found, missing


def once(entry: Entry, corpus: Corpus, limit: float, seed: int = 0) -> Outcome:
    """Run one row on one corpus in a fresh process, with a hash seed of its own."""
    out = CACHE / "work" / f"{entry.key}-{entry.row_key}-{corpus.digest[:8]}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    python = PEERS / entry.key / "bin" / "python"
    command = [str(python), str(HERE / "adapter.py"), entry.key, entry.row_key, str(out), *corpus.files]
    env = {**ONE_THREAD, "PYTHONHASHSEED": str(seed), "HF_HUB_OFFLINE": "1", "HF_HOME": str(out / "hf"),
           "HOME": str(out), "PYTHONPATH": ""}  # fmt: skip
    cost = measure(command, log=out / "log", limit=limit, env=env)
    try:
        if cost.code is None:
            return Outcome(cost, cost.peak, None, None, None, {}, f"not finished in {limit:.0f} CPU s")
        if cost.code != 0:
            last = [line for line in cost.output.strip().splitlines() if line.strip()][-1:] or ["no word"]
            return Outcome(cost, cost.peak, None, None, None, {}, f"exit code {cost.code}: {last[0][:150]}")
        told = json.loads((out / "cost.json").read_text())
        kept = np.zeros(corpus.documents, bool)
        kept[pq.read_table(out / "kept.parquet")["id"].to_numpy()] = True
        removed = twin = None
        if (out / "removed.parquet").exists():
            table = pq.read_table(out / "removed.parquet")
            removed, twin = table["id"].to_numpy(), table["twin"].to_numpy()
        return Outcome(cost, max(cost.peak, told["peak"]), kept, removed, twin, told, "")
    finally:
        shutil.rmtree(out, ignore_errors=True)


def truth_for(entry: Entry, corpus: Corpus) -> truth.Truth:
    """Find the exact truth of a corpus under the row's own tokens, from the cache where it is there."""
    return truth_under(truth_name(entry), corpus)


def truth_name(entry: Entry) -> str:
    """Name the tokens of a row: a recipe, or the tool that makes its own."""
    return f"own {entry.key} {' '.join(entry.peer.requires)}" if entry.row.tokens == "own" else entry.row.tokens


def truth_under(name: str, corpus: Corpus) -> truth.Truth:
    """Find the exact truth of a corpus under a recipe or under a tool's own shingling."""

    def make() -> truth.Sets:
        print(f"  exact truth of {corpus.name!r} under {name} (once)", file=sys.stderr)
        if not name.startswith("own "):
            return truth.sets_of(corpus.texts(), name)
        key = name.split(" ")[1]
        out = CACHE / "work" / f"sets-{key}-{corpus.digest[:8]}.npz"
        out.parent.mkdir(parents=True, exist_ok=True)
        command = [str(PEERS / key / "bin" / "python"), str(HERE / "adapter.py"), key, "--sets"]
        cost = measure([*command, str(out), *corpus.files], log=out.with_suffix(".log"), limit=3600)
        if cost.code != 0:
            raise SystemExit(f"bench/run: {key} made no sets of its own: {cost.output}")
        with np.load(out) as made:
            owner = np.repeat(np.arange(len(made["counts"])), made["counts"])
            return truth.ragged(len(made["counts"]), owner, made["values"].view(np.uint64))

    return truth.cached_truth(CACHE / "truth", corpus.digest, name, THRESHOLD, make)


def prepare_truths(wanted: list[tuple[str, Corpus]]) -> None:
    """Find the truths that are not there yet, two at a time."""
    with ProcessPoolExecutor(2) as pool:
        distinct = {(name, corpus.digest): (name, corpus) for name, corpus in wanted}
        list(pool.map(truth_under, *zip(*distinct.values(), strict=True)))


def friendly(found: list[Entry], whole: Corpus, part: Corpus, rounds: int, limit: float, again: float) -> list[Any]:
    """Measure every row on the friendly corpus, in rounds, with its start-up before each run.

    again: rows that took more CPU seconds than this are measured in the first round only; whether they give the same
    answer twice is then seen on the part.
    """
    small = corpora.tiny(CACHE / "corpora")
    runs: dict[int, list[Outcome]] = {i: [] for i in range(len(found))}
    starts: dict[int, list[Outcome]] = {i: [] for i in range(len(found))}
    for round_ in range(rounds):
        for i, entry in enumerate(found):
            if round_ and (runs[i][0].failed or runs[i][0].cost.cpu > again):
                continue
            for _ in range(3 if entry.key == "dejalu" else 1):  # the short one gets more
                starts[i].append(once(entry, small, limit))
                runs[i].append(once(entry, part if entry.row.slow else whole, limit, seed=len(runs[i])))
            took = runs[i][-1]
            print(f"  {entry.row.name}: {took.failed or f'{took.cost.cpu:.1f} CPU s'}", file=sys.stderr)
    twice = {
        i: [once(entry, part, limit, seed) for seed in (1, 2)]
        for i, entry in enumerate(found)
        if len(runs[i]) == 1 and not runs[i][0].failed
    }
    prepare_truths(
        [(truth_name(e), part if e.row.slow else whole) for i, e in enumerate(found) if not runs[i][0].failed]
    )
    return [
        line_of(entry, part if entry.row.slow else whole, starts[i], runs[i], twice.get(i, runs[i]))
        for i, entry in enumerate(found)
    ]


def line_of(
    entry: Entry, corpus: Corpus, starts: list[Outcome], runs: list[Outcome], twice: list[Outcome]
) -> dict[str, Any]:
    """Put together what is said of one row."""
    line: dict[str, Any] = {
        "name": entry.row.name, "peer": entry.peer.name, "setting": entry.row.setting, "tokens": entry.row.tokens,
        "threads": entry.row.threads, "duplicate": entry.peer.duplicate, "corpus": corpus.name,
        "documents": corpus.documents, "megabytes": corpus.bytes / 1e6,
    }  # fmt: skip
    bad = next((r.failed for r in runs if r.failed), "")
    if bad:
        return {**line, "failed": bad}
    nets = [r.cost.cpu - s.cost.cpu for r, s in zip(runs, starts, strict=True)]
    cpu = statistics.median(nets)
    last = runs[-1]
    assert last.kept is not None
    scored = truth.score(truth_for(entry, corpus), last.kept, last.removed, last.twin)
    return {
        **line,
        "versions": last.told["versions"],
        "python": last.told["python"],
        "notes": last.told["notes"],
        "runs": len(runs),
        "cpu": cpu,
        "cpu_all": nets,
        "start_up": statistics.median(s.cost.cpu for s in starts),
        "wall": statistics.median(r.cost.wall for r in runs),
        "others": statistics.median(r.cost.others for r in runs),
        "mb_per_s": corpus.bytes / 1e6 / max(cpu, 1e-9),
        "peak": max(r.peak for r in runs),
        "same_twice": len(twice) > 1 and all(np.array_equal(r.kept, twice[0].kept) for r in twice),
        **scored._asdict(),
    }


def hard_sets(found: list[Entry], names: list[str], limit: float) -> dict[str, Any]:
    """Measure every row on the hard sets: texts left twice, and texts lost, as a reader sees them."""
    sets = {name: corpora.hard(name, CACHE / "corpora") for name in names}
    tasks = [(name, entry) for entry in found for name in names]
    with ThreadPoolExecutor(2) as pool:
        lines = list(pool.map(lambda task: hard_line(task[1], sets[task[0]], limit), tasks))
    results: dict[str, Any] = {}
    for name, corpus in sets.items():
        texts = len(np.unique(corpus.same()))
        results[name] = {
            "about": corpora.HARD[name][1], "documents": corpus.documents, "texts": texts,
            "copies": corpus.documents - texts,
            "rows": [line for (of, _), line in zip(tasks, lines, strict=True) if of == name],
        }  # fmt: skip
    return results


def hard_line(entry: Entry, corpus: Corpus, limit: float) -> dict[str, Any]:
    """Run one row on one hard set."""
    got = once(entry, corpus, limit)
    line: dict[str, Any] = {"name": entry.row.name, "failed": got.failed, "cpu": got.cost.cpu, "peak": got.peak}
    if got.kept is not None:
        copies = np.bincount(corpus.same(), weights=got.kept).astype(int)
        own = truth.score(truth_for(entry, corpus), got.kept, got.removed, got.twin)
        line |= {"left": int(np.maximum(copies - 1, 0).sum()), "lost": int((copies == 0).sum()),
                 "under_own_tokens": own._asdict()}  # fmt: skip
    told = got.failed or f"{line['left']:,} copies left, {line['lost']:,} texts lost"
    print(f"  {corpus.name}: {entry.row.name}: {told}", file=sys.stderr)
    return line


def machine() -> dict[str, Any]:
    """Say what this was measured on."""
    info = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    own = {k.strip(): v.strip() for k, v in info.items()}
    memory = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    return {"cpu": own.get("model name", platform.machine()), "cores": os.cpu_count(), "memory": memory,
            "system": platform.platform(), "python": platform.python_version()}  # fmt: skip


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="200 MB of English, two rounds, slow tools on a part")
    parser.add_argument("--only", default="", help="names of bench/peers, separated by commas; results are not kept")
    parser.add_argument("--corpus", default="all", help=f"english, hard, all, or one of: {', '.join(corpora.HARD)}")
    parser.add_argument("--source", type=Path, help="folder of parquet files with `text` and `lang` ($DEJALU_CORPUS)")
    parser.add_argument("--megabytes", type=int, help="size of the English corpus (200 with --quick, else 1000)")
    parser.add_argument("--part", type=int, help="megabytes for slow tools (4 with --quick, else 40)")
    parser.add_argument("--rounds", type=int, help="rounds over all rows (2 with --quick, else 3)")
    parser.add_argument("--keep", action="store_true", help="keep the results even with --only or --corpus")
    return parser.parse_args()


def timed() -> Iterator[float]:
    """Seconds since the first call, each time it is asked."""
    began = time.perf_counter()
    while True:
        yield time.perf_counter() - began


def main() -> None:
    """Measure, print, and keep."""
    args, clock = arguments(), timed()
    next(clock)
    if args.corpus not in ("english", "hard", "all", *corpora.HARD):
        known = ", ".join(("english", "hard", "all", *corpora.HARD))
        raise SystemExit(f"bench/run: no corpus {args.corpus!r}; there are {known}")
    only = [n for n in args.only.split(",") if n]
    found, missing = entries(only)
    if not found:
        raise SystemExit(f"bench/run: nothing to run: {missing or 'no such name'}")
    loaded = os.getloadavg()[0]
    results: dict[str, Any] = {
        "version": version("dejalu"), "when": datetime.now(UTC).isoformat(timespec="seconds"), "quick": args.quick,
        "machine": machine(), "threshold": THRESHOLD, "missing": missing, "load_before": loaded,
    }  # fmt: skip
    if args.corpus in ("english", "all"):
        default = os.environ.get("DEJALU_CORPUS")
        source = args.source or (Path(default) if default else None)
        if source is None and (ROOT.parent / "shared" / "corpus").exists():
            source = ROOT.parent / "shared" / "corpus"
        size = args.megabytes or (200 if args.quick else 1000)
        builder = ROOT.parent / "shared" / "data" / "build_corpus.py"
        whole = corpora.english(CACHE / "corpora", source, builder, size)
        part = corpora.part_of(whole, CACHE / "corpora", args.part or (4 if args.quick else 40))
        print(f"english: {whole.documents:,} documents, {whole.bytes / 1e6:.0f} MB; slow tools: {part.documents:,}, "
              f"{part.bytes / 1e6:.1f} MB", file=sys.stderr)  # fmt: skip
        results["corpus"] = {"documents": whole.documents, "megabytes": whole.bytes / 1e6, "digest": whole.digest,
                             "part_megabytes": part.bytes / 1e6}  # fmt: skip
        limit, again = (120, 8) if args.quick else (7200, 600)
        results["rows"] = friendly(found, whole, part, args.rounds or (2 if args.quick else 3), limit, again)
    if args.corpus != "english":
        names = [args.corpus] if args.corpus in corpora.HARD else list(corpora.HARD)
        results["hard"] = hard_sets(found, names, 10 if args.quick else 600)
    results |= {"load_after": os.getloadavg()[0], "seconds": next(clock)}
    shown = report.text(results)
    print(shown)
    if args.keep or (not only and args.corpus == "all"):
        report.keep(results, ROOT)


if __name__ == "__main__":
    main()
