"""The corpus: every input file rewritten under its own name, or copied where nothing changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..act import corpus as writing
from ..act.evidence import TAGS
from ..act.files import Written
from ..data import I64, FileVerdicts, Verdicts, distinct, part_of, row_of
from ..read import opener
from .corpus import Corpus
from .gathering import files_of_run
from .job import Job
from .sources import FileSource
from .texts import as_strings


def file_verdicts(job: Job, corpus: Corpus, verdicts: Verdicts) -> list[FileVerdicts]:
    """The verdicts as each file's writer wants them."""
    plan, inputs = job.plan, job.source.inputs
    removed, twin = corpus.ids_at(verdicts.id), corpus.ids_at(verdicts.twin)
    names = np.array([i.file for i in inputs], np.object_)
    copies = None
    if plan.mode == "tag" or plan.add_columns:
        total = int(corpus.part_start[-1])
        copies = 1 + np.bincount(corpus.positions(verdicts.twin), minlength=total).astype(np.int64)
        copies[corpus.positions(verdicts.id)] = 0
    borders = np.searchsorted(part_of(removed), np.arange(len(inputs) + 1))
    aside: list[list[int]] = [[] for _ in inputs]
    for piece, facts in zip(corpus.pieces, corpus.facts, strict=True):
        aside[piece.part] += [p.row for p in facts.problems if p.record]
    out = []
    for i in inputs:
        cut = slice(int(borders[i.part]), int(borders[i.part + 1]))
        start, end = int(corpus.part_start[i.part]), int(corpus.part_start[i.part + 1])
        out.append(
            FileVerdicts(
                input=i,
                rows=end - start,
                removed=row_of(removed[cut]),
                set_aside=distinct(np.array(aside[i.part], np.int64)),
                twin_file=names[part_of(twin[cut])],
                twin_row=row_of(twin[cut]),
                similarity=verdicts.similarity[cut],
                copies=None if copies is None else copies[start:end],
            )
        )
    return out


def write_corpus(job: Job, corpus: Corpus, verdicts: Verdicts) -> list[Written]:
    """Rewrite every file of the corpus that an interrupted run has not finished."""
    broken = {f.file for f in files_of_run(job, corpus, verdicts) if not f.whole}
    todo = file_verdicts(job, corpus, verdicts)
    return write_files(job, todo, broken)


def write_files(job: Job, todo: list[FileVerdicts], broken: set[str] | frozenset[str]) -> list[Written]:
    """Write the output of each file; what an interrupted run finished stays."""
    plan, source = job.plan, job.source
    assert isinstance(source, FileSource) and job.to is not None and job.evidence is not None
    to, journal, tags = job.to, job.journal, job.evidence / TAGS
    job.progress.start("write", len(todo), "files")

    def write(own: FileVerdicts) -> Written | None:
        file = own.input.file
        done = job.outputs.get(file)
        if done is None:
            columns = source.columns(own.input.part)
            with job.meter.room("act"):
                done = writing.write(
                    own,
                    Path(own.input.path),
                    to / file,
                    mode="tag" if plan.mode == "tag" else "drop",
                    add_copies=bool(plan.add_columns),
                    records=source.records(own.input.part),
                    encoding=columns.encoding or "utf-8",
                    delimiter=columns.delimiter or ",",
                    tags_path=tags / f"{file}.parquet",
                    whole=file not in broken,
                    open_source=opener(own.input),
                )
            if done is not None:
                journal.add(done)
        job.progress.advance("write", 1)
        return done

    written = job.engine.map(write, todo)
    job.progress.finish("write")
    return [w for w in written if w is not None]


def read_positions(source: Any, starts: I64, positions: I64) -> list[str | None]:
    """Read the texts of a few positions from their inputs."""
    out: dict[int, str | None] = {}
    wanted = distinct(positions)
    parts = np.searchsorted(starts, wanted, "right") - 1
    for part in distinct(parts):
        for docs in source.rows(int(part), wanted[parts == part] - starts[part]):
            for row, text in zip(row_of(docs.ids).tolist(), as_strings(docs.text), strict=True):
                out[int(starts[part]) + row] = text
    return [out.get(int(p)) for p in positions]
