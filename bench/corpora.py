"""The corpora of the benchmark: real English text, and small sets that are hard in one way each.

Every corpus is a folder of parquet files with `id` (int64, 0 … n - 1 in input order), `text`, and, in the hard sets,
`same` (int64): documents with the same number are one text to a reader, so that one of them should stay. All are built
once and kept below build/bench.
"""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = ["HARD", "Corpus", "english", "hard", "part_of", "tiny"]

Doc = tuple[str, int]  # text, and the number of the text that a reader sees in it


class Corpus(NamedTuple):
    """Files in input order, what they hold, and a hash of their content."""

    name: str
    files: list[str]
    documents: int
    bytes: int
    digest: str

    def texts(self) -> list[str]:
        """Read all texts."""
        found: list[str] = pa.concat_tables([pq.read_table(f, columns=["text"]) for f in self.files])[
            "text"
        ].to_pylist()
        return found

    def same(self) -> np.ndarray:
        """Read which text a reader sees in each document; (n,) int64."""
        same: np.ndarray = pa.concat_tables([pq.read_table(f, columns=["same"]) for f in self.files])["same"].to_numpy()
        return same


def opened(name: str, folder: Path) -> Corpus:
    """Describe a corpus that is there."""
    files = sorted(folder.glob("*.parquet"))
    digest, documents, size = hashlib.sha256(), 0, 0
    for file in files:
        for batch in pq.ParquetFile(file).iter_batches(columns=["text"]):
            text = batch.column(0).cast(pa.large_string())
            lengths = pc.binary_length(text)
            documents += len(text)
            size += pc.sum(lengths).as_py() or 0
            digest.update(np.asarray(lengths).tobytes())
            digest.update(pa.concat_arrays([text]).buffers()[2] or b"")
    return Corpus(name, [str(f) for f in files], documents, size, digest.hexdigest())


def write(folder: Path, parts: Iterator[pa.Table]) -> None:
    """Write tables one file each, whole or not at all."""
    part = folder.with_name(folder.name + ".part")
    part.mkdir(parents=True, exist_ok=True)
    for i, table in enumerate(parts):
        pq.write_table(table, part / f"part-{i:04d}.parquet", compression="zstd", row_group_size=8192)
    part.rename(folder)


def english(cache: Path, source: Path | None, builder: Path, megabytes: int) -> Corpus:
    """Take the first `megabytes` of English text of a collection; where there is less, paragraphs are mixed anew.

    source   folder of parquet files with `text` and `lang`; None: built by `builder` below the cache, from Debian's and
             npm's packages, by name (needs apt-get, dpkg-deb and npm, and some minutes)

    Raises SystemExit, telling what to do, where there is neither.
    """
    folder = cache / f"english-{megabytes}"
    if not folder.exists():
        if source is None:
            source = cache / "collection"
            if not (source / "parquet").exists():
                if not builder.exists():
                    raise SystemExit(
                        "bench/run: no English text here. Give a folder of parquet files with the columns `text` and "
                        "`lang` (--source DIR or DEJALU_CORPUS=DIR)"
                    )
                print(f"building the collection with {builder.name} (once, some minutes)", file=sys.stderr)
                subprocess.run([sys.executable, str(builder), "--out", str(source)], check=True)
        files = sorted((source / "parquet").glob("*.parquet")) or sorted(source.glob("*.parquet"))
        if not files:
            raise SystemExit(f"bench/run: no parquet file in {source} or its folder `parquet`")
        write(folder, _english(files, megabytes * 1_000_000))
    return opened("english", folder)


