"""Write every output file in one place: whole under its final name, or not there at all.

A file is written under a hidden temporary name in its own folder, flushed to the disk, renamed, and the folder is
flushed. A run that is killed leaves at most a temporary file, which `sweep` removes.

Flushing takes milliseconds, which a folder of many small texts cannot afford: files below 1 MiB are flushed together by
`settle`, before the run is recorded as finished. A kill loses nothing of them; after a loss of power `--resume` finds
by size and SHA-256 which are not whole.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import ChangedInput, OutputError

TEMPORARY = ".dejalu-tmp"
_NAME_MAX = 255
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_BLOCK = 1 << 20
_SMALL = 1 << 20
_TOGETHER = hasattr(os, "sync")


@dataclass(frozen=True, slots=True)
class Written:
    """One output file as it was written: its name below the output folder (`/`-separated), size in bytes, SHA-256."""

    name: str
    size: int
    sha256: str


def temporary_name(path: Path) -> Path:
    """Return the hidden name under which `path` is written; it never carries a data suffix."""
    name = f".{path.name}{TEMPORARY}"
    if len(os.fsencode(name)) > _NAME_MAX:  # a name that fits only without our additions
        name = f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:32]}{TEMPORARY}"
    return path.with_name(name)


@contextmanager
def atomic(path: Path, *, at_once: bool = False) -> Iterator[Path]:
    """Give a temporary path to write; on leaving, `path` is that file, whole.

    `at_once`: a small file too is on the disk then. On any error the temporary file is removed and whatever stood
    under `path` stays as it was.

    Raises:
        OutputError: the disk or quota is full, or the folder cannot be written.
    """
    temporary = temporary_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)  # of a killed run; never write through a link that lies there
        yield temporary
        flush = at_once or not _TOGETHER or temporary.stat().st_size >= _SMALL
        if flush:
            _flush(temporary)
        os.replace(temporary, path)
        if flush:
            _flush(path.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise explain(error, path) from error
        raise


@contextmanager
def atomic_file(path: Path, *, at_once: bool = False) -> Iterator[BinaryIO]:
    """Give a binary file to write; the same promise as `atomic`."""
    with atomic(path, at_once=at_once) as temporary, open(temporary, "xb", buffering=_BLOCK) as file:
        yield file


def settle() -> None:
    """Put on the disk every small file that was written so far."""
    if _TOGETHER:
        os.sync()


def explain(error: OSError, path: Path) -> Exception:
    """Turn an operating system error on `path` into one that says what to do; errors on other files pass unchanged."""
    if error.errno in _FULL:
        return OutputError(
            f"disk full: {path} could not be written ({error.strerror or error}). Nothing half written was left. "
            f"Free space on the disk of {path.parent}, or choose another output folder, then run again with --resume."
        )
    ours = {path, temporary_name(path), *path.parents}
    if error.filename is not None and Path(os.fsdecode(error.filename)) not in ours:
        return error
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST}:
        return OutputError(
            f"{path} cannot be written: {error.strerror or error}. "
            f"Make {path.parent} a folder that you may write, or choose another output folder."
        )
    if error.errno == errno.ENAMETOOLONG:
        return OutputError(f"{path} cannot be written: the name is too long here. Choose a shorter output folder.")
    return error


def _flush(path: Path) -> None:
    """Ask the system to put a file or folder on the disk (folders: where the system can)."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # file systems that cannot flush a folder
            raise
    finally:
        os.close(handle)


def copy(source: Path, target: Path) -> None:
    """Copy a file byte for byte, inside the kernel where it can (reflinks included)."""
    with open(source, "rb", buffering=0) as reader, atomic_file(target) as writer:
        if not _copy_range(reader.fileno(), writer.fileno()):
            shutil.copyfileobj(reader, writer, 4 * _BLOCK)


def copy_stream(reader: BinaryIO, target: Path) -> None:
    """Copy what comes from a stream to a file."""
    with atomic_file(target) as writer:
        shutil.copyfileobj(reader, writer, 4 * _BLOCK)


def _copy_range(reader: int, writer: int) -> bool:
    """Copy by copy_file_range; False where the system or the file systems cannot, with nothing copied."""
    if not hasattr(os, "copy_file_range"):
        return False
    copied = 0
    while True:
        try:
            step = os.copy_file_range(reader, writer, 1 << 30)
        except OSError as error:
            if copied or error.errno in _FULL:
                raise
            return False
        if step == 0:
            # Some file systems answer 0 for files that they make up as they are read: let the plain copy decide.
            return copied > 0
        copied += step


def unchanged(path: Path, file: str, size: int, mtime_ns: int) -> None:
    """Check that an input file is still what it was when the run began.

    Raises:
        ChangedInput: it is gone, or its size or time differs.
    """
    try:
        now = path.stat()
    except FileNotFoundError as error:
        raise ChangedInput(f"{file}: {path} is gone since the run began. Put it back, or start anew.") from error
    if now.st_size != size:
        raise ChangedInput(
            f"{file}: {path} has {now.st_size:,} bytes, it had {size:,} when the run began. "
            "Put the old file back, or start anew with --overwrite."
        )
    if now.st_mtime_ns != mtime_ns:
        raise ChangedInput(
            f"{file}: {path} was modified since the run began (time {now.st_mtime_ns} ns, then {mtime_ns} ns). "
            "Put the old file back with its time, or start anew with --overwrite."
        )


def describe(path: Path, name: str) -> Written:
    """Measure a finished output file: size and SHA-256."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Written(name, os.fstat(file.fileno()).st_size, digest)


def inside(folder: Path, name: str) -> Path:
    """Join a `/`-separated evidence name to a folder, refusing names that would leave it."""
    parts = name.split("/")
    if name.startswith("/") or ("\\" in name and os.name == "nt") or any(p in {"", ".", ".."} for p in parts):
        raise OutputError(f"{name!r} is not a name below {folder}. Give the inputs by paths without '..'.")
    return folder.joinpath(*parts)


def sweep(folder: Path) -> int:
    """Remove temporary files that a killed run left below a folder; links are not followed. Returns how many."""
    found = 0
    for place, _, names in os.walk(folder, followlinks=False):
        for name in names:
            if name.startswith(".") and name.endswith(TEMPORARY):
                os.unlink(os.path.join(place, name))
                found += 1
    return found
