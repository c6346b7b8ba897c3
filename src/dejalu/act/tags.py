"""The columns that `tag` and `--add-columns copies` add, and the rows that are written.

    dejalu_keep        bool      kept by the run
    dejalu_twin_file   string    file of the kept twin, null where kept
    dejalu_twin_row    int64     its 0-based row, null where kept
    dejalu_similarity  float64   true similarity to the twin, null where kept
    dejalu_copies      int64     1 + number of documents removed for this one; 0 for a removed one
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ..data import I64, Bool, FileVerdicts, distinct
from ..errors import OutputError

COPIES = "dejalu_copies"
TAGS = pa.schema(
    [
        ("dejalu_keep", pa.bool_()),
        ("dejalu_twin_file", pa.string()),
        ("dejalu_twin_row", pa.int64()),
        ("dejalu_similarity", pa.float64()),
        (COPIES, pa.int64()),
    ]
)


def added_schema(mode: str, add_copies: bool) -> pa.Schema:
    """Return the columns that a mode (`drop` or `tag`) adds; none when only dropping."""
    if mode == "tag":
        return TAGS
    return pa.schema([TAGS.field(COPIES)] if add_copies else [])


def check_columns(file: str, present: Iterable[str], added: pa.Schema) -> None:
    """Refuse to add a column that the file has already.

    Raises:
        OutputError: names the column, the file and the remedy.
    """
    taken = sorted(set(added.names) & set(present))
    if taken:
        raise OutputError(
            f"{file} already has a column {taken[0]!r}, which this run would add; an earlier run probably wrote it. "
            "Drop or rename it in the input, or run without --mode tag and --add-columns copies."
        )


class Decisions:
    """The verdicts of one file, asked for by runs of rows: which are written, and what is added to them."""

    def __init__(self, verdicts: FileVerdicts, *, mode: str, add_copies: bool) -> None:
        self.file = verdicts.input.file
        self.rows = verdicts.rows
        self.added = added_schema(mode, add_copies)
        gone = [verdicts.set_aside] if mode == "tag" else [verdicts.removed, verdicts.set_aside]
        self._lost = distinct(np.concatenate(gone))
        self._removed = verdicts.removed
        self._twin_file = pa.array(verdicts.twin_file, pa.string())
        self._twin_row = verdicts.twin_row
        self._similarity = verdicts.similarity
        self._copies = verdicts.copies
        if COPIES in self.added.names and self._copies is None:
            raise ValueError("FileVerdicts.copies is needed for the column dejalu_copies")

    @property
    def loses(self) -> int:
        """Number of rows that are not written."""
        return len(self._lost)

    def written(self, first: int, count: int) -> Bool | None:
        """Mask (count,) of the rows first … first + count that are written; None where all are."""
        low, high = np.searchsorted(self._lost, (first, first + count))
        if low == high:
            return None
        mask = np.ones(count, np.bool_)
        mask[self._lost[low:high] - first] = False
        return mask

    def columns(self, first: int, count: int, mask: Bool | None) -> list[pa.Array]:
        """Arrays of the added columns for those rows, without the ones that are not written."""
        if not self.added.names:
            return []
        values = {COPIES: pa.array(self._copies[first : first + count], pa.int64())} if self._copies is not None else {}
        if "dejalu_keep" in self.added.names:
            low, high = np.searchsorted(self._removed, (first, first + count))
            place: I64 = np.full(count, -1, np.int64)
            place[self._removed[low:high] - first] = np.arange(low, high)
            kept = place < 0
            take = pa.array(place, mask=kept)  # null takes null
            values["dejalu_keep"] = pa.array(kept)
            values["dejalu_twin_file"] = self._twin_file.take(take)
            values["dejalu_twin_row"] = pa.array(self._twin_row, pa.int64()).take(take)
            values["dejalu_similarity"] = pa.array(self._similarity, pa.float64()).take(take)
        arrays = [values[name] for name in self.added.names]
        return arrays if mask is None else [array.filter(pa.array(mask)) for array in arrays]

    def table(self) -> pa.Table:
        """The added columns of the whole file after `row`, for a sidecar; only the rows that are written."""
        mask = self.written(0, self.rows)
        row = np.arange(self.rows, dtype=np.int64)
        row = row if mask is None else row[mask]
        return pa.table(
            [pa.array(row), *self.columns(0, self.rows, mask)], schema=pa.schema([("row", pa.int64()), *self.added])
        )
