"""Verdicts against a naive settling: for every keep order, one loop over the documents and the listed pairs.

`pairs` lists all pairs that bands and sketch let through, checked exactly; settling must give what this rule says on
them: in keep order, a document joins the earliest kept one that it is paired with, else it is kept.
"""

from __future__ import annotations

import random

import corpus
import numpy as np
import oracle
import pyarrow as pa
import pytest
from running import dejalu as command_line
from running import evidence_of, write_jsonl

import dejalu


def rows(seed: int, n: int = 400) -> pa.Table:
    """Texts with many near copies, and columns to choose by."""
    r = random.Random(seed)
    words = [f"w{i}" for i in range(400)]
    texts: list[str | None] = []
    while len(texts) < n:
        base = [r.choice(words) for _ in range(r.choice([1, 3, 12, 40, 90]))]
        for _ in range(r.randrange(1, 9)):
            copy = base[:]
            for _ in range(r.choice([0, 0, 1, 1, 2, 4])):
                copy[r.randrange(len(copy))] = r.choice(words)
            copy += [r.choice(words) for _ in range(r.choice([0, 0, 1, 3]))]
            texts.append(r.choice([str, str.upper, str.title])("  ".join(copy)))
    texts += ["", None, "!!!", ""]
    r.shuffle(texts)
    n = len(texts)
    return pa.table(
        {
            "text": pa.array(texts, pa.string()),
            "number": pa.array([r.choice([None, 1, 2, 2, 3, -5, 2**60]) for _ in range(n)], pa.int64()),
            "real": pa.array([r.choice([None, 0.5, -1.5, 2.25]) for _ in range(n)], pa.float64()),
            "day": pa.array([r.choice([None, "2024-01-02", "2023-12-31", "2024-01-10"]) for _ in range(n)]),
            "source": pa.array([r.choice(["web", "wiki", "books", None]) for _ in range(n)]),
            "lang": pa.array([r.choice(["en", "de"]) for _ in range(n)]),
        }
    )


def key_of(table: pa.Table, keep: str, prefer: tuple[str, ...]) -> list[tuple]:
    """Each document's place in keep order, as a tuple to sort by."""
    text, source = table["text"].to_pylist(), table["source"].to_pylist()
    rule, _, column = keep.partition(":")
    values = table[column].to_pylist() if column else []
    out = []
    for i in range(table.num_rows):
        rank = prefer.index(source[i]) if source[i] in prefer else len(prefer)
        if rule == "last":
            mine: tuple = (-i,)
        elif rule == "longest":
            mine = (-len((text[i] or "").encode()),)
        elif rule in ("max", "min"):
            known = [v for v in values if v is not None]
            order = {v: k for k, v in enumerate(sorted(set(known), reverse=rule == "max"))}
            mine = (values[i] is None, order.get(values[i], 0))
        else:
            mine = ()
        out.append((rank, *mine, i))
    return out


