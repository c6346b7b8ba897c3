"""What an engine and a store are: an engine only places tasks, a store only keeps what lies between stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

import pyarrow as pa

Item = TypeVar("Item")
Done = TypeVar("Done")


class Engine(Protocol):
    """Places independent, pure, idempotent tasks."""

    def map(self, task: Callable[[Item], Done], items: Iterable[Item]) -> list[Done]:
        """Run `task` on every item and return the results in the order of the items.

        The first task that raises ends the stage; its exception is raised here.
        """
        ...


class Store(Protocol):
    """Keeps named Arrow tables between stages. A name is written once, whole or not at all."""

    def has(self, name: str) -> bool:
        """Whether a whole table of this name is here (a resumed run then skips its task)."""
        ...

    def put(self, name: str, table: pa.Table) -> None:
        """Keep a table."""
        ...

    def stream(
        self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], note: Callable[[], str] | None = None
    ) -> None:
        """Keep a table that comes batch by batch; a store on a disk holds one batch at a time in memory.

        `note` is asked after the last batch, and its text kept beside the table.
        """
        ...

    def note(self, name: str) -> str:
        """Return what was noted of a table when it was whole; "" if nothing was."""
        ...

    def get(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table, or only these of its columns, in the order given.

        Raises:
            StoreError: it is missing or damaged; what made it must be done again.
        """
        ...

    def batch(self, name: str, index: int) -> pa.RecordBatch:
        """Return one batch of a table, as it was put; errors as for `get`."""
        ...

    def drop(self, name: str) -> None:
        """Forget a table that no later stage needs."""
        ...
