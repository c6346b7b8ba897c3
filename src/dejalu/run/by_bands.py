"""Near duplicates by LSH bands (minhash, tfidf): band keys join documents to work groups, which are settled by true
similarity, partition by partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import candidates, cluster
from ..data import I64, U8, U32
from .corpus import TEXT, Corpus
from .job import Job
from .members import gather_members
from .stages import settle_partition


def settled_by_bands(job: Job, corpus: Corpus, rank: I64 | None, copies: cluster.Copies) -> cluster.Near:
    """Settle the representatives that band keys join."""
    packed = compact_sketches(job, corpus)
    label = band_components(job, corpus, copies.mark((corpus.state != TEXT).astype(np.uint8)), packed)
    return settle_groups(job, corpus, rank, label, packed)


def compact_sketches(job: Job, corpus: Corpus) -> U8 | None:
    """The compact sketches of all documents where memory is there for them."""
    slots = job.plan.slots
    return corpus.packed(slots) if corpus.n * slots <= job.budget.packed else None


def settle_groups(job: Job, corpus: Corpus, rank: I64 | None, label: U32, packed: U8 | None) -> cluster.Near:
    """Verify and settle documents with the same label, group by group, partition by partition."""
    with job.meter.room("cluster"):
        groups = cluster.work_groups(label, rank, job.partitions)
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

    def settle(p: int) -> cluster.Near:
        first, last = groups.cut(p)
        border = groups.border[groups.partition[p] : groups.partition[p + 1] + 1] - first
        return settle_partition(job.context, lambda: members.of(p), groups.place[first:last], border, names[p])

    found = job.engine.map(settle, busy)
    job.progress.finish("verify")
    return cluster.Near.joined(found)


def band_components(job: Job, corpus: Corpus, skip: U8, packed: U8 | None) -> U32:
    """Label each document with the smallest place of those it is joined with by band keys; skip: (n,) stay alone."""
    bands = job.plan.bands
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
    return label
