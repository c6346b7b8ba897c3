"""Write one file of the output corpus: the input file without what was removed, or with tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal

from ..data import FileVerdicts, Records
from . import lines, parquet, warc
from .evidence import write_table
from .files import Written, atomic_file, copy, copy_stream, describe, unchanged
from .tags import Decisions

Mode = Literal["drop", "tag"]
ONE = {"txt", "html"}  # formats of one document a file; where it is removed, the file stays, empty
BESIDE = {*ONE, "warc"}  # formats that cannot hold columns: the table of the tags stands beside the file


def write(
    verdicts: FileVerdicts,
    src: Path,
    dst: Path,
    *,
    mode: Mode = "drop",
    add_copies: bool = False,
    records: Iterator[Records] | None = None,
    encoding: str = "utf-8",
    delimiter: str = ",",
    tags_path: Path | None = None,
    whole: bool = True,
    open_source: Callable[[], BinaryIO] | None = None,
) -> Written | None:
    """Write the output of one input file under `dst`, whole or not at all.

    Args:
        verdicts: what was decided of the file; `copies` only where a column of them is added
        src, dst: the input file and the output file
        mode: `drop` leaves removed rows out, `tag` writes all with five columns added; neither writes rows set aside
        add_copies: add the column `dejalu_copies` when dropping
        records: raw records of a jsonl, csv or warc file, from row 0; not touched when the file is copied
        encoding, delimiter: of a csv file
        tags_path: where the sidecar table of a txt, html or warc file goes, which cannot hold columns
        whole: False if the file was found damaged from some row on: its first `verdicts.rows` rows are written
        open_source: opens an input that does not lie on this machine, instead of `src`

    Returns:
        The written file (named as the input), or None where a whole file was set aside and is in no output.

    Raises:
        ChangedInput: the input is no longer what was read.
        OutputError: a column to add is there already, or the output cannot be written.
    """
    source = verdicts.input
    if source.mtime_ns:
        unchanged(src, source.file, source.size, source.mtime_ns)
    decisions = Decisions(verdicts, mode=mode, add_copies=add_copies)
    if not whole and not verdicts.rows:
        return None
    beside = source.format in BESIDE
    if source.format in ONE:
        if len(verdicts.set_aside) or not verdicts.rows:
            return None
        if decisions.loses:
            with atomic_file(dst):
                pass  # a later run counts it among the empty documents, which are always kept
        else:
            _copy(src, dst, open_source)
    elif whole and not decisions.loses and (beside or not decisions.added.names):
        _copy(src, dst, open_source)
    elif source.format == "parquet":
        parquet.rewrite(open_source or src, dst, decisions, whole=whole)
    elif source.format == "warc":
        if records is None:
            raise ValueError(f"records are needed to rewrite {source.file}")
        warc.rewrite(dst, decisions, records, compression=source.compression, whole=whole)
    elif source.format in {"jsonl", "csv"}:
        if records is None:
            raise ValueError(f"records are needed to rewrite {source.file}")
        lines.rewrite(
            dst,
            decisions,
            records,
            format=source.format,
            compression=source.compression,
            encoding=encoding,
            delimiter=delimiter,
        )
    else:
        raise ValueError(f"{source.file}: format {source.format!r} has no output file")
    if source.mtime_ns:  # what was written must be what was judged
        try:
            unchanged(src, source.file, source.size, source.mtime_ns)
        except BaseException:
            dst.unlink(missing_ok=True)
            raise
    if beside and decisions.added.names:
        if tags_path is None:
            raise ValueError(f"{source.file} needs a sidecar for its tags")
        write_table(tags_path, decisions.table(), tags_path.name)
    return describe(dst, source.file)


def _copy(src: Path, dst: Path, open_source: Callable[[], BinaryIO] | None) -> None:
    if open_source is None:
        copy(src, dst)
    else:
        with open_source() as stream:
            copy_stream(stream, dst)
