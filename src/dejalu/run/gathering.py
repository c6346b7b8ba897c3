"""What the report tells, gathered from the first pass and the verdicts."""

from __future__ import annotations

import platform
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import __version__, candidates, cluster, kernels, represent
from ..act.facts import (
    CapFacts,
    ClusterFacts,
    Facts,
    FileFacts,
    InvalidFacts,
    RepeatedFacts,
    ShortFacts,
    SourceFacts,
    short_limit,
)
from ..data import ABSENT, BOOLEAN, I64, INTEGER, MEASURES, NULL, REAL, Verdicts, part_of, row_of
from ..errors import UsageError
from .corpus import ID, ID_KIND, KEEP_KIND, SOURCE, Corpus
from .corpus import NULL as NULL_TEXT
from .job import Job
from .sources import FileSource
from .texts import as_strings, texts_of

CLUSTERS = 10  # largest clusters in the report
SHINGLED = ("exact", "minhash")  # methods that tell how many texts are too short for them
EXAMPLE = 200  # characters of an example text
EQUAL = MEASURES.index("equal")


def gather(job: Job, corpus: Corpus, verdicts: Verdicts, skipped: int, digest: str, audit: Any) -> Facts:
    """All that the report tells."""
    plan, total = job.plan, corpus.total
    equal = int((verdicts.measure == EQUAL).sum())
    lengths, times = corpus.lengths
    near = plan.banded
    limit = short_limit(plan.threshold, plan.shingle)
    counts = {
        "read": corpus.n,
        "null": int((corpus.state == NULL_TEXT).sum()),
        "empty": total.empty,
        "set_aside": sum(p.record for p in total.problems),
        "removed_equal": equal,
        "removed_near": len(verdicts) - equal,
        "kept": corpus.n - len(verdicts),
    }
    caps = [
        CapFacts(
            "kept_cap",
            plan.kept_cap,
            skipped,
            "comparisons with kept documents",
            "Raise --kept-cap to make them.",
        )
    ]
    return Facts(
        counts=counts,
        plan={"plan_version": 1, **plan.to_dict()},
        method=plan.method,
        threshold=plan.threshold,
        shingle=plan.shingle,
        unit=plan.unit,
        source_column=plan.source_column,
        unused=plan.unused,
        versions={"dejalu": __version__, "pyarrow": pa.__version__},
        digest=digest,
        caps=caps if near else [],
        long_tokens=total.long_tokens,
        invalid=InvalidFacts(total.invalid, _invalid(job, corpus)),
        repeated=_repeated(job, corpus),
        short=ShortFacts(
            texts=int(times.sum()),
            below_shingle=int(times[lengths < plan.shingle].sum()),
            below_limit=int((times if limit is None else times[lengths < limit]).sum()),
            median=_median(lengths, times),
        )
        if plan.method in SHINGLED
        else ShortFacts(),
        files=files_of_run(job, corpus, verdicts),
        sources=_sources(job, corpus, verdicts),
        clusters=_clusters(job, corpus, verdicts),
        bands=plan.bands.bands if near else 0,
        band_rows=plan.bands.rows if near else 0,
        expected_recall=round(plan.bands.expected_recall(plan.threshold), 6) if near else None,
        audit=audit,
        skipped={**job.source.skipped, **{f"record: {kind}": n for kind, n in total.passed.items()}},
        inputs=job.source.inputs if isinstance(job.source, FileSource) else (),
        run=_machine(job),
    )


def files_of_run(job: Job, corpus: Corpus, verdicts: Verdicts) -> list[FileFacts]:
    parts = len(job.source.inputs)
    part = part_of(corpus.ids_at(verdicts.id))
    is_equal = verdicts.measure == EQUAL
    equal = np.bincount(part[is_equal], minlength=parts)
    near = np.bincount(part[~is_equal], minlength=parts)
    aside, broken = np.zeros(parts, np.int64), np.zeros(parts, np.bool_)
    for piece, facts in zip(corpus.pieces, corpus.facts, strict=True):
        for problem in facts.problems:
            aside[piece.part] += problem.record
            broken[piece.part] |= not problem.record
    return [
        FileFacts(
            i.file,
            int(corpus.part_rows[i.part]),
            int(equal[i.part]),
            int(near[i.part]),
            int(aside[i.part]),
            not broken[i.part],
        )
        for i in job.source.inputs
    ]


def _sources(job: Job, corpus: Corpus, verdicts: Verdicts) -> list[SourceFacts]:
    if not corpus.has(SOURCE):
        return []
    column = pc.dictionary_encode(one_column(job, corpus, SOURCE, as_text=True))
    values = column.dictionary.to_pylist()
    codes = column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    read = np.bincount(codes, minlength=len(values) + 1)
    gone = np.bincount(codes[verdicts.id], minlength=len(values) + 1)
    return [SourceFacts(v, int(r), int(g)) for v, r, g in zip([*values, None], read, gone, strict=True) if r]


