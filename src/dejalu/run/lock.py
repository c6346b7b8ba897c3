"""One run at a time in a work folder: a lock that the system lets go of when its process ends, however it ends."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from ..errors import OutputError

NAME = "lock"


def take(work: Path) -> IO[bytes] | None:
    """Lock a work folder that exists; the lock is held until the file returned is closed.

    Raises:
        OutputError: another run holds it.
    """
    try:
        import fcntl
    except ImportError:  # Windows: an open file cannot be removed there anyway
        return None
    file = open(work / NAME, "ab")  # noqa: SIM115 it stays open as long as the run
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as e:
        file.close()
        raise OutputError(f"another run is at work in {work}; wait for it, or choose another output folder") from e
    return file
