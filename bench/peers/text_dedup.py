"""text-dedup: its minhash script with the settings of its README, threshold .8."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from adapter import Answer, Peer, Row

CONFIG = """
[input]
input_type = "local_files"
file_type = "parquet"
[input.read_arguments]
path = "parquet"
data_files = {files}
split = "train"
cache_dir = "{scratch}/cache"
[algorithm]
algorithm_name = "minhash"
text_column = "text"
seed = 42
batch_size = 10000
num_perm = 240
threshold = 0.8
false_positive_weight = 0.5
false_negative_weight = 0.5
hash_bits = 64
ngram_size = 5
check_false_positive = {check}
num_proc = 1
[output]
output_dir = "{scratch}/out"
clean_cache = false
save_clusters = true
[debug]
enable_profiling = false
"""


def script(files: list[str], scratch: Path, check: bool) -> Answer:
    """Run its main function on a configuration file, and read the ids of the data set that it saves."""
    import json
    import pickle

    from datasets import load_from_disk
    from text_dedup.config.base import load_config_from_toml
    from text_dedup.minhash import main

    path = scratch / "config.toml"
    path.write_text(CONFIG.format(files=json.dumps(files), scratch=scratch, check=str(check).lower()))
    main(load_config_from_toml(path))
    kept = list(load_from_disk(str(scratch / "out"))["id"])
    # Its cluster file maps documents to a number; documents of one number are said to repeat each other.
    label: dict[int, int] = pickle.loads((scratch / "out" / "clusters.pickle").read_bytes())
    head = {label[i]: i for i in reversed(kept) if i in label}
    gone = sorted(set(label) - set(kept))
    least = {label[i]: i for i in reversed(gone)}
    return Answer(kept=kept, removed=gone, twin=[head.get(label[i], least[label[i]]) for i in gone])


def run_checked(files: list[str], scratch: Path) -> Answer:
    """With its check of false positives, as the README has it."""
    return script(files, scratch, True)


def run_unchecked(files: list[str], scratch: Path) -> Answer:
    """Without it, which is the default of the program."""
    return script(files, scratch, False)


def shingles(text: str) -> Iterable[object]:
    """Its own n-gram function."""
    made: set[bytes] = ngrams()(text)
    return made


@cache
def ngrams() -> Any:
    """Make the function once."""
    from text_dedup.config.algorithms.minhash import MinHashAlgorithmConfig

    return MinHashAlgorithmConfig(
        algorithm_name="minhash", text_column="text", num_perm=16, threshold=0.8, ngram_size=5
    ).get_ngrams_func()


PEER = Peer(
    name="text-dedup",
    requires=("text-dedup==0.4.1",),
    duplicate="in one component of shared LSH bands; with its check: some pair of the component reaches the threshold",
    python=">=3.12",
    rows={
        "checked": Row(
            "text-dedup, checked", "num_perm 240, 5-grams, .8, check_false_positive", "own", run_checked, slow=True,
            threads="num_proc=1; polars told by environment",
        ),
        "unchecked": Row(
            "text-dedup, unchecked", "num_perm 240, 5-grams, .8", "own", run_unchecked, slow=True,
            threads="num_proc=1; polars told by environment",
        ),
    },
    shingles=shingles,
)  # fmt: skip
