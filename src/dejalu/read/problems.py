"""What to do with a record or file that cannot be read: stop, or set it aside and count it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..data import Problem
from ..errors import DamagedInput

OnProblem = Callable[[Problem], None]
OnPassed = Callable[[int, str], None]  # (row, kind) of a record that is no document, as a request in a WARC file


def describe(problem: Problem) -> str:
    """Say in words where the problem is and what is wrong: file, line where there are lines, row, reason."""
    where = problem.file
    if problem.line is not None:
        where += f", line {problem.line:,}"
    if problem.row >= 0:
        where += f" (row {problem.row:,})"
    return f"{where}: {problem.reason}"


def stop(problem: Problem) -> None:
    """Raise DamagedInput for the problem, with the remedies."""
    what = "line" if problem.line is not None else "file"
    raise DamagedInput(f"{describe(problem)}. Repair the {what}, or set it aside and count it with --on-error skip.")


@dataclass
class Collector:
    """Keeps the problems instead of stopping: pass it as `on_problem`, then look at `problems`."""

    problems: list[Problem] = field(default_factory=list)

    def __call__(self, problem: Problem) -> None:
        self.problems.append(problem)
