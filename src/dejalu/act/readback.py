"""Facts from a report that was read back, so that a finished run can be summed up again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data import Input
from ..errors import OutputError
from .facts import (
    COUNTS,
    CapFacts,
    ClusterFacts,
    Facts,
    FileFacts,
    InvalidFacts,
    RepeatedFacts,
    RoomFacts,
    ShortFacts,
    SourceFacts,
)


def facts_of(report: Mapping[str, Any]) -> Facts:
    """Turn report.json back into the facts it was built from.

    Raises:
        OutputError: a field is missing: another version of dejalu wrote it.
    """
    try:
        plan, short, run = report["plan"], report["short"], dict(report["run"])
        rooms, inputs = run.pop("rooms"), run.pop("inputs")
        candidates = report["candidates"]
        return Facts(
            counts={name: report[name] for name in COUNTS},
            plan=plan,
            method=plan["method"],
            threshold=plan["threshold"],
            shingle=plan["shingle"],
            unit=plan["unit"],
            source_column=plan["source_column"],
            versions=report["versions"],
            digest=report["digest"],
            caps=[CapFacts(**cap) for cap in report["caps"]],
            long_tokens=report["long_tokens"],
            invalid=InvalidFacts(
                report["invalid"]["texts"], [(e["file"], e["row"]) for e in report["invalid"]["first"]]
            ),
            repeated=RepeatedFacts(
                report["repeated_ids"]["ids"], [(e["id"], e["times"]) for e in report["repeated_ids"]["most"]]
            ),
            short=ShortFacts(**{name: short[name] for name in ("texts", "below_shingle", "below_limit", "median")}),
            files=[FileFacts(**file) for file in report["files"]],
            sources=[SourceFacts(**source) for source in report["sources"]],
            clusters=[ClusterFacts(**cluster) for cluster in report["clusters"]],
            bands=candidates["bands"],
            band_rows=candidates["rows"],
            expected_recall=candidates["expected_recall"],
            audit=report["audit"],
            skipped=report["skipped"],
            inputs=[Input(**entry) for entry in inputs],
            rooms={name: RoomFacts(**room) for name, room in rooms.items()},
            run=run,
        )
    except (KeyError, TypeError) as error:
        raise OutputError(
            f"report.json lacks {error}: it was not written by this dejalu. Run dedup again to make it."
        ) from error
