"""What can go wrong, as one tree; every message says what, where (file, row, value) and what to do next.

DejaluError
├── UsageError          a parameter, path or combination that cannot be served (also a ValueError); exit code 2
├── InputError          something in the input cannot be read
│   ├── DamagedInput    a damaged file or record: names file, row or line, and remedy
│   └── ChangedInput    an input differs from what the run's manifest recorded
├── RemoteError         a remote input does not answer: the work folder stays, so that --resume goes on
├── OutputError         an output cannot be written: refused, not empty, disk full
├── StoreError          a work file is missing or damaged
├── FloodError          more results than the stated maximum
└── GateClosed          a gate (--max-removal) stopped the run after its report; exit code 3
"""

from __future__ import annotations


class DejaluError(Exception):
    """Base of all errors that dejalu raises on purpose."""

    exit_code = 1


class UsageError(DejaluError, ValueError):
    """A parameter, path or combination that cannot be served."""

    exit_code = 2


class InputError(DejaluError):
    """Something in the input cannot be read."""


class DamagedInput(InputError):
    """A damaged file or record."""


class ChangedInput(InputError):
    """An input differs from what the run's manifest recorded."""


class RemoteError(DejaluError):
    """A remote input that does not answer; not an error of the input itself, so a run can be gone on with."""


class OutputError(DejaluError):
    """An output cannot be written."""


class StoreError(DejaluError):
    """A work file is missing or damaged."""


class FloodError(DejaluError):
    """More results than the stated maximum."""


class GateClosed(DejaluError):
    """A gate stopped the run after evidence and report were written."""

    exit_code = 3