def settle(
    table: pa.Table, pairs: dict[tuple[int, int], float], keep: str, prefer: tuple[str, ...], within: str | None
):
    """{removed: (twin, similarity)} by the rule."""
    groups = table[within].to_pylist() if within else [None] * table.num_rows
    partners: dict[int, list[int]] = {}
    for a, b in pairs:
        if groups[a] == groups[b]:
            partners.setdefault(a, []).append(b)
            partners.setdefault(b, []).append(a)
    keys = key_of(table, keep, prefer)
    removed: dict[int, tuple[int, float]] = {}
    for i in sorted(range(table.num_rows), key=keys.__getitem__):
        before = [j for j in partners.get(i, []) if keys[j] < keys[i] and j not in removed]
        if before:
            j = min(before, key=keys.__getitem__)
            removed[i] = (j, pairs[min(i, j), max(i, j)])
    return removed


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("within", [None, "lang"])
@pytest.mark.parametrize("prefer", [(), ("wiki", "books")])
@pytest.mark.parametrize(
    "keep", ["first", "last", "longest", "max:number", "min:number", "max:real", "min:day", "max:day"]
)
def test_verdicts_follow_the_rule(seed, keep, prefer, within):
    table = rows(seed)
    options = {"threshold": 0.6, "shingle": 2}
    listed = dejalu.pairs(table["text"], **options).to_pydict()
    pairs = dict(zip(zip(listed["a"], listed["b"], strict=True), listed["similarity"], strict=True))
    expect = settle(table, pairs, keep, prefer, within)
    result = dejalu.dedup(
        table, keep=keep, prefer=prefer, within=within, source_column="source", text_column="text", **options
    )
    found = {int(i): (int(result.twin[i]), float(result.similarity[i])) for i in np.flatnonzero(~result.keep)}
    assert found == expect
    assert len(found) > 100
    # The other views of the same verdicts.
    clusters = result.clusters()
    assert {int(i): kept for kept, gone in clusters.items() for i in gone} == {i: j for i, (j, _) in found.items()}
    evidence = result.removed().to_pylist()
    assert [(e["row"], e["twin_row"], e["similarity"]) for e in evidence] == [(i, *found[i]) for i in sorted(found)]
    assert result.filter(table).equals(table.filter(pa.array(result.keep)))
    tokens = [oracle.tokens(t or "") for t in table["text"].to_pylist()]
    for e in evidence:
        same = tokens[e["row"]] == tokens[e["twin_row"]]
        assert (e["measure"], e["similarity"]) == ("equal", 1.0) if same else e["measure"] == "jaccard"
        if same:
            assert e["method"] == "exact"


@pytest.mark.parametrize("method", ["exact", "bytes"])
@pytest.mark.parametrize("keep", ["first", "last", "longest", "max:number"])
def test_exact_methods_keep_the_best_of_each_group(method, keep):
    table = rows(3)
    texts = table["text"].to_pylist()
    groups: dict[object, list[int]] = {}
    for i, text in enumerate(texts):
        key = None if text is None else text if method == "bytes" else tuple(oracle.tokens(text)) or None
        if key is not None:
            groups.setdefault(key, []).append(i)
    keys = key_of(table, keep, ())
    best = {i: min(g, key=keys.__getitem__) for g in groups.values() for i in g}
    result = dejalu.dedup(table, method=method, keep=keep, text_column="text")
    assert {int(i): int(result.twin[i]) for i in np.flatnonzero(~result.keep)} == {
        i: j for i, j in best.items() if i != j
    }
    assert set(result.removed()["method"].to_pylist()) == {method}
    assert set(result.removed()["measure"].to_pylist()) == {"equal"}


def test_census_audit_equals_the_truth(tmp_path):
    """`--audit` of all documents: the exact number of true pairs and of missed ones."""
    texts = corpus.build()[::4]
    write_jsonl(tmp_path / "a.jsonl", [{"text": t, "half": i % 2} for i, t in enumerate(texts)])
    truth = oracle.Collection(texts).pairs(0.5)
    for options, inside in [((), lambda a, b: True), (("--within", "half"), lambda a, b: a % 2 == b % 2)]:
        command_line(
            *("dedup", "a.jsonl", "-o", "out", "--mode", "report", "--overwrite", "--threshold", 0.5, "--audit", 10**6),
            *options,
            cwd=tmp_path,
        )
        evidence = evidence_of(tmp_path / "out")
        gone = {r["row"] for r in evidence.removed()}
        true = [p for p in truth.as_dict() if inside(*p)]
        missed = [p for p in true if not gone & set(p)]
        audit = evidence.report["audit"]
        assert (audit["pairs"], audit["missed"]) == (2 * len(true), 2 * len(missed))
        assert audit["recall"] == audit["low"] == audit["high"] == pytest.approx(1 - len(missed) / len(true))
    command_line(
        *("dedup", "a.jsonl", "-o", "out", "--mode", "report", "--overwrite", "--threshold", 0.5, "--audit", 100),
        cwd=tmp_path,
    )
    audit = evidence_of(tmp_path / "out").report["audit"]
    assert audit["sampled"] == 100
    assert audit["low"] <= audit["recall"] <= audit["high"]