def _extended(texts: pa.Array, wanted: int) -> pa.Array:
    """Make more text of the same kind: documents of paragraphs drawn from all over, a tenth of them near copies.

    Two made documents rarely share more than one paragraph, so that what repeats among them was put there: a near copy
    has one word in 400 changed. For corpora larger than what is at hand.
    """
    rnd = _rng(8)
    paragraphs = [p for text in texts.to_pylist() for p in text.split("\n") if 80 <= len(p) <= 2000]
    made: list[str] = []
    size = 0
    while size < wanted:
        text = "\n".join(rnd.choices(paragraphs, k=rnd.randrange(3, 12)))
        made.append(text)
        if rnd.random() < 0.1:
            words = made[rnd.randrange(max(0, len(made) - 50_000), len(made))].split(" ")
            for at in rnd.sample(range(len(words)), 1 + len(words) // 400):
                words[at] = rnd.choice(VOCABULARY)
            made.append(" ".join(words))
            size += len(made[-1].encode())
        size += len(text.encode())
    return pa.array(made)


def _english(files: list[Path], wanted: int) -> Iterator[pa.Table]:
    first, found = 0, []
    for file in files:
        table = pq.read_table(file, columns=["text", "lang"])
        text = table.filter(pc.equal(table["lang"], "en"))["text"].combine_chunks()
        size = np.cumsum(np.asarray(pc.binary_length(text)))
        text = text[: int(np.searchsorted(size, wanted)) + 1]
        if len(text):
            yield pa.table({"id": np.arange(first, first + len(text)), "text": text})
            first, wanted = first + len(text), wanted - int(size[len(text) - 1])
            found.append(text)
        if wanted <= 0:
            return
    if not found:
        raise SystemExit(f"bench/run: no document with lang = 'en' in {files[0].parent}")
    print(f"{wanted / 1e6:.0f} MB more than there is: made from paragraphs of the rest", file=sys.stderr)
    more = _extended(pa.concat_arrays([t.cast(pa.string()) for t in found]), wanted)
    for at in range(0, len(more), 50_000):
        text = more[at : at + 50_000]
        yield pa.table({"id": np.arange(first, first + len(text)), "text": text})
        first += len(text)


def part_of(corpus: Corpus, cache: Path, megabytes: int) -> Corpus:
    """Take the first `megabytes` of a corpus: what slow tools get in the quick mode."""
    folder = cache / f"{corpus.name}-{corpus.digest[:8]}-first-{megabytes}"
    if not folder.exists():
        table = pa.concat_tables([pq.read_table(f) for f in corpus.files[:2]])
        size = np.cumsum(np.asarray(pc.binary_length(table["text"])))
        write(folder, iter([table.slice(0, int(np.searchsorted(size, megabytes * 1_000_000)) + 1)]))
    return opened(f"{corpus.name}, first {megabytes} MB", folder)


def tiny(cache: Path) -> Corpus:
    """Twenty short texts: what a tool costs before it has done anything."""
    return _made("start-up", cache, lambda: _shuffled(((_words(_rng(i), 40), i) for i in range(20)), 1))


def hard(name: str, cache: Path) -> Corpus:
    """Build a set of HARD."""
    return _made(name, cache, HARD[name][0])


def _made(name: str, cache: Path, make: Callable[[], list[Doc]]) -> Corpus:
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    folder = cache / f"{name.replace(' ', '-')}-{version}"
    if not folder.exists():
        text, same = zip(*make(), strict=True)
        table = pa.table({"id": np.arange(len(text)), "text": pa.array(text), "same": pa.array(same, pa.int64())})
        write(folder, iter([table]))
    return opened(name, folder)


def _rng(seed: int) -> random.Random:
    return random.Random(20_261_201 + seed)


SYLLABLES = [c + v + e for c in "bdfgklmnprstv" for v in "aeiou" for e in ("", "n", "r", "s", "l")]


def _vocabulary(n: int) -> list[str]:
    rnd = _rng(-1)
    return ["".join(rnd.choice(SYLLABLES) for _ in range(1 + min(3, int(i**0.25) // 3))) for i in range(n)]


VOCABULARY = _vocabulary(20_000)
WEIGHTS = np.cumsum(1 / np.arange(2, len(VOCABULARY) + 2)).tolist()
HANZI = [chr(c) for c in range(0x4E00, 0x4E00 + 2500)]


def _words(rnd: random.Random, n: int) -> str:
    """Write sentences of made-up words, a few of them frequent, with capitals, commas and full stops."""
    words = rnd.choices(VOCABULARY, cum_weights=WEIGHTS, k=n)
    end = 0
    for i in range(n):
        if i == end:
            words[i] = words[i].capitalize()
            end = i + rnd.randrange(6, 20)
        elif i == end - 1 or i == n - 1:
            words[i] += "."
        elif rnd.random() < 0.06:
            words[i] += ","
    return " ".join(words)


def _shuffled(docs: Iterator[Doc], seed: int) -> list[Doc]:
    made = list(docs)
    _rng(seed).shuffle(made)
    return made


def _front() -> list[Doc]:
    def docs() -> Iterator[Doc]:
        for i in range(300):
            rnd = _rng(i)
            text = _words(rnd, 300)
            yield from ((text, i), (rnd.choice(VOCABULARY).capitalize() + " " + text, i))

    return _shuffled(docs(), 2)


def _moved() -> list[Doc]:
    def docs() -> Iterator[Doc]:
        for i in range(300):
            rnd = _rng(i)
            words = _words(rnd, 400).split(" ")
            at = rnd.randrange(100, 200)
            yield from ((" ".join(words), i), (" ".join(words[at : at + 150] + words[:at] + words[at + 150 :]), i))

    return _shuffled(docs(), 3)


def _short() -> list[Doc]:
    def docs() -> Iterator[Doc]:
        for i in range(1000):
            rnd = _rng(i)
            words = _words(rnd, 60)[:200].rsplit(" ", 1)[0].split(" ")
            yield " ".join(words), i
            if i % 2:
                yield " ".join([*words[:-1], rnd.choice(VOCABULARY) + "."]), i  # the last word: J = (n - 5) / (n - 3)

    return _shuffled(docs(), 4)


def _chinese() -> list[Doc]:
    def docs() -> Iterator[Doc]:
        for i in range(300):
            rnd = _rng(i)
            text = rnd.choices(HANZI, k=300)
            for at in range(20, 300, 25):
                text[at] = "，"
            text[-1] = "。"
            yield "".join(text), i
            copy = list(text)
            for at in rnd.sample(range(300), 3):
                copy[at] = rnd.choice(HANZI)
            yield "".join(copy), i

    return _shuffled(docs(), 5)


def _pages() -> list[Doc]:
    def docs() -> Iterator[Doc]:
        rnd = _rng(0)
        head, foot = _words(rnd, 40), _words(rnd, 60)
        for i in range(600):
            rnd = _rng(i)
            facts = "\n".join(f"{_words(rnd, 3)} {rnd.randrange(10**6)} {_words(rnd, 6)}" for _ in range(10))
            yield f"{head}\n\n{facts}\n\n{foot}", i

    return _shuffled(docs(), 6)


def _identical() -> list[Doc]:
    return [(_words(_rng(7), 80), 0)] * 100_000


HARD: dict[str, tuple[Callable[[], list[Doc]], str]] = {
    "word at front": (_front, "300 texts of 300 words, each again with one word before it"),
    "block moved": (_moved, "300 texts of 400 words, each again with 150 words moved to the front"),
    "200 bytes": (_short, "1,000 texts of 200 bytes, half of them again with another last word"),
    "chinese": (_chinese, "300 unspaced Chinese texts of 300 characters, each again with 3 characters changed"),
    "template pages": (_pages, "600 pages with 100 words of furniture and 100 of facts, which differ: no duplicates"),
    "identical": (_identical, "one text of 80 words, 100,000 times"),
}
