"""Generated corpora of any size with planted near copies, and the truth about them.

    python bench/generate.py OUT --documents 20e6 [--seed 7] [--format parquet|jsonl.zst] [--files 16] [--threads 2]

OUT gets files `part-00000.parquet` … with columns `id` (string) and `text`; OUT-truth.parquet gets a row per copy:
`copy` and `original` (positions over all files), `similarity` (exact Jaccard of 5-word shingles), `planted` (whether it
is .8 or more; a few lie just below). Its metadata says how many documents each file holds.

texts      words of an invented vocabulary of 100,000 by Zipf and Mandelbrot's law, 20 to 200 of them by a Pareto law of
           exponent 1/2 (63 words, 360 bytes on average). Texts that are not planted share hardly a shingle.
copies     a tenth of the documents. Each changes, removes or adds some words of its cluster's original, so that its
           similarity with it lies between .785 and 1; about a sixth of them change nothing.
clusters   one of a hundredth of all documents (200,000 of 20 million); the others have x or more copies with
           probability 1/x, at most a thousandth of the documents.
places     shuffled over all files; an original may come after its copies.

Everything about a document follows by arithmetic from the seed, the number of documents and its position: the words are
a hash of (number of the text, place of the word), positions a Feistel permutation of the numbers. So nothing depends on
files or threads, an original need not be kept to make its copies, and memory holds some blocks of documents whatever
the size. Only operations that IEEE 754 rounds exactly are used, so that every machine gives the same bytes of text.

Sources: Mandelbrot, "An informational theory of the statistical structure of language", 1953 (the law of words);
Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 17 (the hash); Black, Rogaway,
"Ciphers with arbitrary finite domains", CT-RSA 2002, section 3 (cycle walking).
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import zstandard

from dejalu import kernels

__all__ = ["SCHEMA", "TRUTH", "Block", "Layout", "block", "generate", "truth_of", "vocabulary"]

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

WORDS = 100_000  # in the vocabulary
SHORTEST, LONGEST = 20, 200  # words in a text
LARGE = 120  # words in the original of the large cluster
SHINGLE, THRESHOLD = 5, 0.8
LOWEST = 0.785  # similarity that copies aim at, at least
COPIES, HUGE, LARGER = 10, 100, 1000  # shares: copies, the large cluster, the largest of the others
BLOCK, GROUP = 8192, 65_536  # documents made at once, and in a row group or frame
TABLE = 20  # bits of the table of words
EDITS = 5  # inside a text, at most
KEEP, REPLACE, REMOVE, INSERT = range(4)  # what happens to a word of the original
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string())])
TRUTH = pa.schema(
    [("copy", pa.int64()), ("original", pa.int64()), ("similarity", pa.float64()), ("planted", pa.bool_())]
)


def mix(x: U64) -> U64:
    """Hash 64-bit values in place (SplitMix64's finaliser)."""
    shifted = np.empty_like(x)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        np.right_shift(x, np.uint64(shift), out=shifted)
        x ^= shifted
        x *= np.uint64(factor)
    np.right_shift(x, np.uint64(31), out=shifted)
    x ^= shifted
    return x


def draw(key: U64, what: int) -> U64:
    """Draw the `what`-th 64 random bits of each key."""
    return mix(key + np.uint64(what * int(GOLDEN) % (1 << 64)))


def uniform(bits: U64) -> npt.NDArray[np.float64]:
    """Map random bits to numbers in (0, 1]."""
    return ((bits >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53


@cache
def vocabulary() -> pa.StringArray:
    """Spell the words, frequent ones shorter, each with a space behind it: syllables as digits of a number."""
    codas = ["", "n", "", "r", "s"]
    pairs = itertools.product(enumerate("bdfghjklmnprstvwxyzq"), enumerate("aeiou"))
    syllables = [consonant + vowel + codas[(i + j) % 5] for (i, consonant), (j, vowel) in pairs]
    spelt = []
    for word in range(WORDS):
        many = 1 + (word >= 100) + (word >= 10_000)
        mixed = word * 370_003 % 100**many  # prime to 10: neighbours look unlike, and no two words are the same
        spelt.append("".join(syllables[mixed // 100**i % 100] for i in range(many)) + " ")
    return pa.array(spelt, pa.string())


@cache
def law_of_words() -> npt.NDArray[np.int32]:
    """Tabulate the law of words: an entry drawn evenly is word r with a probability that falls as 1 / (r + 2.7)."""
    heap = np.cumsum(1.0 / (np.arange(1, WORDS + 1) + 2.7))
    even = (np.arange(1 << TABLE) + 0.5) / (1 << TABLE)
    return np.searchsorted(heap / heap[-1], even).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Shuffle:
    """A permutation of 0 … n - 1: a Feistel network of four rounds, walked until it is back in range."""

    n: int
    key: int

    def _rounds(self, x: U64, back: bool) -> U64:
        half = np.uint64(max(1, ((self.n - 1).bit_length() + 1) // 2))
        mask = (np.uint64(1) << half) - np.uint64(1)
        left, right = x >> half, x & mask
        for r in (3, 2, 1, 0) if back else (0, 1, 2, 3):
            if back:
                left, right = right ^ (self._round(left, r) & mask), left
            else:
                left, right = right, left ^ (self._round(right, r) & mask)
        return left << half | right

    def _round(self, half: U64, r: int) -> U64:
        return mix(half + np.uint64((self.key + r * int(GOLDEN)) % (1 << 64)))

    def __call__(self, x: I64, back: bool = False) -> I64:
        """Map numbers to places, or back."""
        y = self._rounds(x.astype(np.uint64), back)
        while len(out := np.flatnonzero(y >= self.n)):
            y[out] = self._rounds(y[out], back)
        return y.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which number of text stands where, and which is whose copy.

    first (clusters + 1,) int64: numbers of the originals, each followed by the numbers of its copies; numbers from
    first[-1] on are texts of their own.
    """

    documents: int
    seed: int
    first: I64
    shuffle: Shuffle

    @classmethod
    def of(cls, documents: int, seed: int) -> Layout:
        """Draw the sizes of the clusters, until a tenth of the documents are copies."""
        key = int(mix(np.array([seed], np.uint64))[0])
        large, rest = documents // HUGE - 1, documents // COPIES - documents // HUGE + 1
        u = uniform(draw(np.arange(rest, dtype=np.uint64), key % (1 << 32)))
        many = np.minimum((1.0 / u).astype(np.int64), max(1, documents // LARGER))
        last = int(np.searchsorted(np.cumsum(many), rest))
        many = many[: last + 1].copy()
        many[last] -= many.sum() - rest
        sizes = np.concatenate(([0, large + 1], many + 1))
        return cls(documents, seed, np.cumsum(sizes), Shuffle(documents, key))

    def keys(self, number: I64) -> U64:
        """Hash the numbers of texts: what all draws of a text start from."""
        return mix(number.astype(np.uint64) * GOLDEN + np.uint64(self.shuffle.key))

    def originals(self, number: I64) -> I64:
        """Return the number of the original of each text; its own where it is no copy."""
        own = number >= self.first[-1]
        found = self.first[np.searchsorted(self.first, np.where(own, 0, number), side="right") - 1]
        return np.where(own, number, found)

    def lengths(self, number: I64, key: U64) -> I64:
        """Draw the number of words of originals."""
        low = (SHORTEST / (LONGEST + 1)) ** 0.5
        u = low + (1.0 - low) * uniform(draw(key, 1))
        return np.where(number == 0, LARGE, np.minimum(LONGEST, (SHORTEST / (u * u)).astype(np.int64)))


class Block(NamedTuple):
    """Documents of consecutive positions, and the truth about the copies among them."""

    table: pa.RecordBatch
    truth: pa.RecordBatch


def block(layout: Layout, first: int, last: int) -> Block:
    """Make the documents at positions first … last - 1."""
    number = layout.shuffle(np.arange(first, last), back=True)
    origin = layout.originals(number)
    copy = number != origin
    key = layout.keys(origin)
    length = layout.lengths(origin, key)
    words = words_of(key, length)
    text = spell(words, length)
    truth = pa.RecordBatch.from_pylist([], TRUTH)
    if copy.any():
        source = text.filter(pa.array(copy))
        edited, lengths = edit(words[np.repeat(copy, length)], length[copy], layout.keys(number[copy]))
        changed = spell(edited, lengths)
        text = pc.replace_with_mask(text, pa.array(copy), changed)
        similarity = jaccard(source, changed)
        columns = [np.arange(first, last)[copy], layout.shuffle(origin[copy]), similarity, similarity >= THRESHOLD]
        truth = pa.RecordBatch.from_arrays([pa.array(c) for c in columns], schema=TRUTH)
    return Block(pa.RecordBatch.from_arrays([names(first, last, layout.documents), text], schema=SCHEMA), truth)


def words_of(key: U64, length: I64) -> npt.NDArray[np.int32]:
    """Draw the words of texts, one text after another."""
    start = np.cumsum(length) - length
    bits = np.repeat(draw(key, 2) - start.astype(np.uint64) * GOLDEN, length)
    bits += np.arange(len(bits), dtype=np.uint64) * GOLDEN
    mix(bits)
    bits >>= np.uint64(64 - TABLE)
    return law_of_words()[bits.view(np.int64)]


def edit(words: npt.NDArray[np.int32], length: I64, key: U64) -> tuple[npt.NDArray[np.int32], I64]:
    """Change words of copies, each towards a similarity drawn evenly; returns words and lengths.

    A word changed inside a text takes away 5 shingles and brings 5: with `damage` such shingles of s the similarity is
    (s - damage) / (s + damage). What 5 does not divide is done at the end of the text, where a word costs one.
    """
    end = np.cumsum(length)
    start = end - length
    target = LOWEST + (1.0 - LOWEST) * uniform(draw(key, 3))
    damage = (length - SHINGLE + 1) * (1.0 - target) / (1.0 + target) + uniform(draw(key, 4))
    damage = np.where(draw(key, 5) % np.uint64(20) == 0, 0, damage.astype(np.int64))
    inside, tail = damage // SHINGLE, damage % SHINGLE
    what = np.zeros(len(words), np.int8)
    for i in range(EDITS):
        does = inside > i
        bits = draw(key[does], 8 + i)
        at = (bits >> np.uint64(32)).astype(np.int64) % length[does]
        what[start[does] + at] = (bits % np.uint64(3)).astype(np.int8) + REPLACE
    how = (draw(key, 6) % np.uint64(3)).astype(np.int8) + REPLACE  # INSERT: behind the last word
    for i in range(SHINGLE - 1):
        does = (tail > i) & (how != INSERT)
        what[end[does] - 1 - i] = how[does]
    times = np.array([1, 1, 0, 2])[what]
    inner = times.copy()
    times[end - 1] += np.where(how == INSERT, tail, 0)
    source = np.repeat(np.arange(len(words)), times)
    nth = np.arange(len(source)) - np.repeat(np.cumsum(times) - times, times)
    fresh = (nth >= inner[source]) | ((nth == 0) & np.isin(what[source], (REPLACE, INSERT)))
    edited = words[source]
    lengths = np.add.reduceat(times, start)
    new = np.flatnonzero(fresh)
    ends = np.cumsum(lengths)
    owner = np.searchsorted(ends, new, side="right")
    place = new - (ends - lengths)[owner]
    bits = mix(draw(key, 7)[owner] + place.astype(np.uint64) * GOLDEN)
    edited[new] = law_of_words()[(bits >> np.uint64(64 - TABLE)).astype(np.int64)]
    return edited, lengths


def spell(words: npt.NDArray[np.int32], length: I64) -> pa.StringArray:
    """Write texts out: their words with spaces between and a full stop at the end."""
    spelt = vocabulary().take(pa.array(words))
    _, offsets, data = spelt.buffers()
    border = np.frombuffer(offsets, np.int32)[np.concatenate(([0], np.cumsum(length)))]
    letters = np.frombuffer(data, np.uint8)
    letters[border[1:] - 1] = ord(".")
    return pa.StringArray.from_buffers(len(length), pa.py_buffer(border), data)


def jaccard(a: pa.StringArray, b: pa.StringArray) -> npt.NDArray[np.float64]:
    """Compute the exact similarity of a[i] and b[i]."""
    both = pa.concat_arrays([a, b]).cast(pa.large_string())
    _, offsets, data = both.buffers()
    sets = kernels.shingle_sets(
        np.frombuffer(data, np.uint8), np.frombuffer(offsets, np.int64)[: len(both) + 1], shingle=SHINGLE
    )
    return kernels.jaccard(np.arange(len(a)), np.arange(len(a)) + len(a), *sets)


def names(first: int, last: int, documents: int) -> pa.StringArray:
    """Write ids: `d` and the position, of the same width for all."""
    width = len(str(documents - 1))
    digits = np.arange(first, last)[:, None] // 10 ** np.arange(width - 1, -1, -1) % 10
    letters = np.concatenate([np.full((last - first, 1), ord("d")), digits + ord("0")], axis=1).astype(np.uint8)
    offsets = np.arange(last - first + 1, dtype=np.int32) * (width + 1)
    return pa.StringArray.from_buffers(last - first, pa.py_buffer(offsets), pa.py_buffer(letters))


def lines(table: pa.Table) -> pa.StringArray:
    """Write documents as JSON lines; their letters need no escape."""
    quoted = ['{"id":"', table["id"], '","text":"', table["text"], '"}\n', ""]
    joined: pa.StringArray = pc.binary_join_element_wise(*quoted).combine_chunks()
    return joined


def write(layout: Layout, path: Path, first: int, last: int) -> tuple[pa.Table, int]:
    """Write one file; returns the truth about its copies and its bytes of text."""
    truth: list[pa.RecordBatch] = []
    size = 0

    def groups() -> Iterator[pa.Table]:
        nonlocal size
        for begin in range(first, last, GROUP):
            end = min(begin + GROUP, last)
            blocks = [block(layout, i, min(i + BLOCK, end)) for i in range(begin, end, BLOCK)]
            truth.extend(b.truth for b in blocks)
            table = pa.Table.from_batches([b.table for b in blocks], SCHEMA)
            size += pc.sum(pc.binary_length(table["text"])).as_py()
            yield table

    if path.suffix == ".parquet":
        options: dict[str, Any] = {"compression": "zstd", "compression_level": 1, "use_dictionary": False}
        with pq.ParquetWriter(path, SCHEMA, **options) as writer:
            for table in groups():
                writer.write_table(table, row_group_size=GROUP)
    else:
        with path.open("wb") as file:
            for table in groups():
                _, _, letters = lines(table).buffers()
                file.write(zstandard.compress(letters, 1))
    return pa.Table.from_batches(truth, TRUTH), size


def truth_of(corpus: Path) -> Path:
    """Return the address of the truth about a corpus."""
    return corpus.with_name(corpus.name + "-truth.parquet")


def generate(
    out: Path, documents: int, *, seed: int = 7, ending: str = "parquet", files: int = 16, threads: int = 2
) -> int:
    """Write a corpus and the truth about it; returns its bytes of text.

    Raises:
        FileExistsError: `out` holds something.
        ValueError: fewer than 1,000 documents, or no file to write.
    """
    if documents < LARGER or files < 1:
        raise ValueError(f"documents={documents}, files={files}: at least {LARGER} documents and one file are needed")
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty: name another folder, or remove it")
    layout = Layout.of(documents, seed)
    cuts = [documents * i // files for i in range(files + 1)]
    paths = [out / f"part-{i:05d}.{ending}" for i in range(files)]
    size = 0
    with ThreadPoolExecutor(threads) as pool, pq.ParquetWriter(truth_of(out), TRUTH, compression="zstd") as writer:
        for truth, more in pool.map(write, [layout] * files, paths, cuts[:-1], cuts[1:]):
            writer.write_table(truth)
            size += more
        rows = {path.name: b - a for path, a, b in zip(paths, cuts[:-1], cuts[1:], strict=True)}
        about = {"documents": documents, "seed": seed, "text_bytes": size, "rows": rows}
        writer.add_key_value_metadata({"corpus": json.dumps(about)})
    return size


def main() -> None:
    """Generate a corpus and say what it holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--documents", type=float, required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--format", choices=["parquet", "jsonl.zst"], default="parquet")
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    began, cpu = time.perf_counter(), time.process_time()
    size = generate(
        args.out, int(args.documents), seed=args.seed, ending=args.format, files=args.files, threads=args.threads
    )
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    truth = pq.read_table(truth_of(args.out))
    similarity, planted = truth["similarity"].to_numpy(), int(pc.sum(truth["planted"]).as_py())
    sizes = np.unique(truth["original"].to_numpy(), return_counts=True)[1]
    disk = sum(f.stat().st_size for f in args.out.iterdir())
    print(
        f"{args.out}: {int(args.documents):,} documents, {size / 1e6:,.0f} MB of text "
        f"({size / args.documents:.0f} bytes each), {disk / 1e6:,.0f} MB on disk"
    )
    print(f"{wall:.1f} s, {cpu:.1f} CPU s, {size / wall / 1e6:.0f} MB/s on {args.threads} thread(s)")
    print(
        f"{len(truth):,} copies of {len(sizes):,} originals, largest clusters {sorted((sizes + 1).tolist())[:-6:-1]}; "
        f"{planted:,} planted (similarity >= {THRESHOLD}), {int((similarity == 1).sum()):,} of them equal, "
        f"{len(truth) - planted:,} just below"
    )
    shares = np.histogram(similarity, [0, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.01])[0] / len(truth)
    print("similarity  < .75, .80, .85, .90, .95, 1, = 1:  " + "  ".join(f"{s:.1%}" for s in shares))


if __name__ == "__main__":
    main()
