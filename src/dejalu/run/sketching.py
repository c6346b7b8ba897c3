"""Sketches of a collection of files, written to one parquet file for those who keep their own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .. import kernels, represent
from ..act.files import atomic
from ..data import NULL, Docs, Problem, row_of
from ..engines import FileStore, Local, SpillStore
from ..errors import OutputError, UsageError
from ..plan import Execution
from ..read import describe, stop
from ..represent import FeatureWeights, Segmenter, load_segmenter
from .ahead import ahead
from .budget import Budget
from .features import opened
from .meter import Progress, Silent, total_memory
from .sketches import Sketching
from .sources import FileSource, Piece


@dataclass(frozen=True, slots=True)
class Sketched:
    """What was written: texts, files, bytes; the damaged records that were set aside; the file's metadata."""

    output: Path
    texts: int
    files: int
    size: int
    problems: tuple[str, ...]
    metadata: dict[str, str]


def sketch_files(
    paths: Sequence[str | os.PathLike[str]],
    output: Path,
    what: Sketching,
    *,
    execution: Execution | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    segmenter: Segmenter | None = None,
) -> Sketched:
    """Sketch every document of files and folders into one parquet file, in input order.

    The file has one row per document: file, row, id (text; where there is an id column), tokens (null where there is no
    text), and the sketch. It is the same to the byte for every number of threads, and stands under its name when whole.

    Raises:
        UsageError: nothing to read, or a column that is not there.
        InputError: a damaged file or record (with on_error="stop").
        OutputError: the output is there already, is an input, or cannot be written.
    """
    execution, progress = execution or Execution(), progress or Silent()
    source = FileSource.found(paths, what.plan)
    _check(output, source, overwrite)
    what, weights = _weighed(what)
    words = load_segmenter(what.plan.segmenter, segmenter)
    pieces = source.pieces(stop)
    named = any(source.columns(i.part).id for i in source.inputs)
    fields = [
        pa.field("file", pa.string()),
        pa.field("row", pa.int64()),
        *([pa.field("id", pa.large_string())] if named else []),
        pa.field("tokens", pa.int64()),
        *what.columns,
    ]
    schema = pa.schema(fields, metadata=what.metadata())
    run = _Run(what, source, schema, execution, progress, words, weights, read_ahead=len(pieces) < execution.workers)
    progress.start("sketch", sum(piece.size for piece in pieces) or None, "bytes")
    with ExitStack() as stack:
        batches = _in_order(run, pieces, output, stack)
        try:
            # Made before the file: what is wrong with the input is told before anything is written.
            first = next(batches, None)
            with atomic(output, at_once=True) as temporary:
                texts = _write(temporary, schema, chain([] if first is None else [first], batches), what)
        except OutputError as e:  # as other verbs say it, but there is nothing to go on with here
            raise OutputError(str(e).replace(" with --resume", "").replace("go on", "run again")) from e
        progress.finish("sketch")
    problems = tuple(describe(p) for piece in pieces for p in run.problems.get(piece.name, []))
    return Sketched(output, texts, len(source.inputs), output.stat().st_size, problems, what.metadata())


def _weighed(what: Sketching) -> tuple[Sketching, FeatureWeights | None]:
    """Load the document frequencies that SimHash is to weigh by; the parameters then hold what they are, not where."""
    plan, frequencies = opened(what.plan)
    if not plan.counted:
        return what, None
    if frequencies is None:
        raise UsageError(
            "weights=tfidf: name the document frequencies with --frequencies FILE; `dejalu dedup --method simhash "
            "--weights tfidf` leaves those of its input in the evidence folder"
        )
    features, weights, unseen = represent.idf(frequencies)
    return replace(what, plan=plan), FeatureWeights(*kernels.weight_table(features, weights), unseen)


def _check(output: Path, source: FileSource, overwrite: bool) -> None:
    if output.is_dir():
        raise OutputError(f"{output}: is a folder; name a file, e.g. {output / 'sketches.parquet'}")
    if output.suffix.lower() not in ("", ".parquet", ".pq"):
        raise OutputError(f"{output}: sketches are written as parquet; name it {output.with_suffix('.parquet').name}")
    place = output.resolve()
    for i in source.inputs:
        if place == Path(i.path).resolve() or (output.exists() and os.path.exists(i.path) and output.samefile(i.path)):
            raise OutputError(f"{output}: is one of the inputs; name another file")
    for root in source.roots:
        if root.is_dir() and place.is_relative_to(root.resolve()):
            raise OutputError(
                f"{output}: lies in the input folder {root}, which would hold it next time; name another place"
            )
    if output.exists() and not overwrite:
        raise OutputError(f"{output}: exists already; name another file, or add --overwrite")


