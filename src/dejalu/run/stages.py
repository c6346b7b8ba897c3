"""The tasks of a run. Each is pure and idempotent: what it computes goes to the store under a name, and a resumed
run skips it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import represent, verify
from ..cluster import Near
from ..data import F64, I64, U8, U64, Docs, as_arrow, row_of
from ..engines import Store
from ..errors import StoreError
from ..kernels import mix64
from ..plan import Plan
from ..read import stop
from ..represent import FeatureWeights, Segmenter, Signed
from .ahead import ahead
from .budget import Budget
from .corpus import APART, FINGERPRINT, ID, ID_KIND, KEEP, KEEP_KIND, SOURCE, Facts, band_name, sketch_name
from .meter import Meter, Progress
from .sources import Piece, Source
from .texts import Members, TextCache

NAMED = 20  # documents with invalid UTF-8 that the report names


@dataclass(frozen=True, slots=True)
class Context:
    """What every task needs."""

    source: Source
    plan: Plan
    store: Store
    cache: TextCache
    meter: Meter
    progress: Progress
    batch_rows: int
    budget: Budget
    segmenter: Segmenter | None
    weights: FeatureWeights | None = None  # of the features, once they are counted
    read_ahead: bool = False  # there are fewer pieces than threads


def sketch_piece(run: Context, piece: Piece) -> None:
    """Read a piece and store what is kept of each of its documents, with its counts as the note."""
    name = sketch_name(piece)
    if run.store.has(name):
        run.progress.advance("read", piece.size)
        return
    facts, shown = Facts(spec=run.plan.spec()), _Shown(run.progress, piece)
    on_problem = stop if run.plan.on_error == "stop" else facts.problems.append

    passed = [-1]  # row of the last record that is no document; apart, since another thread may be reading ahead

    def on_passed(row: int, kind: str) -> None:
        passed[0] = row
        facts.passed[kind] = facts.passed.get(kind, 0) + 1

    def batches() -> Iterator[pa.RecordBatch]:
        stream = run.source.read(piece, run.batch_rows, run.budget.batch, on_problem, on_passed)
        coming = run.meter.iterate("read", stream)
        for docs in ahead(coming) if run.read_ahead else coming:
            with run.meter.room("represent"):
                signed = _sign(run, docs)
                _count(facts, signed)
                batch = _columns(run, piece, docs, signed)
                facts.columns = batch.schema.names
            run.cache.add(piece.name, docs.text)
            shown.advance(docs)
            yield batch

    run.cache.begin(piece.name)
    stream = batches()
    first = next(stream, None)
    if first is None:
        nothing = Docs(np.zeros(0, np.int64), pa.array([], pa.large_string()))
        first = _columns(run, piece, nothing, _sign(run, nothing))
        facts.columns = first.schema.names

    def counts() -> str:
        facts.rows = max(facts.rows, passed[0] + 1)
        for problem in facts.problems:
            facts.rows = max(facts.rows, problem.row + problem.record)
        return facts.to_json()

    run.store.stream(name, first.schema, chain([first], stream), counts)
    run.cache.end(piece.name)
    shown.finish()


class _Shown:
    """Progress of one piece in bytes of its file: by records where their number is known, else by the text so far."""

    def __init__(self, progress: Progress, piece: Piece) -> None:
        self._progress, self._piece, self._done = progress, piece, 0

    def advance(self, docs: Docs) -> None:
        """A batch was read."""
        known = self._piece.rows  # else a rough half of the text, for compression
        step = self._piece.size * len(docs) // known if known else docs.text.nbytes // 2
        self._show(min(step, max(0, self._piece.size * 49 // 50 - self._done)))

    def finish(self) -> None:
        """The piece was read to its end."""
        self._show(self._piece.size - self._done)

    def _show(self, step: int) -> None:
        self._done += step
        self._progress.advance("read", step)


def _sign(run: Context, docs: Docs) -> Signed:
    plan = run.plan
    return represent.sketch(
        docs,
        method=plan.method,
        shingle=plan.shingle,
        unit=plan.unit,
        slots=plan.slots,
        bands=(plan.bands.bands, plan.bands.rows) if plan.banded else None,
        segmenter=run.segmenter,
        bits=plan.bits,
        weights=plan.weights,
        keywords=plan.keywords,
        table=run.weights,
    )


def _count(facts: Facts, signed: Signed) -> None:
    if not len(signed.ids):
        return
    first, last = (int(row) for row in row_of(signed.ids[[0, -1]]))
    if not facts.docs:
        facts.first = first
    facts.docs += len(signed.ids)
    facts.gaps = last - facts.first + 1 != facts.docs
    facts.rows = max(facts.rows, last + 1)
    facts.null += int((signed.tokens < 0).sum())
    facts.empty += int((signed.tokens == 0).sum())
    facts.long_tokens += signed.long_tokens
    bad = np.flatnonzero(signed.invalid)
    facts.invalid += len(bad)
    if len(bad) and len(facts.invalid_rows) < NAMED:
        facts.invalid_rows += row_of(signed.ids[bad[: NAMED - len(facts.invalid_rows)]]).tolist()


def _columns(run: Context, piece: Piece, docs: Docs, signed: Signed) -> pa.RecordBatch:
    plan = run.plan
    equal = signed.equal
    within = _apart(plan, docs)
    if within is not None:
        equal = equal ^ within[:, None]
    columns: dict[str, pa.Array] = {
        "doc": as_arrow(signed.ids),
        "tokens": as_arrow(signed.tokens),
        "equal_high": as_arrow(equal[:, 0]),
        "equal_low": as_arrow(equal[:, 1]),
    }
    if within is not None:
        columns[APART] = as_arrow(within)
    if plan.keep == "longest":
        columns["size"] = as_arrow(signed.sizes)
    for name, word in zip(FINGERPRINT, signed.fingerprints.T, strict=False):
        columns[name] = as_arrow(word)
    if plan.banded:
        keys = signed.keys if within is None else signed.keys ^ within
        for b, key in enumerate(keys):
            columns[band_name(b)] = as_arrow(key)
        columns["packed"] = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(plan.slots), len(docs), [None, pa.py_buffer(signed.packed)]
        )
    id_column = run.source.columns(piece.part).id
    if id_column and id_column in docs.columns:
        kinds = docs.kinds.get(id_column)
        columns["id_hash"] = as_arrow(represent.hash_values(docs.columns[id_column], kinds))
        columns[ID] = docs.columns[id_column]
        if kinds is not None:
            columns[ID_KIND] = as_arrow(kinds)
    for name, given in ((SOURCE, plan.source_column), (KEEP, plan.keep_column)):
        if given and given in docs.columns:
            columns[name] = _plain(docs.columns[given], docs.kinds.get(given))
    if plan.keep_column and plan.keep_column in docs.kinds:
        columns[KEEP_KIND] = as_arrow(docs.kinds[plan.keep_column])
    return pa.RecordBatch.from_pydict(columns)


def _apart(plan: Plan, docs: Docs) -> U64 | None:
    """A number of each document: those with different ones are never compared. None: all are."""
    apart: U64 | None = None
    if plan.within and plan.within in docs.columns:
        apart = represent.hash_values(docs.columns[plan.within], docs.kinds.get(plan.within))
    if plan.differ:
        guards = represent.guards(docs.text, plan.differ)
        apart = guards if apart is None else mix64(apart) ^ guards
    return apart


def _plain(values: pa.Array, kinds: U8 | None) -> pa.Array:
    """Strings as text, JSON nulls as nulls."""
    if kinds is None:
        return represent.as_text(values) if represent.is_string(values.type) else values
    return pc.if_else(as_arrow(kinds > 1), values, pa.scalar(None, values.type))


def settle_partition(
    run: Context, members: Callable[[], Members], place: I64, border: I64, name: str
) -> Near:
    """Settle the work groups of one partition.

    Args:
        members: what is needed of its documents; asked for only where the partition is not settled yet.
        place: (m,) its documents.
        border: (g + 1,) borders of its groups in `place`.
        name: of the result in the store.
    """
    table = None
    if run.store.has(name):
        with suppress(StoreError):  # damaged since it was looked at: settled again
            table = run.store.get(name)
    if table is None:
        table = _settled(run, members(), place, border)
        run.store.put(name, table)
    run.progress.advance("verify", len(place))
    place, twin, similarity = (table.column(c).to_numpy() for c in ("place", "twin", "similarity"))
    weighted = run.plan.method == "tfidf"
    return Near.of(
        place,
        twin,
        similarity,
        "weighted_jaccard" if weighted else "jaccard",
        "tfidf" if weighted else "minhash",
        skipped=int(table.schema.metadata[b"skipped"]),
    )


def _settled(run: Context, members: Members, place: I64, border: I64) -> pa.Table:
    with run.meter.room("verify"):
        size = np.concatenate(([0], np.cumsum(members.texts.sizes)))
        if run.weights is not None:
            found = [
                _settle_weighted(run, members, place, border[a : b + 1])
                for a, b in _chunks(border, size, run.budget.settle)
            ]
            return _table(found)
        steps = _steps(border, size, run.budget.settle, run.segmenter is not None)
        found = [
            (_settle_chunk if streamed else _settle_run)(run, members, place, border[a : b + 1], size)
            for a, b, streamed in steps
        ]
        return _table(found)


def _table(found: list[tuple[I64, I64, F64, int]]) -> pa.Table:
    """What was settled in several steps, as the store keeps it."""
    table = pa.table(
        {
            "place": as_arrow(np.concatenate([np.zeros(0, np.int64), *(f[0] for f in found)])),
            "twin": as_arrow(np.concatenate([np.zeros(0, np.int64), *(f[1] for f in found)])),
            "similarity": as_arrow(np.concatenate([np.zeros(0), *(f[2] for f in found)])),
        }
    )
    return table.replace_schema_metadata({b"skipped": str(sum(f[3] for f in found)).encode()})


def _steps(border: I64, size: I64, most: int, segmented: bool) -> list[tuple[int, int, bool]]:
    """Runs of groups (first, last, streamed): as many as come together, but each one beyond `most` bytes of text apart.

    A segmenter is Python, so its texts come chunk by chunk, as those of a large group do.
    """
    if segmented:
        return [(a, b, True) for a, b in _chunks(border, size, most)]
    large = np.flatnonzero(np.diff(size[border]) > most).tolist()
    out, first = [], 0
    for g in [*large, len(border) - 1]:
        if first < g:
            out.append((first, g, False))
        if g < len(border) - 1:
            out.append((g, g + 1, True))
        first = g + 1
    return out


def _settle_run(run: Context, members: Members, places: I64, border: I64, _: I64) -> tuple[I64, I64, F64, int]:
    """Settle groups whose texts fit the cache of the processor, in one call."""
    plan = run.plan
    first, last = int(border[0]), int(border[-1])
    cut = slice(first, last)
    texts, place = members.texts, places[cut]
    twin, similarity, skipped = verify.settle_texts(
        texts.batches,
        texts.which[cut],
        texts.rows[cut],
        border - first,
        members.keys[cut],
        members.packed[cut],
        shingle=plan.shingle,
        unit=represent.UNITS[plan.unit],
        threshold=plan.threshold,
        min_matches=plan.bands.min_matches,
        cap=plan.kept_cap,
    )
    out = np.flatnonzero(twin >= 0)
    return place[out], place[twin[out]], similarity[out], skipped


def _settle_weighted(run: Context, members: Members, places: I64, border: I64) -> tuple[I64, I64, F64, int]:
    """Settle whole groups by weighted similarity."""
    plan = run.plan
    first, last = int(border[0]), int(border[-1])
    cut, place = slice(first, last), places[first:last]
    sets = represent.shingle_sets(
        members.texts.take(first, last), shingle=plan.shingle, unit=plan.unit, segmenter=run.segmenter
    )
    assert run.weights is not None
    twin, similarity = verify.settle_weighted(
        (border - first).astype(np.int64),
        members.keys[cut],
        members.packed[cut],
        sets,
        run.weights.of(sets[0]),
        threshold=plan.threshold,
        min_matches=plan.bands.min_matches,
    )
    out = np.flatnonzero(twin >= 0)
    return place[out], place[twin[out]], similarity[out], 0


def _chunks(border: I64, size: I64, most: int) -> list[tuple[int, int]]:
    """Runs of whole groups of at most `most` bytes of text; a larger group stands alone."""
    out = []
    first = 0
    while first < len(border) - 1:
        last = int(np.searchsorted(size[border], size[border[first]] + most, "right")) - 1
        last = min(max(last, first + 1), len(border) - 1)
        out.append((first, last))
        first = last
    return out


def _settle_chunk(run: Context, members: Members, places: I64, border: I64, size: I64) -> tuple[I64, I64, F64, int]:
    """Settle whole groups at once, or a single larger one batch by batch, carrying its kept documents along."""
    plan = run.plan
    first, last = int(border[0]), int(border[-1])
    steps = [(first, last)]
    most = run.budget.settle
    if len(border) == 2 and size[last] - size[first] > most:
        steps = [(first + a, first + b) for a, b in _chunks(np.arange(last - first + 1), size[first : last + 1], most)]
    carried = np.zeros(0, np.int64)  # rows of kept documents from earlier steps
    kept_sets = (np.zeros(0, np.uint64), np.zeros(1, np.int64))
    removed, twins, shares, skipped = [], [], [], 0
    for a, b in steps:
        sets = represent.shingle_sets(
            members.texts.take(a, b), shingle=plan.shingle, unit=plan.unit, segmenter=run.segmenter
        )
        if len(carried):
            borders = np.concatenate((kept_sets[1], sets[1][1:] + kept_sets[1][-1]))
            sets = (np.concatenate((kept_sets[0], sets[0])), borders)
        row = np.concatenate((carried, np.arange(a, b)))
        groups = border - first if len(steps) == 1 else np.array([0, len(row)])
        twin, similarity, skip = verify.settle(
            groups.astype(np.int64),
            members.keys[row],
            members.packed[row],
            sets,
            threshold=plan.threshold,
            min_matches=plan.bands.min_matches,
            cap=plan.kept_cap,
            settled=len(carried),
        )
        out = np.flatnonzero(twin >= 0)
        removed.append(places[row[out]])
        twins.append(places[row[twin[out]]])
        shares.append(similarity[out])
        skipped += skip
        if len(steps) > 1:
            kept = twin < 0
            carried, kept_sets = row[kept], verify.subsets(sets, kept)
    return np.concatenate(removed), np.concatenate(twins), np.concatenate(shares), skipped
