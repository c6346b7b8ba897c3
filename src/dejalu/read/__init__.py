"""The read room: files and in-memory tables to batches of documents.

discover     paths → the input files, in input order
resolve      which columns of a file are read
pieces       a file → independent units
read         a unit → Docs
rows         only some rows of a file → Docs
records      a jsonl, csv or warc file → its raw records, for writing them back
opener       a remote file → what opens it, for writing it back
versions     what shapes the texts beside dejalu and pyarrow
from_memory  lists, arrays, tables → the same, without files
"""

from .columns import Columns
from .discover import SUFFIXES, Discovery, discover
from .files import opener, pieces, read, records, resolve, rows, versions
from .memory import Memory, from_memory, is_paths
from .pieces import Piece
from .problems import Collector, OnPassed, OnProblem, describe, stop

__all__ = [
    "SUFFIXES",
    "Collector",
    "Columns",
    "Discovery",
    "Memory",
    "OnPassed",
    "OnProblem",
    "Piece",
    "describe",
    "discover",
    "from_memory",
    "is_paths",
    "opener",
    "pieces",
    "read",
    "records",
    "resolve",
    "rows",
    "stop",
    "versions",
]
