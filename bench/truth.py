"""Exact truth and scores: what could be removed, what was, and whether each removal has a true twin.

A *recipe* turns a text into the set that a tool compares. Documents with equal sets form a group; groups whose sets
reach the threshold are joined exactly, by a prefix filter (Bayardo, Ma and Srikant, "Scaling up all pairs similarity
search", 2007, section 4) followed by the full intersection. Nothing here is estimated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dejalu import kernels

__all__ = ["RECIPES", "Recipe", "Score", "Sets", "Truth", "cached_truth", "score", "sets_of", "truth_of"]

I64, U64, F64, Bool = NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64], NDArray[np.bool_]
CHUNK = 20_000_000  # candidate pairs expanded at once


class Sets(NamedTuple):
    """Sets of 64-bit hashes, ragged: distinct values of document i, ascending, are values[offsets[i]:offsets[i+1]]."""

    values: U64
    offsets: I64


class Recipe(NamedTuple):
    """How a tool sees a text.

    words  text -> tokens
    n      tokens per shingle
    short  what a text of 1 … n - 1 tokens has: "whole", one shingle of all of them, or "none"
    about  as printed in the documentation
    """

    words: Callable[[str], list[str]]
    n: int
    short: str
    about: str


GAOYA = re.compile("[" + re.escape("".join(chr(c) for c in range(33, 127) if not chr(c).isalnum())) + " \t\n\r\f]+")
RECIPES: dict[str, Recipe] = {
    "words": Recipe(lambda t: t.lower().split(), 5, "whole", "lower case, split at white space, 5 words"),
    "single words": Recipe(str.split, 1, "none", "split at white space, single words, case kept"),
    "gaoya": Recipe(
        lambda t: [w for w in GAOYA.split(t.lower()) if w], 5, "none",
        "lower case, split at ASCII punctuation and white space, 5 words",
    ),
}  # fmt: skip
ABOUT = {name: recipe.about for name, recipe in RECIPES.items()} | {
    "dejalu": "Unicode fold, words (unspaced scripts: characters), 5 of them",
    "own": "the tool's own shingling function, run in its environment",
}


def sets_of(texts: list[str], recipe: str) -> Sets:
    """Apply a recipe to every text; "dejalu" is the product's kernel, which its tests hold to a plain twin."""
    if recipe == "dejalu":
        data = [t.encode() for t in texts]
        offsets = np.concatenate(([0], np.cumsum([len(d) for d in data]))).astype(np.int64)
        values, starts = kernels.shingle_sets(
            np.frombuffer(b"".join(data), np.uint8), offsets, shingle=5, unit=0, unspaced=True
        )
        return Sets(values, starts)
    rule = RECIPES[recipe]
    step = 8192
    return join_sets([_sets(texts[i : i + step], rule) for i in range(0, len(texts), step)])


def _sets(texts: list[str], rule: Recipe) -> Sets:
    words = [rule.words(text) for text in texts]
    length = np.fromiter(map(len, words), np.int64, len(words))
    token = np.fromiter(map(hash, chain.from_iterable(words)), np.int64, int(length.sum())).view(np.uint64)
    token = kernels.mix64(token)
    start = np.cumsum(length) - length
    # The hash of a shingle mixes its words one after the other; all windows at once, those across borders dropped.
    count = np.where(length >= rule.n, length - rule.n + 1, 0)
    first = np.repeat(start, count) + _ramp(count)
    value = np.zeros(len(first), np.uint64)
    for k in range(rule.n):
        value = kernels.mix64(value * np.uint64(0x9E3779B97F4A7C15) + token[first + k])
    owner = np.repeat(np.arange(len(words)), count)
    if rule.short == "whole":
        few = np.flatnonzero((length > 0) & (length < rule.n))
        whole = np.fromiter((hash(("short", *words[i])) for i in few), np.int64, len(few)).view(np.uint64)
        owner, value = np.concatenate((owner, few)), np.concatenate((value, whole))
    return ragged(len(words), owner, value)


def _ramp(count: I64) -> I64:
    """0 … count[i] - 1 for each i, one after the other."""
    return np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)


def ragged(n: int, owner: I64, value: U64) -> Sets:
    """Sort (document, value) rows, drop repetitions."""
    order = np.lexsort((value, owner))
    owner, value = owner[order], value[order]
    fresh = np.ones(len(owner), bool)
    fresh[1:] = (owner[1:] != owner[:-1]) | (value[1:] != value[:-1])
    owner, value = owner[fresh], value[fresh]
    return Sets(value, np.searchsorted(owner, np.arange(n + 1)).astype(np.int64))


