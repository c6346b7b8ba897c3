"""A plain text file: the whole of it is one document, row 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..data import I64, Docs, Input, Problem
from ..kernels.formats import utf8_invalid
from .columns import TEXT_NAMES, Ask, Columns
from .encoding import encoding_of, is_utf8, not_encoded
from .open import open_text
from .pieces import Piece
from .problems import OnProblem
from .whole import document, pieces  # noqa: F401 pieces is asked of every format (files.py)


def resolve(input: Input, ask: Ask) -> Columns:
    """The text is the file; the encoding is found when it is read."""
    encoding_of(b"", ask.encoding)
    return Columns(ask.text[:1] or (TEXT_NAMES[0],), None, ask.extra, ask.encoding or "utf-8")


def read(
    input: Input, piece: Piece, columns: Columns, *, batch_bytes: int, batch_rows: int | None, on_problem: OnProblem
) -> Iterator[Docs]:
    """Read the document."""
    data = b"".join(open_text(input, lambda reason: None))
    encoding, bom = encoding_of(data[:3], columns.encoding)
    body = np.frombuffer(data, np.uint8)[bom:]
    if encoding != "utf-8" and not bom and is_utf8(encoding, iter((data,))):
        encoding = "utf-8"
    if encoding == "utf-8":
        at = utf8_invalid(body)
        if at >= 0:
            on_problem(Problem(input.file, 0, None, not_encoded(encoding, bom + at, body[at : at + 4].tobytes())))
            return
    else:
        try:
            body = np.frombuffer(data[bom:].decode(encoding).encode(), np.uint8)
        except UnicodeDecodeError as e:
            on_problem(Problem(input.file, 0, None, not_encoded(encoding, bom + e.start, data[bom + e.start :])))
            return
    yield document(input, columns, body)


def rows(input: Input, columns: Columns, wanted: I64) -> Iterator[Docs]:
    """Read the document, if it is wanted."""
    if len(wanted):
        yield from read(input, Piece(0), columns, batch_bytes=0, batch_rows=None, on_problem=lambda problem: None)
