"""One run: its inputs, its folders, its store and its engine, opened once and put away at the end, come what may."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from .. import __version__
from ..act import manifest as manifests
from ..act.early import check_inputs
from ..act.files import Written
from ..act.manifest import MANIFEST, Journal, Manifest
from ..act.output import check_output, clear
from ..data import Input
from ..engines import Engine, FileStore, Local, MemoryStore, SpillStore, Store
from ..errors import InputError, OutputError, UsageError
from ..plan import Execution, Plan
from ..read import stop, versions
from ..represent import Frequencies, Segmenter, load_segmenter
from . import lock as locking
from .budget import Budget
from .features import opened as opened_frequencies
from .meter import Meter, Progress, Silent, give_back, total_memory
from .sources import FileSource, MemorySource, Piece, open_source
from .stages import Context
from .texts import TextCache

WORK = ".work"
GATE = "gate"  # in the work folder: the share that the run may not lose
MAX_PARTITIONS = 1024
SECONDS = 256 << 20  # bytes of input that are gone through in seconds


@dataclass(slots=True)
class Job:
    """What the steps of a run share."""

    source: FileSource | MemorySource
    plan: Plan
    execution: Execution
    engine: Engine
    store: Store
    cache: TextCache
    meter: Meter
    progress: Progress
    context: Context
    pieces: list[Piece]
    partitions: int
    budget: Budget
    to: Path | None = None
    evidence: Path | None = None
    work: Path | None = None
    lock: IO[bytes] | None = None
    frequencies: Frequencies | None = None  # of features in documents, where weights come of them
    previous: Manifest | None = None  # of a finished run that --resume found and verified
    outputs: dict[str, Written] = field(default_factory=dict)  # corpus files that an interrupted run finished

    @classmethod
    @contextmanager
    def open(
        cls,
        source: Any,
        to: Any,
        evidence: Any,
        plan: Plan,
        execution: Execution,
        overwrite: bool,
        resume: bool,
        progress: Progress | None,
        segmenter: Segmenter | None = None,
    ) -> Iterator[Job]:
        """Check everything that can be wrong before work starts, then make folders and store.

        After an error of use or input, what a new run made is taken away again: its remedy changes the plan or an
        input, which no resumed run would accept.
        """
        meter = Meter()
        with meter.room("read"):
            opened = open_source(source, to if to is not None else evidence, plan)
        folders = _folders(opened, to, evidence, plan)
        plan, frequencies = opened_frequencies(_with_gate(plan, folders, execution, resume))
        words = load_segmenter(plan.segmenter, segmenter) if plan.method != "bytes" else None
        previous, work, fresh, made, lock = None, None, False, [], None
        if folders.evidence is not None:
            assert isinstance(opened, FileSource)
            made = [f for f in (folders.evidence, folders.to) if f is not None and not f.exists()]
            previous, work, fresh, lock = _begin(opened, folders, plan, execution, overwrite, resume)
        try:
            with meter.room("read"):
                pieces = [] if previous else opened.pieces(stop)
            budget = Budget.of(execution, total_memory())
            cache = TextCache(_texts(opened, plan, execution, budget))
            progress = progress or Silent()
            with _store(opened, execution, None if previous else work, budget) as store:
                context = Context(
                    opened,
                    plan,
                    store,
                    cache,
                    meter,
                    progress,
                    execution.batch_rows,
                    budget,
                    words,
                    read_ahead=len(pieces) < execution.workers,
                )
                job = cls(
                    source=opened,
                    plan=plan,
                    execution=execution,
                    engine=Local(execution.workers),
                    store=store,
                    cache=cache,
                    meter=meter,
                    progress=progress,
                    context=context,
                    pieces=pieces,
                    partitions=execution.partitions or _partitions(opened, budget),
                    budget=budget,
                    to=folders.to,
                    evidence=folders.evidence,
                    work=work,
                    lock=lock,
                    frequencies=frequencies,
                    previous=previous,
                )
                if work is not None and folders.to is not None and resume and not previous:
                    job.outputs = job.journal.whole(folders.to)
                yield job
        except (UsageError, InputError):
            if work is not None and fresh:
                _take_away(work, made)
            raise
        finally:
            if lock is not None:
                lock.close()

    @classmethod
    def for_writing(
        cls,
        source: FileSource,
        plan: Plan,
        execution: Execution,
        progress: Progress | None,
        store: Store,
        to: Path,
        evidence: Path,
        work: Path,
    ) -> Job:
        """A job that only writes a corpus, from evidence that is there."""
        meter, cache, progress = Meter(), TextCache(0), progress or Silent()
        budget = Budget.of(execution, total_memory())
        context = Context(source, plan, store, cache, meter, progress, execution.batch_rows, budget, None)
        engine = Local(execution.workers)
        return cls(
            source, plan, execution, engine, store, cache, meter, progress, context, [], 1, budget, to, evidence, work
        )

    def between(self) -> None:
        """Between two steps: give unused memory back, where there is a budget to keep."""
        if self.execution.memory:
            give_back()

    @property
    def journal(self) -> Journal:
        """The corpus files that are finished."""
        assert self.work is not None
        return Journal(self.work / "journal")

    def manifest(self, state: manifests.State = "running") -> Manifest:
        """What the run records of itself."""
        return Manifest(recorded(self.plan, self.source.inputs), self.source.inputs, state)

    def put_away(self) -> None:
        """Remove the work folder: the run is finished."""
        self.cache.clear()
        if self.work is not None:
            shutil.rmtree(self.work, ignore_errors=True)


def recorded(plan: Plan, inputs: Sequence[Input]) -> dict[str, Any]:
    """What must be equal for a run to go on: the plan without its gate, and the versions that shape the bytes."""
    values = {name: value for name, value in plan.to_dict().items() if name != "max_removal"}
    return {**values, "dejalu version": __version__, "pyarrow version": pa.__version__, **versions(inputs)}


@dataclass(frozen=True, slots=True)
class _Folders:
    to: Path | None
    evidence: Path | None


def _folders(source: FileSource | MemorySource, to: Any, evidence: Any, plan: Plan) -> _Folders:
    if to is None and evidence is None:
        return _Folders(None, None)
    if isinstance(source, MemorySource):
        raise UsageError("`to` and `evidence` are for files; data in memory is filtered by result.filter(data)")
    out = None if to is None else Path(to)
    if out is not None and not out.resolve().name:
        raise UsageError(f"{to}: name a folder for the output, not the root of the disk")
    if evidence is None:
        assert out is not None
        name = out.resolve().name if out.name in ("", ".", "..") else out.name
        evidence = out.with_name(name + "-evidence") if out.name == name else out.resolve().parent / f"{name}-evidence"
    return _Folders(None if plan.mode == "report" else out, Path(evidence))


def _begin(
    source: FileSource, folders: _Folders, plan: Plan, execution: Execution, overwrite: bool, resume: bool
) -> tuple[Manifest | None, Path, bool, IO[bytes] | None]:
    """Check the folders; find out whether there is a run to go on with; record this one.

    Returns:
        the manifest of a finished run that was verified, or None; the work folder; whether the run begins anew; its
        lock.
    """
    evidence = folders.evidence
    assert evidence is not None
    check_output(folders.to, evidence, source.inputs, source.roots, overwrite=overwrite, resume=resume)
    if folders.to is not None:
        check_inputs(source.inputs, mode=plan.mode, add_copies=bool(plan.add_columns))
    work = _work_folder(evidence, execution)
    lock = locking.take(work) if work.is_dir() else None
    if overwrite:
        for folder in (folders.to, evidence):
            if folder is not None:
                clear(folder, source.inputs)
        shutil.rmtree(work, ignore_errors=True)
    now = recorded(plan, source.inputs)
    fresh = True
    if resume:
        done = manifests.load(evidence / MANIFEST)
        if done is not None and done.state == "finished":
            manifests.same_run(done, now, source.inputs)
            manifests.verify(done, folders.to, evidence, threads=execution.workers)
            shutil.rmtree(work, ignore_errors=True)  # of a run killed between its last word and this
            return done, work, False, lock
        begun = manifests.load(work / MANIFEST)
        if begun is not None:
            manifests.same_run(begun, now, source.inputs)
            fresh = False
        else:
            _nothing_foreign(folders, work)
    elif work.exists():
        shutil.rmtree(work)
    _make(work, execution)
    if lock is None or not (work / locking.NAME).exists():  # a new folder: the old lock went with the old one
        if lock is not None:
            lock.close()
        lock = locking.take(work)
    if plan.max_removal is not None:
        (work / GATE).write_text(repr(plan.max_removal))
    manifests.save(work / MANIFEST, Manifest(now, source.inputs))
    return None, work, fresh, lock


def _make(folder: Path, execution: Execution) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        how = "with --tmp" if execution.tmp is None else f"than --tmp {execution.tmp}"
        raise OutputError(
            f"{folder}: the work folder cannot be made ({e.strerror or e}). Name another folder for work files {how}."
        ) from e


def _take_away(work: Path, made: list[Path]) -> None:
    """Remove the work folder, and the folders that this run made where they are empty."""
    shutil.rmtree(work, ignore_errors=True)
    for folder in made:
        with suppress(OSError):  # not empty: something worth keeping was written
            folder.rmdir()


def _with_gate(plan: Plan, folders: _Folders, execution: Execution, resume: bool) -> Plan:
    """A gate that stopped a run stays until another is named: going on without a word about it does not open it."""
    if not resume or plan.max_removal is not None or folders.evidence is None:
        return plan
    try:
        limit = float((_work_folder(folders.evidence, execution) / GATE).read_text())
    except (OSError, ValueError):
        return plan
    return plan.with_(max_removal=limit)


def _nothing_foreign(folders: _Folders, work: Path) -> None:
    """--resume with nothing begun starts, but not over files that no run of ours vouches for."""
    for folder in (folders.to, folders.evidence):
        if folder is None or not folder.exists():
            continue
        for entry in folder.iterdir():
            if entry != work:
                raise OutputError(
                    f"{folder} is not empty (it holds {entry.name!r}), and no run to resume is recorded in {work}. "
                    "Use --overwrite to delete what the folder holds, or another folder."
                )


def _work_folder(evidence: Path, execution: Execution) -> Path:
    if execution.tmp is None:
        return evidence / WORK
    key = hashlib.sha256(os.fsencode(evidence.resolve())).hexdigest()[:16]
    return Path(execution.tmp) / f"dejalu-{key}.work"


@contextmanager
def _store(
    source: FileSource | MemorySource, execution: Execution, work: Path | None, budget: Budget
) -> Iterator[Store]:
    if execution.store == "memory":
        yield MemoryStore()
    elif work is not None:
        files = work / "store"
        if execution.store == "files" or sum(i.size for i in source.inputs) > SECONDS:
            yield FileStore(files)
        else:  # a matter of seconds: to be done again, should it be interrupted, before it is worth a file
            yield SpillStore(budget.sketches, lambda: FileStore(files))
    else:
        with ExitStack() as stack:

            def spilled() -> FileStore:
                if execution.tmp is not None:
                    _make(Path(execution.tmp), execution)
                return FileStore(stack.enter_context(tempfile.TemporaryDirectory(prefix="dejalu-", dir=execution.tmp)))

            yield SpillStore(budget.sketches, spilled) if execution.store == "auto" else spilled()


def _texts(
    source: FileSource | MemorySource, plan: Plan, execution: Execution, budget: Budget
) -> int:
    """Bytes of text to keep from the first pass: none where nothing is verified, or where few of them would be kept.

    Files take less room than their texts: files larger than the share have texts several times that large, most of
    which are read again anyway.
    """
    if not plan.verified:
        return 0
    return 0 if execution.text_cache < 0 and sum(i.size for i in source.inputs) > budget.texts else budget.texts


def _partitions(source: FileSource | MemorySource, budget: Budget) -> int:
    size = sum(i.size for i in source.inputs)
    return max(4, min(MAX_PARTITIONS, -(-size // budget.partition)))


__all__ = ["Job", "recorded"]
