"""The last room: verdicts become evidence, a report, and the rewritten corpus.

    facts → report, warn, summary    what is told
    ids, evidence, digest            what is proved
    tags, lines, parquet, warc → corpus    what is written
    output, early, files, manifest, apply   what is refused, how safely it is written, and again

`summary` is imported where a terminal is written to: it needs rich.
"""

from .apply import Evidence
from .apply import load as load_evidence
from .corpus import write as write_corpus
from .digest import Digest, logical_digest
from .early import check_inputs
from .evidence import read_removed, removed_schema, removed_table, write_removed, write_set_aside
from .facts import (
    CapFacts,
    ClusterFacts,
    Facts,
    FileFacts,
    InvalidFacts,
    RepeatedFacts,
    RoomFacts,
    ShortFacts,
    SourceFacts,
    short_limit,
)
from .files import Written, atomic, atomic_file, sweep
from .ids import IdSummary, IdType, convert, summarise, unify
from .manifest import Journal, Manifest
from .output import check_output, clear
from .report import build, write_plan
from .report import write as write_report
from .warn import warnings

__all__ = [
    "CapFacts",
    "ClusterFacts",
    "Digest",
    "Evidence",
    "Facts",
    "FileFacts",
    "IdSummary",
    "IdType",
    "InvalidFacts",
    "Journal",
    "Manifest",
    "RepeatedFacts",
    "RoomFacts",
    "ShortFacts",
    "SourceFacts",
    "Written",
    "atomic",
    "atomic_file",
    "build",
    "check_inputs",
    "check_output",
    "clear",
    "convert",
    "load_evidence",
    "logical_digest",
    "read_removed",
    "removed_schema",
    "removed_table",
    "short_limit",
    "summarise",
    "sweep",
    "unify",
    "warnings",
    "write_corpus",
    "write_plan",
    "write_removed",
    "write_report",
    "write_set_aside",
]
