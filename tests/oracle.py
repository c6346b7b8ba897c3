"""The naive oracle: every definition again, written apart from the pipeline, with Python's own tools.

    fold, tokens, shingles    text, by `unicodedata` and one regular expression (no table of ours)
    jaccard                   of two texts, on plain Python sets
    Collection                exact all-pairs similarity of many texts; shingles are numbered, never hashed
    check_verdicts            what must hold of every result, said as one function that returns the faults

`unicodedata` follows the interpreter's Unicode version (14 to 16): the oracle serves texts whose code points
are older.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

# Script = Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar, Tibetan and U+30FC, from Unicode 15's
# Scripts.txt.
UNSPACED = (
    "e01-e3a,e40-e5b,e81-e82,e84,e86-e8a,e8c-ea3,ea5,ea7-ebd,ec0-ec4,ec6,ec8-ece,ed0-ed9,edc-edf,f00-f47,f49-f6c,"
    "f71-f97,f99-fbc,fbe-fcc,fce-fd4,fd9-fda,1000-109f,1780-17dd,17e0-17e9,17f0-17f9,19e0-19ff,2e80-2e99,2e9b-2ef3,"
    "2f00-2fd5,3005,3007,3021-3029,3038-303b,3041-3096,309d-309f,30a1-30fa,30fc,30fd-30ff,31f0-31ff,32d0-32fe,"
    "3300-3357,3400-4dbf,4e00-9fff,a9e0-a9fe,aa60-aa7f,f900-fa6d,fa70-fad9,ff66-ff6f,ff71-ff9d,16fe2-16fe3,"
    "16ff0-16ff1,1aff0-1aff3,1aff5-1affb,1affd-1affe,1b000-1b122,1b132,1b150-1b152,1b155,1b164-1b167,1f200,"
    "20000-2a6df,2a700-2b739,2b740-2b81d,2b820-2cea1,2ceb0-2ebe0,2f800-2fa1d,30000-3134a,31350-323af"
)
# Extended_Pictographic or Regional_Indicator, from Unicode 15's emoji-data.txt and PropList.txt.
PICTOGRAPHS = (
    "a9,ae,203c,2049,2122,2139,2194-2199,21a9-21aa,231a-231b,2328,2388,23cf,23e9-23f3,23f8-23fa,24c2,25aa-25ab,25b6,"
    "25c0,25fb-25fe,2600-2605,2607-2612,2614-2685,2690-2705,2708-2712,2714,2716,271d,2721,2728,2733-2734,2744,2747,"
    "274c,274e,2753-2755,2757,2763-2767,2795-2797,27a1,27b0,27bf,2934-2935,2b05-2b07,2b1b-2b1c,2b50,2b55,3030,303d,"
    "3297,3299,1f000-1f0ff,1f10d-1f10f,1f12f,1f16c-1f171,1f17e-1f17f,1f18e,1f191-1f19a,1f1ad-1f1e5,1f1e6-1f1ff,"
    "1f201-1f20f,1f21a,1f22f,1f232-1f23a,1f23c-1f23f,1f249-1f3fa,1f400-1f53d,1f546-1f64f,1f680-1f6ff,1f774-1f77f,"
    "1f7d5-1f7ff,1f80c-1f80f,1f848-1f84f,1f85a-1f85f,1f888-1f88f,1f8ae-1f8ff,1f90c-1f93a,1f93c-1f945,1f947-1faff,"
    "1fc00-1fffd"
)
# Default_Ignorable_Code_Point, from Unicode 15's DerivedCoreProperties.txt.
IGNORABLE = (
    "ad,34f,61c,115f-1160,17b4-17b5,180b-180f,200b-200f,202a-202e,2060-206f,3164,fe00-fe0f,feff,ffa0,fff0-fff8,"
    "1bca0-1bca3,1d173-1d17a,e0000-e0fff"
)


def _points(ranges: str) -> frozenset[int]:
    pairs = (part.partition("-") for part in ranges.split(","))
    return frozenset(c for low, _, high in pairs for c in range(int(low, 16), int(high or low, 16) + 1))


def _char_class(points: Sequence[int]) -> str:
    """Sorted code points as the inside of a regular expression's character class."""
    out, first, last = [], None, None
    for c in [*points, None]:
        if first is not None and c == last + 1:
            last = c
            continue
        if first is not None:
            out.append(f"\\U{first:08x}" + (f"-\\U{last:08x}" if last > first else ""))
        first = last = c
    return "".join(out)


@cache
def _pattern(top: int) -> re.Pattern[str]:
    """The tokens among code points up to `top`: a smaller table is a much faster one."""
    unspaced, pictographs = _points(UNSPACED), _points(PICTOGRAPHS)
    single, picture, word, mark = [], [], [], []
    for c in range(top + 1):
        kind = unicodedata.category(chr(c))[0]
        if kind == "M":
            mark.append(c)
        if c in unspaced and kind in "LN":
            single.append(c)
        elif c in pictographs:
            picture.append(c)
        elif kind in "LMN" or c == 0x5F:
            word.append(c)
    alternatives = [f"[{_char_class(word)}]+"]
    if single:
        alternatives.append(f"[{_char_class(single)}]" + (f"[{_char_class(mark)}]*" if mark else ""))
    if picture:
        alternatives.append(f"[{_char_class(picture)}]")
    return re.compile("|".join(alternatives))


