"""FastSketchLSH: its README's pipeline on 5-word shingles; candidates by query, since its flags mark first ones too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from adapter import Answer, Peer, Row, ids_and_texts, settle_candidates, shingles


def run(files: list[str], scratch: Path) -> Answer:
    """Sketch, insert all, and keep a document unless an earlier kept one shares a band with it."""
    from FastSketchLSH import LSH, FastSimilaritySketch

    ids, texts = ids_and_texts(files)
    sketcher = FastSimilaritySketch(size=128, seed=42)
    matrix = sketcher.batch([shingles(text) for text in texts], num_threads=1)
    lsh = LSH(num_perm=128, num_bands=16, num_threads=1)
    lsh.insert(matrix)

    def candidates() -> Iterator[tuple[int, list[int]]]:
        for first in range(0, len(texts), 4096):
            flat, starts = lsh.query(matrix[first : first + 4096], format="csr")
            for k in range(len(starts) - 1):
                yield first + k, flat[starts[k] : starts[k + 1]].tolist()

    kept, removed, twin = settle_candidates(len(texts), candidates())
    return Answer(kept=ids[kept], removed=ids[removed], twin=ids[twin])


PEER = Peer(
    name="FastSketchLSH",
    requires=("fastsketchlsh==1.0.1",),
    duplicate="shares an LSH band with a kept document",
    rows={"16": Row("FastSketchLSH", "128 slots, 16 bands, candidates not verified", "words", run)},
)
