"""Rewrite jsonl and csv: kept records are their original bytes, added values are put into them as text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..data import Records
from ..errors import ChangedInput
from .compress import compressed
from .files import atomic_file
from .members import Csv, Jsonl
from .splice import gather
from .tags import Decisions


def rewrite(
    target: Path,
    decisions: Decisions,
    records: Iterator[Records],
    *,
    format: str,
    compression: str,
    encoding: str = "utf-8",
    delimiter: str = ",",
) -> None:
    """Write the records of one file by the decisions; compressed as the input was, with fixed settings.

    A jsonl file left without records is written empty; a csv keeps its header.

    Raises:
        ChangedInput: the file does not have the number of records that it had.
        OutputError: an added column is there already, a value cannot be written in the encoding, or the disk is full.
    """
    adder = Csv(decisions, encoding, delimiter) if format == "csv" else Jsonl(decisions)
    preamble = b""
    row = 0
    with atomic_file(target) as file, compressed(file, compression) as sink:
        for run in records:
            preamble += run.preamble
            count = len(run.start)
            if run.first != row or row + count > decisions.rows:
                raise _changed(decisions, row + count)
            mask = decisions.written(row, count)
            row += count
            start, end = (run.start, run.end) if mask is None else (run.start[mask], run.end[mask])
            if len(start) == 0:
                continue
            if preamble:
                sink.write(adder.preamble(preamble))
                preamble = b""
            values = decisions.columns(run.first, count, mask)
            sink.write(adder.join(run.data, start, end, values) if values else gather(run.data, start, end))
        if preamble and format == "csv":
            sink.write(adder.preamble(preamble))
        if row != decisions.rows:
            raise _changed(decisions, row)


def _changed(decisions: Decisions, found: int) -> ChangedInput:
    return ChangedInput(
        f"{decisions.file}: {found:,} records are found now, {decisions.rows:,} were read. "
        "The file changed during the run: start anew with --overwrite."
    )
