"""Reading ahead: the next batch is made in another thread while this one is worked on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Full, Queue
from typing import Any, TypeVar

Item = TypeVar("Item")
_END = object()
WAIT = 0.1  # seconds between looks at whether anybody still listens


def ahead(items: Iterator[Item], depth: int = 1) -> Iterator[Item]:
    """Yield the items; a thread of its own makes up to `depth` of them before they are asked for.

    An error of the items is raised here, in its place. When this generator is closed, the thread ends after its item.
    """
    queue: Queue[tuple[Any, BaseException | None]] = Queue(depth)
    closed = threading.Event()

    def put(item: Any, error: BaseException | None = None) -> bool:
        while not closed.is_set():
            try:
                queue.put((item, error), timeout=WAIT)
                return True
            except Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put(item):
                    return
        except BaseException as error:
            put(_END, error)
        else:
            put(_END)

    thread = threading.Thread(target=work, name="dejalu-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error = queue.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        closed.set()
        thread.join()
