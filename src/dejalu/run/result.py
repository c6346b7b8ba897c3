"""What a run found, to look at and to act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import represent
from ..act.evidence import read_removed
from ..act.facts import Facts
from ..data import F64, I64, Bool, Input
from ..errors import UsageError
from .texts import as_strings

Fetch = Callable[[I64], list[str | None]]


class Decided(NamedTuple):
    """The verdicts as arrays by position."""

    keep: Bool
    twin: I64
    similarity: F64


class EvidenceTables(Mapping[str, pa.Table]):
    """The evidence tables of a run that wrote them, read when they are asked for."""

    def __init__(self, folder: Path, inputs: Sequence[Input]) -> None:
        self._folder, self._files = folder, [i.file for i in inputs]

    def __getitem__(self, file: str) -> pa.Table:
        return read_removed(self._folder, file)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The verdict on every document, by position: its record counted over all inputs, in input order.

    Attributes:
        starts: (inputs + 1,) int64: position of the first record of each input, and the number of all.
        decide: makes the arrays, when they are asked for.
        inputs: the inputs in order; report: report.json as a dict; warnings: sentences worth reading.
        tables: file → its evidence.
        evidence, output: folders that were written, or None.
    """

    starts: I64
    decide: Callable[[], Decided]
    inputs: Sequence[Input]
    facts: Facts
    report: Mapping[str, Any]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    fetch: Fetch | None = None
    evidence: Path | None = None
    output: Path | None = None

    @cached_property
    def _decided(self) -> Decided:
        return self.decide()

    @property
    def keep(self) -> Bool:
        """(n,) bool; False for removed documents and for damaged records that were set aside."""
        return self._decided.keep

    @property
    def twin(self) -> I64:
        """(n,) int64; position of the kept document that a removed one repeats, -1 where kept."""
        return self._decided.twin

    @property
    def similarity(self) -> F64:
        """(n,) float64 in [0, 1]; true similarity to the twin, NaN where kept."""
        return self._decided.similarity

    @property
    def warnings(self) -> list[str]:
        """Sentences worth reading before the result is used."""
        return list(self.report["warnings"])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def clusters(self) -> dict[int, list[int]]:
        """Map each kept position that has copies to the positions removed for it, ascending."""
        removed = np.flatnonzero(self.twin >= 0)
        order = np.argsort(self.twin[removed], kind="stable")
        removed = removed[order]
        kept, first = np.unique(self.twin[removed], return_index=True)
        return (
            {int(k): part.tolist() for k, part in zip(kept, np.split(removed, first[1:]), strict=True)}
            if len(kept)
            else {}
        )

    def removed(self) -> pa.Table:
        """Return the evidence: one row per removed document, in input order.

        Columns: file, row, id, twin_file, twin_row, twin_id, similarity (float64), measure, method; with method
        simhash also distance (int32).
        """
        parts = [
            table.add_column(0, pa.field("file", pa.string()), pa.repeat(pa.scalar(file, pa.string()), table.num_rows))
            for file, table in self.tables.items()
        ]
        return pa.concat_tables(parts)

    def filter(self, data: Any) -> Any:
        """Return the kept part of `data`: its own type, its index kept.

        Args:
            data: what was given to `dedup`, or anything else with one item per document in the same order.

        Raises:
            UsageError: another number of items.
        """
        from ..read import from_memory

        if isinstance(data, list | tuple | np.ndarray):  # items of any kind: nothing of them is read
            if len(data) != len(self.keep):
                raise UsageError(
                    f"filter: the result is about {len(self.keep):,} documents, the data has {len(data):,}"
                )
            return data[self.keep] if isinstance(data, np.ndarray) else type(data)(compress(data, self.keep.tolist()))
        memory = from_memory(data)
        if len(memory) != len(self.keep):
            raise UsageError(f"filter: the result is about {len(self.keep):,} documents, the data has {len(memory):,}")
        return memory.filter(self.keep)

    def show(self, limit: int = 10) -> None:
        """Print removed texts beside their twins, differences marked.

        Args:
            limit: number of pairs.
        """
        from ..act.side_by_side import print_pairs

        print_pairs(self.examples(limit))

    def examples(self, limit: int = 3) -> list[dict[str, Any]]:
        """Return some removed documents with their twins: evidence columns, and both texts where they are at hand.

        Near duplicates come before equal texts, since they are what one wants to look at.
        """
        near: list[dict[str, Any]] = []
        equal: list[dict[str, Any]] = []
        for file, table in self.tables.items():
            exact = pc.equal(table.column("measure"), "equal").to_numpy(zero_copy_only=False)
            for rows, which in ((near, ~exact), (equal, exact)):
                chosen = np.flatnonzero(which)[: limit - len(rows)]
                rows += [{"file": file, **row} for row in _readable(table.take(pa.array(chosen))).to_pylist()]
            if len(near) >= limit:
                break
        rows = (near + equal)[:limit]
        if self.fetch is not None and rows:
            place = dict(zip((i.file for i in self.inputs), self.starts.tolist(), strict=False))
            removed = [place[row["file"]] + row["row"] for row in rows]
            twins = [place[row["twin_file"]] + row["twin_row"] for row in rows]
            texts = self.fetch(np.array(removed + twins, np.int64))
            for i, row in enumerate(rows):
                row["text"], row["twin_text"] = texts[i], texts[len(rows) + i]
        return rows

    def __repr__(self) -> str:
        counts = self.report
        gone = counts["removed_equal"] + counts["removed_near"]
        lines = [
            f"<dejalu.Result: {counts['read']:,} read, {counts['kept']:,} kept, {gone:,} removed "
            f"({counts['removed_equal']:,} equal, {counts['removed_near']:,} near)>"
        ]
        for row in self.examples(3):
            where = (
                f"{row['file']} row {row['row']}"
                if len(self.inputs) > 1 or row["file"] != "memory"
                else f"{row['row']}"
            )
            whose = f"{row['twin_file']} row {row['twin_row']}" if where != f"{row['row']}" else f"{row['twin_row']}"
            text = _short(row.get("text"))
            lines.append(f"  {where} ≈ {whose}  {row['measure']} {row['similarity']:.3f}{text}")
        lines += [f"  ! {warning}" for warning in self.warnings]
        return "\n".join(lines)


def _readable(table: pa.Table) -> pa.Table:
    """Ids that are strings but no UTF-8, with U+FFFD where they are broken: for showing only."""
    for name in ("id", "twin_id"):
        at = table.schema.get_field_index(name)
        if represent.is_string(table.schema.field(at).type):
            text = table.column(at).combine_chunks().cast(pa.large_string())
            table = table.set_column(at, name, pa.array(as_strings(text), pa.large_string()))
    return table


def _short(text: str | None) -> str:
    if text is None:
        return ""
    line = " ".join(text[:200].split())
    return f"  {line[:60]}…" if len(line) > 60 else f"  {line}"
