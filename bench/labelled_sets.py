"""The labelled sets of ../shared/data, all in one shape: one collection of texts and its labels for each.

`Labelled.about` says how each label is read, and which cautions of the data's README are followed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from labelled import I64, Collection, Labelled, Pair, Row, unordered

__all__ = ["SETS", "load", "names"]


@cache
def read(path: Path) -> list[Row]:
    """Read a gzip file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def by(rows: list[Row], test: Callable[[Row], Any]) -> list[Pair]:
    """The ids a, b of the rows that satisfy a test."""
    return [(row["a"], row["b"]) for row in rows if test(row)]


def parts(of: Collection, rows: list[Row], name: Callable[[Row], Any]) -> dict[str, I64]:
    """Pairs of ids by a name; rows without one are left out."""
    named = sorted({name(row) for row in rows} - {None})
    return {n: of.pairs(by(rows, lambda row, n=n: name(row) == n)) for n in named}


def grouped(folder: Path, name: str, similarity: str, least: float, about: str) -> Labelled:
    """Documents whose gold is a group; other listed pairs are near-duplicates outside the label.

    Gold pairs below `least` are neither.
    """
    of, rows = Collection(read(folder / f"{name}.docs.jsonl.gz")), read(folder / f"{name}.pairs.jsonl.gz")
    gold = [row for row in rows if row["same_group"] and row[similarity] >= least]
    steps = ((0.8, "J ≥ .8"), (0.5, ".5 ≤ J < .8"), (0.0, "J < .5"))
    named = parts(of, gold, lambda row: next(label for low, label in steps if row[similarity] >= low))
    return Labelled(
        name,
        about,
        of.texts,
        yes=of.pairs(by(gold, bool)),
        neither=of.pairs(by(rows, lambda row: not (row["same_group"] and row[similarity] >= least))),
        kinds={label: named[label] for _, label in steps if label in named},
    )


def long_license(folder: Path) -> Labelled:
    return grouped(
        folder, "long_license", "jaccard_w3", 0.5,
        "texts or notices of one licence, J ≥ .5 of 3-word shingles. Gold pairs below (a licence's notices can differ "
        "wholly) and near-duplicates of other licences (legally different, near-duplicate all the same) are neither; "
        "short notices contained in the text of another licence count as wrong.",
    )  # fmt: skip


def long_llvm(folder: Path) -> Labelled:
    return grouped(
        folder, "long_llvm", "jaccard_a", 0, "the same page in two releases; near-duplicate GPU pages are neither."
    )


def long_zh_law(folder: Path) -> Labelled:
    return grouped(
        folder, "long_zh_law", "jaccard_a", 0,
        "versions of one law, rewritten ones too (to J = .03); copies of one regulation in two cities are neither.",
    )  # fmt: skip


def web_debguide(folder: Path) -> Labelled:
    return grouped(
        folder, "web_debguide", "jaccard_text", 0,
        "the same page for two architectures, in one language; other pairs with J ≥ .5 are neither.",
    )  # fmt: skip


def plag_clough(folder: Path) -> Labelled:
    return against_source(
        folder, "plag_clough", ("cut", "light", "heavy"),
        "answers copied from the source (cut, light, heavy) against answers written without it; other pairs are not "
        "judged. Two 'cut' answers copy another article.",
    )  # fmt: skip


def plag_code_irplag(folder: Path) -> Labelled:
    return against_source(
        folder, "plag_code_irplag", ("L1", "L2", "L3", "L4", "L5", "L6"),
        "Java files plagiarised at level 1 … 6 against independent ones, each with the original of its task; other "
        "pairs are not judged.",
    )  # fmt: skip


def against_source(folder: Path, name: str, labels: tuple[str, ...], about: str) -> Labelled:
    """Documents each labelled against one source."""
    of, rows = Collection(read(folder / f"{name}.docs.jsonl.gz")), read(folder / f"{name}.pairs.jsonl.gz")
    return Labelled(
        name,
        about,
        of.texts,
        yes=of.pairs(by(rows, lambda row: row["plagiarised"])),
        neither=of.pairs([]),
        no=of.pairs(by(rows, lambda row: not row["plagiarised"])),
        kinds={label: of.pairs(by(rows, lambda row, label=label: row["label"] == label)) for label in labels},
    )


