"""Reading a finished run back: its removed rows, and the texts of both documents of each from the original inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from .. import read
from ..act import apply, report
from ..act import evidence as written
from ..act.side_by_side import Shown
from ..data import I64, Input, row_of
from ..plan import Plan
from ..read.arrow import BORDER, MARK

_TOGETHER = 10_000  # pairs whose texts are read in one pass over the inputs


@dataclass(frozen=True, slots=True)
class Evidence:
    """A finished run's evidence folder: its inputs in input order, and its plan; `removed` rows in all."""

    folder: Path
    inputs: tuple[Input, ...]
    plan: Plan
    removed: int

    @classmethod
    def open(cls, folder: Path) -> Evidence:
        """Open an evidence folder.

        Raises:
            OutputError: the folder holds no finished run over files.
            ChangedInput: an input was moved or has changed since.
        """
        run = apply.load(folder)
        counts = report.read(folder)
        removed = int(counts["removed_equal"]) + int(counts["removed_near"])
        return cls(folder, run.inputs, Plan.from_dict(run.plan), removed)

    def tables(self) -> Iterator[pa.Table]:
        """Yield the removed rows file by file in input order: the evidence columns after `file`."""
        for i in self.inputs:
            table = written.read_removed(self.folder, i.file)
            yield table.add_column(0, "file", pa.array([i.file] * len(table), pa.string()))

    def first(self, limit: int) -> pa.Table:
        """Return the first removed rows in input order."""
        found: list[pa.Table] = []
        for table in self.tables():
            found.append(table.slice(0, limit - sum(map(len, found))))
            if sum(map(len, found)) >= limit:
                break
        return pa.concat_tables(found)

    def nearest(self, similarity: float, limit: int) -> pa.Table:
        """Return the removed rows whose similarity is nearest to a value; equals in input order."""
        best: pa.Table | None = None
        for table in self.tables():
            both = table if best is None else pa.concat_tables([best, table])
            distance = np.abs(both.column("similarity").to_numpy() - similarity)
            best = both.take(pa.array(np.argsort(distance, kind="stable")[:limit]))
        assert best is not None, "a run has at least one input"
        return best

    def shown(self, table: pa.Table) -> Iterator[Shown]:
        """Yield these removed rows with both texts, reading each input once per ten thousand of them."""
        for start in range(0, len(table), _TOGETHER):
            rows = table.slice(start, _TOGETHER).to_pylist()
            places = [(r["file"], r["row"]) for r in rows] + [(r["twin_file"], r["twin_row"]) for r in rows]
            texts = self._texts(places)
            for r in rows:
                yield Shown(**r, text=texts[r["file"], r["row"]], twin_text=texts[r["twin_file"], r["twin_row"]])

    def _texts(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], str]:
        wanted: dict[str, set[int]] = {}
        for file, row in places:
            wanted.setdefault(file, set()).add(row)
        texts: dict[tuple[str, int], str] = {}
        for i in self.inputs:
            if i.file not in wanted:
                continue
            columns = read.resolve(
                i,
                text_columns=self.plan.text_column,
                id_column=self.plan.id_column,
                encoding=self.plan.encoding,
                on_error=self.plan.on_error,
            )
            rows = np.array(sorted(wanted[i.file]), np.int64)
            for docs in read.rows(i, columns, rows):
                fields = decoded(docs.text)
                if len(columns.text) > 1:
                    fields = [text.replace(MARK + BORDER, "\n\n").replace(BORDER, "\n\n") for text in fields]
                texts.update(zip(_keys(i.file, docs.ids), fields, strict=True))
        return texts


def _keys(file: str, ids: I64) -> Iterator[tuple[str, int]]:
    return ((file, int(row)) for row in row_of(ids))


def decoded(text: pa.LargeStringArray) -> list[str]:
    """Return texts as Python strings; bytes that are not UTF-8 become U+FFFD, a null an empty text."""
    return [(b or b"").decode("utf-8", "replace") for b in text.cast(pa.large_binary()).to_pylist()]
