"""The set-similarity join alone: short text, containment, texts of one template; CPU, wall, peak memory, pairs, recall.

    python bench/join.py [WHAT ...] [--corpus FOLDER] [--data FOLDER] [--threads 2] [--quick] [--json FILE]

WHAT is one or more of
    summaries   all pairs at Jaccard >= .8 of character 3-grams of the package summaries; brute force on a sample
    lines       200,000 and 1,000,000 short texts of the corpus, the same similarity: all pairs, and settling
    documents   containment on the long-document sets: every pair in either direction, against brute force on a sample
    excerpts    excerpts of 50 words in documents at least 100 times longer: all found, share 1
    web         containment, and Jaccard, of 100,000 English web-length documents, 5-word shingles: settling
    template    100,000 texts of one long template with a few words of their own
and all of them when none is named. FOLDER of --corpus holds parquet files with `text` and `lang` (build_corpus.py
beside the evaluation data makes it), that of --data the labelled sets (*.docs.jsonl.gz).

Short texts are the real short lines of the corpus: English documents cut at line ends and after . ! ?, blanks joined,
20 to 140 characters, each different line once, in an order that a fixed seed shuffles (1.6 million there are).

Times are from texts in memory to the result: shingles, ranks, join. Each measurement is a process of its own. Brute
force counts the common shingles of every document of the sample and every document of the set, without any filter.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {"200,000 lines": 10.0, "1,000,000 lines": 120.0, "web": 120.0}  # wall seconds, 2 threads
LONG_SETS = ("long_license", "long_llvm", "long_zh_law", "planted_en", "planted_zh", "plag_clough")
SAMPLE = 1_000  # documents that brute force compares with all


def corpus_lines(corpus: Path, folder: Path) -> Path:
    """Cut the short lines out of the corpus, once."""
    out = folder / "lines.parquet"
    if not out.exists():
        lines: dict[str, None] = {}
        for text in english(corpus, None).to_pylist():
            for piece in re.split(r"\n+|(?<=[.!?])\s+", text):
                line = " ".join(piece.split())
                if 20 <= len(line) <= 140:
                    lines[line] = None
        ordered = list(lines)
        random.Random(1).shuffle(ordered)
        pq.write_table(pa.table({"text": pa.array(ordered, pa.large_string())}), out)
    return out


def english(corpus: Path, most: int | None) -> pa.Array:
    """English texts of the corpus."""
    files = sorted(corpus.rglob("*.parquet"))
    files = [f for f in files if {"text", "lang"} <= set(pq.read_schema(f).names)]
    tables = [pq.read_table(f, columns=["text"], filters=[("lang", "=", "en")]) for f in files]
    text = pa.concat_tables(tables)["text"].cast(pa.large_string()).combine_chunks()
    return text if most is None else text.slice(0, most)


def labelled(data: Path, name: str) -> pa.Array:
    """The texts of a labelled set, each different one once."""
    with gzip.open(data / f"{name}.docs.jsonl.gz", "rt", encoding="utf-8") as f:
        return pc.unique(pa.array([json.loads(line)["text"] for line in f], pa.large_string()))


def excerpts(text: pa.Array, most: int) -> tuple[pa.Array, int]:
    """Documents of at least 5,000 words, 50 consecutive words of each after them, and the number of documents.

    Few texts of the corpus are that long: the words of those that follow one another are joined until they are.
    """
    rng = random.Random(4)
    whole, cut, words = [], [], []
    for one in text.to_pylist():
        words += re.findall(r"\w+", one)
        if len(words) >= 5_000:
            at = rng.randrange(len(words) - 50)
            whole.append(" ".join(words))
            cut.append(" ".join(words[at : at + 50]))
            words = []
            if len(whole) == most:
                break
    return pa.array(whole + cut, pa.large_string()), len(whole)


def template(n: int, changes: int) -> pa.Array:
    """Different texts of 100 words of which all but `changes`, at random places, are the same."""
    rng = random.Random(5)
    base = [f"word{rng.randrange(50_000)}" for _ in range(100)]
    texts: dict[str, None] = {}
    while len(texts) < n:
        words = list(base)
        for place in rng.sample(range(100), changes):
            words[place] = f"own{rng.randrange(1_000_000)}"
        texts[" ".join(words)] = None
    return pa.array(list(texts), pa.large_string())


def shingled(text: pa.Array, shingle: int, unit: int) -> tuple[np.ndarray, np.ndarray]:
    from dejalu import kernels
    from dejalu.data import text_buffers

    return kernels.shingle_sets(*text_buffers(text), shingle=shingle, unit=unit)


def brute(
    values: np.ndarray, offsets: np.ndarray, sample: list[int], measure: str, threshold: float
) -> set[tuple[int, int, float]]:
    """All pairs that a document of the sample is in: (a, b, similarity), as `join_pairs` lists them."""
    n, sizes = len(offsets) - 1, np.diff(offsets)
    _, place = np.unique(values, return_inverse=True)
    holder = np.repeat(np.arange(n), sizes)[np.argsort(place, kind="stable")]  # documents of each shingle
    start = np.concatenate(([0], np.cumsum(np.bincount(place))))
    found = set()
    for d in sample:
        own = place[offsets[d] : offsets[d + 1]]
        both = np.bincount(np.concatenate([holder[start[x] : start[x + 1]] for x in own] or [own]), minlength=n)
        both[d] = 0
        for e in np.flatnonzero(both).tolist():
            c, na, nb = int(both[e]), int(sizes[d]), int(sizes[e])
            if measure == "jaccard":
                if c / (na + nb - c) >= threshold:
                    found.add((min(d, e), max(d, e), c / (na + nb - c)))
                continue
            found |= {(a, b, c / m) for a, b, m in ((d, e, na), (e, d, nb)) if c / m >= threshold}
    return found


def peak() -> float:
    """Peak resident memory of this process, MiB."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