def join_sets(parts: Iterable[Sets]) -> Sets:
    """Put the sets of consecutive documents one after the other."""
    values, offsets, base = [np.zeros(0, np.uint64)], [np.zeros(1, np.int64)], 0
    for part in parts:
        values.append(part.values)
        offsets.append(part.offsets[1:] + base)
        base += int(part.offsets[-1])
    return Sets(np.concatenate(values), np.concatenate(offsets))


class Truth(NamedTuple):
    """The exact answer for n documents.

    group       (n,) int64: documents with equal sets share a label, numbered by first occurrence; -1: empty set
    a, b        (p,) int64, a < b: groups whose sets reach the threshold
    similarity  (p,) float64
    """

    group: I64
    a: I64
    b: I64
    similarity: F64


def truth_of(sets: Sets, threshold: float) -> Truth:
    """Find equal sets and all pairs of different sets with intersection / union >= threshold."""
    size = np.diff(sets.offsets)
    key = [hashlib.blake2b(sets.values[s:e].tobytes(), digest_size=16).digest()
           for s, e in zip(sets.offsets[:-1].tolist(), sets.offsets[1:].tolist(), strict=True)]  # fmt: skip
    label: dict[bytes, int] = {}
    group = np.array([label.setdefault(k, len(label)) if s else -1 for k, s in zip(key, size, strict=True)], np.int64)
    _, group_first = np.unique(group[group >= 0], return_index=True)
    first = np.flatnonzero(group >= 0)[group_first]
    if label and (group >= 0).any():
        group[group >= 0] = np.unique(group[group >= 0], return_inverse=True)[1]
    wanted = np.repeat(sets.offsets[first], size[first]) + _ramp(size[first])
    distinct = Sets(sets.values[wanted], np.concatenate(([0], np.cumsum(size[first]))).astype(np.int64))
    a, b = candidates(distinct, threshold)
    similarity = kernels.jaccard(a, b, distinct.values, distinct.offsets)
    good = similarity >= threshold
    return Truth(group, a[good], b[good], similarity[good])


def candidates(sets: Sets, threshold: float) -> tuple[I64, I64]:
    """List pairs (a < b) that may reach the threshold: they share one of their rarest values.

    Of two sets with |x| <= |y| and Jaccard >= t, in one common order of values (rarest first), the first
    |x| - ceil(2t / (1 + t) |x|) + 1 values of x and the first |y| - ceil(t |y|) + 1 of y have one in common.
    """
    n, size = len(sets.offsets) - 1, np.diff(sets.offsets)
    _, inverse, count = np.unique(sets.values, return_inverse=True, return_counts=True)
    rank = np.empty(len(count), np.int64)
    rank[np.argsort(count, kind="stable")] = np.arange(len(count))
    owner = np.repeat(np.arange(n), size)
    order = np.sort((owner << 32) | rank[inverse])  # each set from its rarest value on
    value, place = order & 0xFFFFFFFF, _ramp(size)
    often = np.empty(len(count), np.int64)
    often[rank] = count
    probe = size - np.ceil(threshold * size - 1e-9).astype(np.int64) + 1
    index = size - np.ceil(2 * threshold / (1 + threshold) * size - 1e-9).astype(np.int64) + 1
    rows = np.flatnonzero((place < probe[owner]) & (often[value] > 1))
    owner, value, place = owner[rows], value[rows], place[rows]
    rows = np.lexsort((owner, size[owner], value))
    owner, value, place = owner[rows], value[rows], place[rows]
    indexed = place < index[owner]
    big = np.int64(size.max(initial=0) + 1)
    key = value * big + size[owner]
    largest = np.minimum(np.floor(size[owner] / threshold + 1e-9).astype(np.int64), big - 1)
    end = np.searchsorted(key, value * big + largest, side="right")
    partners = np.where(indexed, end - np.arange(len(owner)) - 1, 0)
    found = [np.zeros(0, np.int64)]
    at = 0
    total = np.cumsum(partners)
    while at < len(owner):
        base = total[at - 1] if at else 0
        stop = max(at + 1, int(np.searchsorted(total, base + CHUNK, side="right")))
        many = partners[at:stop]
        left = np.repeat(np.arange(at, stop), many)
        x, y = owner[left], owner[left + 1 + _ramp(many)]
        found.append(np.unique(np.minimum(x, y) * n + np.maximum(x, y)))
        at = stop
    pairs = np.unique(np.concatenate(found))
    return pairs // max(n, 1), pairs % max(n, 1)


