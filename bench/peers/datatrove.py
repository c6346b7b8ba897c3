"""datatrove: the four stages of its minhash example, one after the other in one process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from adapter import Answer, Peer, Row


def run(files: list[str], scratch: Path) -> Answer:
    """Signatures, buckets, clusters, filter; the filter's output is read back for the ids."""
    import pyarrow.parquet as pq
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import (
        MinhashConfig,
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
    )
    from datatrove.pipeline.readers import ParquetReader
    from datatrove.pipeline.writers import ParquetWriter

    data, config = str(Path(files[0]).parent), MinhashConfig()
    names = [Path(f).name for f in files]

    def reader() -> ParquetReader:
        # Its reader makes an id of its own where the column's value is 0; the id goes beside it as metadata.
        return ParquetReader(data, glob_pattern="*.parquet", text_key="text", id_key="no id", default_metadata={})

    def go(*steps: object, tasks: int) -> None:
        LocalPipelineExecutor(
            pipeline=list(steps), tasks=tasks, workers=1, logging_dir=str(scratch / f"log{len(steps)}-{tasks}"),
            skip_completed=False,
        ).run()  # fmt: skip

    folder = {name: str(scratch / name) for name in ("signatures", "buckets", "clusters", "kept")}
    go(reader(), MinhashDedupSignature(folder["signatures"], config=config), tasks=len(names))
    go(MinhashDedupBuckets(folder["signatures"], folder["buckets"], config=config), tasks=config.num_buckets)
    go(MinhashDedupCluster(folder["buckets"], folder["clusters"], config=config), tasks=1)
    writer = ParquetWriter(folder["kept"], output_filename="${rank}.parquet")
    go(reader(), MinhashDedupFilter(folder["clusters"]), writer, tasks=len(names))
    kept: list[int] = []
    for path in sorted(Path(folder["kept"]).glob("*.parquet")):
        kept += [row["id"] for row in pq.read_table(path, columns=["metadata"])["metadata"].to_pylist()]
    return Answer(kept=kept)


def shingles(text: str) -> Iterable[object]:
    """Its own shingles, hashed by it."""
    hashed: list[int] = signature_step().get_shingles(text).ravel().tolist()
    return hashed


@cache
def signature_step() -> Any:
    """Make its first step once; nothing is written."""
    from datatrove.pipeline.dedup import MinhashDedupSignature

    return MinhashDedupSignature("memory://unused")


PEER = Peer(
    name="datatrove",
    requires=("datatrove[io,processing]==0.10.1", "spacy==3.8.18"),
    duplicate="in one component of shared LSH bands",
    rows={
        "minhash": Row(
            "datatrove", "MinhashConfig(): 14 × 8, 5-grams; English tokenizer (spaCy, not in its extras)", "own", run,
            slow=True, threads="workers=1",
        )
    },
    shingles=shingles,
)  # fmt: skip
