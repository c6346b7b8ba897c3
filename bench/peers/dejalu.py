"""dejalu itself, installed from this checkout into an environment of its own, through its public function."""

from __future__ import annotations

from pathlib import Path

from adapter import Answer, Peer, Row


def run(files: list[str], scratch: Path) -> Answer:
    """Files in, evidence and report written, kept ids out; the process set up as the command sets up its own."""
    from dejalu.cli import prepare

    prepare(())
    import numpy as np
    import pyarrow.parquet as pq

    import dejalu

    result = dejalu.dedup([Path(f) for f in files], str(scratch / "out"), mode="report", threads=1)
    ids = np.concatenate([pq.read_table(f, columns=["id"], use_threads=False)["id"].to_numpy() for f in files])
    gone = result.twin >= 0
    return Answer(kept=ids[result.keep], removed=ids[gone], twin=ids[result.twin[gone]])


PEER = Peer(
    name="dejalu",
    requires=("dejalu",),
    duplicate="exact Jaccard of 5-word shingle sets at or above the threshold with a kept document",
    rows={"dejalu": Row("dejalu", "defaults: 5-word shingles, 128 slots, 21 × 6 bands, verified", "dejalu", run)},
)
