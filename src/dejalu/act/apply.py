"""Read the verdicts of a finished run back from its evidence, so that they can be acted on without computing again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..data import I64, FileVerdicts, Input, doc_ids, row_of
from ..errors import OutputError
from . import report
from .evidence import read_removed, read_set_aside
from .manifest import inputs_unchanged


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence folder of a finished run: plan and inputs as recorded, records (`rows`) and damage of each file.

    broken  files that could not be read to the end: their `rows` are those before the damage
    """

    folder: Path
    plan: Mapping[str, Any]
    inputs: tuple[Input, ...]
    rows: Mapping[str, int]
    broken: frozenset[str]

    def verdicts(self, *, copies: bool = False) -> Iterator[FileVerdicts]:
        """Yield the verdicts of each file in input order; `copies` counts the copies of each row too (one more pass).

        Raises:
            OutputError: an evidence file is missing, damaged or does not fit the others.
        """
        aside = self._set_aside()
        twins = self._twins() if copies else None
        for entry in self.inputs:
            rows = self.rows[entry.file]
            table = read_removed(self.folder, entry.file)
            removed: I64 = table.column("row").to_numpy()
            twin_file = table.column("twin_file")
            if removed.size and (removed[0] < 0 or removed[-1] >= rows or np.any(removed[1:] <= removed[:-1])):
                raise OutputError(
                    f"the evidence of {entry.file} names rows that the report does not know. Run dedup again."
                )
            yield FileVerdicts(
                input=entry,
                rows=rows,
                removed=removed,
                set_aside=aside.get(entry.file, np.zeros(0, np.int64)),
                twin_file=twin_file.to_numpy().astype(object),
                twin_row=table.column("twin_row").to_numpy(),
                similarity=table.column("similarity").to_numpy(),
                copies=None if twins is None else _copies(twins, entry.part, rows, removed),
            )

    def _set_aside(self) -> dict[str, I64]:
        found: dict[str, list[int]] = {}
        for problem in read_set_aside(self.folder):
            if 0 <= problem.row < self.rows[problem.file]:  # others tell of a file that ends early
                found.setdefault(problem.file, []).append(problem.row)
        return {file: np.unique(np.array(rows, np.int64)) for file, rows in found.items()}

    def _twins(self) -> I64:
        """DocIds of the twins of all removed rows, sorted: (removed rows,) int64."""
        parts = {entry.file: entry.part for entry in self.inputs}
        names = pa.array(list(parts), pa.string())
        numbers = np.array(list(parts.values()), np.int64)
        found = [np.zeros(0, np.int64)]
        for entry in self.inputs:
            table = read_removed(self.folder, entry.file)
            if table.num_rows == 0:
                continue
            place = pa.compute.index_in(table.column("twin_file"), value_set=names)
            if place.null_count:
                raise OutputError(
                    f"the evidence of {entry.file} names a twin in a file that is no input. Run dedup again to make it."
                )
            found.append(_pack(numbers[place.to_numpy()], table.column("twin_row").to_numpy()))
        twins = np.concatenate(found)
        twins.sort()
        return twins


def load(folder: Path) -> Evidence:
    """Open the evidence folder of a finished run, and check that its inputs are still what they were.

    Raises:
        OutputError: the folder is no evidence of a run over files.
        ChangedInput: an input is gone or was modified.
    """
    value = report.read(folder)
    try:
        inputs = tuple(Input(**entry) for entry in value["run"]["inputs"])
        rows = {entry["file"]: int(entry["rows"]) for entry in value["files"]}
        broken = frozenset(entry["file"] for entry in value["files"] if not entry["whole"])
        plan = value["plan"]
    except (KeyError, TypeError) as error:
        raise OutputError(f"{folder / report.REPORT} lacks {error}: it was not written by this dejalu.") from error
    if not inputs or any(entry.format == "memory" for entry in inputs):
        raise OutputError(f"{folder} is the evidence of texts in memory: there are no files to act on.")
    if missing := [entry.file for entry in inputs if entry.file not in rows]:
        raise OutputError(f"{folder / report.REPORT} does not count the rows of {missing[0]}. Run dedup again.")
    inputs_unchanged(inputs)
    return Evidence(folder, plan, inputs, rows, broken)


def _pack(parts: I64, rows: I64) -> I64:
    packed: I64 = doc_ids(0, rows) | (parts << np.int64(40))
    return packed


def _copies(twins: I64, part: int, rows: int, removed: I64) -> I64:
    """Count for each row of a file 1 + the documents removed for it; 0 for a removed one: (rows,) int64."""
    low, high = np.searchsorted(twins, doc_ids(part, np.array([0, 0], np.int64)) + np.array([0, 1 << 40]))
    counts: I64 = np.bincount(row_of(twins[low:high]), minlength=rows).astype(np.int64) + 1
    if len(counts) != rows:
        raise OutputError("the evidence names a twin beyond the end of its file. Run dedup again to make it.")
    counts[removed] = 0
    return counts
