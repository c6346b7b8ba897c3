"""The store between stages: in memory, or one Arrow IPC file per table.

A file is written under a temporary name, hashed, renamed, and only then vouched for by a small `.ok` file that holds
its size and its 128-bit hash; a table without a matching `.ok` does not exist. So a killed run leaves nothing that
could be taken for finished work. Names carry no data suffix, so that no reader ever takes a work file for data.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..errors import OutputError, StoreError
from ..kernels import bytes_hash


class MemoryStore:
    """Keeps tables in memory."""

    def __init__(self) -> None:
        self._tables: dict[str, pa.Table] = {}
        self._notes: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Whether the table is here."""
        return name in self._tables

    def put(self, name: str, table: pa.Table) -> None:
        """Keep a table."""
        self._tables[name] = table

    def stream(
        self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], note: Callable[[], str] | None = None
    ) -> None:
        """Keep a table that comes batch by batch, and a note."""
        self.put(name, pa.Table.from_batches(list(batches), schema))
        self._notes[name] = note() if note else ""

    def note(self, name: str) -> str:
        """Return what was noted of a table."""
        return self._notes.get(name, "")

    def get(self, name: str) -> pa.Table:
        """Return a table."""
        try:
            return self._tables[name]
        except KeyError:
            raise StoreError(f"{name}: no such table in the store") from None

    def drop(self, name: str) -> None:
        """Forget a table."""
        self._tables.pop(name, None)


class FileStore:
    """Keeps each table as one Arrow IPC file under `folder`, read back through a memory map."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._checked: set[str] = set()
        self._lock = threading.Lock()

    def _paths(self, name: str) -> tuple[Path, Path]:
        return self.folder / f"{name}.table", self.folder / f"{name}.ok"

    def has(self, name: str) -> bool:
        """Whether the table is here, whole: its size and hash are those vouched for."""
        if name in self._checked:
            return True
        path, ok = self._paths(name)
        try:
            said = json.loads(ok.read_text())
            whole = bool(path.stat().st_size == said["size"] and _file_hash(path) == said["hash"])
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if whole:
            with self._lock:
                self._checked.add(name)
        return whole

    def put(self, name: str, table: pa.Table) -> None:
        """Write a table; a full disk is an OutputError that says so."""
        self.stream(name, table.schema, table.to_batches())

    def stream(
        self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], note: Callable[[], str] | None = None
    ) -> None:
        """Write a table batch by batch, and a note; a full disk is an OutputError that says so."""
        path, ok = self._paths(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        try:
            with pa.OSFile(str(part), "wb") as out, pa.ipc.new_file(out, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
            said = {"size": part.stat().st_size, "hash": _file_hash(part), "note": note() if note else ""}
            os.replace(part, path)
            part.write_text(json.dumps(said))
            os.replace(part, ok)
        except OSError as e:
            part.unlink(missing_ok=True)
            if e.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise OutputError(
                    f"disk full: {path} could not be written; free some space there or name another folder with --tmp, "
                    "then go on with --resume"
                ) from e
            raise
        with self._lock:
            self._checked.add(name)

    def get(self, name: str) -> pa.Table:
        """Map a table into memory."""
        if not self.has(name):
            raise StoreError(f"{self._paths(name)[0]}: work file missing or damaged; start again with --overwrite")
        with pa.memory_map(str(self._paths(name)[0])) as source:
            return pa.ipc.open_file(source).read_all()

    def note(self, name: str) -> str:
        """Return what was noted of a table."""
        return str(json.loads(self._paths(name)[1].read_text())["note"])

    def drop(self, name: str) -> None:
        """Remove a table's files."""
        path, ok = self._paths(name)
        ok.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        with self._lock:
            self._checked.discard(name)


def _file_hash(path: Path) -> str:
    size = path.stat().st_size
    if size == 0:
        return "0"
    data = np.memmap(path, np.uint8, "r")
    high, low = bytes_hash(data, np.array([0, size], np.int64))[0].tolist()
    return f"{high:016x}{low:016x}"