def join(text: pa.Array, task: dict[str, Any]) -> dict[str, Any]:
    """Shingle, rank, join; with `sample`, compare the pairs of that many documents with brute force."""
    from dejalu import kernels

    threads, measure, threshold = task["threads"], task["measure"], task.get("threshold", 0.8)
    usage, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    values, offsets = shingled(text, task["shingle"], task["unit"])
    ranked = kernels.rank_sets(values, offsets, threads=threads)
    result: dict[str, Any] = {"documents": len(text), "bytes": text.nbytes, "shingles": len(values)}
    order = np.arange(len(text))
    if task["what"] == "settle":
        if measure == "containment":
            order = np.argsort(-ranked.sizes, kind="stable")
            ranked = ranked.take(order)
        twin, similarity = kernels.join_settle(ranked, measure=measure, threshold=threshold, threads=threads)
        result["removed"] = int((twin >= 0).sum())
    else:
        a, b, similarity, complete = kernels.join_pairs(
            ranked, measure=measure, threshold=threshold, most=100_000_000, threads=threads
        )
        result |= {"pairs": len(a), "complete": complete}
    after = resource.getrusage(resource.RUSAGE_SELF)
    result |= {
        "wall": time.perf_counter() - wall,
        "cpu": after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime,
        "peak": peak(),
    }
    if task["what"] == "pairs" and task.get("sample"):
        chosen = sorted(random.Random(2).sample(range(len(text)), min(task["sample"], len(text))))
        true = brute(values, offsets, chosen, measure, threshold)
        mark = np.zeros(len(text), np.bool_)
        mark[chosen] = True
        here = mark[a] | mark[b]
        found = set(zip(a[here].tolist(), b[here].tolist(), similarity[here].tolist(), strict=True))
        result |= {
            "sample": len(chosen),
            "true": len(true),
            "recall": len(found & true) / len(true) if true else 1.0,
            "wrong": len(found - true),
        }
    if "whole" in task:  # document i, and its excerpt
        n = task["whole"]
        listed = dict(zip(zip(a.tolist(), b.tolist(), strict=True), similarity.tolist(), strict=True))
        shares = [listed.get((n + i, i), 0.0) for i in range(n)]
        result |= {"excerpts": n, "found": sum(s > 0 for s in shares), "share 1": sum(s == 1.0 for s in shares)}
    return result


