"""How many pairs of each similarity real text has, and how many of them the bands compare in vain.

    python bench/similarities.py CORPUS [--lang en] [--least 0.3] [--threads 2]

CORPUS is a folder of parquet files with a column text (and lang, where --lang is given). Equal texts count once. The
pairs are those of an exact join on 5-word shingles; `dejalu plan` has the figures (evaluate/planning.py).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dejalu import kernels, represent
from dejalu.candidates.bands import choose_bands
from dejalu.data import text_buffers

STEP = 0.05


def texts(corpus: Path, lang: str | None) -> pa.LargeStringArray:
    """The different texts of a corpus, in its order."""
    tables = []
    for path in sorted(corpus.glob("*.parquet")):
        table = pq.read_table(path, columns=["text", "lang"] if lang else ["text"])
        tables.append(table.filter(pc.equal(table["lang"], lang)) if lang else table)
    every = pa.concat_tables(tables)["text"].combine_chunks().cast(pa.large_string())
    _, equal, *_ = kernels.sketch(*text_buffers(every), shingle=5, slots=0)
    _, first = np.unique(equal, axis=0, return_index=True)
    print(f"{len(every):,} texts, {len(first):,} different ones")
    return every.take(pa.array(np.sort(first)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--lang")
    parser.add_argument("--least", type=float, default=0.3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    text = texts(args.corpus, args.lang)
    ranked = kernels.rank_sets(*represent.shingle_sets(text, shingle=5, unit="word"), threads=args.threads)
    _, _, similarity, complete = kernels.join_pairs(
        ranked, measure="jaccard", threshold=args.least, most=1 << 28, threads=args.threads
    )
    assert complete, "more pairs than memory is given; take a smaller corpus, or a larger --least"
    edges = np.arange(args.least, 1.0 + STEP / 2, STEP)
    edges[-1] += 1e-9
    counts, _ = np.histogram(similarity, edges)
    for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
        print(f"{low:.2f} to {high:.2f}: {count:>12,} pairs, {count / len(text):8.3f} a text")
    grid = np.linspace(args.least, 1.0, 701)
    for threshold in (0.7, 0.8, 0.9):
        bands = choose_bands(threshold, 128)
        below = similarity[similarity < threshold]
        shared = np.interp(below, grid, [bands.recall(s) for s in grid]).sum() / len(text)
        passed = np.interp(below, grid, [bands.expected_recall(s) for s in grid]).sum() / len(text)
        found = (similarity >= threshold).sum() / len(text)
        print(
            f"threshold {threshold}: {found:.3f} true pairs a text; in vain {shared:.1f} share a key, {passed:.1f} pass"
        )


if __name__ == "__main__":
    main()
