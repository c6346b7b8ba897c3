"""The last room: verdicts to evidence, report, gate and corpus; then the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from ..act import evidence, ids, manifest, report
from ..act.digest import Digest
from ..act.facts import Facts, RoomFacts
from ..act.files import Written
from ..data import I64, U8, Verdicts, as_arrow, part_of, row_of
from ..errors import GateClosed
from .corpus import ID, ID_KIND, Corpus
from .features import FREQUENCIES
from .gathering import gather
from .job import Job
from .result import Decided, EvidenceTables, Result
from .writing import read_positions, write_corpus


def finish(job: Job, corpus: Corpus, verdicts: Verdicts, skipped: int) -> Result:
    """Write evidence and report, then, unless a gate is closed, the corpus.

    Raises:
        GateClosed: a source loses more than `max_removal`; evidence and report are there, no corpus.
    """
    digest, written, tables = _evidence(job, corpus, verdicts)
    audit = _audit(job, corpus, verdicts) if job.plan.audit else None
    with job.meter.room("act"):
        facts = gather(job, corpus, verdicts, skipped, digest, audit)
    if job.evidence is not None:
        with job.meter.room("act"):
            written += _write_rest(job, corpus)
            if job.to is not None or job.plan.max_removal is not None:  # else nothing comes between this and the end
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


def _evidence(job: Job, corpus: Corpus, verdicts: Verdicts) -> tuple[str, list[Written], Mapping[str, pa.Table]]:
    """Write the evidence of each input, some inputs at a time; without a folder for it, hold it.

    Returns:
        the logical digest, the files written, the tables.
    """
    digest, written, held = Digest(), list[Written](), dict[str, pa.Table]()
    folder, inputs = job.evidence, job.source.inputs
    with job.meter.room("act"):
        tables = evidence_tables(job, corpus, verdicts)
        while some := list(islice(tables, job.execution.workers)):
            for file, table in some:
                digest.add(file, table)
            if folder is None:
                held.update(some)
            else:
                written += job.engine.map(lambda item: evidence.write_removed(folder, *item), some)
    return digest.hexdigest(), written, held if folder is None else EvidenceTables(folder, inputs)


def evidence_tables(job: Job, corpus: Corpus, verdicts: Verdicts) -> Iterator[tuple[str, pa.Table]]:
    """The evidence columns of each input, rows ascending; an empty table where nothing was removed."""
    inputs = job.source.inputs
    target = ids.unify(*(ids.summarise(*_ids(corpus, i)) for i in range(len(corpus.pieces))))

    def ids_of(places: I64) -> pa.Array:
        """Ids of places (ascending)."""
        borders = np.searchsorted(places, corpus.start)
        found = []
        for i in np.flatnonzero(np.diff(borders)):
            rows = places[borders[i] : borders[i + 1]] - corpus.start[i]
            column, kind = _ids(corpus, int(i))
            column = None if column is None else column.take(as_arrow(rows))
            found.append(_one(ids.convert(column, None if kind is None else kind[rows], target, len(rows))))
        return pa.concat_arrays(found) if found else pa.nulls(0, target.type)

    kept, which = np.unique(verdicts.twin, return_inverse=True)
    kept_ids = ids_of(kept)
    names = pa.array([i.file for i in inputs], pa.string())
    first_piece = np.searchsorted([p.part for p in corpus.pieces], np.arange(len(inputs) + 1))
    borders = np.searchsorted(verdicts.id, corpus.start[first_piece])
    for i, first, last in zip(inputs, borders[:-1], borders[1:], strict=True):
        cut = slice(int(first), int(last))
        twin = corpus.ids_at(verdicts.twin[cut])
        yield i.file, evidence.removed_table(
            row_of(corpus.ids_at(verdicts.id[cut])),
            ids_of(verdicts.id[cut]),
            names.take(as_arrow(part_of(twin))),
            row_of(twin),
            kept_ids.take(as_arrow(which[cut])),
            verdicts.similarity[cut],
            verdicts.measure[cut],
            verdicts.method[cut],
            None if verdicts.distance is None else verdicts.distance[cut],
        )


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


def _write_rest(job: Job, corpus: Corpus) -> list[Written]:
    folder = job.evidence
    assert folder is not None
    aside = evidence.write_set_aside(folder, corpus.total.problems)
    written = [report.write_plan(folder, {"plan_version": 1, **job.plan.to_dict()})]
    if job.frequencies is not None:
        written.append(evidence.write_table(folder / FREQUENCIES, job.frequencies.to_table(), FREQUENCIES))
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


def _result(job: Job, corpus: Corpus, verdicts: Verdicts, tables: Mapping[str, pa.Table], facts: Facts) -> Result:
    starts, source = corpus.part_start, job.source
    removed, twins = corpus.positions(verdicts.id), corpus.positions(verdicts.twin)
    aside = corpus.set_aside()

    def decide() -> Decided:
        keep = np.ones(int(starts[-1]), np.bool_)  # records that are no documents too: they stay where they are
        keep[aside] = False
        keep[removed] = False
        twin = np.full(len(keep), -1, np.int64)
        twin[removed] = twins
        similarity = np.full(len(keep), np.nan)
        similarity[removed] = verdicts.similarity
        return Decided(keep, twin, similarity)

    def texts(positions: I64) -> list[str | None]:
        return read_positions(source, starts, positions)

    return Result(
        starts, decide, source.inputs, facts, report.build(facts), tables, texts, job.evidence, job.to
    )