def noise_ocr(folder: Path) -> Labelled:
    of, rows = Collection(read(folder / "noise_ocr.docs.jsonl.gz")), read(folder / "noise_ocr.pairs.jsonl.gz")
    yes = of.pairs(by(rows, bool))
    return Labelled(
        "noise_ocr",
        "a passage and its noisy copy, 1 to 15% of the characters wrong; two noisy copies of a passage are neither.",
        of.texts,
        yes=yes,
        neither=np.setdiff1d(of.pairs(of.alike(lambda a, b: True)), yes),
        kinds={f"{100 * cer:.0f}% wrong": of.pairs(by(rows, lambda row, cer=cer: row["cer"] == cer))
               for cer in sorted({row["cer"] for row in rows})},
    )  # fmt: skip


def para_bible(folder: Path) -> Labelled:
    of = Collection(read(folder / "para_bible.docs.jsonl.gz"))

    def shifted(a: Row, b: Row) -> bool:  # Psalms of one translation are numbered otherwise
        return "dr" in (a["version"], b["version"]) and a["group"].startswith("19.")

    def between(one: str, other: str) -> Callable[[Row, Row], bool]:
        return lambda a, b: {a["version"], b["version"]} == {one, other} and not shifted(a, b)

    shown = ("kjv-rwebster", "kjv-akjv", "kjv-asv", "kjv-web", "kjv-ylt", "ylt-bbe")
    psalms = [doc for doc in of.docs if doc["group"].startswith("19.")]
    doubtful = [(a["id"], b["id"]) for a, b in combinations(psalms, 2) if shifted(a, b)]
    return Labelled(
        "para_bible",
        "the same chapter in two English translations, from nearly equal to wholly reworded; psalms of the translation "
        "that numbers them otherwise are neither.",
        of.texts,
        yes=of.pairs(of.alike(lambda a, b: not shifted(a, b))),
        neither=of.pairs(doubtful),
        kinds={name: of.pairs(of.alike(between(*name.split("-")))) for name in shown},
    )


def planted(folder: Path, name: str, edits: bool) -> Labelled:
    """Planted edits with exact similarities: by similarity, or by what was done."""
    of = Collection(read(folder / f"{name}.docs.jsonl.gz"))
    near, done = read(folder / f"{name}.allpairs05.jsonl.gz"), read(folder / f"{name}.planted.jsonl.gz")
    measure = "5-character" if name == "planted_zh" else "3-word"
    made = [{"a": row["dup_id"], "b": row["src_id"], "kind": row["kind"]} for row in done]
    if not edits:
        yes = of.pairs(by(near, lambda row: row["jaccard"] >= 0.8))
        rest = np.union1d(of.pairs(by(near, bool)), of.pairs(by(made, bool)))
        about = f"every pair with J ≥ .8 of {measure} shingles (exact); lower ones and edits below that are neither."
        return Labelled(f"{name} J ≥ .8", about, of.texts, yes=yes, neither=np.setdiff1d(rest, yes))
    yes = of.pairs(by(made, bool))
    origin: dict[str, list[str]] = {}
    for row in made:
        origin.setdefault(row["b"], []).append(row["a"])
    siblings = [pair for copies in origin.values() for pair in combinations(copies, 2)]
    return Labelled(
        f"{name} edits",
        "each planted edit and its source, however large the edit (embed: a passage of it in an unrelated text); "
        "two edits of one source and other pairs with J ≥ .5 are neither.",
        of.texts,
        yes=yes,
        neither=np.setdiff1d(np.union1d(of.pairs(by(near, bool)), of.pairs(siblings)), yes),
        kinds=parts(of, made, lambda row: row["kind"]),
    )


