"""fast-dedup: a Bloom filter for equal texts, and MinHash objects that can only be compared two at a time."""

from __future__ import annotations

from pathlib import Path

from adapter import Answer, Peer, Row, ids_and_texts, shingles


def run_bloom(files: list[str], scratch: Path) -> Answer:
    """Drop texts that the filter has seen; one in 10⁶ others is taken for seen."""
    from fast_dedup import BloomFilter

    ids, texts = ids_and_texts(files)
    seen = BloomFilter(max(1, len(texts)), 1e-6)
    kept = []
    for i, text in enumerate(texts):
        if not seen.contains(text):
            seen.add(text)
            kept.append(i)
    return Answer(kept=ids[kept])


def run_minhash(files: list[str], scratch: Path) -> Answer:
    """Compare every document with every kept one: there is no index, and no way to read a sketch's values."""
    from fast_dedup import MinHash

    ids, texts = ids_and_texts(files)
    kept, sketches, removed, twin = [], [], [], []
    for i, text in enumerate(texts):
        own = MinHash(128)
        for shingle in shingles(text):
            own.update(shingle)
        found = next((j for j, other in zip(kept, sketches, strict=True) if own.jaccard(other) >= 0.8), -1)
        if found < 0:
            kept.append(i)
            sketches.append(own)
        else:
            removed.append(i)
            twin.append(found)
    return Answer(kept=ids[kept], removed=ids[removed], twin=ids[twin])


PEER = Peer(
    name="fast-dedup",
    requires=("fast-dedup==0.1.0",),
    duplicate="estimated Jaccard at or above the threshold with a kept document (bloom: same text)",
    rows={
        "bloom": Row("fast-dedup, Bloom filter", "BloomFilter(n, 10⁻⁶): equal texts only", "words", run_bloom),
        "minhash": Row(
            "fast-dedup, MinHash", "MinHash(128) against every kept document; it has no index", "words", run_minhash,
            slow=True,
        ),
    },
)  # fmt: skip
