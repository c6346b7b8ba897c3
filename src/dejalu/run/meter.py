"""What a run costs, room by room, and how far it is: measured where the work happens, in every thread."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import pyarrow as pa

SAMPLE = 0.01  # seconds: shorter stays in a room are not worth a look at the memory
ROOMS = ("read", "represent", "candidates", "verify", "cluster", "act")


class Progress(Protocol):
    """Hears how far each stage is; called from worker threads."""

    def start(self, stage: str, total: int | None, unit: str) -> None:
        """A stage begins; `total` units are expected, if known."""
        ...

    def advance(self, stage: str, n: int) -> None:
        """`n` more units are done."""
        ...

    def finish(self, stage: str) -> None:
        """The stage is over."""
        ...


class Silent:
    """Progress that nobody listens to."""

    def start(self, stage: str, total: int | None, unit: str) -> None:
        """Do nothing."""

    def advance(self, stage: str, n: int) -> None:
        """Do nothing."""

    def finish(self, stage: str) -> None:
        """Do nothing."""


class Meter:
    """Adds up wall and CPU seconds per room over all threads, and notes the peak of resident memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wall = dict.fromkeys(ROOMS, 0.0)
        self._cpu = dict.fromkeys(ROOMS, 0.0)
        self._peak = dict.fromkeys(ROOMS, 0)
        self.started = time.perf_counter()
        self.cpu_started = time.process_time()

    @contextmanager
    def room(self, name: str) -> Iterator[None]:
        """Charge what happens inside to a room. Thread seconds, so that two threads in one room add up."""
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
            with self._lock:
                self._wall[name] += wall
                self._cpu[name] += cpu
                if wall > SAMPLE or not self._peak[name]:
                    self._peak[name] = max(self._peak[name], peak_memory())

    def iterate(self, name: str, items: Iterator[Any]) -> Iterator[Any]:
        """Charge the making of each item to a room, but not what is done with it."""
        while True:
            with self.room(name):
                item = next(items, None)
            if item is None:
                return
            yield item

    def report(self) -> dict[str, Any]:
        """Seconds and bytes per room and for the whole process."""
        with self._lock:
            rooms = {
                room: {
                    "wall_seconds": round(self._wall[room], 4),
                    "cpu_seconds": round(self._cpu[room], 4),
                    "peak_memory_bytes": self._peak[room],
                }
                for room in ROOMS
            }
        return {
            "rooms": rooms,
            "wall_seconds": round(time.perf_counter() - self.started, 4),
            "cpu_seconds": round(time.process_time() - self.cpu_started, 4),
            "peak_memory_bytes": peak_memory(),
        }


def peak_memory() -> int:
    """Peak resident memory of this process in bytes; 0 where the system does not tell."""
    try:
        with open("/proc/self/status", "rb") as status:  # ru_maxrss would count the parent before exec, too
            for line in status:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def total_memory() -> int:
    """Memory that this process may use, in bytes: the machine's, or its control group's limit."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = 4 << 30
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path) as f:
                memory = min(memory, int(f.read()))
        except (OSError, ValueError):
            continue
    return memory


def give_back() -> None:
    """Return to the system what the allocators hold and do not use: Arrow's, and glibc's where there is one."""
    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