def in_a_process(text: pa.Array, **task: Any) -> dict[str, Any]:
    """Run `join` in a fresh process, which reads its texts from a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.arrow"
        with pa.ipc.new_file(file, pa.schema({"text": pa.large_string()})) as out:
            out.write_table(pa.table({"text": text}))
        command = [sys.executable, __file__, "--task", json.dumps({"file": str(file)} | task)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def summaries(args: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    text = labelled(args.data, "short_pkg")
    task = {"measure": "jaccard", "shingle": 3, "unit": 1, "threads": args.threads}
    return [("package summaries", in_a_process(text, what="pairs", sample=SAMPLE, **task))]


def lines(args: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    text = pq.read_table(corpus_lines(args.corpus, args.scratch))["text"].combine_chunks()
    task = {"measure": "jaccard", "shingle": 3, "unit": 1, "threads": args.threads}
    rows = []
    for most in (200_000,) if args.quick else (200_000, 1_000_000):
        n = min(most, len(text))
        sample = SAMPLE if n <= 200_000 else 0
        rows.append((f"{n:,} lines, pairs", in_a_process(text.slice(0, n), what="pairs", sample=sample, **task)))
        rows.append((f"{n:,} lines, settle", in_a_process(text.slice(0, n), what="settle", **task)))
    return rows


def documents(args: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    task = {"measure": "containment", "shingle": 5, "unit": 0, "threads": args.threads, "what": "pairs"}
    return [(name, in_a_process(labelled(args.data, name), sample=SAMPLE, **task)) for name in LONG_SETS]


def cut_out(args: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    text, n = excerpts(english(args.corpus, None), 200 if args.quick else 2_000)
    task = {"measure": "containment", "shingle": 5, "unit": 0, "threads": args.threads, "what": "pairs"}
    return [("excerpts of 50 words", in_a_process(text, whole=n, **task))]


def web(args: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    text = english(args.corpus, 20_000 if args.quick else 100_000)
    task = {"shingle": 5, "unit": 0, "threads": args.threads, "what": "settle"}
    return [(f"web, {m}", in_a_process(text, measure=m, **task)) for m in ("containment", "jaccard")]


def templates(args: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    rows = []
    for changes in (1, 2, 3):
        text = template(10_000 if args.quick else 100_000, changes)
        for shingle, unit, name in ((5, 0, "5 words"), (3, 1, "3 characters")):
            task = {"measure": "jaccard", "shingle": shingle, "unit": unit, "threads": args.threads}
            rows.append((f"template, {changes} own, {name}", in_a_process(text, what="settle", **task)))
    return rows


KINDS: dict[str, Callable[[argparse.Namespace], list[tuple[str, dict[str, Any]]]]] = {
    "summaries": summaries,
    "lines": lines,
    "documents": documents,
    "excerpts": cut_out,
    "web": web,
    "template": templates,
}


def shown(name: str, row: dict[str, Any]) -> str:
    cells = [f"{name:30} {row['documents']:>9,} texts {row['wall']:7.2f} s wall"]
    cells[0] += f" {row['cpu']:7.2f} s CPU {row['peak']:6.0f} MiB"
    if "removed" in row:
        cells.append(f"removed {row['removed']:,}")
    if "pairs" in row:
        cells.append(f"pairs {row['pairs']:,}")
    if "recall" in row:
        judged = f"(brute force, {row['sample']} texts)"
        cells.append(f"recall {row['recall']:.4f} and {row['wrong']} wrong of {row['true']:,} {judged}")
    if "excerpts" in row:
        cells.append(f"{row['found']} of {row['excerpts']} excerpts found, {row['share 1']} with share 1")
    for limit, seconds in LIMITS.items():
        if name.startswith(limit):
            cells.append(f"limit {seconds:.0f} s: {'kept' if row['wall'] <= seconds else 'MISSED'}")
    return "  ".join(cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[[], *KINDS], default=[])
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="fewer texts: a minute in all")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.task:
        task = json.loads(args.task)
        with pa.memory_map(task["file"]) as f:
            print(json.dumps(join(pa.ipc.open_file(f).read_all()["text"].combine_chunks(), task)))
        return 0
    args.scratch.mkdir(parents=True, exist_ok=True)
    rows, failed = [], False
    for kind in args.what or KINDS:
        wants = args.data if kind in ("summaries", "documents") else None if kind == "template" else args.corpus
        if kind != "template" and (wants is None or not wants.is_dir()):
            print(f"{kind}: skipped, {'--corpus names no folder' if wants is None else f'{wants} is not there'}")
            continue
        for name, row in KINDS[kind](args):
            print(shown(name, row), flush=True)
            rows.append({"name": name} | row)
            failed |= row.get("recall", 1.0) < 1 or bool(row.get("wrong")) or row.get("found") != row.get("excerpts")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
