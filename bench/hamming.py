"""SimHash fingerprints and the complete Hamming search: speed, beside the simhash package, gaoya and NumPy; and recall.

    python bench/hamming.py [CORPUS_FOLDER] [--threads 2] [--peer-python PYTHON] [--pairs 10e6] [--json FILE]
    python bench/hamming.py --complete [--documents 200000]      all pairs by tables against all pairs by scan

What is measured, with the targets of TARGETS:
    scan      one query against 1,000,000 fingerprints of 64 bits by popcount; NumPy's bitwise_count beside it
    queries   look-ups per second in tables of 1,000,000, distance 3; half of the queries are in the table. The simhash
              package and gaoya beside it, in the interpreter that --peer-python names (by default that of
              `bench/setup hamming`); their absence is said. The simhash package gets 200,000 fingerprints, which is in
              its favour. gaoya takes texts only: it gets texts of one word, whose fingerprint is the word's hash.
    pairs     all pairs within 3 bits of 10,000,000, random, and half of them in clusters: a fresh process each, whose
              wall time and peak memory are those of the search alone plus what making the fingerprints takes
    texts     megabytes of text fingerprinted per second on one thread, from the parquet files of CORPUS_FOLDER or from
              the sample that the package ships

The machine may be shared: of a short measurement the fastest and the median round are given, of a long one the CPU time
and what the machine did besides. Exit code 1: a target was missed, or a pair.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()
PEER_PYTHON = HERE.parents[1] / "build" / "peers" / "hamming" / "bin" / "python"
MILLION = 1_000_000
K = 3
TARGETS = {"scan ms": 1.0, "queries per s": 500_000, "pairs s": 30.0, "pairs GiB": 2.0, "texts MB/s": 200}


def fingerprints(n: int, words: int, clustered: bool, seed: int = 0, flips: int = 3) -> np.ndarray:
    """Random fingerprints (n, words); or half of them in clusters of about 20, up to `flips` bits from their centre."""
    rng = np.random.default_rng([seed, n, words])
    prints = rng.integers(0, 2**64, (n, words), np.uint64)
    if clustered:
        some = prints[rng.integers(0, max(1, n // 40), n // 2)]
        for _ in range(flips):
            flip = (rng.random(len(some)) < 0.6).astype(np.uint64)
            some[np.arange(len(some)), rng.integers(0, words, len(some))] ^= flip << rng.integers(
                0, 64, len(some)
            ).astype(np.uint64)
        prints[n - len(some) :] = some
        rng.shuffle(prints)
    return prints[:, 0].copy() if words == 1 else prints


def rounds(call: Callable[[], object], times: int) -> list[float]:
    """Seconds that each round took, the fastest first."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return sorted(took)


def scan(threads: int) -> dict[str, float]:
    from dejalu import kernels

    prints = fingerprints(MILLION, 1, False)
    query = prints[500_000:500_001] ^ np.uint64(0b101)
    plan = kernels.HammingPlan(np.zeros((1, 1), np.uint64), 0)
    tables = kernels.hamming_tables(prints, plan, threads=threads)

    def ours() -> list[int]:
        return kernels.hamming_query(tables, plan, prints, query, K, most=1000, threads=threads)[1].tolist()

    def numpys() -> list[int]:
        return np.flatnonzero(np.bitwise_count(prints ^ query[0]) <= K).tolist()

    assert ours() == numpys() == [500_000]
    mine, theirs = rounds(ours, 300), rounds(numpys, 20)
    return {
        "scan ms": 1e3 * mine[0],
        "scan ms, median": 1e3 * statistics.median(mine),
        "NumPy ms": 1e3 * theirs[0],
        "NumPy ms, median": 1e3 * statistics.median(theirs),
        "memory alone ms": 1e3 * rounds(prints.sum, 50)[0],
    }


