"""data-juicer: its document_minhash_deduplicator, applied to a data set as its operators are outside a recipe file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from adapter import Answer, Peer, Row


def run(files: list[str], scratch: Path) -> Answer:
    """Hash every document, then cluster and filter."""
    from data_juicer.core.data import NestedDataset
    from data_juicer.ops.deduplicator.document_minhash_deduplicator import DocumentMinhashDeduplicator
    from datasets import load_dataset

    data = load_dataset("parquet", data_files=files, split="train", cache_dir=str(scratch / "cache"))
    op = DocumentMinhashDeduplicator(
        tokenization="space", window_size=5, lowercase=True, num_permutations=256, jaccard_threshold=0.8
    )
    hashed = NestedDataset(data.select_columns(["id", "text"])).map(op.compute_hash, num_proc=1)
    kept, _ = op.process(hashed)
    return Answer(kept=list(kept["id"]), notes={"bands": [op.num_bands, op.num_rows_per_band]})


def shingles(text: str) -> Iterable[object]:
    """The sets that the operator hashes, made with its own splitter."""
    from data_juicer.ops.common.helper_func import split_on_whitespace

    words = split_on_whitespace(text.lower())
    return [" ".join(words[i : i + 5]) for i in range(len(words) - 4)]


PEER = Peer(
    name="data-juicer",
    requires=("py-data-juicer==1.6.1", "aiohttp==3.14.5"),  # aiohttp: it is imported, and not among its dependencies
    duplicate="in one component of shared LSH bands",
    rows={
        "minhash": Row(
            "data-juicer", "document_minhash_deduplicator(space, window 5, 256 permutations, .8)", "own", run,
            slow=True, threads="num_proc=1",
        )
    },
    shingles=shingles,
)  # fmt: skip
