"""Near duplicates by an exact join of sets (short, containment, tfidf by cosine): recall 1, the sets held in memory."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pyarrow as pa

from .. import cluster, kernels
from ..data import I64
from ..errors import StoreError
from ..plan import Plan
from .corpus import TEXT, Corpus
from .job import Job
from .sets import sets_of

MEASURE = {"short": "jaccard", "containment": "containment_a", "tfidf": "cosine"}  # as in the evidence
KERNEL = {"short": "jaccard", "containment": "containment", "tfidf": "cosine"}  # as the join calls it


def settled_by_join(job: Job, corpus: Corpus, rank: I64 | None, copies: cluster.Copies) -> cluster.Near:
    """Settle all representatives at once: each joins the earliest kept one at or above the threshold.

    The order is keep order; for containment the largest shingle set comes first, ties in keep order.
    """
    plan, name = job.plan, f"settle/{job.plan.method}"
    table = None
    if job.store.has(name):
        with suppress(StoreError):  # damaged: settled again
            table = job.store.get(name)
    if table is None:
        table = _settled(job, corpus, rank, representatives(corpus, copies))
        job.store.put(name, table)
    place, twin, similarity = (table.column(c).to_numpy() for c in ("place", "twin", "similarity"))
    return cluster.Near.of(place, twin, similarity, MEASURE[plan.method], plan.method)


def representatives(corpus: Corpus, copies: cluster.Copies) -> I64:
    """Places of the documents that have tokens and that no other one stands for, ascending."""
    skip = copies.mark((corpus.state != TEXT).astype(np.uint8))
    return np.flatnonzero(skip == 0)


def joined_sets(
    job: Job, corpus: Corpus, places: I64, *, shingle: int, unit: str, weighted: bool = False, keep: bool = False
) -> kernels.Ranked:
    """The sets of some places (ascending) as the join takes them; for `keep` see `sets_of`."""
    sets = sets_of(job, corpus, places, shingle=shingle, unit=unit, weighted=weighted, keep=keep)
    job.between()
    with job.meter.room("candidates"):
        return kernels.rank_sets(sets.values, sets.offsets, weights=sets.weights, threads=job.execution.workers)


def kernel_measure(plan: Plan) -> str:
    """What the join calls the plan's measure."""
    return "weighted" if plan.method == "tfidf" and plan.measure == "jaccard" else KERNEL[plan.method]


def _settled(job: Job, corpus: Corpus, rank: I64 | None, places: I64) -> pa.Table:
    plan = job.plan
    ranked = joined_sets(
        job, corpus, places, shingle=plan.shingle, unit=plan.unit, weighted=plan.method == "tfidf"
    )
    job.between()
    job.progress.start("verify", len(places), "documents")
    with job.meter.room("verify"):
        own = None if rank is None else rank[places]
        order = None if own is None else np.argsort(own, kind="stable")
        if plan.method == "containment":
            order = np.lexsort((places if own is None else own, -ranked.sizes))
        if order is not None:
            places, ranked = places[order], ranked.take(order)
        twin, similarity = kernels.join_settle(
            ranked, measure=KERNEL[plan.method], threshold=plan.threshold, threads=job.execution.workers
        )
    out = np.flatnonzero(twin >= 0)
    job.progress.advance("verify", len(places))
    job.progress.finish("verify")
    return pa.table({"place": places[out], "twin": places[twin[out]], "similarity": similarity[out]})
