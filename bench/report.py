"""What bench/run found, as a table on the screen, in docs/benchmarks.md, as JSON and as plots."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["keep", "text", "verdicts"]

BEGIN, END = "<!-- begin: written by bench/run -->", "<!-- end -->"
SLOW = ("datatrove", "data-juicer", "text-dedup")
Results = dict[str, Any]


def share(value: float | None, digits: int = 1) -> str:
    """A share as per cent; a dash where undefined. A share that is not whole is never shown as 100 or 0."""
    if value is None:
        return "–"
    shown = f"{100 * value:.{digits}f}"
    if float(shown) in (0.0, 100.0) and value not in (0.0, 1.0):
        shown = f"{100 * value:.{digits + 2}f}"
    return shown


COLUMNS: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
    ("tool", lambda r: r["name"]),
    ("MB", lambda r: f"{r['megabytes']:.0f}"),
    ("CPU s", lambda r: f"{r['cpu']:.2f}" if r["cpu"] < 10 else f"{r['cpu']:.1f}"),
    ("start-up", lambda r: f"{r['start_up']:.1f}"),
    ("wall s", lambda r: f"{r['wall']:.1f}"),
    ("MB/s/core", lambda r: f"{r['mb_per_s']:.1f}"),
    ("peak MB", lambda r: f"{r['peak'] / 1e6:.0f}"),
    ("removable removed %", lambda r: share(r["recall"], 2)),
    ("removals with a kept true twin %", lambda r: share(r["precision"], 2)),
    ("… with any true twin %", lambda r: share(r["with_any"] / r["removed"] if r["removed"] else None, 2)),
    ("pair recall %", lambda r: share(r["pair_recall"], 2)),
    ("pair precision %", lambda r: share(r["pair_precision"], 2)),
    ("largest cluster", lambda r: "–" if r["largest"] is None else f"{r['largest']:,}"),
    ("same twice", lambda r: {True: "y", False: "n", None: "–"}[r["same_twice"]]),
    ("tokens", lambda r: r["tokens"]),
]


def rows_of(results: Results) -> list[dict[str, Any]]:
    """The rows that finished, ours first, then by speed."""
    done = [r for r in results.get("rows", []) if "failed" not in r]
    return sorted(done, key=lambda r: (r["peer"] != "dejalu", -r["mb_per_s"]))


def versions(row: dict[str, Any]) -> str:
    """The tool's version, and those of what was installed beside it by name."""
    own, *others = row["versions"].items()
    beside = [f"{name} {number}" for name, number in [*others, ("Python", row["python"])]]
    return ", ".join([own[1], *beside])


def failures(results: Results) -> dict[str, str]:
    """Rows without a figure, and why."""
    return {r["name"]: r["failed"] for r in results.get("rows", []) if "failed" in r} | results["missing"]


def verdicts(results: Results) -> list[tuple[bool | None, str]]:
    """The targets, each with what was measured: (met, sentence); None where it could not be judged."""
    rows = rows_of(results)
    ours = next((r for r in rows if r["peer"] == "dejalu"), None)
    if ours is None or len(rows) < 2:
        return []
    peers = [r for r in rows if r["peer"] != "dejalu"]
    said: list[tuple[bool | None, str]] = []
    fit = [r for r in peers if (r["recall"] or 0) >= 0.95]
    if fit:
        best = max(fit, key=lambda r: r["mb_per_s"])
        ratio = ours["mb_per_s"] / best["mb_per_s"]
        said.append((
            ratio >= 8,
            f"{ratio:.1f} × fewer CPU seconds than the fastest peer that removes ≥ 95% of the removable "
            f"({best['name']}, {best['mb_per_s']:.1f} MB/s per core): target ≥ 8, aim 12",
        ))  # fmt: skip
        said.append((
            ours["peak"] <= best["peak"],
            f"peak memory {ours['peak'] / 1e6:.0f} MB; {best['name']}: {best['peak'] / 1e6:.0f} MB: target ≤",
        ))  # fmt: skip
    else:
        said.append((None, "no peer here removes ≥ 95% of the removable"))
    for name in SLOW:
        for r in (r for r in peers if r["peer"] == name):
            ratio = ours["mb_per_s"] / r["mb_per_s"]
            said.append((ratio >= 100, f"{ratio:.0f} × fewer CPU seconds a byte than {r['name']}: target ≥ 100"))
    left, can = ours["left"], ours["removable"]
    said.append((left <= 0.01 * can, f"leaves {left:,} of {can:,} removable documents: target ≤ 1%"))
    wrong = ours["removed"] - ours["with_twin"]
    said.append((wrong == 0, f"{wrong:,} of {ours['removed']:,} removals have no true twin among the kept: target 0"))
    lower = sorted(
        (r for r in peers if r["peak"] < ours["peak"] and r["megabytes"] == ours["megabytes"]), key=lambda r: r["peak"]
    )
    names = ", ".join(f"{r['name']} ({r['peak'] / 1e6:.0f} MB, removes {share(r['recall'])}%)" for r in lower)
    said.append((None, f"peers with lower peak memory on the same corpus: {names or 'none'}"))
    both = [r["name"] for r in peers if r["left"] <= 0.01 * r["removable"] and r["with_twin"] == r["removed"]]
    said.append((not both, "peers that also leave ≤ 1% and remove nothing without a true twin: "
                 f"{', '.join(both) or 'none'}: target none"))  # fmt: skip
    return said


