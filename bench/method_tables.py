"""What bench/methods.py found, as tables for the screen and for docs/methods.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["of_set", "summary", "write"]

BEGIN, END = "<!-- begin: written by bench/methods.py -->", "<!-- end -->"
OURS = ("exact", "minhash", "short", "auto", "containment", "tfidf jaccard", "tfidf cosine", "simhash")
NO_BETTER = 0.03  # F1 above that of listing everything, up to which a set counts as not solved
LITTLE = 0.5  # F1 up to which an open set counts as not solved
Made = dict[str, Any]


def share(value: float | None) -> str:
    """A share with three digits, without the leading zero; one that is not whole is never shown as 0 or 1."""
    if value is None:
        return "–"
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    return f"{min(max(value, 0.001), 0.999):.3f}".removeprefix("0")


def seconds(value: float) -> str:
    """CPU seconds with two digits that count."""
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def table(head: list[str], rows: list[list[str]], left: int = 1) -> str:
    """A Markdown table, numbers to the right."""
    ruler = ["---" if i < left else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ruler, *rows])


def cells(run: Made | None) -> list[str]:
    """Setting, precision, recall, F1, CPU seconds and pairs of a run."""
    if run is None:
        return ["", "", "", "", "", ""]
    if "flooded" in run:
        return [run["setting"], "–", "–", "–", "–", f"> {run['flooded']:,}"]
    numbers = [share(run["precision"]), share(run["recall"]), share(run["f1"])]
    return [run["setting"], *numbers, seconds(run["cpu"]), f"{run['listed']:,}"]


def of_set(made: Made) -> str:
    """A section: what the set is, its table, and recall by part."""
    judged = f"{made['yes']:,} pairs to find" + (f", {made['no']:,} not to" if made["no"] is not None else "")
    text = f"### {made['name']}\n\n{made['texts']:,} texts, {made['bytes'] / 1e6:.2g} MB, {judged}: {made['about']}"
    if made["base"] is not None:
        text += f" Listing every judged pair has F1 {share(made['base'])}."
    head = ["method"]
    for which in ("default", "best"):
        head += [which, "prec.", "recall", "F1", "CPU s", "pairs"]
    rows = [[r["method"], *cells(r["default"]), *cells(r.get("best"))] for r in made["rows"]]
    text += "\n\n" + table(head, rows)
    runs = [(r["method"], r.get("best", r["default"])) for r in made["rows"]]
    runs = [(name, run) for name, run in runs if run.get("kinds")]
    if runs:
        kinds = list(runs[0][1]["kinds"])
        rows = [[name, *(share(run["kinds"][k]) for k in kinds)] for name, run in runs]
        text += "\n\nRecall by part, at the best setting:\n\n" + table(["method", *kinds], rows)
    return text


def f1(row: Made, which: str) -> float | None:
    """F1 of a row at its default or best; None where it was not run or gave up."""
    found: float | None = row.get(which, {}).get("f1")
    return found


def summary(results: Made) -> str:
    """F1 of all methods on all sets, default and best, the best of each set in bold."""
    names = [r["method"] for r in results["sets"][0]["rows"]] if results["sets"] else []
    rows = []
    for made in results["sets"]:
        top = best_of(made)[0]
        row = [made["name"], share(made["base"])]
        for r in made["rows"]:
            best = f1(r, "best")
            shown = share(f1(r, "default"))
            if best is not None:
                shown += " " + (f"**{share(best)}**" if best == top and best > 0 else share(best))
            row.append(shown)
        rows.append(row)
    return table(["set", "all", *names], rows)


def best_of(made: Made) -> tuple[float, str, str]:
    """Highest F1 of any method on a set, which, and at what setting."""
    runs = [(r["method"], r.get("best", r["default"])) for r in made["rows"]]
    name, run = max(((n, r) for n, r in runs if "f1" in r), key=lambda pair: pair[1]["f1"])
    return run["f1"], name, run["setting"]


def unsolved(results: Made) -> str:
    """The sets on which no method is much better than none, with the evidence."""
    rows = []
    for made in results["sets"]:
        top, name, setting = best_of(made)
        base = made["base"]
        if top <= (LITTLE if base is None else base + NO_BETTER):
            run = next(r.get("best", r["default"]) for r in made["rows"] if r["method"] == name)
            how = [f"{name}, {setting}", share(run["precision"]), share(run["recall"]), share(top), share(base)]
            rows.append([made["name"], *how])
    return table(["set", "best method", "prec.", "recall", "F1", "F1 of listing all"], rows, left=2)


def grid(results: Made) -> str:
    """The settings that were tried."""
    rows = [[g["method"], g["default"] or "–", "; ".join(g["shapes"]), ", ".join(g["steps"])] for g in results["grid"]]
    return table(["method", "default", "shapes", "steps"], rows, left=4)


def markdown(results: Made) -> str:
    """All that is written between the marks of the page."""
    tried = max((r.get("tried", 0) for made in results["sets"] for r in made["rows"]), default=0)
    return "\n\n".join(
        [
            f"dejalu {results['dejalu']}, Python {results['python']}, {results['machine']}, one thread; "
            f"{len(results['sets'])} sets.",
            "### F1 of every method on every set",
            "Two numbers a cell: at the default, and at the best setting of the grid (chosen on these labels, so an "
            'upper bound); the best of a set in bold. "all" is the F1 of listing every judged pair, where only '
            "labelled pairs are judged.",
            summary(results),
            "### Not solved by any of them",
            f"Sets where the best F1 of any method and setting is at most {NO_BETTER} above that of listing every "
            f"pair, or, where all pairs are judged, at most {LITTLE}.",
            unsolved(results),
            "### The grid",
            f"Up to {tried} settings a method and set. On the larger sets (over 4 MB or 6,000 texts) thresholds start "
            "at .5, distances end at 12, and the other tools are spared runs of 5 characters.",
            grid(results),
            "## Set by set",
            "pairs: all that are listed, pairs that are not judged included. – : nothing to divide by, or given up.",
            *(of_set(made) for made in results["sets"]),
        ]
    )


def write(page: Path, results: Made) -> None:
    """Fill in the page between the marks."""
    before, rest = page.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{after}", "utf-8")
