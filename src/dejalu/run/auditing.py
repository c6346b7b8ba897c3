"""`--audit N`: sampled documents against the whole input by an exact join, in one more pass over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import represent
from ..data import I64, U64, Verdicts
from ..verify import audit as exact
from .corpus import TEXT, Corpus
from .job import Job
from .sources import Piece
from .texts import texts_of


def audit(job: Job, corpus: Corpus, verdicts: Verdicts) -> dict[str, Any] | None:
    """Measure what the run missed, as the report holds it; None where nothing is estimated (exact methods).

    Documents are drawn by a hash of their DocId, so that every run draws the same.
    """
    plan = job.plan
    if plan.method != "minhash" or not len(corpus.lengths[0]):
        return None
    removed = corpus.ids_at(verdicts.id)
    groups = corpus.numbers("within", np.uint64).view(np.int64) if corpus.has("within") else None
    drawn_places = _drawn(corpus, plan.audit)
    drawn_ids = corpus.ids_at(drawn_places)
    sets = _sets(job, texts_of(job.source, corpus, job.cache, drawn_places))
    drawn = exact.prepare(drawn_ids, *sets, removed=removed, groups=None if groups is None else groups[drawn_places])
    job.progress.start("audit", corpus.n, "documents")

    def join(item: tuple[int, Piece]) -> exact.Tally:
        i, piece = item
        tallies: list[exact.Tally] = []
        if corpus.facts[i].docs == 0:
            return exact.merge(drawn, tallies)  # nothing, or a file set aside as a whole
        cached = job.cache.get(piece.name)
        first = int(corpus.start[i])
        ids = corpus.ids_of(i)
        batches = (
            cached
            if cached is not None
            else (d.text for d in job.source.read(piece, job.execution.batch_rows, job.budget.batch, _ignore))
        )
        for text in batches:
            last = first + len(text)
            with job.meter.room("verify"):
                tallies.append(
                    exact.join(
                        drawn,
                        ids[:len(text)],
                        *_sets(job, text),
                        threshold=plan.threshold,
                        removed=removed,
                        groups=None if groups is None else groups[first:last],
                    )
                )
            first, ids = last, ids[len(text) :]
            job.progress.advance("audit", len(text))
        return exact.merge(drawn, tallies)

    tallies = job.engine.map(join, list(enumerate(corpus.pieces)))
    job.progress.finish("audit")
    found = exact.recall(exact.merge(drawn, tallies), documents=int(corpus.lengths[1].sum()))
    return {**found.as_json([i.file for i in job.source.inputs]), "sentence": found.sentence()}


def _ignore(problem: Any) -> None:
    """Damaged records were counted in the first pass."""


def _sets(job: Job, text: Any) -> tuple[U64, I64]:
    plan = job.plan
    return represent.shingle_sets(text, shingle=plan.shingle, unit=plan.unit, segmenter=job.context.segmenter)


def _drawn(corpus: Corpus, n: int) -> I64:
    """Places of the sample, ascending: drawn of each piece, then of what was drawn."""
    places = np.zeros(0, np.int64)
    for i in range(len(corpus.pieces)):
        first, last = int(corpus.start[i]), int(corpus.start[i + 1])
        ids = corpus.ids_of(i)
        own = exact.sample(ids, (corpus.state[first:last] == TEXT).astype(np.int64), n)
        places = np.concatenate((places, first + np.searchsorted(ids, own)))
        if len(places) > n:
            kept = exact.sample(corpus.ids_at(places), np.ones(len(places), np.int64), n)
            places = places[np.searchsorted(corpus.ids_at(places), kept)]
    return places