_DROP = dict.fromkeys(_points(IGNORABLE))


def fold(text: str) -> str:
    """NFD, then toNFKC_Casefold: compatibility form, case folded, default-ignorable code points dropped."""
    n = unicodedata.normalize
    text = n("NFKC", n("NFKC", n("NFD", text).casefold()).casefold())
    return n("NFC", text.translate(_DROP))


def tokens(text: str) -> list[str]:
    """Runs of letters, marks, numbers and `_`; unspaced letters with their marks alone; pictographs alone."""
    folded = fold(text)
    top = ord(max(folded, default=" "))
    return _pattern(0x7F if top < 0x80 else 0xFFFF if top < 0x10000 else sys.maxunicode).findall(folded)


def units(text: str, unit: str = "word") -> list[str]:
    """What shingles are made of: tokens, or the code points of the joined tokens."""
    return tokens(text) if unit == "word" else list("".join(tokens(text)))


def shingles(text: str, shingle: int = 5, unit: str = "word") -> set[tuple[str, ...]]:
    """All runs of `shingle` units; a shorter text has one shingle of all its units, an empty one has none."""
    u = units(text, unit)
    if not u:
        return set()
    return {tuple(u[i : i + shingle]) for i in range(max(1, len(u) - shingle + 1))}


def jaccard(a: str, b: str, shingle: int = 5, unit: str = "word") -> float:
    """Exact Jaccard similarity of the shingle sets; 0.0 when one has none."""
    x, y = shingles(a, shingle, unit), shingles(b, shingle, unit)
    return len(x & y) / len(x | y) if x and y else 0.0


@dataclass(frozen=True)
class Truth:
    """All pairs i < j at or above a threshold, ordered by (i, j): (p,) arrays."""

    a: np.ndarray
    b: np.ndarray
    similarity: np.ndarray

    def at(self, threshold: float) -> Truth:
        """The pairs at or above a higher threshold."""
        good = self.similarity >= threshold
        return Truth(self.a[good], self.b[good], self.similarity[good])

    def as_dict(self) -> dict[tuple[int, int], float]:
        """{(i, j): similarity}."""
        return dict(zip(zip(self.a.tolist(), self.b.tolist(), strict=True), self.similarity.tolist(), strict=True))


class Collection:
    """The shingle sets of many texts as sets of numbers; equal numbers are equal shingles, without any hash."""

    def __init__(self, texts: Sequence[str | None], shingle: int = 5, unit: str = "word"):
        vocabulary: dict[str, int] = {}
        flat: list[int] = []
        lengths = []
        for text in texts:
            u = units(text or "", unit)
            flat += [vocabulary.setdefault(x, len(vocabulary) + 1) for x in u]
            lengths.append(len(u))
        self.lengths = np.array(lengths, np.int64)
        self.sets = _numbered(np.array(flat, np.int64), self.lengths, shingle)
        self.sizes = np.array([len(s) for s in self.sets], np.int64)

    def similarity(self, i: int, j: int) -> float:
        """Exact Jaccard similarity of two of the texts."""
        both = len(np.intersect1d(self.sets[i], self.sets[j], assume_unique=True))
        return both / (self.sizes[i] + self.sizes[j] - both) if both else 0.0

    def pairs(self, threshold: float) -> Truth:
        """All pairs at or above the threshold, by a prefix-filtered exact join (Bayardo, Ma and Srikant, WWW
        2007).

        Two sets with J >= t share a shingle among the first n - ceil(t n) + 1 of each, whatever the common
        order; rarest first makes few candidates. Each candidate is then counted exactly.
        """
        where: dict[bytes, list[int]] = {}
        for i, s in enumerate(self.sets):
            if len(s):
                where.setdefault(s.tobytes(), []).append(i)
        groups = list(where.values())  # documents with equal sets
        sets = [self.sets[g[0]] for g in groups]
        a, b, s = _join(sets, threshold)
        rows = [
            (min(i, j), max(i, j), v)
            for x, y, v in zip(a.tolist(), b.tolist(), s.tolist(), strict=True)
            for i in groups[x]
            for j in groups[y]
        ]
        rows += [(i, j, 1.0) for g in groups for k, i in enumerate(g) for j in g[k + 1 :]]
        rows.sort()
        i, j, v = zip(*rows, strict=True) if rows else ((), (), ())
        return Truth(np.array(i, np.int64), np.array(j, np.int64), np.array(v, np.float64))


