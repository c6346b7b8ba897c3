"""Refuse an output or evidence folder that could hurt, and clear one for `--overwrite`.

Folders are compared by device and inode, so that links, bind mounts and other spellings of one name are seen through.
"""

from __future__ import annotations

import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..data import Input
from ..errors import OutputError, UsageError
from .files import explain

_Id = tuple[int, int]
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:")  # what Path leaves of s3:// as its first part; no drive letter


def check_output(
    out: Path | None,
    evidence: Path | None,
    inputs: Sequence[Input],
    roots: Sequence[str | os.PathLike[str]],
    *,
    overwrite: bool = False,
    resume: bool = False,
    evidence_is_read: bool = False,
) -> None:
    """Refuse what cannot be written safely, before anything is written; then make both folders.

    Args:
        out, evidence: the folders to write; None for one that is not written
        inputs, roots: the input files, and the arguments (files or folders) they came from
        overwrite, resume: what to do about a folder that is not empty; not both
        evidence_is_read: `apply` reads a finished evidence folder, which therefore is not empty

    Raises:
        UsageError: both overwrite and resume; output or evidence equal to, inside or around an input or each other.
        OutputError: a folder is not empty, or is a file; two inputs would share an evidence file.
    """
    if overwrite and resume:
        raise UsageError("--overwrite starts anew and --resume goes on: give one of them.")
    places = [Path(root) for root in roots]
    files = [entry.file for entry in inputs]
    inputs = _local(inputs)
    named = [("output", "-o", out), ("evidence", "--evidence", evidence)]
    for what, option, folder in named:
        if folder is not None and _ADDRESS.fullmatch(folder.parts[0] if folder.parts else ""):
            raise UsageError(
                f"the {what} {folder} is an address: output is written to a folder of this machine only. "
                f"Name one ({option}), and copy it there when the run is done."
            )
    for what, option, folder in named:
        if folder is not None:
            _not_a_file(what, option, folder, inputs)
            _apart_from_inputs(what, option, folder, inputs, places)
    if out is not None and evidence is not None:
        _apart(out, evidence)
    _no_shared_names(files)
    for what, option, folder in named:
        if folder is None or overwrite or resume or (what == "evidence" and evidence_is_read):
            continue
        first = _first_entry(folder)
        if first is not None:
            raise OutputError(
                f"the {what} folder {folder} is not empty (it holds {first!r}). Use --resume to go on with a run that "
                f"was interrupted, --overwrite to delete what both folders hold, or another folder ({option})."
            )
    for _, _, folder in named:
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise explain(error, folder) from error


def clear(folder: Path, inputs: Sequence[Input] = ()) -> None:
    """Delete what a named folder holds, for `--overwrite`; the folder itself stays.

    Links inside are removed, never followed; nothing on another file system is touched; no folder that a person or
    a program lives in (root, home, the working folder, a repository, a mount point) or that holds an input is cleared.

    Raises:
        OutputError: the folder is one of those; nothing was deleted.
    """
    try:
        top = folder.resolve(strict=True)
    except FileNotFoundError:
        return
    if not top.is_dir():
        raise OutputError(f"{folder} is a file, not a folder: it is not deleted. Choose another folder.")
    for reason, place in (("the root of the file system", Path(top.anchor)), ("your home folder", _home())):
        if place is not None and _identity(top) in _ancestors(place):
            raise OutputError(f"{folder} is or holds {reason}: --overwrite does not clear it. Choose another folder.")
    if _identity(top) in _ancestors(Path.cwd()):
        raise OutputError(f"{folder} is or holds the working folder: --overwrite does not clear it. Choose another.")
    if os.path.ismount(top) and any(top.iterdir()):
        raise OutputError(f"{folder} is a mounted disk: --overwrite does not clear it. Name a folder on it.")
    if (top / ".git").exists():
        raise OutputError(f"{folder} is a git repository: --overwrite does not clear it. Choose another folder.")
    for entry in _local(inputs):
        if _identity(top) in _ancestors(Path(entry.path)):
            raise OutputError(f"{folder} holds the input {entry.path}: it is not cleared. Choose another folder.")
    try:
        _foreign_disk(top, os.lstat(top).st_dev)
        _empty(top)
    except OSError as error:
        raise OutputError(
            f"{folder} could not be cleared: {error}. Make what it holds yours to delete, or choose another folder."
        ) from error


def _local(inputs: Sequence[Input]) -> list[Input]:
    """The inputs that lie on this machine."""
    return [entry for entry in inputs if "://" not in entry.path]


