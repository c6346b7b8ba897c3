"""The store between stages: in memory, in files, or in memory while it fits.

A file is written under a temporary name, hashed, renamed, and only then vouched for by a small `.ok` file that holds
its size and the hashes of its columns, batch by batch; a table without a matching `.ok` does not exist. Whatever is
read is held against those hashes, so that neither a killed run nor a bad disk leaves anything that could be taken for
finished work. Names carry no data suffix, so that no reader ever takes a work file for data.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
        self._said: dict[str, _Said] = {}
        self._lock = threading.Lock()

    def _paths(self, name: str) -> tuple[Path, Path]:
        return self.folder / f"{name}.table", self.folder / f"{name}.ok"

    def has(self, name: str) -> bool:
        """Whether the table is here; one that this process did not write or read whole is read and checked."""
        if name in self._said:
            return True
        try:
            self._read(name)
        except StoreError:
            return False
        return True

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
        self._forget(name)
        try:
            with pa.OSFile(str(part), "wb") as out, pa.ipc.new_file(out, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
            said = _Said(part.stat().st_size, schema.names, _hashes_of(part, len(schema)), note() if note else "")
            ok.unlink(missing_ok=True)
            os.replace(part, path)
            part.write_text(said.to_json())
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
            self._said[name] = said

    def get(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table through a memory map, or some columns by reading them."""
        return pa.table({}) if columns is not None and not columns else self._read(name, columns)

    def batch(self, name: str, index: int) -> pa.RecordBatch:
        """Return one batch of a table by reading it."""
        path = self._paths(name)[0]
        said = self._vouched(name)
        with self._reading(name, said), pa.OSFile(str(path), "rb") as source:
            batch = pa.ipc.open_file(source).get_batch(index)
            if _hashes(pa.Table.from_batches([batch])) != [column[index : index + 1] for column in said.hashes]:
                raise OSError("its content has changed")
            return batch

    def _read(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        path = self._paths(name)[0]
        said = self._vouched(name)
        with self._reading(name, said):
            if path.stat().st_size != said.size:
                raise OSError("its size has changed")
            if columns is None:
                with pa.memory_map(str(path)) as source:
                    table, places = pa.ipc.open_file(source).read_all(), list(range(len(said.names)))
            else:
                wanted = [said.names.index(c) for c in columns]
                places = sorted(wanted)
                with pa.OSFile(str(path), "rb") as source:
                    how = pa.ipc.IpcReadOptions(included_fields=places)
                    table = pa.ipc.open_file(source, options=how).read_all()
            if _hashes(table) != [said.hashes[i] for i in places]:
                raise OSError("its content has changed")
            with self._lock:
                self._said[name] = said
            return table if columns is None else table.select(list(columns))

    def _vouched(self, name: str) -> _Said:
        """What was said of a table when it was whole."""
        if (said := self._said.get(name)) is not None:
            return said
        path, ok = self._paths(name)
        try:
            return _Said.from_json(ok.read_text())
        except (OSError, ValueError, KeyError, TypeError):
            raise StoreError(f"{path}: work file missing; go on with --resume, which makes it again") from None

    @contextmanager
    def _reading(self, name: str, said: _Said) -> Iterator[None]:
        """Take back what was said of a table that does not hold it, unless it was made again meanwhile."""
        try:
            yield
        except (OSError, pa.ArrowInvalid, IndexError) as e:
            path, ok = self._paths(name)
            with self._lock:
                if self._said.get(name, said) is said:
                    self._said.pop(name, None)
                    ok.unlink(missing_ok=True)
            raise StoreError(f"{path}: work file damaged ({e}); go on with --resume, which makes it again") from e

    def _forget(self, name: str) -> None:
        with self._lock:
            self._said.pop(name, None)

    def note(self, name: str) -> str:
        """Return what was noted of a table."""
        return self._vouched(name).note

    def drop(self, name: str) -> None:
        """Remove a table's files."""
        path, ok = self._paths(name)
        ok.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        self._forget(name)


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


@dataclass(frozen=True, slots=True)
class _Said:
    """What vouches for a table: size of the file, names of the columns, their hashes batch by batch; and the note."""

    size: int
    names: list[str]
    hashes: list[list[str]]
    note: str

    def to_json(self) -> str:
        return json.dumps([self.size, self.names, self.hashes, self.note])

    @classmethod
    def from_json(cls, packed: str) -> _Said:
        size, names, hashes, note = json.loads(packed)
        return cls(int(size), list(names), list(hashes), str(note))


def _hashes(table: pa.Table) -> list[list[str]]:
    """XXH3 128 of each column's memory, batch by batch."""
    return [[_hash(chunk) for chunk in column.chunks] for column in table.columns]


def _hashes_of(path: Path, columns: int) -> list[list[str]]:
    """The same of a file, a batch of it in memory at a time."""
    with pa.OSFile(str(path), "rb") as source:
        file = pa.ipc.open_file(source)
        batches = [[_hash(c) for c in file.get_batch(i).columns] for i in range(file.num_record_batches)]
    return [list(column) for column in zip(*batches, strict=True)] if batches else [[] for _ in range(columns)]


def _hash(values: pa.Array) -> str:
    found = [np.zeros(1, np.uint64)]
    for buffer in values.buffers():
        size = 0 if buffer is None else buffer.size
        found.append(np.array([size], np.uint64))
        if size:
            found.append(bytes_hash(np.frombuffer(buffer, np.uint8), np.array([0, size], np.int64))[0])
    together = np.concatenate(found).view(np.uint8)
    high, low = bytes_hash(together, np.array([0, len(together)], np.int64))[0].tolist()
    inner = _hash(values.dictionary) if isinstance(values, pa.DictionaryArray) else ""
    return f"{high:016x}{low:016x}{inner}"
