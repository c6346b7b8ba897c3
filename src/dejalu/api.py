"""The functions that most people need; each is a short way into the flow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from . import flow, kernels, represent, verify
from .data import U32, text_buffers
from .errors import UsageError
from .pairing import find_pairs
from .plan import Execution, Plan
from .read import from_memory
from .represent import Segmenter
from .run.result import Result


def dedup(
    source: Any,
    to: str | os.PathLike[str] | None = None,
    *,
    plan: Plan | None = None,
    evidence: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    method: str | None = None,
    threshold: float | None = None,
    shingle: int | None = None,
    unit: str | None = None,
    slots: int | None = None,
    distance: int | None = None,
    bits: int | None = None,
    weights: str | None = None,
    keywords: int | None = None,
    verify: str | None = None,
    measure: str | None = None,
    frequencies: str | os.PathLike[str] | None = None,
    short_below: int | None = None,
    short_shingle: int | None = None,
    short_unit: str | None = None,
    differ: str | Sequence[str] | None = None,
    segmenter: str | Segmenter | None = None,
    keep: str | None = None,
    prefer: Sequence[str] | None = None,
    within: str | None = None,
    source_column: str | None = None,
    text_column: str | Sequence[str] | None = None,
    id_column: str | None = None,
    encoding: str | None = None,
    on_error: str | None = None,
    mode: str | None = None,
    add_columns: str | Sequence[str] | None = None,
    max_removal: float | None = None,
    audit: int | None = None,
    kept_cap: int | None = None,
    threads: int = 0,
    batch_rows: int = 0,
    partitions: int = 0,
    store: str = "auto",
    tmp: str | os.PathLike[str] | None = None,
    memory: int | str = 0,
    text_cache: int = -1,
) -> Result:
    """Find exact and near duplicates, each removal verified against a kept twin.

    Args:
        source: list of str; a pandas, polars or pyarrow column or table, or anything with `__arrow_c_stream__`; a
            datasets.Dataset or DatasetDict (across its splits); or path(s): a str or PathLike is a path, a list is
            paths if `to` is given or every item is a PathLike.
        segmenter: "jieba", or any callable that splits a str into words, for scripts without spaces.
        to: with paths: folder for the corpus without duplicates. None writes nothing.
        plan: all parameters at once; those given by name override it. `dejalu.Plan` explains each.
        evidence: folder of evidence and report; by default `to` with `-evidence` behind its name.
        overwrite, resume: what to do about output folders that are not empty.
        threads, batch_rows, partitions, store, tmp, memory, text_cache:
            `dejalu.Execution`; they never change the answer.

    Returns:
        The verdict on every document.

    Raises:
        UsageError: a parameter is out of range, a column or path is missing.
        InputError: a damaged file or record (with on_error="stop").
        OutputError: an output folder is refused, or the disk is full.
        GateClosed: `max_removal` stopped the run before the corpus was written.

    >>> import dejalu
    >>> old = "the ferry leaves at noon and returns before the evening tide every day but sunday " * 3
    >>> result = dejalu.dedup([old, "something else", old.upper()])
    >>> result.keep.tolist(), result.twin.tolist()
    ([True, True, False], [-1, -1, 0])
    """
    given = {
        name: value
        for name, value in {
            "method": method,
            "threshold": threshold,
            "shingle": shingle,
            "unit": unit,
            "slots": slots,
            "distance": distance,
            "bits": bits,
            "weights": weights,
            "keywords": keywords,
            "verify": verify,
            "measure": measure,
            "frequencies": None if frequencies is None else os.fspath(frequencies),
            "short_below": short_below,
            "short_shingle": short_shingle,
            "short_unit": short_unit,
            "differ": differ,
            "segmenter": represent.name_segmenter(segmenter),
            "keep": keep,
            "prefer": prefer,
            "within": within,
            "source_column": source_column,
            "text_column": text_column,
            "id_column": id_column,
            "encoding": encoding,
            "on_error": on_error,
            "mode": mode,
            "add_columns": add_columns,
            "max_removal": max_removal,
            "audit": audit,
            "kept_cap": kept_cap,
        }.items()
        if value is not None
    }
    execution = Execution(
        threads=threads,
        batch_rows=batch_rows,
        partitions=partitions,
        store=store,
        tmp=None if tmp is None else os.fspath(tmp),
        memory=memory,
        text_cache=text_cache,
    )
    return flow.run(
        source,
        to,
        evidence=evidence,
        plan=(plan or Plan()).with_(**given),
        execution=execution,
        overwrite=overwrite,
        resume=resume,
        segmenter=None if isinstance(segmenter, str) else segmenter,
    )


def pairs(
    source: Any,
    *,
    method: str = "minhash",
    threshold: float = 0.8,
    shingle: int | None = None,
    unit: str | None = None,
    slots: int = 128,
    distance: int = 3,
    bits: int = 64,
    weights: str = "tf",
    keywords: int = 20,
    verify: str | None = None,
    measure: str = "jaccard",
    frequencies: str | os.PathLike[str] | None = None,
    short_below: int = 50,
    short_shingle: int = 3,
    short_unit: str = "char",
    differ: str | Sequence[str] = (),
    segmenter: str | Segmenter | None = None,
    within: str | None = None,
    text_column: str | Sequence[str] | None = None,
    max_pairs: int = 10_000_000,
    threads: int = 0,
) -> pa.Table:
    """List every pair of documents at or above the threshold, equal texts included.

    With `minhash` (and the long texts of `auto`) every pair of every LSH bucket is tested, each similarity is exact,
    and at least 99% of the true pairs are listed. `short`, `containment` and `tfidf` are joined exactly and list all
    of them; `simhash` lists every pair within the distance.

    Args:
        source: texts, tables, data sets or paths, as for `dedup`.
        threshold: in (0, 1], inclusive.
        max_pairs: stop with an error when there are more.
        method and all others: parameters of the method, as `dejalu.Plan` explains them.

    Returns:
        Table a, b (int64 positions, a < b), similarity (float64), sorted by a, then b. With `containment` the
        similarity is the share of a that is in b, and a pair is listed in each direction that reaches the threshold.
        With `simhash` there is a column distance (int32), too, and the similarity is an estimate unless `verify` is
        given.

    Raises:
        FloodError: more than `max_pairs` pairs.
        UsageError: a parameter is out of range.
    """
    columns = () if text_column is None else (text_column,) if isinstance(text_column, str) else tuple(text_column)
    plan = Plan(
        method=method,
        threshold=threshold,
        shingle=shingle,  # type: ignore[arg-type]  # None: as is usual with the method
        unit=unit,  # type: ignore[arg-type]
        slots=slots,
        distance=distance,
        bits=bits,
        weights=weights,
        keywords=keywords,
        verify=verify,
        measure=measure,
        frequencies=None if frequencies is None else os.fspath(frequencies),
        short_below=short_below,
        short_shingle=short_shingle,
        short_unit=short_unit,
        differ=differ,  # type: ignore[arg-type]
        segmenter=represent.name_segmenter(segmenter),
        within=within,
        text_column=columns,
    )
    return find_pairs(
        source, plan, Execution(threads=threads), max_pairs, None if isinstance(segmenter, str) else segmenter
    )


def similarity(
    a: str, b: str, *, shingle: int = 5, unit: str = "word", segmenter: str | Segmenter | None = None
) -> float:
    """Exact Jaccard similarity of the shingle sets of two texts, in [0, 1]; 0.0 when either has no token.

    >>> similarity("one two three four five six", "One, two, three, four, five!")
    0.5
    """
    for name, text in (("a", a), ("b", b)):
        if not isinstance(text, str):
            raise UsageError(f"{name}: must be a str, not {type(text).__name__}")
    plan = Plan(shingle=shingle, unit=unit, segmenter=represent.name_segmenter(segmenter))
    texts = _texts([a, b])
    sets = represent.shingle_sets(
        texts, shingle=plan.shingle, unit=plan.unit, segmenter=represent.load_segmenter(plan.segmenter, segmenter)
    )
    return float(verify.similarity(np.array([0]), np.array([1]), sets)[0])


def minhash(
    source: Any, *, slots: int = 128, shingle: int = 5, unit: str = "word", segmenter: str | Segmenter | None = None
) -> U32:
    """Sketch each text: (n, slots) uint32 signatures. Slots of two rows agree with probability J, their Jaccard
    similarity.

    A text without token has all slots 2³² - 1. See docs/method-minhash.md for the sketch and its source.

    Args:
        source: texts: a list of str, a column, or a table with a text column.
        slots: 32-bit slots of a signature.
    """
    plan = Plan(shingle=shingle, unit=unit, slots=slots, segmenter=represent.name_segmenter(segmenter), threshold=1.0)
    words = represent.load_segmenter(plan.segmenter, segmenter)
    parts = [np.zeros((0, slots), np.uint32)]
    for docs in _batches(source):
        signed = represent.sketch(
            docs, method="minhash", shingle=plan.shingle, unit=plan.unit, slots=plan.slots, segmenter=words
        )
        parts.append(signed.signatures)
    return np.concatenate(parts)


def _batches(source: Any) -> Any:
    memory = from_memory(source)
    for i in memory.inputs:
        yield from memory.batches(i.part, memory.resolve(i.part))


def _texts(texts: Sequence[str]) -> pa.LargeStringArray:
    raw = pa.array([t.encode("utf-8", "surrogatepass") for t in texts], pa.large_binary())
    return pa.LargeStringArray.from_buffers(len(raw), raw.buffers()[1], raw.buffers()[2])


__all__ = ["dedup", "kernels", "minhash", "pairs", "similarity", "text_buffers"]