def _clusters(job: Job, corpus: Corpus, verdicts: Verdicts) -> list[ClusterFacts]:
    kept, size = np.unique(verdicts.twin, return_counts=True)
    top = np.lexsort((kept, -size))[:CLUSTERS]
    kept, size = kept[top], size[top]
    texts = as_strings(texts_of(job.source, corpus, job.cache, kept))
    doc = corpus.ids_at(kept)
    inputs = job.source.inputs
    return [
        ClusterFacts(inputs[int(p)].file, int(r), _id_at(corpus, int(k)), int(s) + 1, (t or "")[:EXAMPLE])
        for p, r, k, s, t in zip(part_of(doc), row_of(doc), kept, size, texts, strict=True)
    ]


def _id_at(corpus: Corpus, place: int) -> Any:
    i = int(np.searchsorted(corpus.start, place, "right")) - 1
    table = corpus.table(i, ID, ID_KIND)
    if ID not in table.schema.names:
        return None
    row = place - int(corpus.start[i])
    value = table.column(ID)[row]
    if ID_KIND in table.schema.names and table.column(ID_KIND)[row].as_py() == INTEGER:
        return int(value.as_py())
    try:
        return value.as_py()
    except UnicodeDecodeError:  # a string that is not UTF-8
        return value.cast(pa.binary()).as_py().decode("utf-8", "replace")


def _repeated(job: Job, corpus: Corpus) -> RepeatedFacts:
    if not corpus.has("id_hash"):
        return RepeatedFacts()
    none = np.zeros(corpus.n, np.uint8)  # documents without an id
    first = 0
    for hashes in corpus.chunks("id_hash", np.uint64):
        none[first : first + len(hashes)] = hashes == 0
        first += len(hashes)
    label = candidates.group(
        corpus.n, lambda _: corpus.chunks("id_hash", np.uint64), 1, skip=none, scratch_rows=job.budget.rows
    )
    again, times = np.unique(label[cluster.not_smallest(label)], return_counts=True)
    most = np.lexsort((again, -times))[:3]
    return RepeatedFacts(len(times), [(_id_at(corpus, int(again[m])), int(times[m]) + 1) for m in most])


def _median(values: I64, times: I64) -> int:
    """The median of values that occur so many times each; of two middle ones the mean, rounded down."""
    n = int(times.sum())
    if not n:
        return 0
    low, high = (int(values[np.searchsorted(np.cumsum(times), k, "right")]) for k in ((n - 1) // 2, n // 2))
    return (low + high) // 2


def _invalid(job: Job, corpus: Corpus) -> list[tuple[str, int]]:
    inputs = job.source.inputs
    return [
        (inputs[piece.part].file, row)
        for piece, facts in zip(corpus.pieces, corpus.facts, strict=True)
        for row in facts.invalid_rows
    ][:20]


def _machine(job: Job) -> dict[str, Any]:
    return {
        "finished_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",  # platform() starts a process to ask for more
        "python": platform.python_version(),
        "isa": kernels.isa(),
        "threads": job.execution.workers,
        "partitions": job.partitions,
        "store": job.execution.store,
        "output": None if job.to is None else str(job.to.resolve()),
    }


def one_column(job: Job, corpus: Corpus, name: str, *, as_text: bool = False) -> pa.Array:
    """A column of the users' over all pieces, in one type; pieces without it give nulls.

    Raises:
        UsageError: the files' types cannot be joined; the message names a file of each.
    """
    found = corpus.column(name)
    if as_text:
        found = [represent.as_text(c) for c in found]
    else:
        found = [_typed(c, corpus.table(i, KEEP_KIND)) for i, c in enumerate(found)]
        if any(represent.is_number(c.type) for c in found):  # strings of csv, all numbers, beside real numbers
            found = [cluster.numbers_if_all(c) if represent.is_string(c.type) else c for c in found]
    kinds: dict[pa.DataType, str] = {}
    for piece, column in zip(corpus.pieces, found, strict=True):
        if not pa.types.is_null(column.type):
            kinds.setdefault(column.type, job.source.inputs[piece.part].file)
    if not kinds:
        return pa.nulls(corpus.n)
    try:
        fields = [pa.schema([pa.field("c", kind)]) for kind in sorted(kinds, key=str)]
        joined = pa.unify_schemas(fields, promote_options="permissive").field("c").type
        return pa.concat_arrays([c.cast(joined) for c in found])
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        names = ", ".join(f"{kind} in {file}" for kind, file in sorted(kinds.items(), key=str))
        raise UsageError(
            f"keep: column {job.plan.keep_column!r} has types that cannot be compared with each other: {names} (all "
            "columns of csv are strings). Convert the column in some of the files, or leave those files out."
        ) from None


def _typed(values: pa.Array, table: pa.Table) -> pa.Array:
    """JSON values of one kind in that kind: numbers as int64 or float64, booleans; everything else as it is."""
    if KEEP_KIND not in table.schema.names:
        return values
    kinds = set(np.unique(table.column(KEEP_KIND).to_numpy()).tolist()) - {ABSENT, NULL}
    if kinds and kinds <= {INTEGER, REAL}:
        return cluster.numbers_if_all(values)
    return values.cast(pa.bool_()) if kinds == {BOOLEAN} else values
