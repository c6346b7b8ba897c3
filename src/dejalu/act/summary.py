"""The summary that is printed at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .facts import Facts
from .warn import warnings

_SHOWN = 5


def summary(facts: Facts) -> RenderableType:
    """Return what the terminal shows: counts, where the removals are, the warnings."""
    counts = facts.counts
    read = counts["read"]
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(justify="right")
    table.add_column()
    table.add_row("read", f"{read:,}", "", _aside(facts))
    table.add_row("removed, equal", f"{counts['removed_equal']:,}", _percent(counts["removed_equal"], read), "")
    table.add_row("removed, near", f"{counts['removed_near']:,}", _percent(counts["removed_near"], read), _near(facts))
    table.add_row("kept", f"{counts['kept']:,}", _percent(counts["kept"], read), "")
    parts: list[RenderableType] = [table]
    losers = sorted((s for s in facts.sources if s.removed), key=lambda s: (-s.removed, s.value or ""))
    if losers:
        rows = [(s.value, s.removed, s.read) for s in losers]
        parts += [Text(f"\nby {facts.source_column}", style="bold"), _losses(rows)]
    elif len(facts.files) > 1:
        files = [(f.file, f.removed_equal + f.removed_near, f.rows) for f in facts.files]
        files = sorted((f for f in files if f[1]), key=lambda f: (-f[1], f[0]))
        if files:
            parts += [Text("\nby file", style="bold"), _losses(files)]
    if facts.audit is not None:
        parts.append(Text(f"\n{facts.audit['sentence']}"))
    for sentence in warnings(facts):
        parts.append(Padding(Text.assemble(("! ", "bold yellow"), sentence), (1, 0, 0, 0)))
    if facts.digest:
        parts.append(Text(f"\ndigest {facts.digest}", style="dim"))
    return Group(*parts)


def _near(facts: Facts) -> str:
    """What near duplicates have in common."""
    if facts.method in {"bytes", "exact"}:
        return ""
    if facts.method == "simhash" and not facts.plan["verify"]:
        return f"distance ≤ {facts.plan['distance']} of {facts.plan['bits']} bits; similarities are estimates"
    return f"similarity ≥ {facts.threshold:g}"


def _losses(rows: Sequence[tuple[str | None, int, int]]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(justify="right")
    table.add_column(justify="right")
    for name, removed, read in rows[:_SHOWN]:
        table.add_row(Text("(null)" if name is None else name), f"−{removed:,}", _percent(removed, read))
    if len(rows) > _SHOWN:
        rest = rows[_SHOWN:]
        table.add_row(Text(f"and {len(rest):,} more", style="dim"), f"−{sum(row[1] for row in rest):,}", "")
    return table


def _aside(facts: Facts) -> str:
    counts = facts.counts
    named = (("null", "null"), ("empty", "without a token"), ("set_aside", "set aside"))
    return ", ".join(f"{counts[name]:,} {words}" for name, words in named if counts[name])


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""
