"""datasketch: MinHash and MinHashLSH of its README, fed with 5-word shingles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from adapter import Answer, Peer, Row, ids_and_texts, settle_candidates, shingles

LSH = "128 permutations, MinHashLSH(threshold=.8) (its own 9 × 13 bands), query before insert, candidates not verified"


def streaming(files: list[str], hashfunc: Callable[[bytes], int] | None) -> Answer:
    """Query the index with each document, and insert the ones without a match."""
    from datasketch import MinHash, MinHashLSH

    ids, texts = ids_and_texts(files)
    options: dict[str, Any] = {} if hashfunc is None else {"hashfunc": hashfunc}
    lsh = MinHashLSH(threshold=0.8, num_perm=128)

    def candidates() -> Iterator[tuple[int, list[int]]]:
        tokens = ([s.encode() for s in shingles(text)] for text in texts)
        for i, sketch in enumerate(MinHash.generator(tokens, num_perm=128, **options)):
            found = lsh.query(sketch)
            if not found:
                lsh.insert(i, sketch, check_duplication=False)
            yield i, found

    kept, removed, twin = settle_candidates(len(texts), candidates())
    return Answer(kept=ids[kept], removed=ids[removed], twin=ids[twin], notes={"bands": [lsh.b, lsh.r]})


def run_sha1(files: list[str], scratch: Path) -> Answer:
    """Its default hash function."""
    return streaming(files, None)


def run_xxhash(files: list[str], scratch: Path) -> Answer:
    """A faster hash function, as its documentation suggests."""
    import xxhash

    return streaming(files, xxhash.xxh32_intdigest)


PEER = Peer(
    name="datasketch",
    requires=("datasketch==2.0.0", "xxhash==4.1.0"),
    duplicate="shares an LSH band with a kept document",
    rows={
        "xxh32": Row("datasketch, xxh32", LSH, "words", run_xxhash),
        "sha1": Row("datasketch, sha1 (default)", LSH, "words", run_sha1, slow=True),
    },
)