def _empty(folder: Path) -> None:
    """Remove all entries below a folder, bottom up, without following links."""
    for place, folders, names in os.walk(folder, topdown=False, followlinks=False):
        for name in names:
            os.unlink(os.path.join(place, name))
        for name in folders:
            path = os.path.join(place, name)
            if os.path.islink(path):
                os.unlink(path)
            else:
                os.rmdir(path)


def _foreign_disk(folder: Path, device: int) -> None:
    """Refuse before the first deletion if another file system is mounted somewhere below."""
    for place, folders, _ in os.walk(folder, followlinks=False):
        for name in folders:
            path = os.path.join(place, name)
            if os.lstat(path).st_dev != device and not os.path.islink(path):
                raise OutputError(f"{path} is another disk, mounted inside {folder}: nothing was cleared. Unmount it.")


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # no home known for this user
        return None


def _identity(path: Path) -> _Id | None:
    """Device and inode of what a path leads to, links followed; None where there is nothing."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _ancestors(path: Path) -> set[_Id | None]:
    """Identities of a path (links followed) and of every folder around it, as far as they exist."""
    real = Path(os.path.realpath(path))
    return {_identity(place) for place in (real, *real.parents)} - {None}


def _not_a_file(what: str, option: str, folder: Path, inputs: Sequence[Input]) -> None:
    try:
        found = os.lstat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    identity = _identity(folder)
    for entry in inputs:
        if identity is not None and identity == _identity(Path(entry.path)):
            raise UsageError(
                f"the {what} {folder} is the input file {entry.path} itself (perhaps by a link). "
                f"It would be destroyed: name a folder of its own ({option})."
            )
    if identity is None and stat.S_ISLNK(found.st_mode):
        raise OutputError(f"the {what} {folder} is a link that leads nowhere. Remove it, or name another ({option}).")
    if not folder.is_dir():
        raise OutputError(f"the {what} {folder} is a file. Name a folder ({option}).")


def _apart_from_inputs(
    what: str, option: str, folder: Path, inputs: Sequence[Input], roots: Sequence[Path]
) -> None:
    around = _ancestors(folder)
    own = _identity(folder)
    for root in roots:
        if root.is_dir() and (identity := _identity(root)) in around:
            where = "is" if identity == own else "lies inside"
            raise UsageError(
                f"the {what} folder {folder} {where} the input folder {root}. A later run would read it as input. "
                f"Name a folder outside ({option})."
            )
    if own is None:
        return
    parents: dict[str, set[_Id | None]] = {}
    for place in (*map(str, roots), *(os.path.dirname(os.path.realpath(entry.path)) for entry in inputs)):
        if place not in parents:  # many inputs share a folder: look at each once
            parents[place] = _ancestors(Path(place))
            if own in parents[place]:
                raise UsageError(
                    f"the {what} folder {folder} holds the input {place}. The output would mix with the input. "
                    f"Name a folder of its own ({option})."
                )


def _apart(out: Path, evidence: Path) -> None:
    real_out, real_evidence = Path(os.path.realpath(out)), Path(os.path.realpath(evidence))
    same = _identity(out) is not None and _identity(out) == _identity(evidence)
    if same or real_out == real_evidence:
        raise UsageError(f"output and evidence are the same folder {out}. Name another one with --evidence.")
    for inner, outer, words in (
        (real_evidence, real_out, "the evidence folder lies inside the output folder, which holds only the corpus"),
        (real_out, real_evidence, "the output folder lies inside the evidence folder"),
    ):
        if outer in inner.parents or ((own := _identity(outer)) is not None and own in _ancestors(inner)):
            raise UsageError(f"{words} ({inner} in {outer}). Name another one with --evidence or -o.")


def _no_shared_names(files: Iterable[str]) -> None:
    """Refuse inputs whose evidence files would collide: `x` beside a folder `x.parquet`."""
    first_parts: dict[str, list[str]] = defaultdict(list)
    names = set(files)
    for file in names:
        for at, letter in enumerate(file):
            if letter == "/" and file[:at].endswith(".parquet"):
                first_parts[file[:at]].append(file)
    for folder, below in first_parts.items():
        file = folder.removesuffix(".parquet")
        if file in names:
            raise OutputError(
                f"the evidence of {file!r} would be the file removed/{folder}, and that of {min(below)!r} would lie "
                "in a folder of that name. Rename one of them, or give them in separate runs."
            )


def _first_entry(folder: Path) -> str | None:
    try:
        with os.scandir(folder) as entries:
            return min((entry.name for entry in entries), default=None)
    except (FileNotFoundError, NotADirectoryError):
        return None
