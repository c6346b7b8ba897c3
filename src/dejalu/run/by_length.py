"""Near duplicates by the measure that fits their length (auto): short texts by the exact join, others by LSH bands.

A pair is judged by the short measure when either text is below the cut. Both relations are settled as one, in keep
order: all texts that a short one can be like, and with them the work groups that hold one of those, are settled at once
with both kinds of sets; the other work groups are settled as ever.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pyarrow as pa

from .. import cluster, kernels, verify
from ..cluster import Near
from ..data import I64, MEASURES, METHODS, U8, Bool
from ..errors import StoreError
from .by_bands import band_components, compact_sketches, settle_groups
from .by_join import joined_sets, representatives
from .corpus import TEXT, Corpus
from .job import Job
from .sets import sets_of

NAME = "settle/lengths"


def settled_by_length(job: Job, corpus: Corpus, rank: I64 | None, copies: cluster.Copies) -> Near:
    """Settle the representatives, short and long."""
    plan = job.plan
    tokens = corpus.numbers("tokens", np.int64)
    short = tokens < plan.short_below
    packed = compact_sketches(job, corpus)
    skip = copies.mark((corpus.state != TEXT).astype(np.uint8))
    skip[short] = 1
    label = band_components(job, corpus, skip, packed)
    reps = representatives(corpus, copies)
    joined = reps[tokens[reps] < plan.short_below / plan.threshold]
    touched = np.zeros(corpus.n, np.bool_)  # by label: groups that hold a text which a short one can be like
    touched[label[joined]] = True
    mixed = reps[touched[label[reps]]]
    found = _settled(job, corpus, rank, mixed, joined, short)
    label[mixed] = mixed.astype(np.uint32)
    return Near.joined([found, settle_groups(job, corpus, rank, label, packed)])


def _settled(
    job: Job, corpus: Corpus, rank: I64 | None, mixed: I64, joined: I64, short: Bool
) -> Near:
    """Settle the texts in `mixed` (places, ascending), of which `joined` enter the join."""
    plan = job.plan
    table = None
    if job.store.has(NAME):
        with suppress(StoreError):  # damaged: settled again
            table = job.store.get(NAME)
    if table is None:
        ranked = joined_sets(job, corpus, joined, shingle=plan.short_shingle, unit=plan.short_unit, keep=True)
        long = mixed[~short[mixed]]
        sets = sets_of(job, corpus, long, shingle=plan.shingle, unit=plan.unit, apart=False, keep=True)
        job.progress.start("verify", len(mixed), "documents")
        with job.meter.room("verify"):
            order = mixed if rank is None else mixed[np.argsort(rank[mixed], kind="stable")]
            twin, similarity, by_short = kernels.settle_mixed(
                ranked.take(_rows(joined, order)),
                short[order].astype(np.uint8),
                corpus.keys_at(order, plan.bands.bands),
                corpus.packed_at(order, plan.slots),
                *verify.chosen((sets.values, sets.offsets), _rows(long, order)),
                threshold=plan.threshold,
                min_matches=plan.bands.min_matches,
                threads=job.execution.workers,
            )
        out = np.flatnonzero(twin >= 0)
        table = pa.table(
            {"place": order[out], "twin": order[twin[out]], "similarity": similarity[out], "short": by_short[out]}
        )
        job.store.put(NAME, table)
        job.progress.advance("verify", len(mixed))
        job.progress.finish("verify")
    place, twins, shares, by = (table.column(c).to_numpy() for c in ("place", "twin", "similarity", "short"))
    measure = np.full(len(place), MEASURES.index("jaccard"), np.uint8)
    method: U8 = np.where(by != 0, METHODS.index("short"), METHODS.index("minhash")).astype(np.uint8)
    return Near(place, twins, shares, measure, method)


def _rows(have: I64, wanted: I64) -> I64:
    """Rows of `wanted` in ascending `have`; -1 where it is not there."""
    if not len(have):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(have, wanted), len(have) - 1)
    return np.where(have[at] == wanted, at, -1)
