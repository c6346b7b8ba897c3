"""The last room: verdicts to evidence, report, gate and corpus; then the result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..act import evidence, ids, manifest, report
from ..act.digest import Digest
from ..act.facts import Facts, RoomFacts
from ..act.files import Written
from ..data import I64, U8, Verdicts, part_of, row_of
from ..errors import GateClosed
from .corpus import ID, ID_KIND, Corpus
from .gathering import gather
from .job import Job
from .result import Result
from .writing import read_positions, write_corpus


def finish(job: Job, corpus: Corpus, verdicts: Verdicts, skipped: int) -> Result:
    """Write evidence and report, then, unless a gate is closed, the corpus.

    Raises:
        GateClosed: a source loses more than `max_removal`; evidence and report are there, no corpus.
    """
    with job.meter.room("act"):
        tables = evidence_tables(job, corpus, verdicts)
        digest = Digest()
        for file, table in tables.items():
            digest.add(file, table)
    audit = _audit(job, corpus, verdicts) if job.plan.audit else None
    with job.meter.room("act"):
        facts = gather(job, corpus, verdicts, skipped, digest.hexdigest(), audit)
    written: list[Written] = []
    if job.evidence is not None:
        with job.meter.room("act"):
            written = _write_evidence(job, tables, corpus)
            report.write(job.evidence, _timed(job, facts))
            manifest.save(job.evidence / manifest.MANIFEST, replace(job.manifest("gated"), evidence=written))
    gate(job, facts)
    outputs = write_corpus(job, corpus, verdicts) if job.to is not None else []
    facts = _timed(job, facts)
    if job.evidence is not None:
        report.write(job.evidence, facts)
        done = job.manifest().finished(written, outputs)
        manifest.save(job.evidence / manifest.MANIFEST, done)
    result = _result(job, corpus, verdicts, tables, facts)
    job.put_away()
    return result


def evidence_tables(job: Job, corpus: Corpus, verdicts: Verdicts) -> dict[str, pa.Table]:
    """The evidence columns of each input, rows ascending; an empty table where nothing was removed."""
    inputs = job.source.inputs
    target = ids.unify(*(ids.summarise(*_ids(corpus, i)) for i in range(len(corpus.pieces))))

    def ids_of(places: I64) -> pa.Array:
        unique, back = np.unique(places, return_inverse=True)
        borders = np.searchsorted(unique, corpus.start)
        found = []
        for i in np.flatnonzero(np.diff(borders)):
            rows = unique[borders[i] : borders[i + 1]] - corpus.start[i]
            column, kind = _ids(corpus, int(i))
            column = None if column is None else column.take(pa.array(rows))
            found.append(_one(ids.convert(column, None if kind is None else kind[rows], target, len(rows))))
        return pa.concat_arrays(found).take(pa.array(back)) if found else pa.nulls(0, target.type)

    own, twins = ids_of(verdicts.id), ids_of(verdicts.twin)
    removed, twin = corpus.ids_at(verdicts.id), corpus.ids_at(verdicts.twin)
    names = pa.array([i.file for i in inputs], pa.string())
    twin_file = names.take(pa.array(part_of(twin)))
    borders = np.searchsorted(part_of(removed), np.arange(len(inputs) + 1))
    tables = {}
    for i, first, last in zip(inputs, borders[:-1], borders[1:], strict=True):
        cut = slice(int(first), int(last))
        size = int(last - first)
        tables[i.file] = evidence.removed_table(
            row_of(removed[cut]),
            own.slice(int(first), size),
            twin_file.slice(int(first), size),
            row_of(twin[cut]),
            twins.slice(int(first), size),
            verdicts.similarity[cut],
            verdicts.measure[cut],
            verdicts.method[cut],
        )
    return tables


def _ids(corpus: Corpus, i: int) -> tuple[pa.Array | None, U8 | None]:
    """Ids of piece i and, where they come from JSON, their kinds."""
    table = corpus.table(i, ID, ID_KIND)
    if ID not in table.schema.names:
        return None, None
    return _one(table.column(ID)), table.column(ID_KIND).to_numpy() if ID_KIND in table.schema.names else None


def _one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _timed(job: Job, facts: Facts) -> Facts:
    cost = job.meter.report()
    rooms = {
        name: RoomFacts(r["wall_seconds"], r["cpu_seconds"], r["peak_memory_bytes"])
        for name, r in cost.pop("rooms").items()
    }
    return replace(facts, rooms=rooms, run={**facts.run, **cost})


def _write_evidence(job: Job, tables: dict[str, pa.Table], corpus: Corpus) -> list[Written]:
    folder = job.evidence
    assert folder is not None
    written = job.engine.map(lambda item: evidence.write_removed(folder, *item), tables.items())
    aside = evidence.write_set_aside(folder, corpus.total.problems)
    written.append(report.write_plan(folder, {"plan_version": 1, **job.plan.to_dict()}))
    return [*written, aside] if aside else written


def gate(job: Job, facts: Facts) -> None:
    """Stop before the corpus when a source (or, without a source column, the whole input) loses more than is
    allowed.
    """
    limit = job.plan.max_removal
    if limit is None:
        return
    losses = (
        [(f"{job.plan.source_column}={s.value!r}", s.read, s.removed) for s in facts.sources]
        if facts.sources
        else [("the input", facts.counts["read"], facts.removed)]
    )
    over = [(name, gone / read) for name, read, gone in losses if read >= 1000 and gone / read > limit]
    if over:
        name, share = max(over, key=lambda item: item[1])
        advice = f"Look at what goes without max_removal, or allow it with max_removal={_up(share):g} or higher."
        if job.evidence is not None:
            advice = (
                f"No corpus was written; evidence and report are in {job.evidence}. Look at them (dejalu show "
                f"{job.evidence}), then go on with --resume --max-removal {_up(share):g} or higher."
            )
        raise GateClosed(
            f"{name} would lose {share:.1%} of its documents, more than max_removal={limit:g} allows. " + advice
        )


def _up(share: float) -> float:
    """The share in hundredths, rounded up, so that the gate opens at it."""
    return min(1.0, int(share * 100 + 1) / 100)


def _audit(job: Job, corpus: Corpus, verdicts: Verdicts) -> Any:
    from .auditing import audit

    return audit(job, corpus, verdicts)


def _result(job: Job, corpus: Corpus, verdicts: Verdicts, tables: dict[str, pa.Table], facts: Facts) -> Result:
    total = int(corpus.part_start[-1])
    keep = np.zeros(total, np.bool_)
    keep[corpus.positions(np.arange(corpus.n))] = True
    removed = corpus.positions(verdicts.id)
    keep[removed] = False
    twin = np.full(total, -1, np.int64)
    twin[removed] = corpus.positions(verdicts.twin)
    similarity = np.full(total, np.nan)
    similarity[removed] = verdicts.similarity
    starts, source = corpus.part_start, job.source

    def texts(positions: I64) -> list[str | None]:
        return read_positions(source, starts, positions)

    return Result(
        keep, twin, similarity, source.inputs, facts, report.build(facts), tables, texts, job.evidence, job.to
    )
