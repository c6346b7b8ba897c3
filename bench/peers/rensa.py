"""rensa: the recipe of its README, its full-set sketches on shingles, and "rho", the pipeline of its headline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from adapter import Answer, Peer, Row, ids_and_texts, settle_candidates, shingles


def run_readme(files: list[str], scratch: Path) -> Answer:
    """Keep unique documents, as its README shows it: words as tokens, candidates checked by their sketches."""
    from rensa import RMinHashDeduplicator

    ids, texts = ids_and_texts(files)
    dedup = RMinHashDeduplicator(threshold=0.8, num_perm=128, use_lsh=True)
    keep = dedup.add_pairs((str(i), text.split()) for i, text in enumerate(texts))
    return Answer(kept=ids[[i for i, k in enumerate(keep) if k]])


def run_shingles(files: list[str], scratch: Path) -> Answer:
    """Do the same with shingles as tokens."""
    from rensa import RMinHashDeduplicator

    ids, texts = ids_and_texts(files)
    dedup = RMinHashDeduplicator(threshold=0.8, num_perm=128, use_lsh=True)
    keep = dedup.add_pairs((str(i), shingles(text)) for i, text in enumerate(texts))
    return Answer(kept=ids[[i for i, k in enumerate(keep) if k]])


def run_full(files: list[str], scratch: Path) -> Answer:
    """Sketch every document whole, 16 bands, and check each candidate by its estimated similarity."""
    from rensa import RMinHash, RMinHashLSH

    ids, texts = ids_and_texts(files)
    lsh = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
    sketches: list[RMinHash] = []

    def candidates() -> Iterator[tuple[int, list[int]]]:
        for first in range(0, len(texts), 4096):
            sketches.extend(RMinHash.from_token_sets([shingles(t) for t in texts[first : first + 4096]], 128, 42))
            for i in range(first, len(sketches)):
                own = sketches[i]
                found = [j for j in lsh.query(own) if own.jaccard(sketches[j]) >= 0.8]
                if not found:
                    lsh.insert(i, own)
                yield i, found

    kept, removed, twin = settle_candidates(len(texts), candidates())
    return Answer(kept=ids[kept], removed=ids[removed], twin=ids[twin])


def run_rho(files: list[str], scratch: Path) -> Answer:
    """Flag every document that has a partner in one call, then keep the first of the flagged ones row by row.

    The flags mark all members of a group, the first one too, and tell no partner: flagged documents go once more
    through an index, one at a time.
    """
    from rensa import RMinHash, RMinHashLSH

    ids, texts = ids_and_texts(files)
    sketch = RMinHash.digest_matrix_from_token_sets_rho
    matrix = sketch([shingles(text) for text in texts], 128, 42)
    flags = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=8).query_duplicate_flags_matrix_one_shot(matrix)
    lsh = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=8)
    kept = []
    for i, flag in enumerate(flags):
        if flag and lsh.insert_matrix_and_query_duplicate_flags(sketch([shingles(texts[i])], 128, 42), start_key=i)[0]:
            continue
        kept.append(i)
    return Answer(kept=ids[kept])


PEER = Peer(
    name="rensa",
    requires=("rensa==0.5.0",),
    duplicate="estimated Jaccard at or above the threshold with a kept document of the same band (rho: same band)",
    rows={
        "full": Row(
            "rensa, full sketches", "RMinHash 128, 16 bands, candidates ≥ .8 by estimate", "words", run_full
        ),
        "readme": Row(
            "rensa, README recipe", "RMinHashDeduplicator(.8, 128, use_lsh), single words", "single words", run_readme
        ),
        "shingles": Row(
            "rensa, README on shingles", "RMinHashDeduplicator(.8, 128, use_lsh), 5-word shingles", "words",
            run_shingles,
        ),
        "rho": Row("rensa, rho", "digest_matrix…_rho 128, 8 bands, one-shot flags", "words", run_rho),
    },
)  # fmt: skip
