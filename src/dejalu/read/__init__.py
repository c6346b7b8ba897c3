"""The read room: files and in-memory tables to batches of documents.

discover     paths → the input files, in input order
resolve      which columns of a file are read
pieces       a file → independent units
read         a unit → Docs
rows         only some rows of a file → Docs
records      a line file → its raw records, for writing them back
from_memory  lists, arrays, tables → the same, without files
"""

from .columns import Columns
from .discover import SUFFIXES, Discovery, discover
from .files import pieces, read, records, resolve, rows
from .memory import Memory, from_memory, is_paths
from .pieces import Piece
from .problems import Collector, OnProblem, describe, stop

__all__ = [
    "SUFFIXES",
    "Collector",
    "Columns",
    "Discovery",
    "Memory",
    "OnProblem",
    "Piece",
    "describe",
    "discover",
    "from_memory",
    "is_paths",
    "pieces",
    "read",
    "records",
    "resolve",
    "rows",
    "stop",
]
