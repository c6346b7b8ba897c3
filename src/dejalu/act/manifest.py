"""What a run records of itself, so that it can be gone on with, verified, and acted on.

    manifest.json   plan, inputs (file, path, size, time), state, and when finished every file written with its SHA-256
    journal         one line per output file as it is finished, so that `--resume` need not write it again
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..data import Input
from ..errors import ChangedInput, OutputError, UsageError
from .files import Written, describe, explain, inside, settle, unchanged
from .report import write_json

MANIFEST = "manifest.json"
_FORMAT = 1
State = Literal["running", "gated", "finished"]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One run: its plan as JSON values, its inputs, how far it is, and what it wrote.

    `evidence` and `outputs` name files below the evidence and the output folder.
    """

    plan: Mapping[str, Any]
    inputs: Sequence[Input]
    state: State = "running"
    evidence: Sequence[Written] = ()
    outputs: Sequence[Written] = ()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the plan."""
        return fingerprint(self.plan)

    def finished(self, evidence: Sequence[Written], outputs: Sequence[Written]) -> Manifest:
        """Return the same run, finished, with all it wrote."""
        return replace(
            self,
            state="finished",
            evidence=tuple(sorted(evidence, key=lambda w: w.name)),
            outputs=tuple(sorted(outputs, key=lambda w: w.name)),
        )


def fingerprint(plan: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a plan's JSON text with sorted keys, as hexadecimal digits."""
    return hashlib.sha256(json.dumps(plan, sort_keys=True, allow_nan=False).encode()).hexdigest()


def save(path: Path, manifest: Manifest) -> None:
    """Write a manifest, whole or not at all; when it says finished, all that it names is on the disk before it."""
    if manifest.state == "finished":
        settle()
    write_json(
        path,
        {
            "format": _FORMAT,
            "state": manifest.state,
            "fingerprint": manifest.fingerprint,
            "plan": dict(manifest.plan),
            "inputs": [asdict(entry) for entry in manifest.inputs],
            "evidence": [asdict(entry) for entry in manifest.evidence],
            "outputs": [asdict(entry) for entry in manifest.outputs],
        },
    )


def load(path: Path) -> Manifest | None:
    """Read a manifest; None where there is none.

    Raises:
        OutputError: it is damaged or was written by a newer dejalu.
    """
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise OutputError(f"{path} is damaged: {error}. Start anew with --overwrite.") from error
    if not isinstance(value, dict) or value.get("format") != _FORMAT:
        raise OutputError(f"{path} was written by another version of dejalu. Start anew with --overwrite.")
    return Manifest(
        plan=value["plan"],
        inputs=tuple(Input(**entry) for entry in value["inputs"]),
        state=value["state"],
        evidence=tuple(Written(**entry) for entry in value["evidence"]),
        outputs=tuple(Written(**entry) for entry in value["outputs"]),
    )


def same_run(manifest: Manifest, plan: Mapping[str, Any], inputs: Sequence[Input]) -> None:
    """Check that a run to go on with has this plan and these inputs.

    Raises:
        UsageError: a parameter differs: names it with both values.
        ChangedInput: an input was added, removed, moved or modified: names it and what differs.
    """
    if fingerprint(plan) != manifest.fingerprint:
        # Through JSON, so that a tuple and a list are one thing.
        new = json.loads(json.dumps(plan))
        for name in sorted(set(new) | set(manifest.plan)):
            if new.get(name) != manifest.plan.get(name):
                raise UsageError(
                    f"the run to go on with has {name} = {manifest.plan.get(name)!r}, now it is {new.get(name)!r}. "
                    "Give the same parameters, or start anew with --overwrite."
                )
    then = {entry.file: entry for entry in manifest.inputs}
    now = {entry.file: entry for entry in inputs}
    for file in [*then, *now]:
        if file not in now:
            raise ChangedInput(f"{file} was an input when the run began and is none now. Start anew with --overwrite.")
        if file not in then:
            raise ChangedInput(f"{file} is a new input, the run began without it. Start anew with --overwrite.")
        _same_input(then[file], now[file])


def _same_input(then: Input, now: Input) -> None:
    told = {"path": "path", "size": "size in bytes", "mtime_ns": "time of modification", "part": "place"}
    told |= {"version": "version"}  # of a remote file, such as its ETag
    for name, words in told.items():
        old, new = getattr(then, name), getattr(now, name)
        if old != new:
            raise ChangedInput(
                f"{now.file} differs from what it was when the run began: {words} was {old}, is {new}. "
                "Put the old file back, or start anew with --overwrite."
            )


def inputs_unchanged(inputs: Sequence[Input]) -> None:
    """Check that all inputs are what they were (ChangedInput); a remote one is checked whenever it is opened."""
    for entry in inputs:
        if "://" not in entry.path:
            unchanged(Path(entry.path), entry.file, entry.size, entry.mtime_ns)


def verify(manifest: Manifest, out: Path | None, evidence: Path, *, threads: int = 1) -> int:
    """Check every file that a finished run wrote, by size and SHA-256; returns how many.

    Raises:
        OutputError: a file is missing or changed, or the output folder holds a file that the run did not write.
    """
    expected = [(inside(evidence, entry.name), entry) for entry in manifest.evidence]
    if out is not None:
        expected += [(inside(out, entry.name), entry) for entry in manifest.outputs]
        names = {entry.name for entry in manifest.outputs}
        for place, _, files in os.walk(out):
            for file in files:
                name = Path(place, file).relative_to(out).as_posix()
                if name not in names:
                    raise OutputError(f"{out / name} was not written by this run. Remove it, or use --overwrite.")
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for _ in pool.map(lambda pair: _verify_one(*pair), expected):
            pass
    return len(expected)


def _verify_one(path: Path, entry: Written) -> None:
    try:
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise OutputError(f"{path} is missing, the finished run wrote it. Start anew with --overwrite.") from error
    if size != entry.size or describe(path, entry.name).sha256 != entry.sha256:
        raise OutputError(f"{path} was changed since the run finished. Start anew with --overwrite.")


class Journal:
    """The output files that are finished, one line each, appended as they are; safe for several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def add(self, written: Written) -> None:
        """Record a finished file."""
        line = json.dumps(asdict(written)).encode() + b"\n"
        with self._lock:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with open(self._path, "ab") as file:
                    file.write(line)
            except OSError as error:
                raise explain(error, self._path) from error

    def whole(self, folder: Path) -> dict[str, Written]:
        """Return by name the recorded files that still stand below `folder` with their size and SHA-256."""
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        # What follows the last line end was cut off by a kill; its file is simply written again.
        found: dict[str, Written] = {}
        for line in lines[:-1]:
            try:
                entry = Written(**json.loads(line))
            except (ValueError, TypeError):
                continue
            path = inside(folder, entry.name)
            if path.is_file() and describe(path, entry.name) == entry:
                found[entry.name] = entry
        return found
