"""Progress on stderr: a bar with rate and time left on a terminal, a line now and then elsewhere.

A run calls `start(stage, total, unit)`, `advance(stage, n)` and `finish(stage)`, from any thread.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from ..run.meter import Progress, Silent

if TYPE_CHECKING:
    from rich.progress import ProgressColumn, Task, TaskID
    from rich.text import Text

EVERY = 10.0  # seconds between two lines of one stage, where there is no terminal


@contextmanager
def progress(*, quiet: bool = False, stream: IO[str] | None = None) -> Iterator[Progress]:
    """Give the progress display that fits: none when quiet, a bar on a terminal, lines elsewhere."""
    stream = stream or sys.stderr
    if quiet:
        yield Silent()
    elif stream.isatty():
        with Bars(stream) as bars:
            yield bars
    else:
        yield Lines(stream)


@dataclass(slots=True)
class _Stage:
    total: int | None
    unit: str
    began: float
    done: int = 0
    told: float = field(default=0.0)

    def line(self, now: float) -> str:
        """Say how far, how fast and how long still."""
        took = max(now - self.began, 1e-9)
        rate = self.done / took
        left = ""
        if self.total is not None and rate > 0 and self.done < self.total:
            left = f", {duration((self.total - self.done) / rate)} left"
        return f"{share(self.done, self.total, self.unit)}, {speed(rate, self.unit)}{left}"


class Lines:
    """One line every ten seconds while a stage lasts, and one when it ends."""

    def __init__(self, stream: IO[str], *, every: float = EVERY) -> None:
        self._stream, self._every = stream, every
        self._stages: dict[str, _Stage] = {}
        self._lock = threading.Lock()

    def start(self, stage: str, total: int | None, unit: str) -> None:
        """Begin a stage."""
        now = time.monotonic()
        with self._lock:
            self._stages[stage] = _Stage(total, unit, now, told=now)

    def advance(self, stage: str, n: int) -> None:
        """Add `n` units of work that are done."""
        now = time.monotonic()
        with self._lock:
            s = self._stages.get(stage)
            if s is None:
                return
            s.done += n
            if now - s.told >= self._every:
                s.told = now
                self._write(f"{stage}: {s.line(now)}")

    def finish(self, stage: str) -> None:
        """End a stage with its line."""
        now = time.monotonic()
        with self._lock:
            s = self._stages.pop(stage, None)
            if s is not None:
                rate = speed(s.done / max(now - s.began, 1e-9), s.unit)
                self._write(f"{stage}: {amount(s.done, s.unit)} in {duration(now - s.began)} ({rate})")

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


class Bars:
    """One bar per stage, drawn by rich."""

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns: list[ProgressColumn | str] = [
            TextColumn("{task.description:<12}"),
            BarColumn(),
            _amounts(),
            TimeElapsedColumn(),
        ]
        self._bars = RichProgress(*columns, console=Console(file=stream), refresh_per_second=5)
        self._ids: dict[str, TaskID] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def start(self, stage: str, total: int | None, unit: str) -> None:
        """Draw a stage's bar."""
        with self._lock:
            self._ids[stage] = self._bars.add_task(stage, total=total, unit=unit)

    def advance(self, stage: str, n: int) -> None:
        """Move a stage's bar on."""
        task = self._ids.get(stage)
        if task is not None:
            self._bars.advance(task, n)

    def finish(self, stage: str) -> None:
        """Fill a stage's bar, also when its total was not known."""
        with self._lock:
            task = self._ids.pop(stage, None)
        if task is not None:
            done = next(t.completed for t in self._bars.tasks if t.id == task)
            self._bars.update(task, total=max(done, 1), completed=max(done, 1))


def _amounts() -> ProgressColumn:
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Amounts(ProgressColumn):
        """Done, total, rate and time left, in the stage's own unit."""

        def render(self, task: Task) -> Text:
            unit, done = task.fields.get("unit", ""), int(task.completed)
            total = int(task.total) if task.total and not task.finished else None
            took = task.finished_time if task.finished_time is not None else task.elapsed
            rate = done / took if took else 0.0
            left = None if task.finished else task.time_remaining
            parts = [share(done, total, unit)]
            parts += [speed(rate, unit)] if rate else []
            parts += [f"{duration(left)} left"] if left is not None else []
            return Text(", ".join(parts), no_wrap=True)

    return Amounts()


def amount(n: int, unit: str) -> str:
    """Write a number of units as a person would.

    >>> amount(1234567, "documents"), amount(1234567, "bytes"), amount(999, "bytes")
    ('1,234,567 documents', '1.2 MB', '999 B')
    """
    if unit != "bytes":
        return f"{n:,} {unit}".rstrip()
    if n < 1000:
        return f"{n} B"
    power = min(int(math.log10(n)) // 3, 5)
    return f"{n / 1000**power:.1f} {' kMGTP'[power]}B"


def share(done: int, total: int | None, unit: str) -> str:
    """Write how much of a whole is done.

    >>> share(5, 10, "files"), share(5, None, "files"), share(1_000, 2_000_000, "bytes")
    ('5 of 10 files', '5 files', '1.0 kB of 2.0 MB')
    """
    if total is None:
        return amount(done, unit)
    return f"{amount(done, unit) if unit == 'bytes' else f'{done:,}'} of {amount(total, unit)}"


def speed(rate: float, unit: str) -> str:
    """Write a rate per second; slow ones with a decimal.

    >>> speed(1234.5, "documents"), speed(0.92, "files"), speed(2_000_000, "bytes")
    ('1,234/s', '0.9/s', '2.0 MB/s')
    """
    if unit == "bytes":
        return f"{amount(int(rate), unit)}/s"
    return f"{rate:.1f}/s" if rate < 10 else f"{int(rate):,}/s"


def duration(seconds: float) -> str:
    """Write a duration.

    >>> duration(0.25), duration(75), duration(7325)
    ('0.2 s', '1 min 15 s', '2 h 02 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60:02} min"
