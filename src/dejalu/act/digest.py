"""The logical digest: one SHA-256 over all verdicts, the same for every machine, version and file format.

Bytes that are hashed, all integers little-endian:

    "dejalu verdicts 1\\n"
    for each input file with at least one removed row, in input order:
        u32 length, UTF-8 bytes       file
        u64                           m, number of removed rows
        m × int64                     row, ascending
        strings                       twin_file
        m × int64                     twin_row
        m × float64 (IEEE 754 bits)   similarity
        strings                       measure
        strings                       method

    strings: u32 number of distinct values; each value, in the order of its UTF-8 bytes, as u32 length and bytes;
             then m × u32 places in that list
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

_HEAD = b"dejalu verdicts 1\n"


class Digest:
    """Hashes the evidence tables of the files, one after the other, in input order."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256(_HEAD)

    def add(self, file: str, table: pa.Table) -> None:
        """Add the evidence columns of one file (see `evidence.removed_schema`), rows ascending."""
        if table.num_rows == 0:
            return
        name = file.encode("utf-8", "surrogateescape")
        self._hash.update(len(name).to_bytes(4, "little") + name + table.num_rows.to_bytes(8, "little"))
        self._numbers(table, "row", "<i8")
        self._strings(table, "twin_file")
        self._numbers(table, "twin_row", "<i8")
        self._numbers(table, "similarity", "<f8")
        self._strings(table, "measure")
        self._strings(table, "method")

    def hexdigest(self) -> str:
        """Return the digest so far as 64 hexadecimal digits."""
        return self._hash.hexdigest()

    def _numbers(self, table: pa.Table, name: str, kind: str) -> None:
        self._hash.update(np.ascontiguousarray(table.column(name).to_numpy(), np.dtype(kind)).data)

    def _strings(self, table: pa.Table, name: str) -> None:
        column = table.column(name).dictionary_encode().combine_chunks()
        array = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        values = [value.encode() for value in array.dictionary.to_pylist()]
        order = sorted(range(len(values)), key=values.__getitem__)
        place = np.empty(len(values), np.dtype("<u4"))
        place[order] = np.arange(len(values))
        self._hash.update(len(values).to_bytes(4, "little"))
        for at in order:
            self._hash.update(len(values[at]).to_bytes(4, "little") + values[at])
        self._hash.update(place[array.indices.to_numpy()].data)


def logical_digest(tables: Iterable[tuple[str, pa.Table]]) -> str:
    """Hash the verdicts of all files, given as (file, evidence table) in input order."""
    digest = Digest()
    for file, table in tables:
        digest.add(file, table)
    return digest.hexdigest()
