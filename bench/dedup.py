"""The whole job against what it cannot do without, in CPU seconds of fresh processes.

    python bench/dedup.py CORPUS [--lang en] [--runs 5] [--threads 1] [--audit 500]

CORPUS is a folder of parquet files with a column `text` (and `lang`, if --lang is used). The floors are
    decode    pyarrow decodes the text column, batch by batch, with memory that is used again; `hold` keeps all of it
    kernel    the signature kernel on that text, decoding left out
    rewrite   pyarrow reads and rewrites the whole corpus
    inflate   the same corpus as jsonl.zst: decompressing it and parsing two fields (orjson, where it is installed)
and the job runs in report mode and in drop mode. Each runs in turn, in a fresh process on the same files, several
times; medians are printed, and start-up (interpreter and imports) apart. Recall and precision stand beside the times:
recall from an exact join of sampled documents with the whole input (`--audit`), precision by computing the similarity
of removals again with the plain-Python reference.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def batches(files: list[str]) -> Iterator[Any]:
    """The text column, on one thread."""
    import pyarrow.parquet as pq

    for file in files:
        with pq.ParquetFile(file, memory_map=False, pre_buffer=False) as f:
            for batch in f.iter_batches(columns=["text"], use_threads=False, batch_size=8192):
                yield batch.column(0)


def child_decode(files: list[str], keep: bool) -> dict[str, Any]:
    """Decode the text column of every file; `keep` holds all of it, as the job does."""
    warm()
    cpu = time.process_time()
    size, kept = 0, []
    for column in batches(files):
        size += column.nbytes
        if keep:
            kept.append(column)
    return {"cpu": time.process_time() - cpu, "bytes": size}


def child_kernel(files: list[str]) -> dict[str, Any]:
    """Sketch the text column; only the kernel is timed."""
    import pyarrow as pa

    from dejalu import kernels
    from dejalu.data import text_buffers

    warm()
    cpu = 0.0
    for column in batches(files):
        data = text_buffers(column.cast(pa.large_string()))
        start = time.process_time()
        kernels.sketch(*data, shingle=5, unit=0, slots=128)
        cpu += time.process_time() - start
    return {"cpu": cpu}


def child_rewrite(files: list[str], out: str) -> dict[str, Any]:
    """Read and rewrite the corpus with pyarrow, row group by row group."""
    import pyarrow.parquet as pq

    warm()
    Path(out).mkdir(parents=True)
    cpu = time.process_time()
    for file in files:
        with (
            pq.ParquetFile(file) as source,
            pq.ParquetWriter(f"{out}/{Path(file).name}", source.schema_arrow, compression="zstd") as writer,
        ):
            for group in range(source.num_row_groups):
                writer.write_table(source.read_row_group(group, use_threads=False))
    return {"cpu": time.process_time() - cpu}


def child_inflate(folder: str) -> dict[str, Any]:
    """Decompress jsonl.zst and parse the two fields of each record."""
    import zstandard

    try:
        from orjson import loads
    except ImportError:
        from json import loads  # type: ignore[assignment]

    cpu, texts = time.process_time(), 0
    for file in sorted(Path(folder).glob("*.jsonl.zst")):
        with open(file, "rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
            rest = b""
            while block := stream.read(1 << 24):
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    record = loads(line)
                    texts += len(record["text"]) + len(str(record["id"]))
    return {"cpu": time.process_time() - cpu}


def child_job(folder: str, out: str, options: dict[str, Any]) -> dict[str, Any]:
    """Run the whole job as the command does."""
    from dejalu import api
    from dejalu.run.meter import peak_memory

    warm()
    wall, cpu = time.perf_counter(), time.process_time()
    result = api.dedup([folder], out, **options)
    took = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "peak": peak_memory()}
    return {**took, "report": dict(result.report)}


def warm() -> None:
    """Do what a process pays once: pyarrow looks for pandas when it is first given a list."""
    import pyarrow as pa

    pa.array([0])


def child(kind: str, *args: str) -> dict[str, Any]:
    """Run a child and read its figures."""
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


def lines_of(folder: Path, target: Path) -> Path:
    """Write the corpus once as jsonl.zst."""
    import pyarrow.parquet as pq
    import zstandard

    if not target.exists():
        part = target.with_name(target.name + ".part")
        part.mkdir(parents=True, exist_ok=True)
        for file in sorted(folder.glob("*.parquet")):
            rows = (json.dumps(r, ensure_ascii=False) + "\n" for r in pq.read_table(file).to_pylist())
            packed = zstandard.ZstdCompressor(level=3).compress("".join(rows).encode())
            (part / f"{file.stem}.jsonl.zst").write_bytes(packed)
        part.rename(target)
    return target


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--lang", default="en")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--audit", type=int, default=500)
    parser.add_argument("--sample", type=int, default=300)
    args = parser.parse_args()
    folder = english(args.corpus, args.lang, args.corpus.parent / f"bench-{args.lang}") if args.lang else args.corpus
    lines = lines_of(folder, folder.with_name(folder.name + "-jsonl"))
    files = json.dumps([str(f) for f in sorted(folder.glob("*.parquet"))])
    found: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory(dir=args.corpus.parent) as scratch:

        def job(name: str, source: Path, mode: str, **options: Any) -> dict[str, Any]:
            settings = json.dumps({"mode": mode, "threads": args.threads, **options})
            return child("job", str(source), f"{scratch}/{name}", settings)

        for run in range(args.runs):
            for name, measure in {
                "decode": lambda: child("decode", files),
                "hold": lambda: child("hold", files),
                "kernel": lambda: child("kernel", files),
                "report": lambda n=run: job(f"report{n}", folder, "report"),
                "rewrite": lambda n=run: child("rewrite", files, f"{scratch}/rewrite{n}"),
                "drop": lambda n=run: job(f"drop{n}", folder, "drop"),
                "inflate": lambda: child("inflate", str(lines)),
                "lines": lambda n=run: job(f"lines{n}", lines, "report"),
                "start": lambda: child("start"),
            }.items():
                found.setdefault(name, []).append(measure())
        audited = job("audit", folder, "report", audit=args.audit)
        right, checked = precision(folder, Path(scratch) / "audit-evidence", args.sample)
    mb = found["decode"][0]["bytes"] / 1e6
    report, audit = found["report"][-1]["report"], audited["report"]["audit"]

    def cpu(*names: str) -> float:
        """Median over the runs of the sum of these."""
        return statistics.median(sum(r["cpu"] for r in runs) for runs in zip(*(found[n] for n in names), strict=True))

    def ratio(name: str, *floor: str) -> float:
        """Median over the runs of the job by its floor, both of the same run."""
        rows = zip(found[name], *(found[n] for n in floor), strict=True)
        return statistics.median(own["cpu"] / sum(r["cpu"] for r in rest) for own, *rest in rows)

    print(f"{folder}: {report['read']:,} documents, {mb:.0f} MB of text, {args.threads} thread(s), {args.runs} runs")
    for name, what in {
        "decode": "pyarrow decodes the text column",
        "hold": "the same, and holds it in memory",
        "kernel": "the signature kernel",
        "rewrite": "pyarrow reads and rewrites the corpus",
        "inflate": "jsonl.zst: decompress and parse",
        "report": "dejalu, report mode, parquet",
        "drop": "dejalu, drop mode, parquet to parquet",
        "lines": "dejalu, report mode, jsonl.zst",
        "start": "start-up, apart",
    }.items():
        rate = "" if name == "start" else f"{mb / cpu(name):8.0f} MB/s"
        print(f"{what:40} {cpu(name):6.2f} CPU s {rate}")
    for what, value, target in (
        ("report / decode", ratio("report", "decode"), 3.5),
        ("report / hold", ratio("report", "hold"), None),
        ("report / (decode + kernel)", ratio("report", "decode", "kernel"), 1.5),
        ("drop / (rewrite + kernel)", ratio("drop", "rewrite", "kernel"), 1.5),
        ("jsonl.zst report / (decompress, parse + kernel)", ratio("lines", "inflate", "kernel"), 1.5),
    ):
        verdict = "" if target is None else f"   target ≤ {target}: {'met' if value <= target else 'MISSED'}"
        print(f"{what:50} {value:6.2f} ×{verdict}")
    print(f"wall, report mode {statistics.median(j['wall'] for j in found['report']):.2f} s")
    print(f"peak memory {max(float(j['peak']) for j in found['report']) / 1e6:.0f} MB")
    print(f"removed: {report['removed_equal']:,} equal, {report['removed_near']:,} near")
    print(f"precision: {right} of {checked} sampled near removals have exactly the similarity reported, ≥ threshold")
    print(f"recall: {audit['sentence']}")
    for room, cost in report["run"]["rooms"].items():
        print(f"    {room:10} {cost['cpu_seconds']:6.2f} CPU s")


def start() -> dict[str, Any]:
    """What a process costs before it does anything."""
    from dejalu import api  # noqa: F401

    warm()
    return {"cpu": time.process_time()}


def run_child(kind: str, rest: list[str]) -> dict[str, Any]:
    """Measure one thing."""
    from dejalu.cli import prepare

    prepare(sys.argv)  # all processes alike
    if kind in ("decode", "hold"):
        return child_decode(json.loads(rest[0]), kind == "hold")
    if kind == "kernel":
        return child_kernel(json.loads(rest[0]))
    if kind == "rewrite":
        return child_rewrite(json.loads(rest[0]), rest[1])
    if kind == "inflate":
        return child_inflate(rest[0])
    return start() if kind == "start" else child_job(rest[0], rest[1], json.loads(rest[2]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(run_child(sys.argv[2], sys.argv[3:])))
    else:
        main()
