"""The local engine: a pool of threads. Kernels and Arrow release the GIL, so threads use all cores without copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Local:
    """Runs tasks on `threads` threads of this process; one thread means plain calls, in order."""

    threads: int = 1

    def map(self, task: Callable[[Item], Done], items: Iterable[Item]) -> list[Done]:
        """Run `task` on every item and return the results in the order of the items."""
        todo = list(items)
        if self.threads <= 1 or len(todo) <= 1:
            return [task(item) for item in todo]
        with ThreadPoolExecutor(self.threads, thread_name_prefix="dejalu") as pool:
            futures = [pool.submit(task, item) for item in todo]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
                for future in futures:  # the error of the earliest item, if several failed
                    if future.done():
                        future.result()
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            return [future.result() for future in futures]
