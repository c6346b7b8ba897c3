"""Run a command as a fresh process and say what it cost: CPU seconds, wall seconds, peak memory.

CPU      user + system time of the process and all its finished descendants (wait4)
memory   the largest sum of resident sets over the process and its descendants, looked at every 20 ms, or the command's
         own high-water mark where that is larger (short peaks of a single process are then not missed). Pages that
         several processes share count once for each.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Cost", "measure"]

PAGE, TICK = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """What a command cost.

    cpu, wall  seconds
    others     CPU seconds that the machine spent on anything else meanwhile: how disturbed the measurement was
    peak       bytes
    code       exit code, or None when the time limit ended it
    output     its last words
    """

    cpu: float
    wall: float
    others: float
    peak: int
    code: int | None
    output: str


def busy() -> float:
    """CPU seconds that all cores have been at work since the machine started."""
    user, nice, system, _idle, _wait, *rest = map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:8])
    return (user + nice + system + sum(rest)) / TICK


def tree(root: int) -> tuple[int, float]:
    """Bytes of resident memory of a process and its descendants now, and the CPU seconds that they have used."""
    parent, size, used = {}, {}, {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_text()
                fields = stat[stat.rindex(")") + 2 :].split()
            except (OSError, ValueError):
                continue  # gone meanwhile
            pid = int(entry.name)
            parent[pid], size[pid] = int(fields[1]), int(fields[21]) * PAGE
            used[pid] = sum(map(int, fields[11:15])) / TICK  # own, and that of children which are gone
    mine, fresh = {root}, {root}
    while fresh:
        fresh = {pid for pid, above in parent.items() if above in fresh} - mine
        mine |= fresh
    return sum(size.get(pid, 0) for pid in mine), sum(used.get(pid, 0.0) for pid in mine)


def measure(command: Sequence[str], *, log: Path, limit: float, env: dict[str, str] | None = None) -> Cost:
    """Run a command to its end, or until it has used `limit` CPU seconds (or ten times that by the clock).

    Its output goes to `log`.
    """
    with log.open("wb") as out:
        began, before = time.perf_counter(), busy()
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, **(env or {})},
        )  # fmt: skip
        done, peak, late = threading.Event(), 0, False

        def watch() -> None:
            nonlocal peak, late
            while not done.wait(0.02):
                now, used = tree(process.pid)
                peak = max(peak, now)
                if (used > limit or time.perf_counter() - began > 10 * limit) and not late:
                    late = True
                    os.killpg(process.pid, signal.SIGKILL)  # its own session: nothing else is in this group

        watcher = threading.Thread(target=watch)
        watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall, worked = time.perf_counter() - began, busy() - before
        done.set()
        watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text(errors="replace")
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(cpu, wall, max(0.0, worked - cpu), peak, None if late else process.returncode, text[-2000:])
