"""Write `report.json` and `plan.json`: the run in numbers, in a fixed order of keys.

All that varies between runs with the same input and plan (times, machine, paths, threads) stands under `run`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OutputError
from .facts import COUNTS, Facts, short_limit
from .files import Written, atomic_file, describe
from .warn import warnings

if TYPE_CHECKING:
    from rich.console import RenderableType

REPORT = "report.json"
PLAN = "plan.json"


def build(facts: Facts) -> dict[str, Any]:
    """Return the report as JSON values; docs/evidence.md tells what each field means."""
    counts = {name: int(facts.counts[name]) for name in COUNTS}
    short = facts.short
    return {
        **counts,
        "digest": facts.digest,
        "warnings": warnings(facts),
        "caps": [asdict(cap) for cap in sorted(facts.caps, key=lambda cap: cap.name)],
        "long_tokens": int(facts.long_tokens),
        "invalid": {
            "texts": facts.invalid.texts,
            "first": [{"file": file, "row": row} for file, row in facts.invalid.first],
        },
        "repeated_ids": {
            "ids": facts.repeated.ids,
            "most": [{"id": _plain(value), "times": times} for value, times in facts.repeated.most],
        },
        "short": {
            "texts": short.texts,
            "below_shingle": short.below_shingle,
            "below_shingle_share": _share(short.below_shingle, short.texts),
            "limit": short_limit(facts.threshold, facts.shingle),
            "below_limit": short.below_limit,
            "below_limit_share": _share(short.below_limit, short.texts),
            "median": short.median,
        },
        "candidates": {
            "bands": facts.bands,
            "rows": facts.band_rows,
            "expected_recall": facts.expected_recall,
        },
        "audit": facts.audit,
        "files": [asdict(file) for file in facts.files],
        "sources": [asdict(s) for s in sorted(facts.sources, key=lambda s: (s.value is None, s.value or ""))],
        "clusters": [
            {"file": c.file, "row": c.row, "id": _plain(c.id), "size": c.size, "example": c.example}
            for c in facts.clusters
        ],
        "skipped": dict(sorted(facts.skipped.items())),
        "plan": dict(facts.plan),
        "versions": dict(sorted(facts.versions.items())),
        "run": {
            **facts.run,
            "rooms": {name: asdict(room) for name, room in facts.rooms.items()},
            "inputs": [asdict(entry) for entry in facts.inputs],
        },
    }


def write(folder: Path, facts: Facts) -> Written:
    """Write `report.json` into the evidence folder."""
    return write_json(folder / REPORT, build(facts))


def summary(facts: Facts) -> RenderableType:
    """Return what a terminal shows; rich is loaded only when this is asked for."""
    from .summary import summary as shown

    return shown(facts)


def write_plan(folder: Path, plan: Mapping[str, Any]) -> Written:
    """Write `plan.json`: the parameters without any path, enough to make the run again."""
    return write_json(folder / PLAN, plan)


def write_json(path: Path, value: Mapping[str, Any]) -> Written:
    """Write JSON values, floats as the shortest text that reads back the same."""
    # Lone surrogates of strange file names cannot be UTF-8: as escapes they can be JSON.
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        encoded = json.dumps(value, indent=2, allow_nan=False).encode()
    with atomic_file(path, at_once=True) as file:
        file.write(encoded + b"\n")
    return describe(path, path.name)


def read(folder: Path) -> dict[str, Any]:
    """Read `report.json` of a finished run.

    Raises:
        OutputError: it is missing or not JSON.
    """
    path = folder / REPORT
    try:
        value = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise OutputError(f"{folder} has no {REPORT}: it is not the evidence folder of a finished run.") from error
    except ValueError as error:
        raise OutputError(f"{path} is damaged: {error}. Run dedup again to make it.") from error
    if not isinstance(value, dict):
        raise OutputError(f"{path} is damaged: it holds no object. Run dedup again to make it.")
    return value


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _plain(value: Any) -> Any:
    """Make an id fit for JSON: integers, strings and null as they are, all else as text."""
    return value if value is None or isinstance(value, int | str) else str(value)