def short_zh_poem(folder: Path, part: bool) -> Labelled:
    of, rows = Collection(read(folder / "short_zh_poem.docs.jsonl.gz")), read(folder / "short_zh_poem.pairs.jsonl.gz")
    gold = ("part_of",) if part else ("same_poem", "same_text")
    about = (
        "one poem of a series and the whole series; all other pairs with J ≥ .4 are neither."
        if part
        else "the same poem in two digitisations (variant characters, lost lines); poem and series, and other pairs "
        "with J ≥ .4 of 3-character shingles, are neither."
    )
    return Labelled(
        "short_zh_poem parts" if part else "short_zh_poem",
        about,
        of.texts,
        yes=of.pairs(by(rows, lambda row: row["gold"] in gold)),
        neither=of.pairs(by(rows, lambda row: row["gold"] not in gold)),
        kinds=parts(of, rows, lambda row: row["gold"] if row["gold"] in gold else None),
    )


def short_pkg(folder: Path, equal: bool) -> Labelled:
    docs, rows = read(folder / "short_pkg.docs.jsonl.gz"), read(folder / "short_pkg.pairs.jsonl.gz")
    groups = [row["ids"] for row in read(folder / "short_pkg.exactgroups.jsonl.gz")]
    if equal:
        of = Collection(docs)
        first = {group[0]: group for group in groups}
        ends = [[first.get(row[end], [row[end]]) for end in ("a", "b")] for row in rows]
        near = [pair for a, b in ends for pair in product(a, b)]
        return Labelled(
            "short_pkg equal",
            "summaries that are equal after normalisation (78,000 of the pairs are one template); J ≥ .65 is neither.",
            of.texts,
            yes=of.pairs(pair for group in groups for pair in combinations(group, 2)),
            neither=of.pairs(near),
        )
    again = {name for group in groups for name in group[1:]}
    of = Collection([doc for doc in docs if doc["id"] not in again])
    return Labelled(
        "short_pkg J ≥ .8",
        "one-line summaries with J ≥ .8 of 4-character shingles (exact), one of each group of equal ones; J of .65 to "
        ".8 is neither. Many share a template and describe different things.",
        of.texts,
        yes=of.pairs(by(rows, lambda row: row["jaccard_c4"] >= 0.8)),
        neither=of.pairs(by(rows, lambda row: row["jaccard_c4"] < 0.8)),
    )


def sentences(name: str, rows: list[Row], about: str, kind: str | None = None, open_world: bool = False) -> Labelled:
    """Labelled pairs of texts; a pair labelled both ways is not judged."""
    texts = list(dict.fromkeys(text for row in rows for text in (row["a_text"], row["b_text"])))
    place = {text: i for i, text in enumerate(texts)}

    def numbers(chosen: Iterable[Row]) -> I64:
        ends = [(place[row["a_text"]], place[row["b_text"]]) for row in chosen]
        return unordered(*np.array(ends or np.zeros((0, 2)), np.int64).reshape(-1, 2).T)

    yes, no = (numbers(row for row in rows if int(row["label"]) == label) for label in (1, 0))
    both = np.intersect1d(yes, no)
    yes = np.setdiff1d(yes, both)
    kinds = {}
    for part in sorted({row[kind] for row in rows}) if kind else ():
        kinds[part] = np.setdiff1d(numbers(row for row in rows if row[kind] == part and int(row["label"])), both)
    sides = np.zeros(len(texts), np.int64)
    sides[[place[row["a_text"]] for row in rows]] = 1
    none = np.zeros(0, np.int64)
    return Labelled(
        name, about, texts, yes, none, None if open_world else np.setdiff1d(no, both), kinds,
        sides if open_world else None,
    )  # fmt: skip


def entities(folder: Path, name: str) -> Labelled:
    return sentences(
        f"short_er/{name}",
        read(folder / "short_er" / f"{name}.pairs.jsonl.gz"),
        "the same paper or product in two databases; pairs without a label or with both are not judged.",
    )


