"""All true pairs: the first four rooms, without settling. Every pair of every bucket is tested; work groups are
not its edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from . import represent, verify
from .data import F64, I64, Pairs
from .errors import FloodError
from .flow import equal_texts, first_pass
from .kernels import repeated
from .plan import Execution, Plan
from .represent import Segmenter
from .run.corpus import TEXT, Corpus, band_name
from .run.job import Job
from .run.texts import texts_of


def find_pairs(
    source: Any, plan: Plan, execution: Execution, max_pairs: int, segmenter: Segmenter | None = None
) -> pa.Table:
    """List all pairs at or above the threshold; see `dejalu.pairs`."""
    with Job.open(source, None, None, plan, execution, False, False, None, segmenter) as job:
        corpus = first_pass(job)
        skip = (corpus.state != TEXT).astype(np.uint8)
        copies = equal_texts(job, corpus, None)
        own = np.arange(corpus.n)
        rep = own.copy()
        rep[copies.place] = copies.rep
        order = np.argsort(rep, kind="stable")
        members = order[skip[order] == 0]  # documents with tokens, group by group
        kept, first, size = np.unique(rep[members], return_index=True, return_counts=True)
        weight = np.ones(corpus.n, np.int64)
        weight[kept] = size
        inside = int((size * (size - 1) // 2).sum())
        _check(inside, max_pairs)
        near = _near(job, corpus, (skip | (rep != own)).astype(np.uint8), weight, max_pairs - inside, max_pairs)
        start = np.zeros(corpus.n, np.int64)
        start[kept] = first
        a, b, similarity = _expand(near, members, start, weight, kept[size > 1])
        a, b = corpus.positions(a), corpus.positions(b)
        low, high = np.minimum(a, b), np.maximum(a, b)
        by = np.lexsort((high, low))
        job.put_away()
        return pa.table({"a": low[by], "b": high[by], "similarity": similarity[by]})


def _check(count: int, most: int) -> None:
    if count > most:
        raise FloodError(
            f"more than max_pairs={most:,} pairs at this threshold; raise max_pairs or the threshold, or use dedup, "
            "which needs one twin per document only"
        )


def _near(job: Job, corpus: Corpus, skip: Any, weight: I64, left: int, max_pairs: int) -> Pairs:
    """True pairs of representatives: places a, b and their similarity."""
    plan = job.plan
    bands = plan.bands
    keys = np.stack([corpus.numbers(band_name(b), np.uint64) for b in range(bands.bands)])
    busy = np.zeros(corpus.n, np.bool_)
    for band in keys:
        busy[repeated(band, skip)[0]] = True
    place = np.flatnonzero(busy)  # documents that share a bucket with another
    sets = represent.shingle_sets(
        texts_of(job.source, corpus, job.cache, place),
        shingle=plan.shingle,
        unit=plan.unit,
        segmenter=job.context.segmenter,
    )
    keys, packed = np.ascontiguousarray(keys[:, place]), corpus.packed(plan.slots)[place]

    def one(band: int) -> tuple[Pairs, bool]:
        return verify.pairs_of_band(
            keys,
            band,
            None,
            packed,
            sets,
            weight[place],
            threshold=plan.threshold,
            min_matches=bands.min_matches,
            most=left,
        )

    found = job.engine.map(one, range(bands.bands))
    pairs = [p for p, _ in found]
    a, b = (np.concatenate([getattr(p, end) for p in pairs]) for end in ("a", "b"))
    count = int((weight[place[a]] * weight[place[b]]).sum())
    if not all(fits for _, fits in found) or count > left:
        _check(max_pairs + 1, max_pairs)
    return Pairs(place[a], place[b], np.concatenate([p.similarity for p in pairs if p.similarity is not None]))


def _expand(near: Pairs, members: I64, start: I64, weight: I64, groups: I64) -> tuple[I64, I64, F64]:
    """Replace representatives by all documents of their groups, and add the pairs inside each group."""
    assert near.similarity is not None
    times = weight[near.a] * weight[near.b]
    which = np.repeat(np.arange(len(near)), times)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
    wide = weight[near.b[which]]
    a = [members[start[near.a[which]] + nth // wide]]
    b = [members[start[near.b[which]] + nth % wide]]
    similarity = [near.similarity[which]]
    for size in np.unique(weight[groups]):  # all groups of one size at once
        first = start[groups[weight[groups] == size]][:, None]
        i, j = np.triu_indices(int(size), 1)
        a.append(members[(first + i).ravel()])
        b.append(members[(first + j).ravel()])
        similarity.append(np.ones(len(first) * len(i)))
    return np.concatenate(a), np.concatenate(b), np.concatenate(similarity)
