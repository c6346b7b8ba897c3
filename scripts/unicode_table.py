"""Generate the Unicode tables of the text kernels from the files of the Unicode Character Database.

    python scripts/unicode_table.py [UCD_FOLDER]      # default /usr/share/unicode (Debian package unicode-data 15.0.0)

Writes, and with --check compares:
    native/unicode_table.inc                          the tables of the native kernel (see native/unicode_table.hpp)
    src/dejalu/kernels/reference/unicode15.txt        the same facts, readable, for the plain-Python twin

Hashes live for years on users' disks, so the Unicode version is fixed here and does not follow the interpreter.
Sources: UAX #15 (normalization), UAX #44 (the files), the Unicode Standard 3.13 (toNFKC_Casefold).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = "15.0.0"
LIMIT = 0x110000
BLOCK = 64
HANGUL = range(0xAC00, 0xD7A4)
UNSPACED_SCRIPTS = {"Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"}
PROLONGED_SOUND = 0x30FC            # Script=Common, but part of Katakana words: unspaced by definition

# Classes and flags of a table entry; native/unicode_table.hpp has the same numbers.
SEPARATOR, WORD, MARK, UNSPACED, PICTOGRAPH = range(5)
IDENTITY, SINGLE, POOL = range(3)
BOUNDARY, SOLID, STEADY, INERT, DROPPED = (1 << b for b in (24, 25, 28, 29, 30))


def rows(folder: Path, name: str) -> Iterator[list[str]]:
    """Yield the semicolon-separated fields of each line of a UCD file."""
    for line in (folder / name).read_text(encoding="utf-8").splitlines():
        fields = line.split("#")[0].strip()
        if fields:
            yield [field.strip() for field in fields.split(";")]


def span(text: str) -> range:
    first, _, last = text.partition("..")
    return range(int(first, 16), int(last or first, 16) + 1)


def ranges(points: Iterable[int]) -> str:
    """Write a set of code points as 'a-b,c,...' in hexadecimal."""
    out: list[list[int]] = []
    for c in sorted(points):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return ",".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in out)


class Ucd:
    """The properties that folding and tokens need."""

    def __init__(self, folder: Path) -> None:
        head = (folder / "DerivedAge.txt").read_text(encoding="utf-8").split("\n", 1)[0]
        if f"-{VERSION}." not in head:
            sys.exit(f"{folder}: has {head!r}, but the tables are for Unicode {VERSION}; install that unicode-data")
        self.category: dict[int, str] = {}
        self.ccc: dict[int, int] = {}
        self.canonical: dict[int, tuple[int, ...]] = {}
        start = 0
        for f in rows(folder, "UnicodeData.txt"):
            c = int(f[0], 16)
            if f[1].endswith("First>"):
                start = c
                continue
            for p in range(start, c + 1) if f[1].endswith("Last>") else (c,):
                self.category[p] = f[2]
            if f[3] != "0":
                self.ccc[c] = int(f[3])
            if f[5] and not f[5].startswith("<"):
                self.canonical[c] = tuple(int(x, 16) for x in f[5].split())
        self.fold: dict[int, tuple[int, ...]] = {}
        self.quick: dict[int, str] = {}
        excluded: set[int] = set()
        for f in rows(folder, "DerivedNormalizationProps.txt"):
            if f[1] == "NFKC_CF":
                for p in span(f[0]):
                    self.fold[p] = tuple(int(x, 16) for x in f[2].split())
            elif f[1] == "NFC_QC":
                self.quick.update(dict.fromkeys(span(f[0]), f[2]))
            elif f[1] == "Full_Composition_Exclusion":
                excluded.update(span(f[0]))
        self.compose = {d: c for c, d in self.canonical.items() if len(d) == 2 and c not in excluded}
        self.unspaced = {PROLONGED_SOUND}
        for f in rows(folder, "Scripts.txt"):
            if f[1] in UNSPACED_SCRIPTS:
                self.unspaced.update(span(f[0]))
        self.pictograph: set[int] = set()
        for name, prop in (("emoji/emoji-data.txt", "Extended_Pictographic"), ("PropList.txt", "Regional_Indicator")):
            for f in rows(folder, name):
                if f[1] == prop:
                    self.pictograph.update(span(f[0]))

    def klass(self, c: int) -> int:
        """The class of a code point of folded text."""
        major = self.category.get(c, "Cn")[0]
        if c in self.unspaced and major in "LN":
            return UNSPACED
        if c in self.pictograph:
            return PICTOGRAPH
        if major == "M":
            return MARK
        return WORD if major in "LN" or c == ord("_") else SEPARATOR

    def nfd1(self, c: int) -> tuple[int, ...]:
        """Full canonical decomposition of one code point."""
        if c in HANGUL:
            s = c - 0xAC00
            t = s % 28
            return (0x1100 + s // 588, 0x1161 + s % 588 // 28) + ((0x11A7 + t,) if t else ())
        if c not in self.canonical:
            return (c,)
        return tuple(x for d in self.canonical[c] for x in self.nfd1(d))

    def nfd(self, text: Iterable[int]) -> list[int]:
        """Decompose and put marks in canonical order (UAX #15; a stable sort by class between starters)."""
        out: list[int] = []
        marks: list[int] = []
        for c in text:
            for d in self.nfd1(c):
                if self.ccc.get(d, 0):
                    marks.append(d)
                else:
                    out += sorted(marks, key=lambda m: self.ccc[m])
                    marks = []
                    out.append(d)
        return out + sorted(marks, key=lambda m: self.ccc[m])

    def nfc(self, text: Iterable[int]) -> list[int]:
        out: list[int] = []
        starter = -1                                        # place in out of the last starter
        last = 0                                            # class of the last code point kept after it
        for c in self.nfd(text):
            k = self.ccc.get(c, 0)
            if starter >= 0 and (len(out) - 1 == starter or last < k):
                pair = self.pair(out[starter], c)
                if pair is not None:
                    out[starter] = pair
                    continue
            out.append(c)
            last = k
            if k == 0:
                starter = len(out) - 1
        return out

    def pair(self, a: int, b: int) -> int | None:
        """Primary composite of two code points, or None."""
        if 0x1100 <= a < 0x1113 and 0x1161 <= b < 0x1176:
            return 0xAC00 + ((a - 0x1100) * 21 + b - 0x1161) * 28
        if a in HANGUL and (a - 0xAC00) % 28 == 0 and 0x11A8 <= b < 0x11C3:
            return a + b - 0x11A7
        return self.compose.get((a, b))

    def mapped(self, c: int) -> tuple[int, ...]:
        """NFD of NFKC_Casefold of a code point that is its own NFD."""
        return tuple(self.nfd(self.fold.get(c, (c,))))


class Pool:
    """Strings of code points, stored once."""

    def __init__(self) -> None:
        self.data: list[int] = []
        self.seen: dict[tuple[int, ...], int] = {}

    def add(self, text: tuple[int, ...]) -> int:
        if text not in self.seen:
            self.seen[text] = len(self.data)
            self.data += text
        return self.seen[text]


def entry(u: Ucd, c: int, pool: Pool, starts: set[int]) -> int:
    """The fast entry of a code point: class, flags, and what it folds to when nothing follows that joins it."""
    d = u.nfd1(c)
    m = u.nfd(x for y in d for x in u.mapped(y))
    f = u.nfc(m)
    ccc = u.ccc.get
    out = 0
    if m and not ccc(d[0], 0) and not ccc(m[0], 0) and u.quick.get(m[0]) != "M":
        out |= BOUNDARY
    if f and not ccc(d[-1], 0) and not ccc(m[-1], 0) and f[-1] not in starts:
        out |= SOLID
    if f and not ccc(f[-1], 0) and all(u.mapped(x) == (x,) for x in d[1:] if ccc(x, 0)):
        out |= STEADY
    if d == (c,) and u.mapped(c) == (c,) and ccc(c, 0) and c not in u.quick:
        return out | INERT | u.klass(c) << 21 | ccc(c, 0)
    if d == (c,) and not m and not ccc(c, 0):
        return out | DROPPED
    if f == [c]:
        return out | u.klass(c) << 21 | IDENTITY << 26
    if len(f) == 1:
        return out | u.klass(f[0]) << 21 | SINGLE << 26 | f[0]
    return out | u.klass(c) << 21 | POOL << 26 | len(f) << 16 | (pool.add(tuple(f)) if f else 0)


def trie(values: list[int], default: int) -> tuple[list[int], list[int]]:
    """Cut values into blocks of BLOCK and store equal blocks once; block 0 is all default."""
    blocks = {(default,) * BLOCK: 0}
    index = []
    for i in range(0, LIMIT, BLOCK):
        index.append(blocks.setdefault(tuple(values[i : i + BLOCK]), len(blocks)))
    return index, [v for b in blocks for v in b]


def array(kind: str, name: str, values: Iterable[int]) -> str:
    text, line = [f"extern const {kind} {name}[] = {{"], ""
    for v in values:
        item = f"{v:x}" if v < 10 else f"0x{v:x}"
        if len(line) + len(item) > 150:
            text.append(line)
            line = ""
        line += item + ","
    return "\n".join([*text, line, "};\n"])


def native(u: Ucd) -> str:
    pool = Pool()
    starts = {a for a, _ in u.compose} | set(range(0x1100, 0x1113)) | {s for s in HANGUL if (s - 0xAC00) % 28 == 0}
    fast = [entry(u, c, pool, starts) for c in range(LIMIT)]
    for c in range(LIMIT):                                   # a code point of folded text has its class in its entry
        if u.quick.get(c) != "N" and u.fold.get(c, (c,)) == (c,) and not fast[c] & INERT:
            assert fast[c] >> 26 & 3 == IDENTITY, hex(c)
    assert not any(u.klass(c) == UNSPACED for c in u.pictograph)
    plain = BOUNDARY | SOLID | STEADY | UNSPACED << 21       # the direct path for Han relies on it (tokenize.hpp)
    assert all(fast[c] == plain for c in range(0x4E00, 0xA000))
    records: dict[tuple[int, ...], int] = {(0, 0, 0, 255, 0): 0}
    slow = []
    for c in range(LIMIT):
        d = u.nfd1(c) if c not in HANGUL else (c,)           # Hangul is decomposed by arithmetic
        m = u.mapped(c) if d == (c,) and c not in HANGUL else (c,)
        r = (u.ccc.get(c, 0), len(d) if d != (c,) else 0, pool.add(d) if d != (c,) else 0,
             len(m) if m != (c,) else 255, pool.add(m) if m != (c,) else 0)
        slow.append(records.setdefault(r, len(records)))
    size = 4096                                              # open addressing, less than a quarter full
    keys, made = [0] * size, [0] * size
    for (a, b), c in sorted(u.compose.items()):
        i = compose_hash(a, b) & (size - 1)
        while keys[i]:
            i = (i + 1) & (size - 1)
        keys[i], made[i] = a << 21 | b, c
    assert len(pool.data) < 1 << 16 and len(records) < 1 << 16
    fast_index, fast_blocks = trie(fast, fast[0x10FFFD])
    slow_index, slow_blocks = trie(slow, 0)
    flat = [f"{{{a},{b},{d},{c},{e}}}" for a, b, c, d, e in records]   # ccc, lengths, then offsets
    lines = [",".join(flat[i : i + 8]) for i in range(0, len(flat), 8)]
    return "\n".join([
        f"// Generated by scripts/unicode_table.py from Unicode {VERSION}; do not edit. Layout: unicode_table.hpp.",
        array("uint16_t", "fast_index", fast_index), array("uint32_t", "fast_blocks", fast_blocks),
        array("uint16_t", "slow_index", slow_index), array("uint16_t", "slow_blocks", slow_blocks),
        array("uint32_t", "pool", pool.data), array("uint64_t", "compose_keys", keys),
        array("uint32_t", "compose_made", made),
        "extern const Slow slow_records[] = {\n" + ",\n".join(lines) + "\n};\n",
    ])


def compose_hash(a: int, b: int) -> int:
    """Place of a pair in the composition table; native/unicode_table.hpp has the same formula."""
    return (a * 0x9E3779B1 + b * 0x85EBCA6B & 0xFFFFFFFF) >> 16


def readable(u: Ucd) -> str:
    out = [
        f"# Unicode {VERSION}, the facts that dejalu's folding and tokens need; generated by scripts/unicode_table.py.",
        "# Hexadecimal; code points that are not listed have class 'separator', combining class 0, no mapping.",
        "# Derived from the Unicode Character Database, (c) Unicode, Inc., https://www.unicode.org/license.txt",
    ]
    named = (("word", WORD), ("mark", MARK), ("unspaced", UNSPACED), ("pictograph", PICTOGRAPH))
    klass = {c: u.klass(c) for c in set(u.category) | u.pictograph}
    for name, k in named:
        out.append(f"{name} " + ranges(c for c, v in klass.items() if v == k))
    for k in sorted(set(u.ccc.values())):
        out.append(f"ccc {k} " + ranges(c for c, v in u.ccc.items() if v == k))
    out.append("dropped " + ranges(c for c, v in u.fold.items() if not v))
    for name, table in (("decompose", u.canonical), ("fold", {c: v for c, v in u.fold.items() if v})):
        out += [f"{name} {c:x} " + " ".join(f"{x:x}" for x in v) for c, v in sorted(table.items())]
    out.append("uncomposed " + ranges(c for c, d in u.canonical.items() if len(d) == 2 and d not in u.compose))
    return "\n".join(out) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("/usr/share/unicode"))
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file differs")
    args = parser.parse_args()
    u = Ucd(args.folder)
    stale = False
    for path, text in ((ROOT / "native/unicode_table.inc", native(u)),
                       (ROOT / "src/dejalu/kernels/reference/unicode15.txt", readable(u))):
        if args.check:
            stale |= path.read_text(encoding="utf-8") != text
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: {len(text):,} bytes")
    if stale:
        sys.exit("the tables differ from what the script makes; run it without --check")


if __name__ == "__main__":
    main()
