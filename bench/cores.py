"""How much faster two threads are than one, in wall time: report mode on parquet and on jsonl.zst.

    python bench/cores.py CORPUS [--runs 5] [--threads 2]

CORPUS holds folders `parquet` and `jsonl`. Each run is a fresh process; runs with one thread and with several take
turns, and ratios are of neighbours. What the machine itself gives is measured beside it in the same way: the signature
kernel, which shares nothing, on one thread and on several. A core that is half of a real one, or busy, gives less.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


def child_job(folder: str, threads: int) -> dict[str, float]:
    """Run the job once; seconds without start-up."""
    from dejalu import api

    with tempfile.TemporaryDirectory(dir=Path(folder).parent) as out:
        wall, cpu = time.perf_counter(), time.process_time()
        result = api.dedup([folder], f"{out}/x", mode="report", threads=threads)
        took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return took | {"removed": result.report["removed_equal"] + result.report["removed_near"]}


def child_kernel(folder: str, threads: int) -> dict[str, float]:
    """Sketch the same texts, dealt to the threads."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from dejalu import kernels
    from dejalu.data import text_buffers

    texts = []
    for file in sorted(Path(folder).glob("*.parquet"))[:4]:
        batches = pq.ParquetFile(file).iter_batches(2048, columns=["text"])
        texts += [batch.column(0).cast(pa.large_string()) for batch in batches]

    def sketch(text: Any) -> None:
        kernels.sketch(*text_buffers(text), shingle=5)

    wall, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(sketch, texts))
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def child(kind: str, folder: Path, threads: int) -> dict[str, float]:
    """Measure in a fresh process."""
    command = [sys.executable, __file__, "--child", kind, str(folder), str(threads)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print wall and CPU seconds and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    for name, kind, folder in (
        ("the kernel alone", "kernel", "parquet"),
        ("report mode, parquet", "job", "parquet"),
        ("report mode, jsonl.zst", "job", "jsonl"),
    ):
        pairs = []
        for _ in range(args.runs):
            pairs.append([child(kind, args.corpus / folder, threads) for threads in (1, args.threads)])
        assert len({r["removed"] for pair in pairs for r in pair if "removed" in r}) <= 1
        one, many = (statistics.median(pair[i]["wall"] for pair in pairs) for i in (0, 1))
        cpu, cpus = (statistics.median(pair[i]["cpu"] for pair in pairs) for i in (0, 1))
        ratio = statistics.median(a["wall"] / b["wall"] for a, b in pairs)
        print(f"{name:24} 1 thread  {one:6.2f} s wall {cpu:6.2f} CPU s")
        print(f"{'':24} {args.threads} threads {many:6.2f} s wall {cpus:6.2f} CPU s")
        print(f"{'':24} {ratio:.2f} × faster" + ("   (target ≥ 1.8)" if kind == "job" else ""))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        from dejalu.cli import prepare

        prepare(sys.argv)
        kind, folder, threads = sys.argv[2:]
        print(json.dumps((child_job if kind == "job" else child_kernel)(folder, int(threads))))
    else:
        main()
