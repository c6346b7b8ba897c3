"""gaoya: its MinHash index on raw text, with its own Rust analyser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from adapter import Answer, Peer, Row, ids_and_texts, settle_candidates


def run(files: list[str], scratch: Path) -> Answer:
    """Query the index with each document, and insert the ones without a match; it checks candidates by estimate."""
    from gaoya.minhash import MinHashStringIndex

    ids, texts = ids_and_texts(files)
    index = MinHashStringIndex(32, 0.8, 16, 8, None, "word", True, (5, 5), "vec")

    def candidates() -> Iterator[tuple[int, list[int]]]:
        for i, text in enumerate(texts):
            found = index.query(text)
            if not found:
                index.insert_document(i, text)
            yield i, found

    kept, removed, twin = settle_candidates(len(texts), candidates())
    return Answer(kept=ids[kept], removed=ids[removed], twin=ids[twin])


PEER = Peer(
    name="gaoya",
    requires=("gaoya==0.2.2",),
    duplicate="estimated Jaccard at or above the threshold with a kept document of the same band",
    rows={
        "16x8": Row(
            "gaoya", "MinHashStringIndex(32, .8, 16 × 8, word 5-grams, lowercase), candidates ≥ .8 by estimate",
            "gaoya", run, threads="none started: query and insert one by one",
        )
    },
)  # fmt: skip
