"""Rewrite a WARC file: kept records are their own bytes as stored, gz members and zst frames included."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..data import Records
from ..errors import ChangedInput
from .compress import compressed
from .files import atomic_file
from .splice import gather
from .tags import Decisions

_RECORD = b"WARC/"  # how a record begins that had no member or frame to itself


def rewrite(target: Path, decisions: Decisions, records: Iterator[Records], *, compression: str, whole: bool) -> None:
    """Write the records of one file by the decisions; those that are no documents stay.

    A record that shared its gz member or zst frame with others gets one of its own, so that the output is a WARC file
    whose records can be reached one by one.

    Args:
        compression: of the input: "", "gz" or "zst".
        whole: False if the file was found damaged from some record on: its first `decisions.rows` are written.

    Raises:
        ChangedInput: the file has fewer records than it had.
    """
    row = 0
    with atomic_file(target) as file:
        for run in records:
            count = len(run.start) if whole else min(len(run.start), decisions.rows - row)
            if count <= 0:
                break
            mask = decisions.written(row, count)
            row += count
            start, end = run.start[:count], run.end[:count]
            if mask is not None:
                start, end = start[mask], end[mask]
            first = run.data[start[:, None] + np.arange(len(_RECORD))] if len(start) else None
            if not compression or first is None or not (first == np.frombuffer(_RECORD, np.uint8)).all(axis=1).any():
                file.write(gather(run.data, start, end))
                continue
            for a, b in zip(start.tolist(), end.tolist(), strict=True):
                record = run.data[a:b].tobytes()
                if record.startswith(_RECORD):
                    with compressed(file, compression) as sink:
                        sink.write(record)
                else:
                    file.write(record)
        if row < decisions.rows:
            raise ChangedInput(
                f"{decisions.file}: {row:,} records are found now, {decisions.rows:,} were read. "
                "The file changed during the run: start anew with --overwrite."
            )
