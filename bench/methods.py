"""Every method on every labelled set, at its default and at its best setting, beside datasketch, rensa and simhash.

    python bench/methods.py                    all sets (a quarter of an hour on two cores); writes docs/methods.md and
                                               bench/results/methods.json
    python bench/methods.py --quick            a few sets and a short grid (two minutes); prints, writes nothing
    python bench/methods.py --only poem,para   sets whose name holds one of these; --methods auto,rensa: these methods;
                                               prints, and writes only with --merge: into what was written last

Each tool lists pairs over the whole collection; bench/labelled.py judges them, in the same way for all. The best
setting is the one of highest F1 in the grid below, chosen on the labels that it is judged by, and so an upper bound; it
is then run by itself, and that run is what is shown. Times are CPU seconds on one thread, from texts in memory to the
list of pairs. The other tools come from `bench/setup methods`, or another environment that has them (--peer-python).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import labelled
import labelled_sets
import method_tables
import numpy as np

import dejalu
from dejalu.errors import FloodError, UsageError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DATA = ROOT.parent / "shared" / "data"
RESULTS = HERE / "results" / "methods.json"
PEER_PYTHON = ROOT / "build" / "peers" / "methods" / "bin" / "python"
QUICK = ("plag_clough", "noise_ocr", "short_er/Textual_Abt-Buy", "para_pawsx/en", "xling_udhr")
MOST = 2_000_000  # pairs; a setting that lists more is left out
LARGE = 4_000_000  # bytes of text, or
MANY = 6_000  # texts, from which the grid starts at a higher threshold
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
LEAST_LARGE = 0.5
DISTANCES = (0, 3, 6, 8, 10, 12, 14, 16, 20)
MOST_DISTANT_LARGE = 12
SHAPES_LARGE = 2  # of other tools
Setting = dict[str, Any]
Settings = tuple[Setting, ...]
Steps = tuple[float, ...]


@dataclass(frozen=True)
class Method:
    """A way to list pairs: what is passed always, and the shapes and steps of its grid.

    step    name of the parameter of which the grid tries all values of `steps`; a list made at the lowest holds those
            of the others
    tool    "dejalu", or whose package it is
    """

    name: str
    fixed: Setting
    default: Setting
    shapes: Settings = ()
    step: str = "threshold"
    tool: str = "dejalu"
    quick: int = 2  # shapes that --quick tries

    def steps(self, large: bool) -> Steps:
        """The values of `step`, from what lists most to what lists least."""
        if self.step == "distance":
            return tuple(d for d in reversed(DISTANCES) if d <= MOST_DISTANT_LARGE or not large)
        return tuple(t for t in THRESHOLDS if t >= LEAST_LARGE or not large)


def shapes(*of: tuple[str, int], **more: Any) -> Settings:
    """Units and shingle lengths as parameters."""
    return tuple({"unit": unit, "shingle": n, **more} for unit, n in of)


WORDS, CHARS = "word", "char"
PEER_TOKENS = tuple({"tokens": t} for t in ("words", "5 words", "5 characters"))
METHODS = (
    Method("exact", {"method": "exact"}, {}),
    Method(
        "minhash", {"method": "minhash"}, {"threshold": 0.8, "unit": WORDS, "shingle": 5},
        shapes((WORDS, 3), (CHARS, 5), (WORDS, 1), (WORDS, 2), (WORDS, 5), (CHARS, 9)),
    ),
    Method(
        "short", {"method": "short"}, {"threshold": 0.8, "unit": CHARS, "shingle": 3},
        shapes((CHARS, 3), (WORDS, 1), (CHARS, 2), (CHARS, 5), (WORDS, 2), (WORDS, 3)),
    ),
    Method("auto", {"method": "auto"}, {"threshold": 0.8}, ({}, {"short_unit": WORDS, "short_shingle": 1})),
    Method(
        "containment", {"method": "containment"}, {"threshold": 0.8, "unit": WORDS, "shingle": 5},
        shapes((WORDS, 3), (CHARS, 5), (WORDS, 1), (WORDS, 2), (WORDS, 5)),
    ),
    Method(
        "tfidf jaccard", {"method": "tfidf", "measure": "jaccard"}, {"threshold": 0.8, "unit": WORDS, "shingle": 1},
        shapes((WORDS, 1), (CHARS, 3), (WORDS, 2)),
    ),
    Method(
        "tfidf cosine", {"method": "tfidf", "measure": "cosine"}, {"threshold": 0.8, "unit": WORDS, "shingle": 1},
        shapes((WORDS, 1), (CHARS, 3), (WORDS, 2)),
    ),
    Method(
        "simhash", {"method": "simhash"}, {"distance": 3, "unit": WORDS, "shingle": 1, "weights": "tf"},
        shapes((WORDS, 1), (CHARS, 4), (WORDS, 2), weights="tf")
        + shapes((WORDS, 1), (CHARS, 4), (WORDS, 2), weights="tfidf"),
        step="distance",
    ),
    Method("datasketch", {}, {"tokens": "words", "threshold": 0.5}, PEER_TOKENS, tool="datasketch", quick=1),
    Method("rensa", {}, {"tokens": "words", "threshold": 0.8}, PEER_TOKENS, tool="rensa"),
    Method("simhash (package)", {}, {"distance": 3}, ({},), step="distance", tool="simhash"),
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    """What the command line chose."""

    data: Path
    peer_python: Path | None
    quick: bool
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Listed:
    """Pairs (numbers made by labelled.unordered), what `step` each reaches, and CPU seconds."""

    pairs: Any
    reach: Any
    cpu: float


class Ours:
    """Lists pairs with dejalu."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    def run(self, method: Method, settings: Sequence[Setting]) -> Iterator[Listed | None]:
        """One list per setting; None where it cannot be run or lists too many."""
        for setting in settings:
            began = time.process_time()
            try:
                found = dejalu.pairs(self.texts, **method.fixed, **setting, max_pairs=MOST, threads=1)
            except (FloodError, UsageError):
                yield None
                continue
            cpu = time.process_time() - began
            a, b = (found.column(name).to_numpy() for name in ("a", "b"))
            if method.step == "distance":
                reach = -found.column("distance").to_numpy().astype(np.float64)
            else:
                reach = found.column("similarity").to_numpy()
            key = np.minimum(a, b) << labelled.SHIFT | np.maximum(a, b)  # containment lists both directions
            order = np.lexsort((-reach, key))
            key, reach = key[order], reach[order]
            first = np.flatnonzero(np.diff(key, prepend=-1))
            yield Listed(key[first], reach[first], cpu)


