"""The store between stages: in memory, in files, or in memory while it fits.

A file is written under a temporary name, hashed as it is written, renamed, and only then vouched for by a small `.ok` file
that holds its size and its hash; a table without a matching `.ok` does not exist. The file is held against that hash when
it is first read, so that neither a killed run nor a bad disk leaves anything that could be taken for finished work. Names
carry no data suffix, so that no reader ever takes a work file for data.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..data import U8
from ..errors import OutputError, StoreError
from ..kernels import bytes_hash

BLOCK = 1 << 20  # bytes that are hashed at once


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

    def get(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table, or some of its columns."""
        try:
            table = self._tables[name]
        except KeyError:
            raise StoreError(f"{name}: no such table in the store") from None
        return table if columns is None else table.select(list(columns))

    def batch(self, name: str, index: int) -> pa.RecordBatch:
        """Return one batch of a table."""
        return self.get(name).to_batches()[index]

    def drop(self, name: str) -> None:
        """Forget a table."""
        self._tables.pop(name, None)
        self._notes.pop(name, None)


class FileStore:
    """Keeps each table as one Arrow IPC file under `folder`.

    A whole table is read back through a memory map, some of its columns by reading no more than those.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._checked: set[str] = set()
        self._names: dict[str, list[str]] = {}
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
        with self._lock:  # whatever had this name
            self._checked.discard(name)
            self._names.pop(name, None)
        try:
            with _Hashed(part) as out:
                with pa.ipc.new_file(pa.PythonFile(out, "w"), schema) as writer:
                    for batch in batches:
                        writer.write_batch(batch)
            said = {"size": out.size, "hash": out.hexdigest(), "note": note() if note else ""}
            ok.unlink(missing_ok=True)
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

    def get(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table through a memory map, or some columns by reading them."""
        path = self._whole(name)
        with self._reading(name):
            if columns is None:
                with pa.memory_map(str(path)) as source:
                    return pa.ipc.open_file(source).read_all()
            with pa.OSFile(str(path), "rb") as source:
                if name not in self._names:
                    self._names[name] = list(pa.ipc.open_file(source).schema.names)
                names = self._names[name]
                wanted = pa.ipc.IpcReadOptions(included_fields=sorted(names.index(c) for c in columns))
                return pa.ipc.open_file(source, options=wanted).read_all().select(list(columns))

    def batch(self, name: str, index: int) -> pa.RecordBatch:
        """Return one batch of a table by reading it."""
        path = self._whole(name)
        with self._reading(name), pa.OSFile(str(path), "rb") as source:
            return pa.ipc.open_file(source).get_batch(index)

    def _whole(self, name: str) -> Path:
        path, _ = self._paths(name)
        if not self.has(name):
            raise StoreError(f"{path}: work file missing or damaged; go on with --resume, which makes it again")
        return path

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowInvalid) as e:  # gone or damaged since it was first read
            with self._lock:
                self._checked.discard(name)
            raise StoreError(
                f"{self._paths(name)[0]}: work file cannot be read any more ({e}); go on with --resume, which makes it "
                "again"
            ) from e

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
            self._names.pop(name, None)


class SpillStore:
    """Keeps tables in memory up to `limit` bytes over all of them, further ones in files."""

    def __init__(self, limit: int, files: Callable[[], FileStore]) -> None:
        self._left = limit
        self._memory = MemoryStore()
        self._make = files
        self._files: FileStore | None = None
        self._lock = threading.Lock()

    def _spilled(self) -> FileStore:
        with self._lock:
            if self._files is None:
                self._files = self._make()
            return self._files

    def _of(self, name: str) -> MemoryStore | FileStore:
        return self._memory if self._files is None or self._memory.has(name) else self._files

    def has(self, name: str) -> bool:
        """Whether the table is here, whole."""
        return self._of(name).has(name)

    def put(self, name: str, table: pa.Table) -> None:
        """Keep a table."""
        self.stream(name, table.schema, table.to_batches())

    def stream(
        self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], note: Callable[[], str] | None = None
    ) -> None:
        """Keep a table: in memory as far as it goes; from the batch that does not fit on, all of it in a file."""
        held: list[pa.RecordBatch] = []
        size = 0
        coming = iter(batches)
        for batch in coming:
            with self._lock:
                fits = batch.nbytes <= self._left
                if fits:
                    self._left -= batch.nbytes
                    size += batch.nbytes
            held.append(batch)
            if not fits:
                self._spilled().stream(name, schema, _then(held, coming), note)
                with self._lock:
                    self._left += size
                return
        self._memory.stream(name, schema, held, note)

    def note(self, name: str) -> str:
        """Return what was noted of a table."""
        return self._of(name).note(name)

    def get(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table, or some of its columns."""
        return self._of(name).get(name, columns)

    def batch(self, name: str, index: int) -> pa.RecordBatch:
        """Return one batch of a table."""
        return self._of(name).batch(name, index)

    def drop(self, name: str) -> None:
        """Forget a table."""
        if self._memory.has(name):
            with self._lock:
                self._left += self._memory.get(name).nbytes
        self._of(name).drop(name)


def _then(held: list[pa.RecordBatch], coming: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    while held:
        yield held.pop(0)
    yield from coming


class _Hashed:
    """A file that is hashed while it is written: XXH3 128 of the hashes of its blocks."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 closed by `close`
        self._raw = bytearray(BLOCK)
        self._block: U8 = np.frombuffer(self._raw, np.uint8)
        self._used = 0
        self._hashes: list[Any] = []
        self.size = 0
        self.closed = False

    def __enter__(self) -> _Hashed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, data: Any) -> int:
        """Take bytes."""
        given: U8 = np.frombuffer(data, np.uint8)
        at = 0
        while at < len(given):
            step = min(BLOCK - self._used, len(given) - at)
            self._block[self._used : self._used + step] = given[at : at + step]
            self._used += step
            at += step
            if self._used == BLOCK:
                self.flush()
        self.size += len(given)
        return len(given)

    def flush(self) -> None:
        """Hash and write what is held, once a block is full or the file ends."""
        if self._used == BLOCK or (self._used and self.closed):
            block = memoryview(self._raw)[: self._used]
            self._hashes.append(_hash(self._block, self._used))
            while block:
                block = block[self._file.write(block) :]
            self._used = 0

    def tell(self) -> int:
        """Bytes taken so far."""
        return self.size

    def close(self) -> None:
        """Write the rest."""
        if not self.closed:
            self.closed = True
            try:
                self.flush()
            finally:
                self._file.close()

    def hexdigest(self) -> str:
        """The hash of the file, once it is closed."""
        return _digest(self._hashes)


def _hash(block: U8, size: int) -> Any:
    return bytes_hash(block, np.array([0, size], np.int64))[0]


def _digest(hashes: list[Any]) -> str:
    if not hashes:
        return "0"
    all_of_them = np.concatenate(hashes).view(np.uint8)
    high, low = _hash(all_of_them, len(all_of_them)).tolist()
    return f"{high:016x}{low:016x}"


def _file_hash(path: Path) -> str:
    raw = bytearray(BLOCK)
    block: U8 = np.frombuffer(raw, np.uint8)
    hashes: list[Any] = []
    with open(path, "rb", buffering=0) as file:
        while True:
            used = 0
            while used < BLOCK and (n := file.readinto(memoryview(raw)[used:])):
                used += n
            if not used:
                return _digest(hashes)
            hashes.append(_hash(block, used))