def hard_table(results: Results) -> tuple[list[str], list[list[str]]]:
    """Rows × hard sets: copies left / texts lost."""
    sets = results.get("hard", {})
    names: dict[str, None] = {}
    for found in sets.values():
        names |= dict.fromkeys(r["name"] for r in found["rows"])
    body = []
    for name in names:
        cells = [name]
        for found in sets.values():
            r = next((r for r in found["rows"] if r["name"] == name), None)
            if r is None:
                cells.append("–")
            elif r["failed"]:
                cells.append("failed" if "exit" in r["failed"] else "> " + r["failed"].removeprefix("not finished in "))
            else:
                cells.append(f"{r['left']:,} / {r['lost']:,}")
        body.append(cells)
    return ["tool", *(f"{n} ({f['copies']:,} of {f['documents']:,})" for n, f in sets.items())], body


def mark(met: bool | None) -> str:
    """A word for a verdict."""
    return {True: "met  ", False: "MISSED", None: "note "}[met]


def text(results: Results) -> str:
    """Draw the tables for a terminal."""
    from io import StringIO

    from rich.console import Console
    from rich.table import Table

    out = StringIO()
    console = Console(file=out, width=230, no_color=True)
    rows = rows_of(results)
    if rows:
        table = Table(title="parquet to kept ids, start-up apart")
        for i, (head, _) in enumerate(COLUMNS):
            table.add_column(head, justify="left" if not i else "right")
        for r in rows:
            table.add_row(*(cell(r) for _, cell in COLUMNS))
        console.print(table)
    if results.get("hard"):
        head, body = hard_table(results)
        table = Table(title="hard sets: copies left / texts of which nothing is left (planted copies of documents)")
        for name in head:
            table.add_column(name)
        for cells in body:
            table.add_row(*cells)
        console.print(table)
    for name, why in failures(results).items():
        console.print(f"no figure for {name}: {why}")
    for met, sentence in verdicts(results):
        console.print(f"{mark(met)} {sentence}")
    console.print(
        f"{results['seconds']:.0f} s in all; load average before {results['load_before']:.1f}, after "
        f"{results['load_after']:.1f} on {results['machine']['cores']} cores"
    )
    return out.getvalue()


def markdown(results: Results) -> str:
    """Write the part of docs/benchmarks.md that is measured."""
    m, c = results["machine"], results["corpus"]
    rows = rows_of(results)
    disturbed = max((r["others"] / max(r["wall"], 1e-9) for r in rows), default=0.0)
    lines = [
        f"dejalu {results['version']}, {results['when']}, {'quick' if results['quick'] else 'full'}: {m['cpu']}, "
        f"{m['cores']} cores, {m['memory'] / 1e9:.0f} GB, Python {m['python']}. English: {c['documents']:,} documents, "
        f"{c['megabytes']:.0f} MB; slow tools got the first {c['part_megabytes']:.0f} MB. Load average before and "
        f"after: {results['load_before']:.1f} and {results['load_after']:.1f}; other work took at most "
        f"{disturbed:.2f} cores during a row.",
        "",
        "| " + " | ".join(head for head, _ in COLUMNS) + " |",
        "|---|" + "---:|" * (len(COLUMNS) - 1),
        *("| " + " | ".join(cell(r) for _, cell in COLUMNS) + " |" for r in rows),
        "",
    ]  # fmt: skip
    lines += [f"No figure for {name}: {why}\n" for name, why in failures(results).items()]
    lines += [
        "![CPU seconds against what is removed](benchmarks/cpu.svg)", "", "![Peak memory](benchmarks/memory.svg)", "",
        "The targets:", "",
    ]  # fmt: skip
    lines += [f"- {'**MISSED**: ' if met is False else 'met: ' if met else ''}{s}" for met, s in verdicts(results)]
    head, body = hard_table(results)
    lines += [
        "", "Hard sets: copies left in the output / texts of which nothing is left. In brackets: planted copies of "
        "documents. `> 10 CPU s`: stopped there.",
        "", "| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1),
        *("| " + " | ".join(cells) + " |" for cells in body), "",
        *(f"- {n}: {f['about']}" for n, f in results["hard"].items()), "",
        "| tool | versions | setting | threads | what it takes for a duplicate |", "|---|---|---|---|---|",
        *(
            f"| {r['name']} | {versions(r)} | {r['setting']} | {r['threads']} | {r['duplicate']} |"
            for r in rows
        ),
    ]  # fmt: skip
    return "\n".join(lines)


