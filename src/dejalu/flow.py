"""Read, represent, find candidates, verify, cluster, act: the six rooms, called in order. Open this file first.

    first_pass        read/ → represent/ → candidates/    per piece of a file: hashes, band keys, compact sketch
    representatives   cluster/                            equal texts collapse
    near_duplicates   candidates/ → cluster/ → verify/    edges, work groups, texts, settling in keep order
    verdicts          cluster/                            copies put back
    finish            act/                                evidence, report, gate, corpus (finish.py)

Between the steps lies the store (engines/store.py); a step whose result is in the store is not done again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import cluster
from .data import F64, I64, U8
from .plan import Execution, Plan
from .represent import Segmenter
from .run.applying import apply, read_back
from .run.corpus import KEEP, SOURCE, Corpus, Facts
from .run.finish import finish
from .run.gathering import one_column
from .run.job import Job
from .run.meter import Progress
from .run.result import Result
from .run.sources import FileSource
from .run.stages import Members, edges_of_band, settle_partition, sketch_name, sketch_piece
from .run.texts import files_of, missing, write_texts


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
        rank = keep_order(job, corpus)
        skip = (corpus.tokens < 0 if plan.method == "bytes" else corpus.tokens <= 0).astype(np.uint8)
        with job.meter.room("cluster"):
            rep = cluster.representatives(corpus.equal, rank, skip)
        removed, twin, similarity, skipped = near_duplicates(job, corpus, rank, rep, skip)
        with job.meter.room("cluster"):
            verdicts = cluster.verdicts(rep, removed, twin, similarity, plan.method)
        return finish(job, corpus, verdicts, skipped)


def first_pass(job: Job) -> Corpus:
    """Read every input once and keep hashes, band keys and compact sketches."""
    pieces = job.pieces
    job.progress.start("read", sum(piece.size for piece in pieces) or None, "bytes")
    job.engine.map(lambda piece: sketch_piece(job.context, piece), pieces)
    job.progress.finish("read")
    with job.meter.room("cluster"):
        tables = [job.store.get(sketch_name(p)) for p in pieces]
        facts = [Facts.from_json(job.store.note(sketch_name(p))) for p in pieces]
        corpus = Corpus(pieces, tables, facts, len(job.source.inputs))
    return corpus


def keep_order(job: Job, corpus: Corpus) -> I64:
    """Rank the documents: who is kept when texts repeat."""
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


def near_duplicates(job: Job, corpus: Corpus, rank: I64, rep: I64, skip: U8) -> tuple[I64, I64, F64, int]:
    """Find, verify and settle near duplicates among the representatives.

    Returns:
        removed (r,) places, twin (r,) places, similarity (r,) float64, and the number of comparisons that a cap
        skipped.
    """
    plan = job.plan
    if plan.method != "minhash" or not corpus.n:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), 0
    skip = skip | (rep != np.arange(corpus.n))
    packed = corpus.packed(plan.slots)
    bands = range(plan.bands.bands)
    job.progress.start("candidates", len(bands), "bands")
    edges = job.engine.map(lambda band: edges_of_band(job.context, corpus, packed, skip, band), bands)
    job.progress.finish("candidates")
    with job.meter.room("cluster"):
        a, b = (np.concatenate(ends) for ends in zip(*edges, strict=True))
        groups = cluster.work_groups(corpus.n, a, b, rank, job.partitions)
        members = Members(groups.place, _keys(corpus, groups.place, len(bands)), packed[groups.place])
    busy = [p for p in range(job.partitions) if groups.partition[p] < groups.partition[p + 1]]
    stored = second_pass(job, corpus, groups, {p for p in busy if not job.store.has(_settled(job, p))})
    job.progress.start("verify", len(groups.place), "documents")

    def settle(p: int) -> tuple[I64, I64, F64, int]:
        border = groups.border[groups.partition[p] : groups.partition[p + 1] + 1]
        return settle_partition(job.context, corpus, members, border, stored[p], _settled(job, p))

    found = job.engine.map(settle, busy)
    job.progress.finish("verify")
    return (
        np.concatenate([np.zeros(0, np.int64), *(f[0] for f in found)]),
        np.concatenate([np.zeros(0, np.int64), *(f[1] for f in found)]),
        np.concatenate([np.zeros(0), *(f[2] for f in found)]),
        sum(f[3] for f in found),
    )


def _keys(corpus: Corpus, place: I64, bands: int) -> Any:
    keys = np.empty((len(place), bands), np.uint64)
    for band in range(bands):
        keys[:, band] = corpus.band(band)[place]
    return keys


def _settled(job: Job, p: int) -> str:
    return f"settle/{job.partitions}-{p}"


def second_pass(job: Job, corpus: Corpus, groups: cluster.Groups, todo: set[int]) -> list[list[str]]:
    """Read again the texts that need verification and are no longer in memory; returns their tables per partition.

    `todo` are the partitions that are not settled yet; the texts of others are not read.
    """
    partition = np.repeat(np.arange(job.partitions), np.diff(groups.border[groups.partition]))
    order = np.argsort(groups.place, kind="stable")
    order = order[np.isin(partition[order], list(todo))]
    places, partition = groups.place[order], partition[order]
    absent = missing(corpus, job.cache, places)
    stored: list[list[str]] = [[] for _ in range(job.partitions)]
    if not len(absent):
        return stored
    of = partition[np.searchsorted(places, absent)]
    files = files_of(corpus, absent)
    job.progress.start("texts", len(absent), "documents")

    def name(part: int, p: int) -> str:
        return f"texts/{job.partitions}-{part:07d}-{p}"

    def write(item: tuple[int, I64]) -> None:
        part, own = item
        own_partition = of[np.searchsorted(absent, own)]
        names = [name(part, int(p)) for p in np.unique(own_partition)]
        if not all(job.store.has(n) for n in names):
            with job.meter.room("read"):
                write_texts(job.source.rows, job.store, corpus, part, own, own_partition, name)
        job.progress.advance("texts", len(own))

    job.engine.map(write, files)
    job.progress.finish("texts")
    for part, own in files:
        for p in np.unique(of[np.searchsorted(absent, own)]):
            stored[int(p)].append(name(part, int(p)))
    return stored


__all__ = ["apply", "run"]
