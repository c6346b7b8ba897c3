"""Reading files whole, for tests."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dejalu import read
from dejalu.data import Docs, Input, Problem, row_of


def one(path: str | os.PathLike[str]) -> Input:
    """The only input that a path gives."""
    (found,) = read.discover([path]).inputs
    return found


def merge(batches: Iterable[Docs]) -> dict[str, list[Any]]:
    """Rows, texts (as bytes), columns and flags of all batches, in lists."""
    out: dict[str, list[Any]] = {"row": [], "text": []}
    for docs in batches:
        n = len(docs)
        assert n > 0
        assert docs.ids.dtype == np.int64 and docs.text.type == pa.large_string() and len(docs.text) == n
        out["row"] += row_of(docs.ids).tolist()
        out["text"] += docs.text.cast(pa.large_binary()).to_pylist()
        for name, column in docs.columns.items():
            assert len(column) == n
            out.setdefault(name, []).extend(column.to_pylist())
        for name, kind in docs.kinds.items():
            out.setdefault(f"{name}:kind", []).extend(kind.tolist())
        if docs.invalid is not None:
            out.setdefault("invalid", []).extend(docs.invalid.tolist())
    return out


def load(
    path: str | os.PathLike[str] | Input, *, skip: bool = False, **ask: Any
) -> tuple[dict[str, list[Any]], list[Problem]]:
    """All documents of one file and, with `skip`, its problems; read in large and in tiny batches, which must agree."""
    where = path if isinstance(path, Input) else one(path)
    columns = read.resolve(where, on_error="skip" if skip else "stop", **ask)
    assert read.Columns.from_json(columns.to_json()) == columns
    results = []
    for rows, size in ((None, 1 << 24), (1, 1 << 24), (10_000, 7)):
        collect = read.Collector()
        batches = (
            docs
            for piece in read.pieces(where, columns)
            for docs in read.read(
                where, piece, columns, batch_rows=rows, batch_bytes=size, on_problem=collect if skip else read.stop
            )
        )
        results.append((merge(batches), collect.problems))
    assert results[0] == results[1] == results[2]
    docs, problems = results[0]
    wanted = np.array(docs["row"], np.int64)
    if len(wanted):
        assert merge(read.rows(where, columns, wanted)) == docs
        some = merge(read.rows(where, columns, wanted[1::2]))
        assert {k: v[1::2] for k, v in docs.items()} == {**{k: [] for k in docs}, **some}
    return docs, problems


def texts(path: str | os.PathLike[str] | Input, **ask: Any) -> list[str | None]:
    """The texts of a file that is in order."""
    docs, _ = load(path, **ask)
    return [None if t is None else t.decode() for t in docs["text"]]


def raw_records(path: Path, **ask: Any) -> tuple[bytes, dict[int, bytes]]:
    """Preamble and raw records by row."""
    where = one(path)
    columns = read.resolve(where, **ask)
    preamble, found = b"", {}
    for i, run in enumerate(read.records(where, columns)):
        assert i == 0 or not run.preamble
        preamble += run.preamble
        for k, (a, b) in enumerate(zip(run.start.tolist(), run.end.tolist(), strict=True)):
            found[run.first + k] = run.data[a:b].tobytes()
    return preamble, found
