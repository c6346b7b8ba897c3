"""All true pairs: the first four rooms, without settling; each method in its way, recall as the method's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from . import candidates, kernels, represent, verify
from .data import F64, I32, I64, Pairs
from .errors import FloodError
from .flow import equal_texts, first_pass
from .kernels import repeated
from .plan import Execution, Plan
from .represent import Segmenter
from .run.by_fingerprint import fingerprints, telling
from .run.by_join import joined_sets, kernel_measure
from .run.corpus import APART, TEXT, Corpus, band_name
from .run.frequencies import weigh
from .run.job import Job
from .run.sets import sets_of
from .run.texts import texts_of


@dataclass(frozen=True, slots=True)
class Found:
    """Pairs of representatives: places a, b (m,) int64 and their similarity (m,) float64.

    directed   a in b and b in a are two pairs, each with a similarity of its own (containment)
    distance   (m,) int32 Hamming distances, or None where the method has none
    """

    a: I64
    b: I64
    similarity: F64
    directed: bool = False
    distance: I32 | None = None

    def __len__(self) -> int:
        return len(self.a)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a method looks among: representatives, what each stands for, and how many pairs may come of it."""

    places: I64  # (m,) ascending
    weight: I64  # (n,) documents that each place stands for
    left: int
    max_pairs: int

    def check(self, a: I64, b: I64, complete: bool = True) -> None:
        """Raise FloodError when these pairs of representatives stand for too many pairs of documents."""
        if not complete or int((self.weight[a] * self.weight[b]).sum()) > self.left:
            _flood(self.max_pairs)