def pawsx(folder: Path, lang: str) -> Labelled:
    return sentences(
        f"para_pawsx/{lang}",
        read(folder / "para_pawsx" / f"{lang}.pairs.jsonl.gz"),
        "paraphrase or not, made of the same words in both cases; only the labelled pairs are judged.",
    )


def xling_pawsx(folder: Path) -> Labelled:
    return sentences(
        "xling_pawsx", read(folder / "xling_pawsx.pairs.jsonl.gz"),
        "a sentence and its translation, or that of its near miss; only the labelled pairs are judged.", "lang",
    )  # fmt: skip


def xling_tatoeba(folder: Path) -> Labelled:
    return sentences(
        "xling_tatoeba", read(folder / "xling_tatoeba.pairs.jsonl.gz"),
        "an English sentence and its translation; pairs of two English or two other sentences are not judged.", "lang",
        open_world=True,
    )  # fmt: skip


def translated(folder: Path, name: str, about: str, shown: tuple[Pair, ...]) -> Labelled:
    of = Collection(read(folder / f"{name}.docs.jsonl.gz"))

    def between(x: str, y: str) -> I64:
        return of.pairs(of.alike(lambda a, b: {a["lang"], b["lang"]} == {x, y}))

    return Labelled(
        name,
        about + " Pairs within one language are not judged.",
        of.texts,
        yes=of.pairs(of.alike(lambda a, b: a["lang"] != b["lang"])),
        neither=of.pairs([]),
        kinds={f"{x}, {y}": between(x, y) for x, y in shown},
        sides=of.column("lang"),
    )


def xling_udhr(folder: Path) -> Labelled:
    shown = (("es", "pt-BR"), ("en", "de"), ("zh-Hans", "ja"), ("en", "zh-Hans"))
    return translated(folder, "xling_udhr", "the same article of the declaration in two languages.", shown)


def xling_lohelp(folder: Path) -> Labelled:
    shown = (("zh-CN", "zh-TW"), ("en-US", "de"), ("fr", "es"), ("en-US", "zh-CN"))
    return translated(folder, "xling_lohelp", "the same help page in two languages.", shown)


SETS: dict[str, Callable[[Path], Labelled]] = {
    "plag_clough": plag_clough,
    "plag_code_irplag": plag_code_irplag,
    "long_llvm": long_llvm,
    "long_license": long_license,
    "long_zh_law": long_zh_law,
    "web_debguide": web_debguide,
    "planted_en J ≥ .8": lambda folder: planted(folder, "planted_en", False),
    "planted_en edits": lambda folder: planted(folder, "planted_en", True),
    "planted_zh J ≥ .8": lambda folder: planted(folder, "planted_zh", False),
    "planted_zh edits": lambda folder: planted(folder, "planted_zh", True),
    "noise_ocr": noise_ocr,
    "short_pkg J ≥ .8": lambda folder: short_pkg(folder, False),
    "short_pkg equal": lambda folder: short_pkg(folder, True),
    "short_zh_poem": lambda folder: short_zh_poem(folder, False),
    "short_zh_poem parts": lambda folder: short_zh_poem(folder, True),
    **{
        f"short_er/{name}": lambda folder, name=name: entities(folder, name)  # type: ignore[misc]
        for name in ("Structured_DBLP-ACM", "Dirty_DBLP-ACM", "Textual_Abt-Buy")
    },
    "para_bible": para_bible,
    **{
        f"para_pawsx/{lang}": lambda folder, lang=lang: pawsx(folder, lang)  # type: ignore[misc]
        for lang in ("en", "de", "es", "fr", "ja", "ko", "zh")
    },
    "xling_pawsx": xling_pawsx,
    "xling_tatoeba": xling_tatoeba,
    "xling_udhr": xling_udhr,
    "xling_lohelp": xling_lohelp,
}


def names() -> list[str]:
    """Names of all sets, in the order of the tables."""
    return list(SETS)


def load(folder: Path, name: str) -> Labelled:
    """Read one set from the data folder."""
    return SETS[name](folder)
