"""`--audit N`: sampled documents against the whole input by an exact join, in one more pass over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import represent
from ..data import F64, I64, U64, Verdicts
from ..verify import audit as exact
from .corpus import Corpus
from .job import Job
from .sources import Piece
from .texts import texts_of


def audit(job: Job, corpus: Corpus, verdicts: Verdicts) -> dict[str, Any] | None:
    """Measure what the run missed, as the report holds it; None where nothing is estimated (exact methods).

    Documents are drawn by a hash of their DocId, so that every run draws the same.
    """
    plan = job.plan
    if plan.method != "minhash" or not (corpus.tokens > 0).any():
        return None
    removed = corpus.ids[verdicts.id]
    groups = _within(corpus)
    drawn_ids = exact.sample(corpus.ids, corpus.tokens, plan.audit)
    drawn_places = np.searchsorted(corpus.ids, drawn_ids)
    sets = _sets(job, texts_of(job.source, corpus, job.cache, drawn_places))
    drawn = exact.prepare(drawn_ids, *sets, removed=removed, groups=None if groups is None else groups[drawn_places])
    job.progress.start("audit", corpus.n, "documents")

    def join(item: tuple[int, Piece]) -> exact.Tally:
        i, piece = item
        tallies: list[exact.Tally] = []
        if corpus.tables[i].num_rows == 0:
            return exact.merge(drawn, tallies)  # nothing, or a file set aside as a whole
        cached = job.cache.get(piece.name)
        first = int(corpus.start[i])
        batches = (
            cached
            if cached is not None
            else (d.text for d in job.source.read(piece, job.execution.batch_rows, _ignore))
        )
        for text in batches:
            last = first + len(text)
            with job.meter.room("verify"):
                tallies.append(
                    exact.join(
                        drawn,
                        corpus.ids[first:last],
                        *_sets(job, text),
                        threshold=plan.threshold,
                        removed=removed,
                        groups=None if groups is None else groups[first:last],
                    )
                )
            first = last
            job.progress.advance("audit", len(text))
        return exact.merge(drawn, tallies)

    tallies = job.engine.map(join, list(enumerate(corpus.pieces)))
    job.progress.finish("audit")
    found = exact.recall(exact.merge(drawn, tallies), documents=int((corpus.tokens > 0).sum()))
    return {**found.as_json([i.file for i in job.source.inputs]), "sentence": found.sentence()}


def _ignore(problem: Any) -> None:
    """Damaged records were counted in the first pass."""


def _sets(job: Job, text: Any) -> tuple[U64, I64]:
    plan = job.plan
    return represent.shingle_sets(text, shingle=plan.shingle, unit=plan.unit, segmenter=job.context.segmenter)


def _within(corpus: Corpus) -> I64 | None:
    """Codes of the values of --within, (n,) int64; documents without the column are together."""
    if not any("within" in t.schema.names for t in corpus.tables):
        return None
    values: list[F64 | U64] = [
        t.column("within").to_numpy() if "within" in t.schema.names else np.zeros(t.num_rows, np.uint64)
        for t in corpus.tables
    ]
    return np.concatenate(values).view(np.int64)
