"""The whole job against "pyarrow decodes the text column", in CPU seconds of one process each.

    python bench/dedup.py CORPUS [--lang en] [--runs 5] [--threads 1] [--mode report] [--audit 500]

CORPUS is a folder of parquet files with a column `text` (and `lang`, if --lang is used). Both commands run in turn,
each in a fresh process, on the same files, several times; medians are printed, with start-up (interpreter and imports,
pandas among them) apart. Recall and precision stand beside the times: recall from an exact join of sampled documents
with the whole input
(`--audit`), precision by computing the similarity of removals again with the plain-Python reference.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def child_decode(files: list[str], keep: bool) -> dict[str, Any]:
    """Decode the text column of every file on one thread, batch by batch; `keep` holds all of it, as the job does."""
    import pyarrow.parquet as pq

    warm()
    wall, cpu = time.perf_counter(), time.process_time()
    size, kept = 0, []
    for file in files:
        with pq.ParquetFile(file, memory_map=False, pre_buffer=False) as f:
            for batch in f.iter_batches(columns=["text"], use_threads=False, batch_size=8192):
                size += batch.column(0).nbytes
                if keep:
                    kept.append(batch)
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "bytes": size}


def child_job(folder: str, out: str, options: dict[str, Any]) -> dict[str, Any]:
    """Run the whole job through the public function."""
    from dejalu import api
    from dejalu.run.meter import peak_memory

    warm()
    wall, cpu = time.perf_counter(), time.process_time()
    result = api.dedup([folder], out, **options)
    took = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "peak": peak_memory()}
    return {**took, "report": dict(result.report)}


def warm() -> None:
    """Do what a process pays once: pyarrow imports pandas, where it is installed, when it is first given a list."""
    import pyarrow as pa

    pa.array([0])


def child(kind: str, *args: str) -> dict[str, Any]:
    """Run a child and add what the whole process cost beyond the measured part: its start-up."""
    command = [sys.executable, __file__, "--child", kind, *args]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def english(corpus: Path, lang: str, target: Path) -> Path:
    """Write the documents of one language once, as parquet files like those of the corpus."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if not target.exists():
        part = target.with_name(target.name + ".part")
        part.mkdir(parents=True, exist_ok=True)
        for file in sorted(corpus.glob("*.parquet")):
            table = pq.read_table(file)
            table = table.filter(pc.equal(table["lang"], lang))
            if table.num_rows:
                pq.write_table(table, part / file.name, compression="zstd", row_group_size=10_000)
        part.rename(target)
    return target


def precision(folder: Path, evidence: Path, sample: int) -> tuple[int, int]:
    """Compute the similarity of some removals again with the reference; returns how many were right, of how many."""
    import pyarrow.parquet as pq

    from dejalu.kernels.reference.tokens import tokens

    def shingles(text: str) -> set[tuple[str, ...]]:
        words = tokens(text.encode())
        return {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))} if words else set()

    rows = []
    for file in sorted((evidence / "removed").glob("*.parquet")):
        name = file.name.removesuffix(".parquet")
        rows += [(name, r) for r in pq.read_table(file).to_pylist() if r["measure"] == "jaccard"]
    rows = rows[:: max(1, len(rows) // sample)][:sample]
    tables = {
        name: pq.read_table(folder / name, columns=["text"])
        for name in {n for n, _ in rows} | {r["twin_file"] for _, r in rows}
    }
    right = 0
    for name, row in rows:
        a = shingles(tables[name]["text"][row["row"]].as_py())
        b = shingles(tables[row["twin_file"]]["text"][row["twin_row"]].as_py())
        exact = len(a & b) / len(a | b)
        right += abs(exact - row["similarity"]) < 1e-9 and exact >= 0.8
    return right, len(rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--lang", default="en")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mode", default="report", choices=["report", "drop"])
    parser.add_argument("--audit", type=int, default=500)
    parser.add_argument("--sample", type=int, default=300)
    args = parser.parse_args()
    folder = english(args.corpus, args.lang, args.corpus.parent / f"bench-{args.lang}") if args.lang else args.corpus
    files = [str(f) for f in sorted(folder.glob("*.parquet"))]
    jobs, decodes, holds = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        for run in range(args.runs):
            decodes.append(child("decode", json.dumps(files)))
            holds.append(child("hold", json.dumps(files)))
            out = str(Path(scratch) / f"run{run}")
            jobs.append(child("job", str(folder), out, json.dumps({"mode": args.mode, "threads": args.threads})))
        start_up = [child("start") for _ in range(3)]
        audited = child(
            "job", str(folder), str(Path(scratch) / "audit"), json.dumps({"mode": "report", "audit": args.audit})
        )
        right, checked = precision(folder, Path(scratch) / "audit-evidence", args.sample)
    mb = decodes[0]["bytes"] / 1e6
    decode = statistics.median(d["cpu"] for d in decodes)
    cpu = statistics.median(j["cpu"] for j in jobs)
    wall = statistics.median(j["wall"] for j in jobs)
    held = statistics.median(h["cpu"] for h in holds)
    ratio, to_held = (
        statistics.median(j["cpu"] / o["cpu"] for j, o in zip(jobs, other, strict=True)) for other in (decodes, holds)
    )
    report = jobs[-1]["report"]
    audit = audited["report"]["audit"]
    print(f"{folder}: {report['read']:,} documents, {mb:.0f} MB of text, {len(files)} files")
    print(f"mode {args.mode}, {args.threads} thread(s)")
    print(f"pyarrow decodes the text column   {decode:6.2f} CPU s   {mb / decode:7.0f} MB/s")
    print(f"the same, and holds it in memory  {held:6.2f} CPU s   {mb / held:7.0f} MB/s")
    print(f"dejalu, whole job                 {cpu:6.2f} CPU s   {mb / cpu:7.0f} MB/s   wall {wall:.2f} s")
    print(f"ratio (median of {args.runs} pairs)         {ratio:6.2f} ×      (target ≤ 3.5 in report mode)")
    print(f"ratio to decoding and holding     {to_held:6.2f} ×")
    print(f"start-up, apart                   {statistics.median(float(str(s['cpu'])) for s in start_up):6.2f} CPU s")
    print(f"peak memory                       {max(float(str(j['peak'])) for j in jobs) / 1e6:6.0f} MB")
    print(f"removed: {report['removed_equal']:,} equal, {report['removed_near']:,} near")
    print(f"precision: {right} of {checked} sampled near removals have exactly the similarity reported, ≥ threshold")
    print(f"recall: {audit['sentence']}")
    for room, cost in report["run"]["rooms"].items():
        print(f"    {room:10} {cost['cpu_seconds']:6.2f} CPU s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        kind, rest = sys.argv[2], sys.argv[3:]
        if kind in ("decode", "hold"):
            print(json.dumps(child_decode(json.loads(rest[0]), kind == "hold")))
        elif kind == "job":
            print(json.dumps(child_job(rest[0], rest[1], json.loads(rest[2]))))
        else:
            from dejalu import api  # noqa: F401

            warm()
            print(json.dumps({"cpu": time.process_time()}))
    else:
        main()
