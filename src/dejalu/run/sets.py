"""Shingle sets of all documents that take part in a join, made of texts in memory or read once more."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .. import represent
from ..data import I64, U32, U64
from ..errors import UsageError
from .corpus import APART, Corpus
from .job import Job
from .members import texts_by_part
from .texts import files_of

WORD = 8  # bytes of an element
ROOM = 4  # an element is there several times while sets are joined


@dataclass(frozen=True, slots=True)
class Sets:
    """Sets of documents: places (m,) int64 ascending; values (e,) uint64, each once per document; offsets (m + 1,)
    int64.

    weights (e,) uint32 of the elements, where they have any.
    """

    places: I64
    values: U64
    offsets: I64
    weights: U32 | None = None


def sets_of(
    job: Job,
    corpus: Corpus,
    places: I64,
    *,
    shingle: int,
    unit: str,
    weighted: bool = False,
    apart: bool = True,
    keep: bool = False,
) -> Sets:
    """Shingle the texts of some places (ascending), input by input over the engine's threads.

    Args:
        weighted: give the elements the weights of the plan's measure, too.
        apart: make the elements of documents that must not be compared different ones (`within`, `differ`); the values
            of a set are then in no order.
        keep: leave texts in memory that are there.

    Raises:
        UsageError: the sets take more than a fair part of the run's memory.
    """
    left, lock = [job.budget.total // ROOM], threading.Lock()
    within = corpus.numbers(APART, np.uint64) if apart and corpus.has(APART) else None
    found: dict[int, tuple[U64, I64, U32 | None]] = {}  # by the first of their places
    segmenter, table = job.context.segmenter, job.context.weights
    tf = job.plan.measure == "cosine"

    def shingled(text: pa.LargeStringArray) -> tuple[U64, I64, U32 | None]:
        if weighted:
            assert table is not None
            return represent.weighted_sets(
                text, table, shingle=shingle, unit=unit, occurrences=tf, segmenter=segmenter
            )
        return *represent.shingle_sets(text, shingle=shingle, unit=unit, segmenter=segmenter), None

    def one(item: tuple[int, I64]) -> None:
        part, own_places = item
        for own, text in job.meter.iterate("read", texts_by_part(job, corpus, part, own_places, keep=keep)):
            with job.meter.room("represent"):
                values, offsets, weights = shingled(text)
                if within is not None:
                    values = values ^ np.repeat(within[own], np.diff(offsets))
            with lock:
                left[0] -= (WORD + WORD // 2 * weighted) * len(values)
                if left[0] < 0:
                    raise _too_much(job)
                found[int(np.searchsorted(places, own[0]))] = values, offsets, weights
            job.progress.advance("texts", len(own))

    job.progress.start("texts", len(places), "documents")
    job.engine.map(one, files_of(corpus, places))
    job.progress.finish("texts")
    pieces = [found[first] for first in sorted(found)]
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(offsets) for _, offsets, _ in pieces)])
    return Sets(
        places,
        np.concatenate([np.zeros(0, np.uint64), *(values for values, _, _ in pieces)]),
        np.cumsum(sizes),
        np.concatenate([np.zeros(0, np.uint32), *(w for _, _, w in pieces if w is not None)]) if weighted else None,
    )


def _too_much(job: Job) -> UsageError:
    return UsageError(
        f"method {job.plan.method} holds the shingles of its texts in memory, and they take more than a quarter of the "
        f"{job.budget.total / 1e9:.1f} GB that this run may use. Give more with --memory, run it on parts of the "
        "collection, or use --method minhash, which holds none of them."
    )
