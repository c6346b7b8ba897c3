"""What every adapter says of its tool, and the way it is run: a fresh process in the tool's own environment.

    python bench/adapter.py NAME ROW OUT FILE…

runs row ROW of bench/peers/NAME.py on parquet files with the columns `id` (int64, 0 … n - 1 in input order) and `text`,
and writes to the folder OUT

    kept.parquet      id int64: the documents that the tool keeps
    removed.parquet   id int64, twin int64: what it says each removed document repeats; absent where it does not tell
    cost.json         peak resident memory of this process in bytes, versions, and what the adapter wants to have noted

and `adapter.py NAME --sets OUT FILE…` writes the sets that the tool makes of the texts, where its code can be asked.

This file imports nothing but the standard library at the top, so that the driver can read the adapters' words too.
"""

from __future__ import annotations

import importlib.util
import json
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Answer", "Peer", "Row", "clusters", "first_of", "ids_and_texts", "load", "settle_candidates", "shingles"]

# Names of the variables by which the usual thread pools are told to use one thread.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS",
        "POLARS_MAX_THREADS", "TOKIO_WORKER_THREADS", "ARROW_IO_THREADS",
    ),
    "1",
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What a tool decided.

    kept     ids of the documents it keeps, any order
    removed  ids it removes, beside `twin`, the ids of what each repeats; None where the tool does not say
    notes    words for the results file
    """

    kept: Any
    removed: Any = None
    twin: Any = None
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One line of the table.

    name      as shown
    setting   the tool's parameters, in its own words
    tokens    recipe in bench/truth.py: the sets whose exact Jaccard similarity is this row's truth
    run       (files, scratch folder) -> Answer
    slow      under 5 MB/s: --quick gives it a slice of the corpus
    threads   what keeps it on one thread, or why it cannot
    """

    name: str
    setting: str
    tokens: str
    run: Callable[[list[str], Path], Answer]
    slow: bool = False
    threads: str = "1"


@dataclass(frozen=True)
class Peer:
    """A tool: what is installed for it, and its rows by key."""

    name: str
    requires: tuple[str, ...]
    duplicate: str
    rows: dict[str, Row]
    python: str = ">=3.11"
    shingles: Callable[[str], Iterable[Any]] | None = None  # the tool's own shingling, to check the recipe against


def ids_and_texts(files: list[str]) -> tuple[Any, list[str]]:
    """Read all documents, as the examples of the libraries do: ids (n,) int64 and texts, on one thread."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [pq.read_table(file, columns=["id", "text"], use_threads=False) for file in files]
    table = pa.concat_tables(tables)
    return table["id"].to_numpy(), table["text"].to_pylist()


def shingles(text: str, n: int = 5) -> list[str]:
    """Shingle as the examples of the libraries do: lower case, split at white space, n words joined by a space.

    A text of fewer than n words has one shingle made of all of them. Repeated shingles stay repeated.
    """
    words = text.lower().split()
    if len(words) <= n:
        return [" ".join(words)] if words else []
    return [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]


def settle_candidates(n: int, candidates: Iterator[tuple[int, list[int]]]) -> tuple[list[int], list[int], list[int]]:
    """Keep a document unless an earlier kept one is among its candidates: (kept, removed, twin), positions."""
    keep = bytearray([1]) * n
    kept: list[int] = []
    removed: list[int] = []
    twin: list[int] = []
    for i, others in candidates:
        first = min((j for j in others if j < i and keep[j]), default=-1)
        if first < 0:
            kept.append(i)
        else:
            keep[i] = 0
            removed.append(i)
            twin.append(first)
    return kept, removed, twin


def clusters(n: int, a: Iterable[int], b: Iterable[int]) -> list[int]:
    """Label each of n documents with the smallest one of its connected component."""
    parent = list(range(n))

    def root(x: int) -> int:
        while parent[x] != x:
            parent[x] = x = parent[parent[x]]
        return x

    for x, y in zip(a, b, strict=True):
        x, y = root(x), root(y)  # noqa: PLW2901
        if x != y:
            parent[max(x, y)] = min(x, y)
    return [root(x) for x in range(n)]


def first_of(label: Any) -> Answer:
    """Turn cluster labels (the smallest member's position) into an answer that keeps this member."""
    import numpy as np

    label = np.asarray(label, np.int64)
    place = np.arange(len(label))
    gone = label != place
    return Answer(kept=place[~gone], removed=place[gone], twin=label[gone])


def load(name: str) -> Peer:
    """Read an adapter by its file's path: its name is often that of the package it imports."""
    path = Path(__file__).parent / "peers" / f"{name.replace('-', '_')}.py"
    sys.modules.setdefault("adapter", sys.modules[__name__])
    spec = importlib.util.spec_from_file_location(f"peer_{path.stem}", path)
    if spec is None or spec.loader is None or not path.exists():
        raise SystemExit(f"no adapter {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # multiprocessing finds its functions by this name
    spec.loader.exec_module(module)
    peer: Peer = module.PEER
    return peer


def peak_resident() -> int:
    """Bytes of the largest resident set that this process has had, children not counted."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def main(name: str, row: str, out: str, files: list[str]) -> None:
    """Run one row and write what it decided."""
    from importlib.metadata import version

    peer, folder = load(name), Path(out)
    scratch = folder / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    answer = peer.rows[row].run(files, scratch)
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": pa.array(answer.kept, pa.int64())}), folder / "kept.parquet")
    if answer.removed is not None:
        table = {"id": pa.array(answer.removed, pa.int64()), "twin": pa.array(answer.twin, pa.int64())}
        pq.write_table(pa.table(table), folder / "removed.parquet")
    names = [r.split("=")[0].split("[")[0].split("<")[0].split(">")[0].strip() for r in peer.requires]
    cost = {
        "peak": peak_resident(),
        "versions": {n: version(n) for n in names},
        "python": platform.python_version(),
        "notes": answer.notes,
    }
    (folder / "cost.json").write_text(json.dumps(cost))


def write_sets(name: str, out: str, files: list[str]) -> None:
    """Write the sets that the tool itself makes of each text: values.npy (hashes, as made) and counts.npy."""
    import numpy as np

    make = load(name).shingles
    if make is None:
        raise SystemExit(f"{name} shows no shingles of its own")
    counts, values = [], []
    for text in ids_and_texts(files)[1]:
        made = {hash(s) for s in make(text)}
        counts.append(len(made))
        values.extend(made)
    np.savez(out, values=np.array(values, np.int64), counts=np.array(counts, np.int64))


if __name__ == "__main__":
    here = str(Path(__file__).parent)
    sys.path[:] = [p for p in sys.path if p != here]  # nothing here may hide a package of the tool
    sys.modules["adapter"] = sys.modules["__main__"]
    if sys.argv[2] == "--sets":
        write_sets(sys.argv[1], sys.argv[3], sys.argv[4:])
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