def _numbered(flat: np.ndarray, lengths: np.ndarray, shingle: int) -> list[np.ndarray]:
    """Number the shingles exactly: a run of k + 1 units is (number of its first k, its last unit)."""
    ends = np.cumsum(lengths)
    starts = ends - lengths
    doc = np.repeat(np.arange(len(lengths)), lengths)
    left = np.repeat(ends, lengths) - np.arange(len(flat))  # units from here to the end of the text, this one included
    number = flat
    for k in range(1, shingle):
        following = np.zeros(len(flat), np.int64)
        inside = np.flatnonzero(left > k)
        following[inside] = flat[inside + k]  # 0 stands for "the text has ended"
        number = np.unique(number * (int(flat.max(initial=0)) + 1) + following, return_inverse=True)[1].reshape(-1)
    # A full window counts; of a text shorter than the window, its first (unfinished) run alone.
    whole = (left >= shingle) | ((np.arange(len(flat)) == starts[doc]) & (lengths[doc] < shingle))
    cuts = np.searchsorted(doc[whole], np.arange(len(lengths) + 1))
    number = number[whole]
    return [np.unique(number[cuts[d] : cuts[d + 1]]) for d in range(len(lengths))]


def _join(sets: list[np.ndarray], threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of different sets at or above the threshold: places a < b, similarity."""
    sizes = np.array([len(s) for s in sets], np.int64)
    values = np.concatenate(sets) if sets else np.zeros(0, np.int64)
    frequency = np.bincount(values)
    keys, docs = [], []
    for d, s in enumerate(sets):
        rare = s[np.lexsort((s, frequency[s]))]
        # A little more than needed, so that no rounding of t * n can lose a pair.
        prefix = rare[: len(s) - max(1, int(np.ceil(threshold * len(s) - 1e-6))) + 1]
        prefix = prefix[frequency[prefix] > 1]
        keys.append(prefix)
        docs.append(np.full(len(prefix), d, np.int64))
    key = np.concatenate(keys) if keys else values
    doc = np.concatenate(docs) if docs else values
    order = np.lexsort((doc, key))
    key, doc = key[order], doc[order]
    n = len(sets)
    seen, fresh, waiting = np.zeros(0, np.int64), [], 0
    place = np.arange(len(key))
    step = 1
    while len(place):  # partners `step` places on in the same shingle's list
        place = place[place + step < len(key)]
        place = place[key[place] == key[place + step]]
        x, y = doc[place], doc[place + step]
        good = np.minimum(sizes[x], sizes[y]) >= threshold * np.maximum(sizes[x], sizes[y]) - 1e-6
        fresh.append(x[good] * n + y[good])
        waiting += len(fresh[-1])
        if waiting > 20_000_000:
            seen, fresh, waiting = np.unique(np.concatenate([seen, *fresh])), [], 0
        step += 1
    seen = np.unique(np.concatenate([seen, *fresh]))
    a, b = seen // max(n, 1), seen % max(n, 1)
    marked = np.zeros(int(values.max(initial=-1)) + 1, np.bool_)
    kept_a, kept_b, kept_s = [], [], []
    cuts = np.flatnonzero(np.diff(a, prepend=-1, append=n))
    for first, last in pairwise(cuts):
        x, partners = a[first], b[first:last]
        marked[sets[x]] = True
        starts = np.cumsum(sizes[partners]) - sizes[partners]
        counts = np.add.reduceat(marked[np.concatenate([sets[y] for y in partners])].astype(np.int64), starts)
        marked[sets[x]] = False
        similarity = counts / (sizes[x] + sizes[partners] - counts)
        good = similarity >= threshold
        kept_a.append(np.full(good.sum(), x))
        kept_b.append(partners[good])
        kept_s.append(similarity[good])
    if not kept_a:
        return a[:0], b[:0], np.zeros(0)
    return np.concatenate(kept_a), np.concatenate(kept_b), np.concatenate(kept_s)


def check_verdicts(
    collection: Collection,
    keep: np.ndarray,
    twin: np.ndarray,
    similarity: np.ndarray,
    *,
    threshold: float,
    rank: np.ndarray | None = None,
) -> list[str]:
    """List what is wrong with verdicts: every removal needs a kept twin at its true similarity, not below the
    threshold.

    keep (n,) bool; twin (n,) int64, -1 where kept; similarity (n,) float64, NaN where kept
    rank (n,) place of each document in keep order (default: its position): the twin must come before.
    """
    faults = []
    rank = np.arange(len(keep)) if rank is None else rank
    if (twin[keep] != -1).any() or not np.isnan(similarity[keep]).all():
        faults.append("a kept document has a twin or a similarity")
    for i in np.flatnonzero(~keep).tolist():
        j = int(twin[i])
        if not 0 <= j < len(keep) or not keep[j]:
            faults.append(f"document {i} was removed for {j}, which is not kept")
            continue
        true = collection.similarity(i, j)
        if abs(true - similarity[i]) > 1e-9:
            faults.append(f"document {i}: similarity {similarity[i]!r} to {j} is {true!r} in truth")
        if true < threshold:
            faults.append(f"document {i} was removed for {j} at {true!r}, below {threshold}")
        if rank[j] >= rank[i]:
            faults.append(f"document {i} was removed for {j}, which comes later in keep order")
    return faults
