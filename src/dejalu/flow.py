"""Read, represent, find candidates, verify, cluster, act: the six rooms, called in order. Open this file first.

    first_pass        read/ → represent/ → candidates/    per piece of a file: hashes, band keys, compact sketch
    equal_texts       candidates/ → cluster/              equal texts collapse
    near_duplicates   candidates/ → cluster/ → verify/    work groups, their texts, settling in keep order
    verdicts          cluster/                            copies put back
    finish            act/                                evidence, report, gate, corpus (finish.py)

Between the steps lies the store (engines/store.py); a step whose result is in the store is not done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import candidates, cluster
from .data import F64, I64, U8
from .plan import Execution, Plan
from .represent import Segmenter
from .run.applying import apply, read_back
from .run.corpus import KEEP, NULL, SOURCE, TEXT, Corpus, Facts, sketch_name
from .run.finish import finish
from .run.gathering import one_column
from .run.job import Job
from .run.members import gather_members
from .run.meter import Progress
from .run.result import Result
from .run.sources import FileSource
from .run.stages import settle_partition, sketch_piece


def run(
    source: Any,
    to: Any = None,
    *,
    evidence: Any = None,
    plan: Plan | None = None,
    execution: Execution | None = None,
    overwrite: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
    segmenter: Segmenter | None = None,
) -> Result:
    """Find and settle the duplicates of a collection; with `to`, write the corpus without them.

    Args:
        source: texts, a table, a data set, or path(s); see `dejalu.dedup`.
        to: output folder for files; None writes nothing.
        evidence: folder of the evidence; by default `to` with `-evidence` behind its name.
        plan: what to look for and what to do; execution: threads, batches, partitions, store.
        overwrite, resume: what to do about a folder that is not empty.
        progress: hears how far the run is.
        segmenter: the callable, where `plan.segmenter` names one.

    Raises:
        UsageError, InputError, OutputError, GateClosed: see dejalu.errors.
    """
    plan, execution = plan or Plan(), execution or Execution()
    with Job.open(source, to, evidence, plan, execution, overwrite, resume, progress, segmenter) as job:
        if job.previous is not None and job.evidence is not None and isinstance(job.source, FileSource):
            return read_back(job.evidence, job.source, job.to)  # --resume on a finished run: verified, nothing to do
        corpus = first_pass(job)
        job.between()
        rank = keep_order(job, corpus)
        copies = equal_texts(job, corpus, rank)
        near = near_duplicates(job, corpus, rank, copies)
        job.between()
        with job.meter.room("cluster"):
            verdicts = cluster.verdicts(copies, near.removed, near.twin, near.similarity, plan.method)
        return finish(job, corpus, verdicts, near.skipped)


def first_pass(job: Job) -> Corpus:
    """Read every input once and keep hashes, band keys and compact sketches."""
    pieces = job.pieces
    job.progress.start("read", sum(piece.size for piece in pieces) or None, "bytes")
    job.engine.map(lambda piece: sketch_piece(job.context, piece), pieces)
    job.progress.finish("read")
    with job.meter.room("cluster"):
        facts = [Facts.from_json(job.store.note(sketch_name(p))) for p in pieces]
        return Corpus(
            job.store,
            pieces,
            facts,
            len(job.source.inputs),
            redo=lambda piece: sketch_piece(job.context, piece),
            held=job.budget.sketches,
        )


def keep_order(job: Job, corpus: Corpus) -> I64 | None:
    """Rank the documents: who is kept when texts repeat; None where that is input order."""
    plan = job.plan
    with job.meter.room("cluster"):
        return cluster.keep_rank(
            corpus.n,
            plan.keep,
            sizes=corpus.numbers("size", np.int64) if plan.keep == "longest" else None,
            values=one_column(job, corpus, KEEP) if plan.keep_column else None,
            sources=one_column(job, corpus, SOURCE, as_text=True) if plan.prefer else None,
            prefer=plan.prefer,
        )


def equal_texts(job: Job, corpus: Corpus, rank: I64 | None) -> cluster.Copies:
    """Find the documents that another one stands for, since its text is the same."""
    skip = (corpus.state == NULL if job.plan.method == "bytes" else corpus.state != TEXT).astype(np.uint8)
    with job.meter.room("cluster"):
        label = candidates.equal(corpus.n, corpus.equal_hashes, skip=skip, scratch_rows=job.budget.wide_rows)
        return cluster.copies(label, rank)


@dataclass(frozen=True, slots=True)
class Near:
    """Near duplicates: removed (r,) places, twin (r,) places, similarity (r,) float64.

    skipped is the number of comparisons that a cap left out.
    """

    removed: I64
    twin: I64
    similarity: F64
    skipped: int


def near_duplicates(job: Job, corpus: Corpus, rank: I64 | None, copies: cluster.Copies) -> Near:
    """Find, verify and settle near duplicates among the representatives."""
    if job.plan.method != "minhash" or not corpus.n:
        return Near(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), 0)
    slots = job.plan.slots
    packed = corpus.packed(slots) if corpus.n * slots <= job.budget.packed else None
    groups = work_groups(job, corpus, rank, copies, packed)
    job.between()
    sizes = np.diff(groups.border[groups.partition])
    busy = [int(p) for p in np.argsort(-sizes, kind="stable") if sizes[p]]  # largest first: no thread waits long
    # Other work groups come of another number of partitions, or without the pair test; a resumed run must not mix them.
    layout = f"{job.partitions}-{'joined' if packed is None else 'tested'}"
    names = {p: f"settle/{layout}-{p}" for p in busy}
    todo = {p for p in busy if not job.store.has(names[p])}
    members = gather_members(job, corpus, groups, packed, todo, layout)
    job.between()
    job.progress.start("verify", len(groups.place), "documents")

    def settle(p: int) -> tuple[I64, I64, F64, int]:
        first, last = groups.cut(p)
        border = groups.border[groups.partition[p] : groups.partition[p + 1] + 1] - first
        return settle_partition(job.context, lambda: members.of(p), groups.place[first:last], border, names[p])

    found = job.engine.map(settle, busy)
    job.progress.finish("verify")
    return Near(
        np.concatenate([np.zeros(0, np.int64), *(f[0] for f in found)]),
        np.concatenate([np.zeros(0, np.int64), *(f[1] for f in found)]),
        np.concatenate([np.zeros(0), *(f[2] for f in found)]),
        sum(f[3] for f in found),
    )


def work_groups(
    job: Job, corpus: Corpus, rank: I64 | None, copies: cluster.Copies, packed: U8 | None
) -> cluster.Groups:
    """Join documents that share a band key to groups, which are settled each by itself."""
    bands = job.plan.bands
    skip = copies.mark((corpus.state != TEXT).astype(np.uint8))
    job.progress.start("candidates", bands.bands, "bands")

    def charged(task: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        def run(item: Any) -> Any:
            with job.meter.room("candidates"):
                return task(item)

        return job.engine.map(run, items)

    label = candidates.group(
        corpus.n,
        corpus.keys,
        bands.bands,
        skip=skip,
        packed=packed,
        min_matches=bands.min_matches,
        scratch_rows=job.budget.rows,
        map=charged,
        done=lambda _: job.progress.advance("candidates", 1),
    )
    job.progress.finish("candidates")
    with job.meter.room("cluster"):
        return cluster.work_groups(label, rank, job.partitions)


__all__ = ["apply", "run"]
