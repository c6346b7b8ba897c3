"""`dejalu show`: removed texts beside their kept twins."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import OutputError, UsageError
from .common import Json, Quiet, complain, friendly, print_json, stdout

if TYPE_CHECKING:
    from ..act.side_by_side import Shown

DETAILS = """Reads the evidence folder of a run, and the texts from the original inputs. On a terminal both texts stand
side by side; piped, lines that only the removed text has begin with `-`, those of the kept text with `+`."""

EXAMPLE = (
    "Example: `dejalu show clean-evidence/ --near 0.8 --limit 5` shows the five most doubtful removals at threshold 0.8"
)


def command(
    evidence: Annotated[Path, typer.Argument(metavar="EVIDENCE", help="evidence folder of a run", show_default=False)],
    *,
    limit: Annotated[int, typer.Option(metavar="N", help="pairs to show")] = 10,
    near: Annotated[
        float | None, typer.Option(metavar="SIMILARITY", help="show the pairs nearest to this similarity first")
    ] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="write all pairs, both texts included, to a CSV file")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show removed texts; the help text is in VERBS and DETAILS."""
    with friendly():
        from ..act.side_by_side import print_pairs
        from .evidence import Evidence

        if limit < 0:
            raise UsageError(f"limit={limit}: must be 0 or more")
        if near is not None and not 0 <= near <= 1:
            raise UsageError(f"near={near}: must be a similarity in [0, 1]")
        run = Evidence.open(evidence)
        if csv_file is not None:
            written = write_csv((pair for table in run.tables() for pair in run.shown(table)), csv_file)
            if not quiet:
                complain(f"wrote {written:,} pairs to {csv_file}")
            if not json:
                return
        table = run.first(limit) if near is None else run.nearest(near, limit)
        pairs = list(run.shown(table))
        if json:
            print_json({"removed": run.removed, "pairs": [dataclasses.asdict(pair) for pair in pairs]})
            return
        print_pairs(pairs, stdout())
        if not quiet:
            complain(f"{len(pairs):,} of {run.removed:,} removed texts shown (--limit N for more, --csv FILE for all)")


def write_csv(pairs: Iterable[Shown], path: Path) -> int:
    """Write all pairs with both texts, one row each; return their number.

    Raises:
        OutputError: the file cannot be written.
    """
    from ..act.side_by_side import Shown

    names = [f.name for f in dataclasses.fields(Shown)]
    written = 0
    try:
        with path.open("w", encoding="utf-8", errors="replace", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(names)
            for pair in pairs:
                writer.writerow([getattr(pair, name) for name in names])
                written += 1
    except OSError as e:
        raise OutputError(f"{path}: cannot be written ({e.strerror}); name another file with --csv") from e
    return written