def find_pairs(
    source: Any, plan: Plan, execution: Execution, max_pairs: int, segmenter: Segmenter | None = None
) -> pa.Table:
    """List all pairs at or above the threshold; see `dejalu.pairs`."""
    with Job.open(source, None, None, plan, execution, False, False, None, segmenter) as job:
        if plan.counted:
            weigh(job)
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
        twice = 2 if plan.method == "containment" else 1  # a in b and b in a
        inside = twice * int((size * (size - 1) // 2).sum())
        if inside > max_pairs:
            _flood(max_pairs)
        near = FINDERS[plan.method](job, corpus, Wanted(kept, weight, max_pairs - inside, max_pairs))
        start = np.zeros(corpus.n, np.int64)
        start[kept] = first
        found = _expand(near, members, start, weight, kept[size > 1])
        a, b = corpus.positions(found.a), corpus.positions(found.b)
        low, high = (a, b) if found.directed else (np.minimum(a, b), np.maximum(a, b))
        by = np.lexsort((high, low))
        job.put_away()
        columns = {"a": low[by], "b": high[by], "similarity": found.similarity[by]}
        return pa.table(columns if found.distance is None else columns | {"distance": found.distance[by]})


def _flood(most: int) -> NoReturn:
    raise FloodError(
        f"more than max_pairs={most:,} pairs at this threshold; raise max_pairs or the threshold, or use dedup, "
        "which needs one twin per document only"
    )


def _equal_only(job: Job, corpus: Corpus, wanted: Wanted) -> Found:
    """The exact methods: there are no pairs but those of equal texts."""
    none = np.zeros(0, np.int64)
    return Found(none, none, np.zeros(0))


def _by_bands(job: Job, corpus: Corpus, wanted: Wanted) -> Found:
    """Every pair of every bucket, tested by sketch and true similarity."""
    plan = job.plan
    bands = plan.bands
    keys = np.stack([corpus.numbers(band_name(b), np.uint64) for b in range(bands.bands)])
    skip = np.ones(corpus.n, np.uint8)
    skip[wanted.places] = 0
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
            wanted.weight[place],
            threshold=plan.threshold,
            min_matches=bands.min_matches,
            most=wanted.left,
        )

    found = job.engine.map(one, range(bands.bands))
    a, b = (np.concatenate([place[getattr(p, end)] for p, _ in found]) for end in ("a", "b"))
    wanted.check(a, b, all(fits for _, fits in found))
    return Found(a, b, np.concatenate([p.similarity for p, _ in found if p.similarity is not None]))


def _by_join(job: Job, corpus: Corpus, wanted: Wanted) -> Found:
    """The exact join of sets: short, containment, tfidf."""
    plan = job.plan
    directed = plan.method == "containment"
    ranked = joined_sets(
        job, corpus, wanted.places, shingle=plan.shingle, unit=plan.unit, weighted=plan.method == "tfidf"
    )
    a, b, similarity, complete = kernels.join_pairs(
        ranked,
        measure=kernel_measure(plan),
        threshold=plan.threshold,
        most=wanted.left,
        threads=job.execution.workers,
    )
    a, b = wanted.places[a], wanted.places[b]
    wanted.check(a, b, complete)
    return Found(a, b, similarity, directed)


def _by_fingerprint(job: Job, corpus: Corpus, wanted: Wanted) -> Found:
    """All pairs within the Hamming distance; with `verify`, those of them that are truly similar."""
    plan = job.plan
    values = fingerprints(corpus, plan.bits)
    place = wanted.places[telling(values[wanted.places])]
    pairs = candidates.hamming_pairs(
        values[place],
        plan.distance,
        only=corpus.numbers(APART, np.uint64)[place] if corpus.has(APART) else None,
        threads=job.execution.workers,
        max_pairs=wanted.left,
    )
    a, b, distance = (pairs.column(name).to_numpy() for name in ("a", "b", "distance"))
    similarity = verify.simhash_similarity(distance, plan.bits)
    if plan.verify:
        busy = np.union1d(a, b)
        sets = sets_of(job, corpus, place[busy], shingle=plan.shingle, unit=plan.unit, apart=False)
        similarity = verify.similarity(
            np.searchsorted(busy, a), np.searchsorted(busy, b), (sets.values, sets.offsets)
        )
        good = similarity >= plan.threshold
        a, b, distance, similarity = a[good], b[good], distance[good], similarity[good]
    wanted.check(place[a], place[b])
    return Found(place[a], place[b], similarity, distance=distance.astype(np.int32))


def _by_length(job: Job, corpus: Corpus, wanted: Wanted) -> Found:
    """Pairs with a short text by the join, the others by bands."""
    plan = job.plan
    tokens = corpus.numbers("tokens", np.int64)
    short = tokens < plan.short_below
    long = _by_bands(job, corpus, replace(wanted, places=wanted.places[~short[wanted.places]]))
    joined = wanted.places[tokens[wanted.places] < plan.short_below / plan.threshold]
    ranked = joined_sets(job, corpus, joined, shingle=plan.short_shingle, unit=plan.short_unit)
    a, b, similarity, complete = kernels.join_pairs(
        ranked, measure="jaccard", threshold=plan.threshold, most=wanted.left, threads=job.execution.workers
    )
    a, b = joined[a], joined[b]
    own = short[a] | short[b]
    a, b = np.concatenate((long.a, a[own])), np.concatenate((long.b, b[own]))
    wanted.check(a, b, complete)
    return Found(a, b, np.concatenate((long.similarity, similarity[own])))


FINDERS = {
    "exact": _equal_only,
    "bytes": _equal_only,
    "minhash": _by_bands,
    "short": _by_join,
    "containment": _by_join,
    "tfidf": _by_join,
    "simhash": _by_fingerprint,
    "auto": _by_length,
}


def _expand(near: Found, members: I64, start: I64, weight: I64, groups: I64) -> Found:
    """Replace representatives by all documents of their groups, and add the pairs inside each group."""
    times = weight[near.a] * weight[near.b]
    which = np.repeat(np.arange(len(near)), times)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
    wide = weight[near.b[which]]
    a = [members[start[near.a[which]] + nth // wide]]
    b = [members[start[near.b[which]] + nth % wide]]
    for size in np.unique(weight[groups]):  # all groups of one size at once
        first = start[groups[weight[groups] == size]][:, None]
        i, j = np.triu_indices(int(size), 1)
        for x, y in ((i, j), (j, i)) if near.directed else ((i, j),):
            a.append(members[(first + x).ravel()])
            b.append(members[(first + y).ravel()])
    equal = sum(len(x) for x in a[1:])
    distance = None
    if near.distance is not None:
        distance = np.concatenate((near.distance[which], np.zeros(equal, np.int32)))
    similarity = np.concatenate((near.similarity[which], np.ones(equal)))
    return Found(np.concatenate(a), np.concatenate(b), similarity, near.directed, distance)