def cached_truth(folder: Path, corpus: str, recipe: str, threshold: float, make: Callable[[], Sets]) -> Truth:
    """Read the truth of a corpus (by its hash) from the cache, or find it and keep it there."""
    own = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    name = hashlib.sha256(f"{corpus} {recipe} {threshold} {own}".encode()).hexdigest()[:24]
    path = folder / f"{name}.npz"
    if path.exists():
        with np.load(path) as kept:
            return Truth(*(kept[f] for f in Truth._fields))
    truth = truth_of(make(), threshold)
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{name}.part.npz"
    np.savez(part, **truth._asdict())
    part.rename(path)
    return truth


class Score(NamedTuple):
    """How an answer stands against the truth; counts of documents or pairs, shares in [0, 1] or None where undefined.

    removable     documents that a pass in input order over the true pairs removes: those with a kept earlier twin
    left          the same count over the documents that the tool keeps: what it leaves to be removed
    recall        1 - left / removable: the share of the removable that it removed, whichever copy it keeps
    removed       documents that are gone
    with_twin     of these, how many have a true twin among the kept
    with_any      of these, how many have a true twin at all, kept or not
    precision     with_twin / removed
    pair_recall   share of true pairs that are not left with both documents kept
    pair_precision  share of (removed, the document that it is said to repeat) that are true pairs; None: not told
    largest       documents of the largest cluster that it tells of; None: not told
    """

    removable: int
    left: int
    recall: float | None
    removed: int
    with_twin: int
    with_any: int
    precision: float | None
    true_pairs: int
    pair_recall: float | None
    pair_precision: float | None
    largest: int | None


def removable(truth: Truth, present: Bool) -> int:
    """Count the documents that a pass in input order removes, of those present."""
    place = np.flatnonzero(present & (truth.group >= 0))
    group, first, count = np.unique(truth.group[place], return_index=True, return_counts=True)
    order = np.full(int(truth.group.max(initial=-1)) + 1, -1, np.int64)  # place in input order; -1: not present
    order[group] = first
    near = (order[truth.a] >= 0) & (order[truth.b] >= 0) if len(truth.a) else np.zeros(0, bool)
    a, b = truth.a[near], truth.b[near]
    earlier, later = np.where(order[a] < order[b], a, b), np.where(order[a] < order[b], b, a)
    gone: set[int] = set()
    rows = np.argsort(order[later], kind="stable")
    for x, y in zip(earlier[rows].tolist(), later[rows].tolist(), strict=True):
        if x not in gone:  # all pairs of x as the later one came before
            gone.add(y)
    return int(count.sum() - len(group) + len(gone))


def score(truth: Truth, kept: Bool, removed: I64 | None = None, twin: I64 | None = None) -> Score:
    """Compare an answer with the truth.

    kept           (n,) bool
    removed, twin  positions of removed documents and of what each is said to repeat, or None
    """
    group, groups = truth.group, int(truth.group.max(initial=-1)) + 1
    real = group >= 0
    all_of = np.bincount(group[real], minlength=groups)
    kept_of = np.bincount(group[real & kept], minlength=groups)
    near_any, near_kept = np.zeros(groups, bool), np.zeros(groups, bool)
    for x, y in ((truth.a, truth.b), (truth.b, truth.a)):
        near_any[x] = True
        near_kept[x[kept_of[y] > 0]] = True
    gone = ~kept
    of = group[gone & real]
    with_twin = int(((kept_of[of] > 0) | near_kept[of]).sum())
    with_any = int(((all_of[of] > 1) | near_any[of]).sum())
    pairs = int((all_of * (all_of - 1) // 2).sum() + (all_of[truth.a] * all_of[truth.b]).sum())
    both = int((kept_of * (kept_of - 1) // 2).sum() + (kept_of[truth.a] * kept_of[truth.b]).sum())
    can, left = removable(truth, np.ones(len(kept), bool)), removable(truth, kept)
    told: float | None = None
    largest: int | None = None
    if removed is not None and twin is not None:
        x, y = group[removed], group[twin]
        code = np.minimum(x, y) * max(groups, 1) + np.maximum(x, y)
        true = ((x == y) & (x >= 0)) | (np.isin(code, truth.a * groups + truth.b) & (x >= 0) & (y >= 0))
        told = _share(int(true.sum()), len(removed))
        largest = int(np.bincount(twin).max()) + 1 if len(twin) else 1
    n_gone = int(gone.sum())
    return Score(
        removable=can, left=left, recall=None if not can else 1 - left / can, removed=n_gone, with_twin=with_twin,
        with_any=with_any, precision=_share(with_twin, n_gone), true_pairs=pairs,
        pair_recall=None if not pairs else 1 - both / pairs, pair_precision=told, largest=largest,
    )  # fmt: skip


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
