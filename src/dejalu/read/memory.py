"""In-memory sources behind the questions that files answer."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..data import I64, Docs, Input, doc_ids
from ..errors import UsageError
from .arrow import docs_of, find_offer, large, offers_of
from .columns import Ask, Columns, choose, named
from .pieces import BATCH_BYTES
from .sources import Table, filtered, runs, splits_of, table_of, top_level


def is_paths(source: object, to: object = None) -> bool:
    """Tell whether a source names files.

    A str or PathLike is a path; a list (or tuple) is paths if `to` is given or every item is a PathLike; any other list
    of str is texts.
    """
    if isinstance(source, str | os.PathLike):
        return True
    if not isinstance(source, list | tuple):
        return False
    return to is not None or (len(source) > 0 and all(isinstance(item, os.PathLike) for item in source))


def from_memory(source: object) -> Memory:
    """Take a list, array, column, table or data set as input.

    Served: list and tuple of str (None is a null); numpy arrays of str; pandas Series and DataFrame; polars; pyarrow
    Array, ChunkedArray, RecordBatch, Table, RecordBatchReader; anything with `__arrow_c_stream__` or
    `__arrow_c_array__`; datasets.Dataset, and DatasetDict, whose splits are parts.

    Raises:
        UsageError: another type; an item that is no str, naming its position.

    >>> [d.text.to_pylist() for d in from_memory(["a", None]).batches(0)]
    [['a', None]]
    """
    return Memory(source)


class Memory:
    """An in-memory source: `inputs` are its parts, in order, as if they were files.

    `lengths` is the number of rows of each part.
    """

    def __init__(self, source: object) -> None:
        if isinstance(source, pa.RecordBatchReader):
            source = source.read_all()  # it can be read once only, and is needed twice
        self.source = source
        self._splits = splits_of(source)
        self._tables: list[Table] = [table_of(part) for part in self._splits.values()]
        self.inputs = tuple(Input(i, name, "", "memory") for i, name in enumerate(self._splits))
        self.lengths = tuple(len(table) for table in self._tables)

    def __len__(self) -> int:
        return sum(self.lengths)

    def resolve(
        self,
        part: int | Input = 0,
        *,
        text_columns: Sequence[str] = (),
        id_column: str | None = None,
        extra: Sequence[str] = (),
    ) -> Columns:
        """Decide which columns of a part are read, as `dejalu.read.resolve` does for a file.

        Raises:
            UsageError: as there; or columns are asked of a source that has no names, such as a list.
        """
        place = _place(part)
        table, file = self._tables[place], self.inputs[place].file
        ask = Ask(named(text_columns), id_column, named(extra))
        schema = table.schema
        if not table.named:
            asked = (*ask.text, *((ask.id,) if ask.id is not None else ()), *ask.extra)
            if asked:
                kind = type(self.source).__name__
                raise UsageError(f"column {asked[0]!r}: a {kind} of texts has no columns; give a table that has them")
            offer = find_offer(schema, schema.names[0])
            if offer is None or not offer.text:
                raise UsageError(f"{file}: holds {schema.types[0]}, not text")
            return Columns((schema.names[0],))

        def sample(name: str) -> str | None:
            for batch in table.batches([name]):
                for value in large(batch.column(0)).drop_null()[:1].cast(pa.large_binary()).to_pylist():
                    return bytes(value).decode(errors="replace")
            return None

        return choose(file, offers_of(schema), ask, find=lambda name: find_offer(schema, name), sample=sample)

    def batches(
        self,
        part: int | Input,
        columns: Columns | None = None,
        *,
        batch_bytes: int = BATCH_BYTES,
        batch_rows: int | None = None,
    ) -> Iterator[Docs]:
        """Read a part as batches of documents, as `dejalu.read.read` does a file; `columns` as resolved by default."""
        yield from self._docs(_place(part), columns, None, batch_bytes, batch_rows)

    def rows(self, part: int | Input, columns: Columns | None, wanted: I64) -> Iterator[Docs]:
        """Read only the wanted rows, (k,) int64 ascending."""
        yield from self._docs(_place(part), columns, wanted, BATCH_BYTES, None)

    def _docs(
        self, part: int, columns: Columns | None, wanted: I64 | None, batch_bytes: int, batch_rows: int | None
    ) -> Iterator[Docs]:
        columns = columns or self.resolve(part)
        table = self._tables[part]
        first = 0
        for batch in table.batches(top_level(table.schema, columns.names)):
            n = batch.num_rows
            places = None if wanted is None else runs(wanted, first, n)
            if places is None or len(places):
                ids = doc_ids(part, np.arange(first, first + n, dtype=np.int64))
                yield from docs_of(batch, ids, columns, wanted=places, batch_bytes=batch_bytes, batch_rows=batch_rows)
            first += n

    def filter(self, keep: npt.NDArray[np.bool_]) -> Any:
        """The source's own type with the rows where `keep` is true, its index kept.

        Args:
            keep: (n,) bool over all rows, parts one after another.

        Raises:
            UsageError: another number of rows.
        """
        keep = np.asarray(keep, np.bool_)
        if len(keep) != len(self):
            raise UsageError(f"keep has {len(keep):,} entries, and the source {len(self):,} rows")
        ends = np.cumsum(self.lengths).tolist()
        parts = [
            filtered(part, keep[end - n : end])
            for part, end, n in zip(self._splits.values(), ends, self.lengths, strict=True)
        ]
        if isinstance(self.source, dict):
            return type(self.source)(dict(zip(self._splits, parts, strict=True)))
        return parts[0]


def _place(part: int | Input) -> int:
    return part.part if isinstance(part, Input) else part
