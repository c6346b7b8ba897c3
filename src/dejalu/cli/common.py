"""What every verb shares: the two consoles, exit codes for what went wrong, and the option types."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..errors import DejaluError, UsageError
from .options import RUNNING


def _flag(name: str, text: str) -> Any:
    return typer.Option(name, help=text, rich_help_panel=RUNNING)


Quiet = Annotated[bool, _flag("--quiet", "no progress and no summary; errors and warnings only")]
Json = Annotated[bool, _flag("--json", "the result as JSON on stdout, and nothing else there")]
Overwrite = Annotated[bool, _flag("--overwrite", "replace what an earlier run wrote (output and evidence)")]
Resume = Annotated[bool, _flag("--resume", "go on with a run that was stopped; starts when none was begun")]

INTERRUPTED = 128 + signal.SIGINT
_FULL = {errno.ENOSPC, errno.EDQUOT}
PIPE_CLOSED = 141  # 128 + SIGPIPE, which not every platform names


def stdout() -> Console:
    """Return the console for results. Piped, it is as wide as the words need, up to 100 columns."""
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else _columns(100), highlight=False)


def stderr() -> Console:
    """Return the console for progress and messages."""
    return Console(file=sys.stderr, width=None if sys.stderr.isatty() else _columns(100), highlight=False)


def _columns(default: int) -> int:
    value = os.environ.get("COLUMNS", "")
    return int(value) if value.isdigit() and int(value) > 0 else default


def print_json(value: Any) -> None:
    """Write one JSON value on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def complain(message: str) -> None:
    """Write a message on stderr as it is: no markup, no wrapping, so that paths can be copied."""
    sys.stderr.write(message.rstrip() + "\n")
    sys.stderr.flush()


def warn(warnings: Iterable[str]) -> None:
    """Write each warning on stderr."""
    for sentence in warnings:
        complain(f"dejalu: warning: {sentence}")


@contextmanager
def friendly(*, resumable: bool = False) -> Iterator[None]:
    """Turn whatever stops a verb into one clear message and its exit code.

    Args:
        resumable: the verb has `--resume`, which an interrupted user should hear of.
    """
    try:
        yield
        sys.stdout.flush()
    except typer.Exit:
        raise
    except DejaluError as e:
        complain(f"dejalu: {e}")
        if os.environ.get("DEJALU_DEBUG"):
            raise
        raise typer.Exit(e.exit_code) from None
    except KeyboardInterrupt:
        hint = "; the same command with --resume goes on from here" if resumable else ""
        complain(f"dejalu: interrupted{hint}")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader has what it wanted (| head). Python would complain again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(PIPE_CLOSED) from None
    except Exception as e:
        if os.environ.get("DEJALU_DEBUG"):
            raise
        if isinstance(e, OSError) and e.errno in _FULL and e.filename is None:
            complain(f"dejalu: disk full: standard output could not be written ({e.strerror})")
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        complain(
            f"dejalu: unexpected {type(e).__name__}: {e}\n"
            "This should not happen. Run the command again with DEJALU_DEBUG=1 for the traceback, and please report it."
        )
        raise typer.Exit(1) from None


def output_folder(output: Path | None, evidence: Path | None, mode: str) -> Path | None:
    """Check that a run knows where to write.

    Raises:
        UsageError: neither output nor, in report mode, evidence is named.
    """
    if output is None and mode != "report":
        raise UsageError(
            f"mode={mode} writes a corpus: name its folder with -o DIR, or ask for evidence only (--mode report)"
        )
    if output is None and evidence is None:
        raise UsageError("mode=report needs --evidence DIR, or -o DIR to place it beside that as DIR-evidence")
    return output
