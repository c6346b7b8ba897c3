"""daft: its `normalize` and `minhash` expressions; it has no bands and no components, so these are written here."""

from __future__ import annotations

from pathlib import Path

from adapter import Answer, Peer, Row, clusters

BANDS, WIDTH = 16, 8


def run(files: list[str], hash_function: str) -> Answer:
    """Normalise, sketch, cut the sketches into 16 bands of 8, and keep the first of each component."""
    import daft
    import numpy as np
    from daft.functions import minhash, normalize

    daft.set_runner_native(num_threads=1)
    frame = daft.read_parquet(files).select("id", "text")
    text = normalize(frame["text"], lowercase=True, white_space=True)
    sketches = minhash(text, num_hashes=BANDS * WIDTH, ngram_size=5, seed=1, hash_function=hash_function)
    frame = frame.select("id", sketches)
    table = frame.to_arrow().combine_chunks().sort_by("id")
    ids = table["id"].to_numpy()
    column = table.column(1).combine_chunks()
    sketch = np.ascontiguousarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(len(ids), -1)
    edges = []
    for band in range(BANDS):
        rows = np.ascontiguousarray(sketch[:, band * WIDTH : (band + 1) * WIDTH])
        keys = rows.view(np.dtype((np.void, rows.itemsize * WIDTH))).ravel()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        start = first[group]
        other = np.flatnonzero(start != np.arange(len(ids)))
        edges.append(start[other] * len(ids) + other)
    pairs = np.unique(np.concatenate(edges)) if len(ids) else np.zeros(0, np.int64)
    label = np.array(clusters(len(ids), (pairs // max(1, len(ids))).tolist(), (pairs % max(1, len(ids))).tolist()))
    gone = label != np.arange(len(ids))
    return Answer(kept=ids[~gone], removed=ids[gone], twin=ids[label[gone]])


def run_default(files: list[str], scratch: Path) -> Answer:
    """Its default hash function."""
    return run(files, "murmurhash3")


def run_xxhash(files: list[str], scratch: Path) -> Answer:
    """The fastest of its hash functions."""
    return run(files, "xxhash3_64")


SETTING = "normalize(lowercase, white_space), minhash(128, 5-grams, {}); 16 × 8 bands and components by us"
PEER = Peer(
    name="daft",
    requires=("daft==0.7.26",),
    duplicate="in one component of shared LSH bands",
    rows={
        "murmur": Row(
            "daft + bands + components", SETTING.format("murmurhash3, its default"), "words", run_default,
            threads="set_runner_native(num_threads=1)",
        ),
        "xxhash": Row(
            "daft, xxhash, + bands + components", SETTING.format("xxhash3_64"), "words", run_xxhash,
            threads="set_runner_native(num_threads=1)",
        ),
    },
)  # fmt: skip
