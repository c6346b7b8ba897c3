"""`dejalu plan`: what a run would find and cost, before it is begun."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..plan import Execution, Plan
from .common import Json, Quiet, friendly, print_json
from .options import RUNNING, given, takes

if TYPE_CHECKING:
    from ..candidates.bands import Bands
    from ..evaluate.planning import Planned

DETAILS = """Nothing is read. The chances follow from the bands alone; below the threshold they are pairs that are
compared in vain, never removals. Times and sizes are reckoned from the measured costs of each step on one machine, so
take them for the order of magnitude."""

EXAMPLE = "Example: `dejalu plan --threshold 0.8 --docs 1e9 --threads 32`"


@takes(Plan, Execution, only=("method", "threshold", "slots", "threads"))
def command(
    *,
    docs: Annotated[
        float, typer.Option(metavar="N", help="number of documents, e.g. 1e9", rich_help_panel=RUNNING)
    ] = 1e6,
    bytes_per_doc: Annotated[
        float, typer.Option(metavar="BYTES", help="text of a document, in bytes of UTF-8", rich_help_panel=RUNNING)
    ] = 2200,
    ascii_only: Annotated[
        bool,
        typer.Option("--ascii", help="draw with ASCII characters (chosen by itself where the locale is not UTF-8)"),
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
    **parameters: Any,
) -> None:
    """Print the plan; the help text is in VERBS and DETAILS."""
    with friendly():
        from ..evaluate.planning import planned

        plan, execution = Plan(**given(Plan, parameters)), Execution(**given(Execution, parameters))
        found = planned(plan, docs, threads=execution.workers, bytes_per_doc=bytes_per_doc)
        if json:
            print_json(as_json(found))
        else:
            from .curve import draws_blocks

            print("\n".join(lines(found, ascii_only=ascii_only or not draws_blocks(), quiet=quiet)))


def as_json(found: Planned) -> dict[str, Any]:
    """Everything that is printed, as plain values; times in seconds, sizes in bytes, None where not reckoned."""
    bands = dataclasses.asdict(found.bands) if found.bands else None
    return {
        "method": found.method,
        "docs": found.docs,
        "bytes_per_doc": found.bytes_per_doc,
        "threads": found.threads,
        "bands": bands,
        "chances": [dataclasses.asdict(c) for c in found.chances],
        "typical_pairs_in_vain_per_doc": {"share_a_key": found.in_vain[0], "compared": found.in_vain[1]},
        "pairs_by_accident": found.by_accident,
        "memory_per_doc": found.memory if found.steps else None,
        "stored_per_doc": found.stored if found.steps else None,
        "steps": [dataclasses.asdict(step) for step in found.steps],
        "cpu_seconds": found.cpu if found.steps else None,
        "computing_seconds": found.computing if found.steps else None,
        "disk_seconds": found.disk if found.steps else None,
    }


def lines(found: Planned, *, ascii_only: bool, quiet: bool) -> list[str]:
    """Write the plan for people, at most 80 characters a line; `quiet` leaves out the curve and the remarks."""
    return [*_chances(found, ascii_only=ascii_only, quiet=quiet), "", *_costs(found, quiet=quiet)]


def _chances(found: Planned, *, ascii_only: bool, quiet: bool) -> list[str]:
    b = found.bands
    if b is None:
        what = {"exact": "equal token sequences", "bytes": "equal bytes"}.get(found.method)
        if what:
            return [f"{found.method}: {what}, by hashes of 128 bits: every pair is found."]
        return [f"{found.method}: the search is complete, every pair that qualifies is found."]
    out = [f"{found.method} at threshold {b.threshold:g}: {b.slots} slots, {_bands(b)}", ""]
    if found.method == "auto":
        out[1:] = ["(of texts of --short-below tokens or more; pairs with a shorter one are found)", ""]
    if not quiet:
        from ..evaluate.planning import chance
        from .curve import curve

        full, light = ("#", ".") if ascii_only else ("█", "░")
        out += curve(lambda s: chance(b, s), b.threshold, ascii_only=ascii_only)
        out += [f"      {full} compared   {light} share a band key, ruled out by their sketches", ""]
    out += [
        "             share a    and pass the       of a million pairs of this",
        "similarity   band key   sketch filter      similarity are compared",
    ]
    for c in found.chances:
        told = f"{1e6 * c.compared:>9,.0f} {'found' if c.similarity >= b.threshold else 'in vain'}"
        out.append(f"   {c.similarity:<7.3g} {c.share_a_key:>11.4%} {c.compared:>13.4%}      {told}")
    if not quiet:
        at = next(c for c in found.chances if c.similarity == b.threshold)
        out += [
            "",
            f"At the threshold {at.compared:.2%} of the pairs are found, above it more. Pairs with",
            "nothing in common that share a key by accident: "
            f"{_count(found.by_accident)} of {_count(found.docs)} documents.",
        ]
        if found.in_vain[0]:
            before, after = found.in_vain
            out += [
                "Web pages of few templates (docs/planning.md) had, below the threshold,",
                f"{_count(before)} pairs a document that share a key, {_count(after)} that pass the sketch filter.",
            ]
    return out


def _costs(found: Planned, *, quiet: bool) -> list[str]:
    from ..evaluate.planning import DISK_SPEED, MOST_DOCS, PARQUET, SOURCE

    n = found.docs
    if not found.steps:
        return ["Its memory, disk and time are not reckoned; docs/methods.md has measured times."]
    out = [
        f"{_count(n)} documents, {_count(found.bytes_per_doc)} bytes each ({_size(n * found.bytes_per_doc)} of text, "
        f"{_size(n * found.bytes_per_doc * PARQUET)} of parquet)",
        "",
        f"{'step':<34} {'µs a doc':>9} {'CPU':>10} {'read':>10} {'written':>10}",
    ]
    out += [
        f"{s.name:<34} {1e6 * s.cpu / n:>9.2f} {_time(s.cpu):>10} {_size(s.read):>10} {_size(s.written):>10}"
        for s in found.steps
    ]
    read, written = sum(s.read for s in found.steps), sum(s.written for s in found.steps)
    out += [
        f"{'in all':<34} {1e6 * found.cpu / n:>9.2f} {_time(found.cpu):>10} {_size(read):>10} {_size(written):>10}",
        "",
        f"memory    {found.memory:g} bytes a document ({_size(n * found.memory)}), and the budget (--memory)",
        f"disk      {found.stored:g} bytes a document in work files ({_size(n * found.stored)})",
        f"time      {_time(found.computing)} of computing on {found.threads} threads, "
        f"{_time(found.disk)} of reading and writing",
    ]
    if not quiet:
        out += [
            "",
            f"Reckoned from times measured on {SOURCE}, and a disk",
            f"that does {_size(DISK_SPEED)} a second. Shares of texts are those of English web text; texts",
            "that fit a quarter of the memory budget are not read again.",
        ]
    if n > MOST_DOCS:
        out += ["", f"One run takes {_count(MOST_DOCS)} documents at most: this is work for several machines."]
    return out


def _bands(b: Bands) -> str:
    return f"{b.bands} band{'s' * (b.bands > 1)} of {b.rows} row{'s' * (b.rows > 1)}"


def _count(value: float) -> str:
    if value == 0:
        return "0"
    if value < 0.1:
        return f"{value:.1g}"
    if value < 1e6:
        return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}".removesuffix(".0")
    for name, unit in (("million", 1e6), ("billion", 1e9)):
        if value < 1000 * unit:
            return f"{value / unit:.3g} {name}"
    return f"{value:.3g}"


def _size(value: float) -> str:
    if value < 1:
        return "-"
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} EB"


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 100 * 3600 else f"{seconds / 3600:,.0f} h"
