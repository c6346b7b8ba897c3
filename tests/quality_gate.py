"""The quality gate: what dejalu promises, against the exact truth, on real collections and on one built here.

    pytest tests/quality_gate.py                 every collection, setting and threshold (about a minute)
    python tests/quality_gate.py                 the same as a table; exit code 1 when a promise is broken
    python tests/quality_gate.py --only planted  collections whose name contains a word
    python tests/quality_gate.py --pin           write today's values to quality_floors.json; refuses to lower one
    python tests/quality_gate.py --pin --lower   ... even a lower one: say why in the commit

The truth comes from tests/oracle.py, which shares no code with the pipeline: own folding and tokens, shingles as
numbers instead of hashes, all pairs by a prefix-filtered exact join. Checked at thresholds .5, .7, .8 and .9:

    every removal has a kept twin, earlier in keep order, at its true similarity (1e-9), not below the threshold
    of the true pairs, at most 1% are left with both documents kept
    `pairs` has precision 1.000, recall of at least .99, and true similarities (1e-9)
    a second run on what was kept removes nothing

A share of a small number says little, so shares are judged on each collection with at least 200 true pairs and on all
together, once with and once without pairs of equal shingle sets. quality_floors.json pins the numbers of every
collection, small ones too, with the hash of its texts: the result is the same on every machine, so any loss shows.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import corpus
import numpy as np
import oracle
import pytest

import dejalu

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
FLOORS = HERE / "quality_floors.json"
THRESHOLDS = (0.5, 0.7, 0.8, 0.9)
BUILT = "built"
SHARED = (
    "long_license",
    "long_llvm",
    "long_zh_law",
    "noise_ocr",
    "para_bible",
    "plag_clough",
    "plag_code_irplag",
    "planted_en",
    "planted_zh",
    "short_pkg",
    "short_zh_poem",
    "web_debguide",
    "xling_lohelp",
    "xling_udhr",
)
# Collection, shingle, unit: the default everywhere, other settings where they are what one would use.
SETTINGS = [
    *((name, 5, "word") for name in (BUILT, *SHARED)),
    (BUILT, 3, "word"),
    (BUILT, 5, "char"),
    ("short_zh_poem", 3, "char"),
    ("short_pkg", 4, "char"),
    ("noise_ocr", 3, "word"),
    ("planted_en", 8, "char"),
]
ENOUGH = 200  # true pairs from which a share is judged
MISSED = 0.01  # largest share of true pairs left with both documents kept
RECALL = 0.99  # least recall of `pairs`
EXACT = 1e-9


@dataclass(frozen=True)
class Measured:
    """One collection at one setting and threshold; numbers of pairs, `near`: those that are not equal."""

    texts: int
    true: int
    together: int
    listed: int
    near: int
    near_together: int
    near_listed: int
    removed: int


@cache
def texts_of(name: str) -> list[str]:
    """The texts of a collection."""
    if name == BUILT:
        return corpus.build()
    path = DATA / f"{name}.docs.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here: the shared evaluation data is no part of the repository")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def digest(texts: list[str]) -> str:
    """SHA-256 over the texts, each with its length in bytes before it."""
    h = hashlib.sha256()
    for text in texts:
        data = text.encode()
        h.update(len(data).to_bytes(8, "little") + data)
    return h.hexdigest()


@cache
def truth_of(name: str, shingle: int, unit: str) -> tuple[oracle.Collection, oracle.Truth]:
    """The exact shingle sets and all pairs from the lowest threshold up."""
    collection = oracle.Collection(texts_of(name), shingle, unit)
    return collection, collection.pairs(min(THRESHOLDS))


@cache
def measure(name: str, shingle: int, unit: str, threshold: float) -> tuple[Measured, tuple[str, ...]]:
    """Run the product; return the numbers and every broken promise that concerns single documents or pairs."""
    texts = texts_of(name)
    collection, all_true = truth_of(name, shingle, unit)
    true = all_true.at(threshold)
    expect = true.as_dict()

    result = dejalu.dedup(texts, threshold=threshold, shingle=shingle, unit=unit)
    faults = oracle.check_verdicts(collection, result.keep, result.twin, result.similarity, threshold=threshold)
    empty = np.flatnonzero((collection.sizes == 0) & ~result.keep)
    faults += [f"document {i} has no token and was removed" for i in empty]

    kept = [text for text, keep in zip(texts, result.keep.tolist(), strict=True) if keep]
    again = dejalu.dedup(kept, threshold=threshold, shingle=shingle, unit=unit)
    if not again.keep.all():
        faults.append(f"a second run removes {np.count_nonzero(~again.keep)} more")

    table = dejalu.pairs(texts, threshold=threshold, shingle=shingle, unit=unit)
    listed = dict(
        zip(
            zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True),
            table["similarity"].to_pylist(),
            strict=True,
        )
    )
    if len(listed) != table.num_rows:
        faults.append(f"pairs lists {table.num_rows - len(listed)} pairs twice")
    faults += [f"pairs lists {p} at {s!r}: not a true pair" for p, s in listed.items() if p not in expect]
    faults += [
        f"pairs lists {p} at {s!r}, in truth {expect[p]!r}"
        for p, s in listed.items()
        if p in expect and abs(s - expect[p]) > EXACT
    ]

    together = result.keep[true.a] & result.keep[true.b]
    near = true.similarity < 1
    found = np.array([p in listed for p in expect], np.bool_)
    return (
        Measured(
            texts=len(texts),
            true=len(together),
            together=int(together.sum()),
            listed=int(found.sum()),
            near=int(near.sum()),
            near_together=int((together & near).sum()),
            near_listed=int((found & near).sum()),
            removed=int(np.count_nonzero(~result.keep)),
        ),
        tuple(faults),
    )


def shares(measured: Measured) -> list[str]:
    """What is wrong with the shares, if there are enough pairs to speak of shares."""
    faults = []
    for what, true, together, listed in (
        ("true", measured.true, measured.together, measured.listed),
        ("near", measured.near, measured.near_together, measured.near_listed),
    ):
        if true >= ENOUGH and together > MISSED * true:
            faults.append(f"{together} of {true} {what} pairs ({together / true:.2%}) are left together")
        if true >= ENOUGH and listed < RECALL * true:
            faults.append(f"pairs lists {listed} of {true} {what} pairs ({listed / true:.2%})")
    return faults


def pooled(measured: list[Measured]) -> Measured:
    """The sum over collections."""
    rows = [asdict(m) for m in measured]
    return Measured(**{key: sum(row[key] for row in rows) for key in rows[0]})


def key_of(shingle: int, unit: str, threshold: float) -> str:
    return f"{unit}{shingle}@{threshold}"


def floors() -> dict:
    """The pinned values."""
    return json.loads(FLOORS.read_text(encoding="utf-8")) if FLOORS.exists() else {}


def against_floor(case: tuple[str, int, str, float], now: Measured, pinned: dict) -> list[str]:
    """What is worse than the pinned values; case: collection, shingle, unit, threshold."""
    name, shingle, unit, threshold = case
    entry = pinned.get(name)
    if entry is None:
        return [f"no floor is pinned for {name}: python tests/quality_gate.py --pin"]
    if entry["sha256"] != digest(texts_of(name)):
        return [f"the texts of {name} changed: their floors say nothing; python tests/quality_gate.py --pin"]
    floor = entry["floors"].get(key_of(shingle, unit, threshold))
    if floor is None:
        return ["no floor is pinned for this setting: python tests/quality_gate.py --pin"]
    faults = []
    if now.true != floor["true"]:
        faults.append(f"{now.true} true pairs, pinned {floor['true']}: the oracle or Unicode changed")
    if now.together > floor["together"]:
        faults.append(f"{now.together} true pairs are left together, pinned {floor['together']}")
    if now.listed < floor["listed"]:
        faults.append(f"pairs lists {now.listed} true pairs, pinned {floor['listed']}")
    return faults


CASES = [
    pytest.param(*setting, threshold, id=f"{setting[0]}-{key_of(*setting[1:], threshold)}")
    for setting in SETTINGS
    for threshold in THRESHOLDS
]


@pytest.mark.parametrize(("name", "shingle", "unit", "threshold"), CASES)
def test_promises(name: str, shingle: int, unit: str, threshold: float) -> None:
    """Every promise that can be judged on one collection."""
    measured, faults = measure(name, shingle, unit, threshold)
    shown = [*faults[:10], *([f"... {len(faults) - 10} more"] if len(faults) > 10 else [])]
    assert not [*shown, *shares(measured)], measured


@pytest.mark.parametrize(("name", "shingle", "unit", "threshold"), CASES)
def test_floors(name: str, shingle: int, unit: str, threshold: float) -> None:
    """Nothing is worse than what was pinned."""
    measured, _ = measure(name, shingle, unit, threshold)
    assert not against_floor((name, shingle, unit, threshold), measured, floors()), measured


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_shares_over_all_collections(threshold: float) -> None:
    """The shares over all collections that are here, at the default setting."""
    here = [name for name in (BUILT, *SHARED) if name == BUILT or (DATA / f"{name}.docs.jsonl.gz").exists()]
    total = pooled([measure(name, 5, "word", threshold)[0] for name in here])
    assert not shares(total), total


def pin(cases: list, *, lower: bool) -> int:
    """Write today's values; refuse what is worse than before."""
    before = floors()
    after = json.loads(json.dumps(before))
    worse = []
    for name, shingle, unit, threshold in cases:
        now, _ = measure(name, shingle, unit, threshold)
        same_texts = before.get(name, {}).get("sha256") == digest(texts_of(name))
        if same_texts and key_of(shingle, unit, threshold) in before[name]["floors"]:
            worse += [f"{name} {f}" for f in against_floor((name, shingle, unit, threshold), now, before)]
        entry = after.setdefault(name, {"sha256": "", "floors": {}})
        entry["sha256"] = digest(texts_of(name))
        entry["floors"][key_of(shingle, unit, threshold)] = {
            "true": now.true,
            "together": now.together,
            "listed": now.listed,
        }
    if worse and not lower:
        print("\n".join(worse), "\nNothing was written; --lower writes lower floors too.", file=sys.stderr)
        return 1
    FLOORS.write_text(json.dumps(after, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{FLOORS.name}: {len(cases)} cases pinned")
    return 0


def main(argv: list[str] | None = None) -> int:
    """Print the table, or pin."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="collections whose name contains this")
    parser.add_argument("--pin", action="store_true", help="write today's values to quality_floors.json")
    parser.add_argument("--lower", action="store_true", help="with --pin: allow lower values")
    args = parser.parse_args(argv)
    cases = [
        (name, shingle, unit, threshold)
        for name, shingle, unit in SETTINGS
        for threshold in THRESHOLDS
        if args.only in name and (name == BUILT or (DATA / f"{name}.docs.jsonl.gz").exists())
    ]
    if args.pin:
        return pin(cases, lower=args.lower)
    print(f"{'collection':18} {'setting':>11} {'true':>7} {'together':>9} {'listed':>8} {'recall':>7} faults")
    broken = 0
    rows: dict[float, list[Measured]] = {}
    for name, shingle, unit, threshold in cases:
        now, faults = measure(name, shingle, unit, threshold)
        faults = [*faults, *shares(now)]
        broken += len(faults)
        if (shingle, unit) == (5, "word"):
            rows.setdefault(threshold, []).append(now)
        _line(name, key_of(shingle, unit, threshold), now, faults)
    for threshold, measured in sorted(rows.items()):
        total = pooled(measured)
        faults = shares(total)
        broken += len(faults)
        _line("all together", key_of(5, "word", threshold), total, faults)
    return 1 if broken else 0


def _line(name: str, setting: str, now: Measured, faults: list[str]) -> None:
    recall = now.listed / now.true if now.true else 1.0
    print(
        f"{name:18} {setting:>11} {now.true:7} {now.together:9} {now.listed:8} {recall:7.4f} {len(faults)}", flush=True
    )
    for fault in faults[:5]:
        print("   ", fault)


if __name__ == "__main__":
    sys.exit(main())
