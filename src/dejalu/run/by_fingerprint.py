"""Near duplicates by SimHash: fingerprints within the Hamming distance, settled by it or by true Jaccard."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pyarrow as pa

from .. import cluster, kernels, verify
from ..data import I64, U64, Bool
from ..errors import StoreError
from .by_join import representatives
from .corpus import APART, FINGERPRINT, Corpus
from .job import Job
from .sets import sets_of


def settled_by_fingerprint(job: Job, corpus: Corpus, rank: I64 | None, copies: cluster.Copies) -> cluster.Near:
    """Settle all representatives at once: each joins the earliest kept one within the distance.

    With `verify` it joins the earliest of those whose true Jaccard similarity is at or above the threshold.
    """
    plan, name = job.plan, "settle/simhash"
    table = None
    if job.store.has(name):
        with suppress(StoreError):  # damaged: settled again
            table = job.store.get(name)
    if table is None:
        table = _settled(job, corpus, rank, representatives(corpus, copies))
        job.store.put(name, table)
    place, twin, similarity = (table.column(c).to_numpy() for c in ("place", "twin", "similarity"))
    measure = "jaccard" if plan.verify else "simhash"
    return cluster.Near.of(place, twin, similarity, measure, "simhash", distance=table.column("distance").to_numpy())


def fingerprints(corpus: Corpus, bits: int) -> U64:
    """Fingerprints of all documents: (n,) uint64, or (n, 2) for 128 bits."""
    words = [corpus.numbers(name, np.uint64) for name in FINGERPRINT[: bits // 64]]
    return words[0] if len(words) == 1 else np.stack(words, axis=1)


def telling(values: U64) -> Bool:
    """Whether each fingerprint says something; (n,) bool. 0 is that of a text without a feature (or keyword)."""
    found: Bool = np.count_nonzero(values.reshape(len(values), -1), axis=1) > 0
    return found


def _settled(job: Job, corpus: Corpus, rank: I64 | None, places: I64) -> pa.Table:
    plan, threads = job.plan, job.execution.workers
    with job.meter.room("candidates"):
        values = fingerprints(corpus, plan.bits)
        places = places[telling(values[places])]
    order = places if rank is None else places[np.argsort(rank[places], kind="stable")]
    with job.meter.room("candidates"):
        values = values[order]
        only = corpus.numbers(APART, np.uint64)[order] if corpus.has(APART) else None
        sets = None
        if plan.verify:  # only documents that have a neighbour are compared, so only their texts are needed
            busy = kernels.hamming_busy(values, plan.distance, only=only, threads=threads)
            order, values, only = order[busy], values[busy], None if only is None else only[busy]
    if plan.verify:
        found = sets_of(job, corpus, np.sort(order), shingle=plan.shingle, unit=plan.unit, apart=False)
        row = np.searchsorted(found.places, order)
        sets = verify.chosen((found.values, found.offsets), row)
    job.progress.start("verify", len(order), "documents")
    with job.meter.room("verify"):
        twin, distance, jaccard = kernels.hamming_settle(
            values, plan.distance, only=only, sets=sets, threshold=plan.threshold if sets else 0.0, threads=threads
        )
        out = np.flatnonzero(twin >= 0)
        similarity = jaccard[out] if sets else verify.simhash_similarity(distance[out], plan.bits)
    job.progress.advance("verify", len(order))
    job.progress.finish("verify")
    return pa.table(
        {"place": order[out], "twin": order[twin[out]], "similarity": similarity, "distance": distance[out]}
    )