class _Run:
    """What the pieces share."""

    def __init__(
        self,
        what: Sketching,
        source: FileSource,
        schema: pa.Schema,
        execution: Execution,
        progress: Progress,
        segmenter: Segmenter | None,
        weights: FeatureWeights | None,
        *,
        read_ahead: bool,
    ) -> None:
        self.what, self.source, self.schema, self.execution, self.progress = what, source, schema, execution, progress
        self.segmenter, self.weights, self.read_ahead = segmenter, weights, read_ahead
        self.budget = Budget.of(execution, total_memory())
        self.problems: dict[str, list[Problem]] = {}

    def batches(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """Read and sketch a piece."""
        problems = self.problems.setdefault(piece.name, [])
        on_problem = stop if self.what.plan.on_error == "stop" else problems.append
        rows = self.execution.batch_rows or self.what.group
        stream = self.source.read(piece, rows, self.budget.batch, on_problem)
        done = 0
        for docs in ahead(stream) if self.read_ahead else stream:
            yield self._batch(piece, docs)
            step = min(piece.size - done, docs.text.nbytes // 2)  # a rough half, for compression
            done += step
            self.progress.advance("sketch", step)
        self.progress.advance("sketch", piece.size - done)

    def _batch(self, piece: Piece, docs: Docs) -> pa.RecordBatch:
        tokens, sketches = self.what.sketches(docs, self.segmenter, self.weights)
        file = pa.repeat(pa.scalar(self.source.inputs[piece.part].file, pa.string()), len(docs))
        columns = [file, pa.array(row_of(docs.ids))]
        if "id" in self.schema.names:
            columns.append(self._ids(piece, docs))
        columns.append(pa.array(tokens, mask=tokens < 0))
        return pa.RecordBatch.from_arrays([*columns, *sketches], schema=self.schema)

    def _ids(self, piece: Piece, docs: Docs) -> pa.Array:
        name = self.source.columns(piece.part).id
        if name is None or name not in docs.columns:
            return pa.nulls(len(docs), pa.large_string())
        ids = represent.as_text(docs.columns[name]).cast(pa.large_string())
        kinds = docs.kinds.get(name)
        return ids if kinds is None else pc.if_else(pa.array(kinds > NULL), ids, pa.scalar(None, pa.large_string()))


def _in_order(run: _Run, pieces: list[Piece], output: Path, stack: ExitStack) -> Iterator[pa.RecordBatch]:
    """Batches of all pieces in input order, made by all threads: they wait in memory, or in files beside the output."""
    if run.execution.workers == 1 or len(pieces) <= 1:
        for piece in pieces:
            yield from run.batches(piece)
        return

    def spilled() -> FileStore:
        folder = Path(run.execution.tmp) if run.execution.tmp else output.parent
        folder.mkdir(parents=True, exist_ok=True)
        return FileStore(stack.enter_context(tempfile.TemporaryDirectory(prefix=".dejalu-", dir=folder)))

    store = SpillStore(run.budget.sketches, spilled)
    Local(run.execution.workers).map(lambda piece: store.stream(piece.name, run.schema, run.batches(piece)), pieces)
    for piece in pieces:
        yield from store.get(piece.name).to_batches()
        store.drop(piece.name)


def _write(path: Path, schema: pa.Schema, batches: Iterator[pa.RecordBatch], what: Sketching) -> int:
    """Write row groups of a fixed number of rows, whatever batches they come in; return the number of rows."""
    small = [name for name in ("file", "row", "id", "tokens") if name in schema.names]
    rows, waiting = 0, 0
    held: list[pa.RecordBatch] = []
    with pq.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=["file"], write_statistics=small, version="2.6"
    ) as writer:
        for coming in batches:
            batch = coming
            while waiting + len(batch) >= what.group:
                head = batch.slice(0, what.group - waiting)
                writer.write_table(_joined([*held, head], schema), row_group_size=what.group)
                rows += what.group
                batch = batch.slice(len(head))
                held, waiting = [], 0
            if len(batch):
                held.append(batch)
                waiting += len(batch)
        if held or not rows:
            writer.write_table(_joined(held, schema), row_group_size=what.group)
    return rows + waiting


def _joined(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    # One chunk: where batches end must not show in the pages.
    return pa.Table.from_batches(batches, schema).combine_chunks()