class Theirs:
    """Lists pairs with another tool, in its own environment."""

    def __init__(self, texts: list[str], python: Path) -> None:
        self.texts, self.python = texts, python

    def run(self, method: Method, settings: Sequence[Setting]) -> Iterator[Listed | None]:
        """One list per setting; None where it lists too many."""
        with tempfile.TemporaryDirectory() as folder:
            asked, out = Path(folder, "asked.json"), Path(folder, "out.npz")
            want = {"tool": method.tool, "texts": self.texts, "runs": list(settings), "most": MOST}
            asked.write_text(json.dumps(want), "utf-8")
            subprocess.run([self.python, HERE / "method_peers.py", asked, out], check=True)
            with np.load(out) as made:
                for n, cpu in enumerate(made["cpu"]):
                    pairs = labelled.unordered(made[f"a{n}"], made[f"b{n}"])
                    yield None if made["flooded"][n] else Listed(pairs, None, float(cpu))


def shown(setting: Setting) -> str:
    """A setting in a few words."""
    parts = []
    if "unit" in setting:
        parts.append(f"{setting['unit']} {setting['shingle']}")
    if "short_unit" in setting:
        parts.append(f"short: {setting['short_unit']} {setting['short_shingle']}")
    parts += [str(setting[name]) for name in ("tokens", "weights") if name in setting]
    if "threshold" in setting:
        parts.append(f"≥ {setting['threshold']:g}".replace("0.", "."))
    if "distance" in setting:
        parts.append(f"≤ {setting['distance']} bits")
    return ", ".join(parts)


def measured(of: labelled.Labelled, setting: Setting, listed: Listed | None) -> dict[str, Any]:
    """A row of the table."""
    row: dict[str, Any] = {"setting": shown(setting)}
    if listed is None:
        return row | {"flooded": MOST}
    return row | labelled.judge(of, listed.pairs)._asdict() | {"cpu": round(listed.cpu, 4)}


def search_ours(of: labelled.Labelled, method: Method, by: Ours, shapes: Settings, steps: Steps) -> tuple[Setting, int]:
    """The setting of highest F1 in the grid, the first of equals, and how many were tried."""
    scored: list[tuple[float, Setting]] = []
    for shape in shapes:
        whole = [shape | {method.step: step} for step in steps]
        for n, setting in enumerate(whole):  # the lowest step that can be run holds the pairs of the others
            listed = next(by.run(method, [setting]))
            if listed is not None:
                for step, one in zip(steps[n:], whole[n:], strict=True):
                    least = -step if method.step == "distance" else step
                    scored.append((labelled.judge(of, listed.pairs[listed.reach >= least]).f1, one))
                break
    best = max(scored, key=lambda pair: pair[0], default=(0.0, method.default))
    return best[1], len(scored)


