"""Formats in which a file is one document, row 0 (txt, HTML): what they share."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..data import U8, Docs, Input, doc_ids
from .columns import Columns
from .pieces import Piece


def pieces(input: Input, columns: Columns) -> list[Piece]:
    """The whole file is one piece."""
    return [Piece(0, 0, 1)]


def document(input: Input, columns: Columns, body: U8 | bytes) -> Docs:
    """The one document, of UTF-8 bytes; its other columns are null."""
    offsets = np.array([0, len(body)], np.int64)
    text = pa.LargeStringArray.from_buffers(1, pa.py_buffer(offsets), pa.py_buffer(body))
    return Docs(doc_ids(input.part, np.zeros(1, np.int64)), text, {n: pa.nulls(1, pa.string()) for n in columns.others})
