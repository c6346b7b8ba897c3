"""The nouns that the rooms share: all of dejalu's vocabulary, and no behaviour beyond packing and checking.

DocId      int64: part << 40 | row; part is the place of the file in the input order, row its 0-based record
Input      one input file (or in-memory table) in input order
Docs       a batch of documents as read
Keys       (key, id) rows of one band
Pairs      pairs of documents, scored or not
Verdicts   what was decided of every document that was removed
FileVerdicts  the same, seen from one file: what `act` needs to rewrite it
Problem    one record set aside, with its reason
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .errors import DejaluError

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
I32 = npt.NDArray[np.int32]
U32 = npt.NDArray[np.uint32]
U8 = npt.NDArray[np.uint8]
F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

ROW_BITS = 40
MAX_PARTS = 1 << 23
_ROW_MASK = (1 << ROW_BITS) - 1

# Kind of a JSON value, beside its text (see Docs.kinds).
ABSENT, NULL, STRING, INTEGER, REAL, BOOLEAN, NESTED = range(7)


def doc_ids(part: int, rows: I64) -> I64:
    """Pack a file's place and its row numbers into DocIds (int64, non-negative)."""
    return (np.int64(part) << np.int64(ROW_BITS)) | np.asarray(rows, np.int64)


def part_of(ids: I64) -> I64:
    """Place of the file of each DocId in the input order."""
    return ids >> np.int64(ROW_BITS)


def row_of(ids: I64) -> I64:
    """0-based record of each DocId inside its file."""
    return ids & np.int64(_ROW_MASK)


@dataclass(frozen=True, slots=True)
class Input:
    """One input file in input order.

    `file` is the name that all evidence uses (relative, `/`-separated); `path` is where it was found and `size`,
    `mtime_ns` are what it was then; `format` is one of parquet, jsonl, csv, txt, html, warc, memory; `compression` is
    "", "gz" or "zst" (of the file as a whole, parquet has its own). A remote input has its address (without secrets)
    as `path`, and instead of a time what tells its state, such as the ETag, as `version`.
    """

    part: int
    file: str
    path: str
    format: str
    compression: str = ""
    size: int = 0
    mtime_ns: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """What was set aside, and why.

    row     0-based record; -1: the whole file, of which nothing is compared or written
    line    1-based line where there are lines
    raw     the record's bytes, where they were at hand
    rest    the file breaks off at this record: it and all that may follow are lost, what comes before was read
    """

    file: str
    row: int
    line: int | None
    reason: str
    raw: bytes | None = None
    rest: bool = False

    @property
    def record(self) -> bool:
        """Whether this is one damaged record, not a file or the rest of one."""
        return self.row >= 0 and not self.rest


@dataclass(frozen=True, slots=True)
class Docs:
    """A batch of documents as read.

    ids      (n,) int64 DocIds, ascending
    text     (n,) Arrow large_string; null where the document has no text (absent key, null)
    columns  other columns by name, (n,) each, as the file holds them; JSON values come as text
    kinds    for columns read from JSON: (n,) uint8 per column (ABSENT … NESTED); strings are unescaped in `columns`,
             every other kind is its raw JSON text
    invalid  (n,) bool or None: the text held invalid UTF-8 or a lone surrogate, which was replaced on reading
             (readers that hand the bytes through unchanged leave this None; the kernels flag it)
    """

    ids: I64
    text: pa.LargeStringArray
    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    kinds: Mapping[str, U8] = field(default_factory=dict)
    invalid: Bool | None = None

    def __len__(self) -> int:
        return len(self.ids)


def text_buffers(text: pa.LargeStringArray) -> tuple[U8, I64]:
    """View an Arrow large_string array as the kernels want it: bytes (uint8) and n + 1 offsets (int64), no copy.

    Null rows must span no bytes for the kernels to see them as empty; Arrow allows otherwise, so such arrays are
    rebuilt.
    """
    n = len(text)
    if n == 0:
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    if text.null_count:
        text = text.fill_null("")
    _, offsets, data = text.buffers()
    view = np.frombuffer(offsets, np.int64, n + 1, text.offset * 8)
    return (np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)), view


def as_arrow(values: npt.NDArray[Any]) -> pa.Array:
    """View a NumPy array of numbers as an Arrow array, no copy (booleans are packed).

    pa.array would look for masked arrays first, for which numpy.ma is imported.
    """
    kind = pa.from_numpy_dtype(values.dtype)
    held = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(held)])


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The different values, ascending, as np.unique gives them, which would import numpy.ma."""
    ascending = np.sort(values)
    first = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return ascending[first]


class SpecMismatch(DejaluError):
    """Sketches that were made with different plans were mixed."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The (key, id) rows of one band: key (m,) uint64 bit pattern, id (m,) int64."""

    key: U64
    id: I64


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of documents with a < b: a, b (m,) int64; similarity (m,) float64 in [0, 1], or None before
    verification.
    """

    a: I64
    b: I64
    similarity: F64 | None = None

    def __len__(self) -> int:
        return len(self.a)


# How a removed document was found, and what its similarity measures; stored as small integers while settling.
METHODS = ("bytes", "exact", "minhash", "simhash", "containment", "tfidf", "short")
MEASURES = ("equal", "jaccard", "containment_a", "weighted_jaccard", "cosine", "simhash")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One row per removed document, ascending by id; every document not listed is kept.

    id, twin     (m,) int64: the removed document and the kept one it repeats
    similarity   (m,) float64: true similarity of the two (an estimate where the measure is `simhash`)
    measure      (m,) uint8: place in MEASURES
    method       (m,) uint8: place in METHODS
    distance     (m,) int32 Hamming distance of their fingerprints, or None where the method has none
    """

    id: I64
    twin: I64
    similarity: F64
    measure: U8
    method: U8
    distance: I32 | None = None

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, slots=True)
class FileVerdicts:
    """All that `act` needs to rewrite one input file.

    input       the file
    rows        number of records in it, set-aside ones included
    removed     (m,) int64 rows, ascending
    set_aside   (s,) int64 rows, ascending: damaged records that are in no output
    twin_file   (m,) object: `file` of each twin;  twin_row (m,) int64;  similarity (m,) float64
    copies      (rows,) int64 or None: 1 + number of documents removed for this one; 0 for a removed one
    """

    input: Input
    rows: int
    removed: I64
    set_aside: I64
    twin_file: npt.NDArray[np.object_]
    twin_row: I64
    similarity: F64
    copies: I64 | None = None


@dataclass(frozen=True, slots=True)
class Records:
    """A run of raw records of a line format (jsonl, csv), for writing them back byte for byte.

    first    row of the first record
    data     (bytes,) uint8: the raw bytes
    start    (n,) int64 and end (n,) int64: each record's bytes in `data`, its line end included (the last may have
             none); what lies between records (blank lines) belongs to none
    preamble bytes before the first record of the file (BOM, csv header), in the first run only
    """

    first: int
    data: U8
    start: I64
    end: I64
    preamble: bytes = b""
