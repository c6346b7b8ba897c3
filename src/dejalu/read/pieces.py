"""Pieces: the independent units that a file is read in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

BATCH_BYTES = 1 << 24  # of text in a batch of documents


@dataclass(frozen=True, slots=True)
class Piece:
    """One unit of a file: the whole of it, or a run of parquet row groups.

    index        0-based place among the file's pieces
    first_row    row of its first record, where that is known before reading
    rows         number of records, where known
    start, stop  parquet: row groups [start, stop)
    """

    index: int
    first_row: int | None = 0
    rows: int | None = None
    start: int = 0
    stop: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values for json.dumps."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Piece:
        """The inverse of `to_json`."""
        return cls(**values)
