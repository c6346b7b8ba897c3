"""Folding as the definition reads: NFD, NFKC_Casefold of each code point, NFC.

Twin of `native/normalize.hpp` and `tokenize.hpp`.

Works on lists of code points, so that nothing depends on the interpreter's Unicode version: every fact comes from
`unicode15.txt`, which `scripts/unicode_table.py` makes from the Unicode Character Database 15.0.

Source: Unicode Standard 15.0, section 3.13 (toNFKC_Casefold) and 3.11 (normalization forms); UAX #15.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

L_BASE, V_BASE, T_BASE, S_BASE = 0x1100, 0x1161, 0x11A7, 0xAC00
V_COUNT, T_COUNT, S_COUNT = 21, 28, 11172


@dataclass
class Facts:
    """What `unicode15.txt` says. A code point that is not listed is a separator of class 0 that maps to itself."""

    klass: dict[int, str] = field(default_factory=dict)            # word, mark, unspaced, pictograph
    ccc: dict[int, int] = field(default_factory=dict)              # canonical combining class
    decompose: dict[int, list[int]] = field(default_factory=dict)  # one step of canonical decomposition
    fold: dict[int, list[int]] = field(default_factory=dict)       # NFKC_Casefold
    compose: dict[tuple[int, int], int] = field(default_factory=dict)


def _points(text: str) -> list[int]:
    out: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        out += range(int(first, 16), int(last or first, 16) + 1)
    return out


@cache
def facts() -> Facts:
    """Read the data file, once."""
    f = Facts()
    uncomposed: set[int] = set()
    for line in files(__package__).joinpath("unicode15.txt").read_text(encoding="utf-8").splitlines():
        kind, *rest = line.split()
        if kind in ("word", "mark", "unspaced", "pictograph"):
            f.klass.update(dict.fromkeys(_points(rest[0]), kind))
        elif kind == "ccc":
            f.ccc.update(dict.fromkeys(_points(rest[1]), int(rest[0])))
        elif kind == "dropped":
            f.fold.update((c, []) for c in _points(rest[0]))
        elif kind == "decompose":
            f.decompose[int(rest[0], 16)] = [int(x, 16) for x in rest[1:]]
        elif kind == "fold":
            f.fold[int(rest[0], 16)] = [int(x, 16) for x in rest[1:]]
        elif kind == "uncomposed":
            uncomposed = set(_points(rest[0]))
    f.compose = {(d[0], d[1]): c for c, d in f.decompose.items() if len(d) == 2 and c not in uncomposed}
    return f


def nfd(text: list[int]) -> list[int]:
    """Decompose canonically and put marks in canonical order: a stable sort by class between code points of class 0."""
    out: list[int] = []
    for c in text:
        out += _decomposed(c)
    ccc = facts().ccc
    i = 0
    while i < len(out):
        j = i
        while j < len(out) and ccc.get(out[j], 0):
            j += 1
        out[i:j] = sorted(out[i:j], key=ccc.__getitem__)
        i = j + 1
    return out


def _decomposed(c: int) -> list[int]:
    s = c - S_BASE
    if 0 <= s < S_COUNT:
        l_v = [L_BASE + s // (V_COUNT * T_COUNT), V_BASE + s % (V_COUNT * T_COUNT) // T_COUNT]
        return l_v + ([T_BASE + s % T_COUNT] if s % T_COUNT else [])
    step = facts().decompose.get(c)
    return [c] if step is None else [x for d in step for x in _decomposed(d)]


def nfc(text: list[int]) -> list[int]:
    """Decompose, then join each code point with the last one of class 0 where nothing between blocks it (D117)."""
    out: list[int] = []
    ccc = facts().ccc
    starter, last = -1, 0
    for c in nfd(text):
        k = ccc.get(c, 0)
        if starter >= 0 and (starter == len(out) - 1 or last < k):
            both = _composed(out[starter], c)
            if both is not None:
                out[starter] = both
                continue
        out.append(c)
        last = k
        if k == 0:
            starter = len(out) - 1
    return out


def _composed(a: int, b: int) -> int | None:
    if L_BASE <= a < L_BASE + 19 and V_BASE <= b < V_BASE + V_COUNT:
        return S_BASE + ((a - L_BASE) * V_COUNT + b - V_BASE) * T_COUNT
    if 0 <= a - S_BASE < S_COUNT and (a - S_BASE) % T_COUNT == 0 and T_BASE < b < T_BASE + T_COUNT:
        return a + b - T_BASE
    return facts().compose.get((a, b))


def fold_points(text: list[int]) -> list[int]:
    """Fold a list of code points."""
    table = facts().fold
    return nfc([x for c in nfd(text) for x in table.get(c, [c])])


def fold(raw: bytes) -> str:
    """Fold UTF-8; each maximal invalid part (also an encoded surrogate) becomes U+FFFD."""
    return "".join(map(chr, fold_points([ord(c) for c in raw.decode("utf-8", "replace")])))
