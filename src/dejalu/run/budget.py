"""The memory that a run may use, and what each part of it gets."""

from __future__ import annotations

from dataclasses import dataclass

from ..plan import Execution

ROW, WIDE_ROW = 12, 20  # bytes of a row in the scratch memory of grouping by bands, and of equal texts
BATCH = 1 << 24  # bytes of text in a batch of documents, at most
PARTITION = 256 << 20  # bytes of input per partition, at most


@dataclass(frozen=True, slots=True)
class Budget:
    """Shares of the memory budget, in bytes unless said otherwise.

    total      the budget: what the run may hold, beyond what Python and its libraries take
    texts      texts kept from the first pass
    sketches   tables of the store that are held in memory, where no files are asked for
    packed     compact sketches of all documents, for the test of candidate pairs; beyond it buckets are joined whole
    members    band keys and compact sketches of the documents in work groups, when all texts are in memory
    buffer     texts waiting to be dealt to partitions, per thread
    batch      text of a batch of documents
    partition  input per partition: the texts of a partition are held at once while it is settled
    settle     text of a work group that is settled at once; its shingle sets take a few times as much
    rows       rows in the scratch memory of grouping by bands, per thread
    wide_rows  the same of grouping equal texts, all threads together
    """

    total: int
    texts: int
    sketches: int
    packed: int
    members: int
    buffer: int
    batch: int
    partition: int
    settle: int
    rows: int
    wide_rows: int

    @classmethod
    def of(cls, execution: Execution, available: int) -> Budget:
        """Divide what `execution.memory` names, or half of the `available` memory."""
        total = int(execution.memory) or available // 2
        threads = execution.workers
        return cls(
            total=total,
            texts=total // 4 if execution.text_cache < 0 else execution.text_cache,
            sketches=total // 4,
            packed=total // 8,
            members=total // 8,
            buffer=max(1 << 20, total // 32 // threads),
            batch=max(1 << 18, min(BATCH, total // 64 // threads)),
            partition=max(1 << 20, min(PARTITION, total // 32)),
            settle=max(1 << 20, min(1 << 25, total // 64 // threads)),
            rows=max(1 << 16, min(1 << 25, total // 4 // threads // ROW)),
            wide_rows=max(1 << 16, min(1 << 25, total // 4 // WIDE_ROW)),
        )
