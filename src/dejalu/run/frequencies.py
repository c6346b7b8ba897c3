"""Document frequencies: in how many documents each feature occurs. One more pass, where weights need it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from .. import kernels, represent
from ..data import I64, U64, Problem
from ..read import stop
from ..represent import FeatureWeights, Frequencies
from .features import features_spec
from .job import Job
from .sources import Piece
from .stages import Context


def weigh(job: Job) -> None:
    """Make the weights of the run's features, counting them first where none were given."""
    counted = job.frequencies or _counted(job)
    features, weights, unseen = represent.idf(counted)
    job.frequencies = counted
    job.context = replace(job.context, weights=FeatureWeights(*kernels.weight_table(features, weights), unseen))


def _counted(job: Job) -> Frequencies:
    job.progress.start("count", sum(piece.size for piece in job.pieces) or None, "bytes")
    found = job.engine.map(lambda piece: _of_piece(job.context, piece), job.pieces)
    job.progress.finish("count")
    with job.meter.room("represent"):
        features, documents = kernels.merge_counts([(features, documents) for features, documents, _ in found])
    return Frequencies(features, documents, sum(n for _, _, n in found), features_spec(job.plan))


def _of_piece(run: Context, piece: Piece) -> tuple[U64, I64, int]:
    """Count a piece: features, the number of documents with each, the number of documents with any."""
    name, plan = f"frequencies/{piece.name}", run.plan
    if run.store.has(name):
        table = run.store.get(name)
        run.progress.advance("count", piece.size)
        return table.column(0).to_numpy(), table.column(1).to_numpy(), int(table.schema.metadata[b"n"])
    counts: list[tuple[U64, I64]] = []
    aside: list[Problem] = []  # the pass that sketches tells of them
    n = 0
    on_problem = stop if plan.on_error == "stop" else aside.append
    stream = run.source.read(piece, run.batch_rows, run.budget.batch, on_problem)
    for docs in run.meter.iterate("read", stream):
        with run.meter.room("represent"):
            values, offsets = represent.shingle_sets(
                docs.text, shingle=plan.shingle, unit=plan.unit, segmenter=run.segmenter
            )
            n += int(np.count_nonzero(np.diff(offsets)))
            counts.append(kernels.count_features(values, offsets))
            if len(counts) > 16:
                counts = [kernels.merge_counts(counts)]
    features, documents = kernels.merge_counts(counts)
    table = pa.table({"feature": features, "documents": documents}).replace_schema_metadata({b"n": str(n).encode()})
    run.store.put(name, table)
    run.progress.advance("count", piece.size)
    return features, documents, n
