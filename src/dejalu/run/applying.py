"""Act on a finished run: its evidence is read back, nothing is computed again."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..act import apply as applied
from ..act import manifest, report
from ..act.early import check_inputs
from ..act.files import Written
from ..act.manifest import Manifest
from ..act.output import check_output, clear
from ..act.readback import facts_of
from ..engines import MemoryStore
from ..errors import OutputError, UsageError
from ..plan import Execution, Plan
from .job import WORK, Job, recorded
from .meter import Progress
from .result import Decided, EvidenceTables, Result
from .sources import FileSource
from .writing import read_positions, write_files

APPLIED = "applied.json"  # in the evidence folder: what the last `apply` wrote


def apply(
    evidence: Any,
    to: Any,
    *,
    mode: str = "drop",
    add_columns: Sequence[str] = (),
    overwrite: bool = False,
    resume: bool = False,
    execution: Execution | None = None,
    progress: Progress | None = None,
) -> Result:
    """Write the corpus of a finished run from its evidence.

    Args:
        evidence: evidence folder of a run (mode report, or one that a gate stopped).
        to: output folder.
        mode: drop or tag; add_columns: ("copies",) to re-weight when dropping.
        overwrite, resume: what to do about an output folder that is not empty.

    Raises:
        ChangedInput: an input is not what it was; OutputError: the evidence is damaged, the output refused.
    """
    execution = execution or Execution()
    folder, out = Path(evidence), Path(to)
    if mode not in ("drop", "tag"):
        raise UsageError(f"mode={mode!r}: apply writes a corpus, so it must be drop or tag")
    found = applied.load(folder)
    told = manifest.load(folder / manifest.MANIFEST)
    if told is None:
        raise OutputError(
            f"{folder} has no {manifest.MANIFEST}: its run did not come to its end. Go on with it: --resume."
        )
    manifest.verify(told, None, folder, threads=execution.workers)
    plan = Plan.from_dict(found.plan).with_(mode=mode, add_columns=tuple(add_columns))
    source = FileSource(found.inputs, plan)
    check_output(out, folder, source.inputs, source.roots, overwrite=overwrite, resume=resume, evidence_is_read=True)
    check_inputs(source.inputs, mode=mode, add_copies=bool(plan.add_columns))
    now = Manifest({**recorded(plan, source.inputs), "output": str(out.resolve())}, source.inputs)
    work = folder / WORK
    if overwrite:
        clear(out, source.inputs)
    if resume:
        for state in (manifest.load(folder / APPLIED), manifest.load(work / manifest.MANIFEST)):
            if state is not None:
                manifest.same_run(state, now.plan, source.inputs)
                if state.state == "finished":
                    manifest.verify(state, out, folder, threads=execution.workers)
                    return read_back(folder, source, out)
    else:
        (folder / APPLIED).unlink(missing_ok=True)
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    manifest.save(work / manifest.MANIFEST, now)
    job = Job.for_writing(source, plan, execution, progress, MemoryStore(), out, folder, work)
    if resume:
        job.outputs = job.journal.whole(out)
    copies = mode == "tag" or bool(plan.add_columns)
    written: list[Written] = write_files(job, list(found.verdicts(copies=copies)), found.broken)
    manifest.save(folder / APPLIED, now.finished((), written))
    job.put_away()
    return read_back(folder, source, out)


def read_back(folder: Path, source: FileSource, out: Path | None) -> Result:
    """Rebuild the result of a finished run from its evidence."""
    told = report.read(folder)
    rows = {entry["file"]: int(entry["rows"]) for entry in told["files"]}
    starts = np.concatenate(([0], np.cumsum([rows[i.file] for i in source.inputs]))).astype(np.int64)
    place = {i.file: int(starts[i.part]) for i in source.inputs}
    tables = EvidenceTables(folder, source.inputs)

    def decide() -> Decided:
        n = int(starts[-1])
        keep, twin, similarity = np.ones(n, np.bool_), np.full(n, -1, np.int64), np.full(n, np.nan)
        for file, table in tables.items():
            own = table.column("row").to_numpy() + place[file]
            keep[own] = False
            first = np.array([place[f] for f in table.column("twin_file").to_pylist()], np.int64)
            twin[own] = first + table.column("twin_row").to_numpy()
            similarity[own] = table.column("similarity").to_numpy()
        for entry in applied.load(folder).verdicts():
            keep[place[entry.input.file] + entry.set_aside] = False
        return Decided(keep, twin, similarity)

    return Result(
        starts,
        decide,
        source.inputs,
        facts_of(told),
        told,
        tables,
        lambda positions: read_positions(source, starts, positions),
        folder,
        out,
    )


__all__ = ["apply", "read_back"]