def asked(prints: np.ndarray, n: int) -> np.ndarray:
    """n queries, every second of them a fingerprint with two bits flipped."""
    queries = fingerprints(n, 1, False, seed=1)
    queries[::2] = prints[:: max(1, len(prints) // ((n + 1) // 2))][: (n + 1) // 2] ^ np.uint64(1 << 40 | 1)
    return queries


def look_ups(threads: int) -> dict[str, float]:
    import dejalu

    prints = fingerprints(MILLION, 1, False)
    queries = asked(prints, MILLION)
    start = time.perf_counter()
    table = dejalu.HammingTable(prints, K, threads=threads)
    built = time.perf_counter() - start
    assert len(table.query(queries)) == MILLION // 2
    took = rounds(lambda: table.query(queries), 7)
    return {
        "queries per s": MILLION / took[0],
        "queries per s, median": MILLION / statistics.median(took),
        "tables": table.tables,
        "build s": built,
    }


def peer(name: str) -> float:
    """Look-ups per second of a peer; runs in the peer's interpreter."""
    if name == "simhash":
        import logging

        from simhash import Simhash, SimhashIndex

        logging.disable(logging.WARNING)
        prints = fingerprints(200_000, 1, False)
        index = SimhashIndex([(str(i), Simhash(int(p))) for i, p in enumerate(prints)], k=K)
        queries = [Simhash(int(q)) for q in asked(prints, 20_000)]
        assert len(index.get_near_dups(queries[0])) == 1
        return len(queries) / rounds(lambda: [index.get_near_dups(q) for q in queries], 3)[0]
    from gaoya.simhash import SimHashStringIndex

    index = SimHashStringIndex(hash_size=64, num_blocks=6, hamming_distance=K, analyzer="word")
    for i in range(MILLION):
        index.insert_document(i, f"word{i}")
    texts = [f"word{i}" for i in range(0, 2 * MILLION, 20)]
    assert 0 in index.query(texts[0])
    return len(texts) / rounds(lambda: index.par_bulk_query(texts), 3)[0]


def peers(python: Path) -> dict[str, float]:
    """Look-ups per second of each peer that is installed there."""
    found = {}
    for name in ("simhash", "gaoya"):
        if not python.exists():
            print(f"  {name}: not measured: {python} is not there; run bench/setup hamming or name one that has it")
            continue
        done = subprocess.run([python, HERE, "--peer", name], capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"  {name}: not measured: {done.stderr.strip().splitlines()[-1]}")
        else:
            found[f"{name} queries per s"] = float(done.stdout.split()[-1])
    return found


def all_pairs(n: int, threads: int) -> dict[str, float]:
    from measure import measure

    out = {}
    for kind in ("random", "clustered"):
        command = [sys.executable, str(HERE), "--child", kind, "--pairs", str(n), "--threads", str(threads)]
        with tempfile.TemporaryDirectory() as folder:
            cost = measure(command, log=Path(folder) / "log", limit=1800)
        if cost.code:
            raise SystemExit(cost.output)
        said = json.loads(cost.output.strip().splitlines()[-1])
        out |= {
            f"{kind}: pairs": said["pairs"],
            f"{kind}: pairs s": said["seconds"],
            f"{kind}: CPU s": said["cpu"],
            f"{kind}: others' CPU s": cost.others,
            f"{kind}: pairs GiB": cost.peak / 2**30,
        }
    return out


def child(kind: str, n: int, threads: int) -> None:
    import dejalu

    prints = fingerprints(n, 1, kind == "clustered")
    start, cpu = time.perf_counter(), time.process_time()
    table = dejalu.hamming_pairs(prints, K, threads=threads, max_pairs=10 * n)
    took = {"pairs": len(table), "seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    some = np.random.default_rng(0).integers(0, n, 20)  # what NumPy finds for some of them
    a, b = table.column("a").to_numpy(), table.column("b").to_numpy()
    for i in some:
        near = np.flatnonzero(np.bitwise_count(prints ^ prints[i]) <= K)
        assert sorted([*b[a == i], *a[b == i], i]) == near.tolist()
    print(json.dumps(took))


def texts(folder: Path | None) -> dict[str, float]:
    from kernels import corpus_texts, shipped_texts

    from dejalu import kernels

    rows: list[bytes] = []
    for lang, text in corpus_texts(folder) if folder else shipped_texts():
        if lang == "en":
            rows.append(text.encode())
        if len(rows) == 20_000:
            break
    random.Random(0).shuffle(rows)
    data = np.frombuffer(b"".join(rows), np.uint8)
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    features, documents = kernels.count_features(*kernels.shingle_sets(data, offsets, shingle=1))
    table = (*kernels.weight_table(features, kernels.idf(documents, len(rows))), 1024)
    ways: dict[str, dict[str, Any]] = {
        "texts MB/s": {},
        "texts MB/s, 128 bits": {"bits": 128},
        "texts MB/s, none": {"weights": 0},
        "texts MB/s, tfidf": {"weight_table": table},
    }
    found = {}
    for name, how in ways.items():
        best = float("inf")
        for _ in range(5):
            start = time.process_time()
            kernels.simhash(data, offsets, shingle=1, **how)
            best = min(best, time.process_time() - start)
        found[name] = len(data) / best / 1e6
    return found


def complete(n: int, threads: int) -> bool:
    """Whether the tables find every pair that the scan finds, for each k, width and kind of data."""
    from dejalu import kernels

    print(f"all pairs of {n:,} fingerprints: tables against the popcount scan of all against all")
    good = True
    for words in (1, 2):
        scan_plan = kernels.HammingPlan(np.zeros((1, words), np.uint64), 0)
        for clustered in (False, True):
            prints = fingerprints(n, words, clustered, seed=7, flips=12)
            *true, fits = kernels.hamming_pairs(prints, 8, most=10**8, threads=threads, plan=scan_plan)
            assert fits
            for k in range(9):
                within = true[2] <= k
                wanted = [x[within] for x in true]
                plan = kernels.hamming_plan(prints, k)
                *found, _ = kernels.hamming_pairs(prints, k, most=10**8, threads=threads, plan=plan)
                kept = kernels.hamming_plan(prints, k, kept=True)
                tables = kernels.hamming_tables(prints, kept, threads=threads)
                a, b, far, _ = kernels.hamming_query(tables, kept, prints, prints, k, most=10**8, threads=threads)
                by_query = [x[b > a] for x in (a, b, far)]
                columns = zip(found, by_query, wanted, strict=True)
                same = all(np.array_equal(x, w) and np.array_equal(y, w) for x, y, w in columns)
                both_ways = len(a) == 2 * len(wanted[0]) + n
                good &= same and both_ways
                print(
                    f"  {64 * words:3} bits, {'clustered' if clustered else 'random':9}, k = {k}: "
                    f"{len(wanted[0]):9,} pairs by scan, {len(found[0]):9,} by {len(plan.masks):3} tables, "
                    f"{len(by_query[0]):9,} by queries in {len(kept.masks):3}: "
                    f"{'all' if same and both_ways else 'NOT THE SAME'}"
                )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("corpus", nargs="?", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer-python", type=Path, default=PEER_PYTHON)
    parser.add_argument("--pairs", type=float, default=10e6)
    parser.add_argument("--documents", type=float, default=200_000)
    parser.add_argument("--complete", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        print(peer(given.peer))
        return 0
    if given.child:
        child(given.child, int(given.pairs), given.threads)
        return 0
    if given.complete:
        return 0 if complete(int(given.documents), given.threads) else 1
    from dejalu import kernels

    print(f"{kernels.isa()}, {given.threads} threads")
    found: dict[str, float] = {}
    for title, part in (
        (f"scan of {MILLION:,} fingerprints of 64 bits", lambda: scan(given.threads)),
        (f"queries in tables of {MILLION:,}, distance {K}", lambda: look_ups(given.threads) | peers(given.peer_python)),
        (f"all pairs of {int(given.pairs):,} within {K} bits", lambda: all_pairs(int(given.pairs), given.threads)),
        ("fingerprints of English text, one thread", lambda: texts(given.corpus)),
    ):
        print(title, flush=True)
        figures = part()
        found |= figures
        for name, value in figures.items():
            print(f"  {name:28} {value:14,.3f}" if value < 100 else f"  {name:28} {value:14,.0f}")
    print("ratios")
    ratios = {"scan, NumPy": found["NumPy ms"] / found["scan ms"]}
    for name in ("simhash", "gaoya"):
        if (theirs := found.get(f"{name} queries per s")) is not None:
            ratios[f"queries, {name}"] = found["queries per s"] / theirs
    for name, ratio in ratios.items():
        print(f"  {name:28} {ratio:14,.1f} times")
    if given.json:
        given.json.write_text(json.dumps({"figures": found, "ratios": ratios}, indent=1) + "\n", encoding="utf-8")
    return verdict(found)


def verdict(found: dict[str, float]) -> int:
    """Hold the figures against the targets; exit code."""
    missed = 0
    for name, target in TARGETS.items():
        for full, value in found.items():
            if full != name and not full.endswith(f": {name}"):
                continue
            good = value >= target if name.endswith("/s") or "per s" in name else value <= target
            missed += not good
            print(f"{full}: {value:,.3f}, target {target:,}: {'met' if good else 'MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