def row_of(of: labelled.Labelled, method: Method, options: Options, large: bool) -> dict[str, Any]:
    """A method's default and best on a set."""
    steps = method.steps(large)[:: 2 if options.quick else 1]
    shapes = method.shapes[: method.quick] if options.quick else method.shapes
    if large and method.tool != "dejalu":
        shapes = shapes[:SHAPES_LARGE]
    if method.tool == "dejalu":
        ours = Ours(of.texts)
        row: dict[str, Any] = {"method": method.name}
        row["default"] = measured(of, method.default, next(ours.run(method, [method.default])))
        if shapes:
            setting, tried = search_ours(of, method, ours, shapes, steps)
            row |= {"best": measured(of, setting, next(ours.run(method, [setting]))), "tried": tried}
        return row
    # What others list depends on more than the step, so that each is a run of its own; all in one process.
    settings = [method.default, *(shape | {method.step: step} for shape in shapes for step in steps)]
    runs = list(Theirs(of.texts, options.peer_python or Path()).run(method, settings))
    rows = [measured(of, setting, listed) for setting, listed in zip(settings, runs, strict=True)]
    best = max(rows, key=lambda row: row.get("f1", 0.0))
    return {"method": method.name, "default": rows[0], "best": best, "tried": sum("f1" in row for row in rows[1:])}


def run_set(name: str, options: Options) -> dict[str, Any]:
    """All methods on one set."""
    dejalu.pairs(["a few words to begin with"])  # what is done once a process is in no row's time
    of = labelled_sets.load(options.data, name)
    size = sum(len(text.encode()) for text in of.texts)
    large = size > LARGE or len(of.texts) > MANY
    rows = []
    for method in METHODS:
        if options.methods and method.name not in options.methods:
            continue
        if method.tool != "dejalu" and options.peer_python is None:
            continue
        rows.append(row_of(of, method, options, large))
    return {
        "name": name,
        "about": of.about,
        "texts": len(of.texts),
        "bytes": size,
        "yes": len(of.yes),
        "no": None if of.no is None else len(of.no),
        "neither": len(of.neither),
        "base": of.base,
        "large": large,
        "rows": rows,
    }


def grid() -> list[dict[str, Any]]:
    """The grid in words, for the page."""
    return [
        {
            "method": m.name,
            "default": shown(m.default),
            "shapes": [shown(shape) or "as the default" for shape in m.shapes],
            "steps": [shown({m.step: s}) for s in m.steps(large=False)] if m.shapes else [],
        }
        for m in METHODS
    ]


def machine() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the labelled sets")
    parser.add_argument("--peer-python", type=Path, default=PEER_PYTHON, help="Python that has the other tools")
    parser.add_argument("--quick", action="store_true", help="a few sets and a short grid; writes nothing")
    parser.add_argument("--only", default="", help="sets whose name holds one of these words; writes nothing")
    parser.add_argument("--methods", default="", help="these methods only; writes nothing")
    parser.add_argument("--merge", action="store_true", help="write what was run into the figures written last")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="sets at once")
    args = parser.parse_args()
    if not args.data.is_dir():
        parser.error(f"no labelled sets at {args.data} (--data)")
    peers = args.peer_python if args.peer_python.exists() else None
    if peers is None:
        print(f"other tools left out: {args.peer_python} is not there (bench/setup methods)", file=sys.stderr)
    words, methods = (tuple(x for x in text.split(",") if x) for text in (args.only, args.methods))
    names = [n for n in labelled_sets.names() if (not words and not args.quick) or (n in QUICK and not words)]
    names += [n for n in labelled_sets.names() if any(word in n for word in words)]
    if unknown := set(methods) - {m.name for m in METHODS}:
        parser.error(f"unknown method {', '.join(sorted(unknown))}; known are {', '.join(m.name for m in METHODS)}")
    options = Options(args.data, peers, args.quick, methods)
    began = time.perf_counter()
    results: dict[str, Any] = {
        "dejalu": dejalu.__version__,
        "python": platform.python_version(),
        "machine": machine(),
        "grid": grid(),
        "sets": [],
    }
    if args.merge:
        results["sets"] = json.loads(RESULTS.read_text("utf-8"))["sets"] if RESULTS.exists() else []
    with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
        for made in pool.map(run_set, names, [options] * len(names)):
            print(method_tables.of_set(made), flush=True)
            results["sets"] = merged(results["sets"], made)
            if args.merge:
                keep(results)
    print(method_tables.summary(results))
    print(f"{time.perf_counter() - began:.0f} s")
    if args.merge or (not (args.quick or words or methods) and peers is not None):
        keep(results)
        method_tables.write(ROOT / "docs" / "methods.md", results)


def merged(sets: list[dict[str, Any]], made: dict[str, Any]) -> list[dict[str, Any]]:
    """Put a set among others, its rows among those that it had; all in the order of the tables."""
    rows = {row["method"]: row for one in [*sets, made] if one["name"] == made["name"] for row in one["rows"]}
    whole = {one["name"]: one for one in sets} | {
        made["name"]: made | {"rows": [rows[m.name] for m in METHODS if m.name in rows]}
    }
    return [whole[name] for name in labelled_sets.names() if name in whole]


def keep(results: dict[str, Any]) -> None:
    """Write the figures."""
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
