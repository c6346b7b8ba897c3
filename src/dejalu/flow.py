"""Read, represent, find candidates, verify, cluster, act: the six rooms, called in order. Open this file first.

    first_pass        read/ → represent/ → candidates/    per piece of a file: hashes, band keys, compact sketch
    equal_texts       candidates/ → cluster/              equal texts collapse
    near_duplicates   candidates/ → verify/ → cluster/    what may repeat, true similarity, settling in keep order;
                                                          by bands (minhash, tfidf), by join (short, containment),
                                                          by length (auto) or by fingerprint (simhash): run/by_*.py
    verdicts          cluster/                            copies put back
    finish            act/                                evidence, report, gate, corpus (finish.py)

Between the steps lies the store (engines/store.py); a step whose result is in the store is not done again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import candidates, cluster
from .data import I64
from .plan import Execution, Plan
from .represent import Segmenter
from .run.applying import apply, read_back
from .run.by_bands import settled_by_bands
from .run.by_fingerprint import settled_by_fingerprint
from .run.by_join import settled_by_join
from .run.by_length import settled_by_length
from .run.corpus import KEEP, NULL, SOURCE, TEXT, Corpus, Facts, sketch_name
from .run.finish import finish
from .run.frequencies import weigh
from .run.gathering import one_column
from .run.job import Job
from .run.meter import Progress
from .run.result import Result
from .run.sources import FileSource
from .run.stages import sketch_piece


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
        if plan.counted:
            weigh(job)
        corpus = first_pass(job)
        job.between()
        rank = keep_order(job, corpus)
        copies = equal_texts(job, corpus, rank)
        near = near_duplicates(job, corpus, rank, copies)
        job.between()
        with job.meter.room("cluster"):
            verdicts = cluster.verdicts(copies, near, plan.method)
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


WAYS = {
    "minhash": settled_by_bands,
    "tfidf": settled_by_bands,
    "short": settled_by_join,
    "containment": settled_by_join,
    "auto": settled_by_length,
    "simhash": settled_by_fingerprint,
}


def near_duplicates(job: Job, corpus: Corpus, rank: I64 | None, copies: cluster.Copies) -> cluster.Near:
    """Find, verify and settle near duplicates among the representatives, each method in its way."""
    plan = job.plan
    if plan.method not in WAYS or not corpus.n:  # exact, bytes
        return cluster.Near.none()
    settled = settled_by_join if plan.method == "tfidf" and not plan.banded else WAYS[plan.method]
    return settled(job, corpus, rank, copies)


__all__ = ["apply", "run"]
