"""Speed of reading JSON lines and CSV: one thread, MB/s of the plain file, beside parsers that are known to be fast.

    python bench/formats.py FILE.jsonl [--simdjson FOLDER] [--rounds 7] [--megabytes 32] [--json FILE]

Three tables, all candidates taking turns round after round: fastest (median) of the rounds, CPU time.

1. Bytes in memory to columns `text` and `id`: our kernel under each instruction set, simdjson three ways (`--simdjson`
   names a folder with simdjson.h and simdjson.cpp, such as the sdist of pysimdjson holds; it is compiled for this very
   machine), pyarrow.json, and orjson where it is installed.
2. The same records as csv: our kernel and pyarrow.csv.
3. A file to batches of documents, plain, zst and gz, beside its floors: bytes read or decompressed and thrown away, and
   the kernel on bytes in memory; and what it costs to find out which columns to read.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import gzip
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve()
BLOCK = 1 << 22
WAYS = ("two fields", "all fields walked", "DOM, all checked")
Seconds = dict[str, list[float]]


def clock(seen: Seconds, name: str, call: Callable[[], object]) -> None:
    start = time.thread_time()
    call()
    seen.setdefault(name, []).append(time.thread_time() - start)


def blocks(data: np.ndarray, extract: Callable[[np.ndarray, bool], int]) -> None:
    at = 0
    while at < len(data):
        at += extract(data[at : at + BLOCK], at + BLOCK >= len(data))


def kernel(data: np.ndarray) -> None:
    from dejalu.kernels.formats import jsonl_extract

    blocks(data, lambda block, final: jsonl_extract(block, ["text", "id"], final=final).consumed)


def csv_kernel(data: np.ndarray) -> None:
    from dejalu.kernels.formats import csv_extract

    blocks(data, lambda block, final: csv_extract(block, ",", [0, 1], expected=2, final=final).consumed)


def simdjson(folder: Path, build: Path) -> Callable[[int, np.ndarray, int], int]:
    """Compile the yardstick; the function gives the number of records."""
    target = build / "simdjson.so"
    command = ["c++", "-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-shared", "-fPIC", f"-I{folder}"]
    subprocess.run([*command, str(HERE.with_name("formats_simdjson.cpp")), "-o", str(target)], check=True)
    library = ctypes.CDLL(str(target))
    pointer = ctypes.c_void_p
    library.run.argtypes = [ctypes.c_int, pointer, ctypes.c_int64, pointer, pointer, pointer, pointer]
    library.run.restype = ctypes.c_int64
    library.version.restype = ctypes.c_char_p
    print(f"simdjson {library.version().decode()}")
    room: list[np.ndarray] = []

    def run(way: int, padded: np.ndarray, size: int) -> int:
        if not room:
            room.extend(np.zeros(size + 64, np.uint8) for _ in range(2))
            room.extend(np.zeros(size // 2 + 1, np.int64) for _ in range(2))
        id_, text, id_ends, text_ends = (a.ctypes.data for a in room)
        return int(library.run(way, padded.ctypes.data, size, id_, id_ends, text, text_ends))

    return run


def peers(raw: bytes) -> dict[str, Callable[[], object]]:
    """Other parsers, where they are installed."""
    found: dict[str, Callable[[], object]] = {}
    try:
        import orjson

        found["orjson, a line at a time"] = lambda: [(r["id"], r["text"]) for r in map(orjson.loads, raw.splitlines())]
    except ImportError:
        pass
    import pyarrow as pa
    import pyarrow.json as pj

    options = pj.ParseOptions(
        explicit_schema=pa.schema([("id", pa.string()), ("text", pa.string())]), unexpected_field_behavior="ignore"
    )
    found["pyarrow.json"] = lambda: pj.read_json(
        io.BytesIO(raw), pj.ReadOptions(use_threads=False, block_size=BLOCK), options
    )
    return found


def parsing(data: np.ndarray, folder: Path | None, rounds: int, build: Path) -> Seconds:
    from dejalu import kernels

    seen: Seconds = {}
    size = len(data)
    padded = np.zeros(size + 64, np.uint8)
    padded[:size] = data
    raw = data.tobytes()
    run = simdjson(folder, build) if folder else None
    others = peers(raw)
    source = build / "block.jsonl"
    source.write_bytes(raw)
    for i in range(rounds):
        for isa in reversed(kernels.available_isas()):
            if isa == kernels.isa():
                clock(seen, f"dejalu, {isa}", lambda: kernel(data))
            else:
                done = subprocess.run(
                    [sys.executable, str(HERE), "--work", str(source)],
                    env=os.environ | {"DEJALU_ISA": isa}, check=True, capture_output=True, text=True,
                )  # fmt: skip
                seen.setdefault(f"dejalu, {isa}", []).append(float(done.stdout))
        for way, name in enumerate(WAYS):
            if run:
                clock(seen, f"simdjson, {name}", lambda w=way: run(w, padded, size))  # type: ignore[misc]
        for name, call in others.items():
            if i < 3:
                clock(seen, name, call)
    if run and run(0, padded, size) != sum(line.strip() != b"" for line in raw.splitlines()):
        sys.exit("simdjson saw another number of records")
    return seen


def csv_parsing(raw: bytes, rounds: int) -> tuple[int, Seconds]:
    import pyarrow.csv as pc

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for line in raw.splitlines():
        record = json.loads(line)
        writer.writerow((record.get("id"), record.get("text")))
    text = out.getvalue().encode()
    data = np.frombuffer(text, np.uint8)
    seen: Seconds = {}
    parse = pc.ParseOptions(newlines_in_values=True)
    read = pc.ReadOptions(use_threads=False, autogenerate_column_names=True, block_size=BLOCK)
    for _ in range(rounds):
        clock(seen, "dejalu", lambda: csv_kernel(data))
        clock(seen, "pyarrow.csv", lambda: pc.read_csv(io.BytesIO(text), read, parse))
    return len(text), seen


def reading(raw: bytes, rounds: int, folder: Path) -> Seconds:
    import zstandard

    from dejalu import read
    from dejalu.data import Input
    from dejalu.read.columns import Columns

    made = {
        "": raw,
        "zst": zstandard.ZstdCompressor(level=3).compress(raw),
        "gz": gzip.compress(raw, 6),
    }
    inputs = []
    for kind, data in made.items():
        path = folder / ("docs.jsonl" + (f".{kind}" if kind else ""))
        path.write_bytes(data)
        inputs.append(Input(0, path.name, str(path), "jsonl", kind, len(data)))
    buffer = np.zeros(1 << 20, np.uint8)

    def floor(path: str, kind: str) -> None:
        with open(path, "rb", buffering=0) as file:
            if kind == "zst":
                stream = zstandard.ZstdDecompressor().stream_reader(file, read_size=1 << 17)
                while stream.readinto(buffer.data):
                    pass
            elif kind == "gz":
                member = zlib.decompressobj(31)
                while data := file.read(1 << 15):
                    member.decompress(data)
            else:
                while file.readinto(buffer.data):
                    pass

    def resolve(input: Input) -> Columns:
        return read.resolve(input, text_columns=["text"], id_column="id")

    def docs(input: Input, columns: Columns) -> int:
        return sum(len(d) for piece in read.pieces(input, columns) for d in read.read(input, piece, columns))

    plain = np.frombuffer(raw, np.uint8)
    seen: Seconds = {}
    columns = resolve(inputs[0])
    for _ in range(rounds):
        clock(seen, "kernel", lambda: kernel(plain))
        clock(seen, "zst: columns found", lambda: resolve(inputs[1]))
        for input in inputs:
            kind = input.compression or "plain"
            clock(seen, f"{kind}: bytes", lambda i=input: floor(i.path, i.compression))  # type: ignore[misc]
            clock(seen, f"{kind}: documents", lambda i=input, c=columns: docs(i, c))  # type: ignore[misc]
    return seen


def show(title: str, size: int, seen: Seconds) -> None:
    print(f"\n{title}, {size / 1e6:.1f} MB: MB/s fastest (median)")
    for name, times in seen.items():
        print(f"  {name:28}{size / min(times) / 1e6:>9,.0f} ({size / statistics.median(times) / 1e6:,.0f})")


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        data = np.fromfile(sys.argv[2], np.uint8)
        seen: Seconds = {}
        for _ in range(3):
            clock(seen, "", lambda: kernel(data))
        return print(min(seen[""]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--simdjson", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--megabytes", type=int, default=32)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with args.file.open("rb") as file:
        raw = file.read(args.megabytes << 20)
    raw = raw[: raw.rfind(b"\n") + 1]
    with tempfile.TemporaryDirectory() as folder:
        parsed = parsing(np.frombuffer(raw, np.uint8), args.simdjson, args.rounds, Path(folder))
        size, of_csv = csv_parsing(raw, args.rounds)
        of_files = reading(raw, args.rounds, Path(folder))
    show("jsonl, bytes to columns", len(raw), parsed)
    show("csv, bytes to columns", size, of_csv)
    show("jsonl, file to documents", len(raw), of_files)
    best = {name: min(times) for name, times in (parsed | of_files).items()}
    print()
    ours = next(t for n, t in best.items() if n.startswith("dejalu"))
    for way in WAYS:
        if f"simdjson, {way}" in best:
            print(f"kernel against simdjson, {way}: {best[f'simdjson, {way}'] / ours:.2f} times as fast")
    for kind in ("plain", "zst", "gz"):
        floor = best[f"{kind}: bytes"] + best["kernel"]
        print(f"{kind} to documents: {best[f'{kind}: documents'] / floor:.2f} times the sum of its floors")
    if args.json:
        tables = {"jsonl": [len(raw), parsed], "csv": [size, of_csv], "files": [len(raw), of_files]}
        args.json.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