def keep(results: Results, root: Path) -> None:
    """Write JSON, plots and the page."""
    path = root / "bench" / "results" / f"{results['version']}.json"
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    page = root / "docs" / "benchmarks.md"
    old = page.read_text(encoding="utf-8")
    before, rest = old.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{after}", encoding="utf-8")
    plots(results, root / "docs" / "benchmarks")


def plots(results: Results, folder: Path) -> None:
    """Draw speed against recall, and peak memory."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    style = {"font.size": 10, "svg.hashsalt": "dejalu", "svg.fonttype": "none"}
    plt.rcParams.update({**style, "axes.spines.top": False, "axes.spines.right": False})
    folder.mkdir(parents=True, exist_ok=True)
    rows = rows_of(results)
    figure, axis = plt.subplots(figsize=(9, 5.2))
    axis.set_xscale("log")
    axis.axhline(95, color="#999999", linewidth=0.8, linestyle=":")
    points = [(1000 / r["mb_per_s"], 100 * (r["recall"] or 0)) for r in rows]
    for r, (x, y) in zip(rows, points, strict=True):
        sure = (r["precision"] or 0) >= 0.99
        axis.scatter(x, y, s=36, zorder=3, edgecolor=color_of(r), facecolor=color_of(r) if sure else "white")
    axis.set_ylim(top=103)
    axis.set_xlim(right=axis.get_xlim()[1] * 2.5)
    axis.set_xlabel("CPU seconds per GB of text (start-up apart), log scale")
    axis.set_ylabel("removable documents removed, %")
    axis.set_title(
        "filled: at least 99% of the removals have a kept true twin", fontsize=9, color="#555555", loc="left"
    )
    figure.tight_layout()
    label(axis, [r["name"] for r in rows], points, [color_of(r) for r in rows])
    figure.savefig(folder / "cpu.svg", metadata={"Date": None})
    whole = [r for r in rows if r["megabytes"] == max(x["megabytes"] for x in rows)]
    whole.sort(key=lambda r: -r["peak"])
    figure, axis = plt.subplots(figsize=(9, 0.4 * len(whole) + 1.2))
    peaks = [r["peak"] / 1e6 for r in whole]
    axis.barh([r["name"] for r in whole], peaks, color=[color_of(r) for r in whole], height=0.6)
    for i, peak in enumerate(peaks):
        axis.annotate(f"{peak:,.0f}", (peak, i), xytext=(4, -3), textcoords="offset points", fontsize=8)
    axis.set_xlabel("peak memory, MB")
    figure.tight_layout()
    figure.savefig(folder / "memory.svg", metadata={"Date": None})


def color_of(row: dict[str, Any]) -> str:
    """Ours red, theirs blue."""
    return "#c0392b" if row["peer"] == "dejalu" else "#34608f"


def label(axis: Any, names: list[str], points: list[tuple[float, float]], colors: list[str]) -> None:
    """Write each name beside its point, at the nearest place where it covers no other name or point."""
    pixels = [tuple(axis.transData.transform(p)) for p in points]
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in pixels]
    for name, (x, y), color in zip(names, pixels, colors, strict=True):
        width, height = 5.6 * len(name), 11.0
        for step in range(40):
            left, low = x + (7 if step < 3 else 15), y - 4 + (-6 if step % 2 else 6) * ((step + 1) // 2)
            box = (left, low, left + width, low + height)
            if all(box[2] < t[0] or t[2] < box[0] or box[3] < t[1] or t[3] < box[1] for t in taken):
                break
        taken.append(box)
        at = axis.transData.inverted().transform((box[0], box[1] + 2))
        far = step > 2
        axis.annotate(
            name, (axis.transData.inverted().transform((x, y))), xytext=at, textcoords="data", color=color, fontsize=8,
            arrowprops={"arrowstyle": "-", "color": "#bbbbbb", "linewidth": 0.6} if far else None,
        )  # fmt: skip
