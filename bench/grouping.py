"""Band grouping alone: keys read band by band from files, labels out; CPU seconds, wall, peak of a fresh process.

    python bench/grouping.py [--documents 4.8e6] [--bands 21] [--threads 1] [--memory 600MB] [--hot] [--runs 3]
    python bench/grouping.py --documents 100e6 --memory 2GB [--hot] [--runs 1]
    python bench/grouping.py --equal [--documents 20e6] [--hot]     equal texts: one column of 128-bit hashes

Keys are made, not real: nine of ten documents share their keys with nobody; the others belong to clusters with a heavy
tail (the largest holds about 2% of them) and share each band's key with chance .8. With --hot, half of all documents
have one and the same key in every band. So the true components are known, and every label is checked against them; a
small world is checked against plain NumPy on the keys themselves. The bands of a large world are written (by other
processes, whose time is not counted) shortly before they are read, and deleted soon after, so the disk holds a few.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PIECES = 8  # files of a band
READ = 1 << 17  # keys read at once
STEP = 1 << 20  # documents made at once
SALT = np.uint64(0x9E3779B97F4A7C15)
HOT = np.uint64(0xD1B54A32D192ED03)


def world(n: int, first: int, last: int, hot: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Documents first … last - 1: cluster of each (-1: none), whether it has the hot key, and a hash of each."""
    from dejalu.kernels import mix64

    place = np.arange(first, last, dtype=np.uint64)
    u = mix64(place + SALT)
    clusters = max(1, n // 50)
    v = (mix64(u) >> np.uint64(11)).astype(np.float64) / 2**53
    cluster = np.where(u % np.uint64(10) == 0, (clusters * v**3).astype(np.int64), -1)
    heated = (u >> np.uint64(32)) % np.uint64(2) == 0 if hot else np.zeros(last - first, np.bool_)
    cluster[heated] = -1
    return cluster, heated, u


def shares(cluster: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Which documents have the key of their cluster in a band, by their own key there."""
    return (cluster >= 0) & (own % np.uint64(5) != 0)


def band_keys(n: int, first: int, last: int, band: int, hot: bool) -> np.ndarray:
    """Keys of one band."""
    from dejalu.kernels import mix64

    salt = mix64(np.array([band + 1], np.uint64))[0]
    cluster, heated, u = world(n, first, last, hot)
    own = mix64(u ^ salt)
    key = np.where(shares(cluster, own), mix64(cluster.astype(np.uint64) + (salt << np.uint64(1))), own)
    key[heated] = HOT ^ salt
    return key


def write_band(folder: Path, n: int, band: int, hot: bool) -> None:
    """Write one band as PIECES .npy files."""
    for piece in range(PIECES):
        first, last = n * piece // PIECES, n * (piece + 1) // PIECES
        with open(folder / f"{band:03d}-{piece}.npy", "wb") as f:
            np.lib.format.write_array_header_1_0(f, {"descr": "<u8", "fortran_order": False, "shape": (last - first,)})
            for at in range(first, last, STEP):
                f.write(band_keys(n, at, min(at + STEP, last), band, hot).tobytes())


def read_band(folder: Path, band: int) -> Iterator[np.ndarray]:
    """Read one band again, piece by piece into memory that is used again."""
    room = np.empty(READ, np.uint64)
    for piece in range(PIECES):
        with open(folder / f"{band:03d}-{piece}.npy", "rb", buffering=0) as f:
            np.lib.format.read_magic(f)
            np.lib.format.read_array_header_1_0(f)
            while got := f.readinto(room):
                yield room[: got // 8]


class Bands:
    """Bands on disk: written when first asked for, deleted when `keep` later ones are there."""

    def __init__(self, folder: Path, n: int, hot: bool, keep: int) -> None:
        self.folder, self.n, self.hot, self.keep = folder, n, hot, keep
        self.written: list[int] = []
        self.lock = threading.Lock()
        self.waited = 0.0

    def __call__(self, band: int) -> Iterator[np.ndarray]:
        """The keys of a band."""
        with self.lock:
            if band not in self.written:
                start = time.perf_counter()
                for old in self.written[: -self.keep or None] if len(self.written) > self.keep else []:
                    self.written.remove(old)
                    for file in self.folder.glob(f"{old:03d}-*.npy"):
                        file.unlink()
                child("write", folder=str(self.folder), n=self.n, band=band, hot=self.hot)
                self.written.append(band)
                self.waited += time.perf_counter() - start
        return read_band(self.folder, band)


def peak() -> float:
    """Peak resident memory of this process, MiB (VmHWM)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def scratch_rows(memory: float, n: int, threads: int) -> int:
    """Rows that fit the budget beside the forest of places, the process and the pieces; a row takes 12.3 bytes."""
    return max(1024, int((memory - 4 * n - 150e6) / threads / 12.5))


def child_group(
    folder: str, n: int, bands: int, threads: int, memory: float, hot: bool, keep: int, labels: str, equal: bool = False
) -> Any:
    """Group in this process; what the making of keys takes is not counted."""
    from dejalu import candidates
    from dejalu.engines import Local

    source = Bands(Path(folder), n, hot, keep)
    if keep >= bands:
        source.written = list(range(bands))
    before = peak()
    wall, cpu = time.perf_counter(), time.process_time()
    rows = scratch_rows(memory, n, threads)
    if equal:  # the second half is made on the fly
        rows = rows * 3 // 5  # of 20 bytes
        found = candidates.equal(n, lambda: ((k ^ SALT, k) for k in source(0)), scratch_rows=rows)
    else:
        found = candidates.group(n, source, bands, scratch_rows=rows, map=Local(threads).map)
    took = {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall - source.waited,
        "peak": peak(),
        "before": before,
        "rows": rows,
    }
    np.save(labels, found)
    return took


def child_check(labels: str, n: int, hot: bool, equal: bool = False) -> Any:
    """Compare every label with the known components."""
    from dejalu.kernels import mix64

    found = np.load(labels, mmap_mode="r")
    first = np.full(max(1, n // 50), n, np.int64)
    hottest = n
    for stage in (0, 1):
        for at in range(0, n, STEP):
            last = min(at + STEP, n)
            cluster, heated, u = world(n, at, last, hot)
            place = np.arange(at, last)
            inside = shares(cluster, mix64(u ^ mix64(np.array([1], np.uint64))[0])) if equal else cluster >= 0
            if stage == 0:
                np.minimum.at(first, cluster[inside], place[inside])
                if heated.any():
                    hottest = min(hottest, int(place[heated][0]))
                continue
            expected = np.where(inside, first[cluster], place)
            expected[heated] = hottest
            wrong = np.flatnonzero(found[at:last] != expected)
            if len(wrong):
                return {"ok": False, "first": at + int(wrong[0]), "wrong": len(wrong)}
    return {"ok": True}


def child(kind: str, **arguments: Any) -> Any:
    """Run a function of this file in a fresh process."""
    command = [sys.executable, __file__, "--child", kind, json.dumps(arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def numpy_labels(n: int, keys: list[np.ndarray]) -> np.ndarray:
    """Smallest label along equal keys of any band, until nothing changes: plain NumPy."""
    groups = [np.unique(k, return_inverse=True)[1] for k in keys]
    label = np.arange(n)
    while True:
        before = label.copy()
        for inverse in groups:
            least = np.full(int(inverse.max()) + 1, n)
            np.minimum.at(least, inverse, label)
            label = np.minimum(label, least[inverse])
        if (label == before).all():
            return label


def small_world(n: int, bands: int, hot: bool) -> None:
    """Check against NumPy on the keys themselves, with ample and with scarce scratch memory."""
    from dejalu import candidates

    keys = [band_keys(n, 0, n, b, hot) for b in range(bands)]
    expected = numpy_labels(n, keys)
    for rows in (1024, n // 7, 2 * n):
        found = candidates.group(n, lambda b: iter(np.array_split(keys[b], 5)), bands, scratch_rows=rows)
        assert (found == expected).all(), f"labels differ from NumPy's with scratch_rows={rows}"
    print(f"{n:,} documents: labels are those of plain NumPy, with {1024:,}, {n // 7:,} and {2 * n:,} rows of scratch")


def size(text: str) -> float:
    """Bytes of "600MB", "2GB"."""
    units = {"KB": 1e3, "MB": 1e6, "GB": 1e9}
    return float(text[:-2]) * units[text[-2:].upper()] if text[-2:].upper() in units else float(text)


def made(args: argparse.Namespace) -> None:
    """Group made keys and print what it took."""
    n, memory = int(args.documents), size(args.memory)
    small_world(40_000, 6, args.hot)
    if args.equal:
        args.bands = args.threads = 1
    took = []
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        keep = args.bands if n * args.bands * 8 <= 2e9 else args.threads + 1
        if keep >= args.bands:
            for band in range(args.bands):
                write_band(Path(folder), n, band, args.hot)
        labels = str(Path(folder) / "labels.npy")
        for _ in range(args.runs):
            took.append(
                child(
                    "group",
                    folder=folder,
                    n=n,
                    bands=args.bands,
                    threads=args.threads,
                    memory=memory,
                    hot=args.hot,
                    keep=keep,
                    labels=labels,
                    equal=args.equal,
                )
            )
        checked = child("check", labels=labels, n=n, hot=args.hot, equal=args.equal)
    cpu, wall = (statistics.median(t[k] for t in took) for k in ("cpu", "wall"))
    high = max(t["peak"] for t in took)
    rows = n * args.bands
    print(
        f"{'equal texts' if args.equal else f'{args.bands} bands'} × {n:,} documents = {rows / 1e6:,.0f} M rows"
        f"{', one key on half of the documents in every band' if args.hot else ''}"
    )
    print(f"threads {args.threads}, budget {args.memory}: {took[0]['rows']:,} rows of scratch each, {args.runs} run(s)")
    print(
        f"CPU {cpu:7.2f} s   wall {wall:7.2f} s   {rows / cpu / 1e6:6.1f} M rows per CPU second   "
        f"({cpu / rows * 1e9:.1f} ns a row)"
    )
    print(
        f"peak of the process {high:,.0f} MiB ({high / 1024:.2f} GiB), {took[0]['before']:,.0f} MiB before it began; "
        f"allowed {(1.15 * memory + 300e6) / 2**20:,.0f} MiB"
    )
    print("every label is right" if checked["ok"] else f"WRONG LABELS: {checked}")
    print(json.dumps({"took": took, "checked": checked}))
    if not checked["ok"]:
        sys.exit(1)


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=float, default=4.8e6)
    parser.add_argument("--bands", type=int, default=21)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", default="600MB")
    parser.add_argument("--hot", action="store_true")
    parser.add_argument("--equal", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scratch", type=Path, help="folder for the key files")
    made(parser.parse_args())


CHILDREN: dict[str, Callable[..., Any]] = {
    "group": child_group,
    "check": child_check,
    "write": lambda folder, n, band, hot: write_band(Path(folder), n, band, hot) or {},
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        print(json.dumps(CHILDREN[sys.argv[2]](**json.loads(sys.argv[3]))))
    else:
        main()
