"""The command line, one file per verb: dedup, show, apply, sketch, plan, demo.

Data goes to stdout, progress and messages to stderr.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a gate stopped the run.
Only the verb that was asked for is imported, so that `dejalu -h` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import typer

VERBS = {
    "dedup": "Remove (or tag, or report) exact and near duplicates, each with its kept twin.",
    "show": "Show removed texts beside their kept twins, differences marked.",
    "apply": "Write the corpus from a finished run's evidence; nothing is computed again.",
    "sketch": "Write the MinHash, SimHash or bottom-k sketch of every text to one parquet file.",
    "plan": "Reckon what a run would find and cost: bands, recall, candidates, memory, disk, time.",
    "demo": "Run the main job on the small real corpus that comes with dejalu.",
}

_EXAMPLE = "Example: `dejalu dedup corpus/ -o clean/`, then `dejalu show clean-evidence/`. Each verb has a `-h`."


def build(verb: str | None) -> typer.Typer:
    """Return the command line with one verb loaded; the others are there by name and summary only."""
    app = typer.Typer(
        name="dejalu",
        help="Find texts that say the same thing again, and act on them with evidence.",
        epilog=_EXAMPLE,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_top)
    for name, summary in VERBS.items():
        if name == verb:
            module = import_module(f"dejalu.cli.{name}")
            text = f"{summary}\n\n{module.DETAILS}"
            app.command(name, help=text, short_help=summary, epilog=module.EXAMPLE)(module.command)
        else:
            app.command(name, help=summary)(_elsewhere)
    return app


class _Without:
    """An import finder in whose process a package counts as not installed."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Refuse the package; leave every other name to the finders behind."""
        if name == self._package:
            raise ModuleNotFoundError(f"{name} is not used here", name=name)


def prepare(words: Sequence[str]) -> None:
    """Set up a process that does nothing else, before pyarrow is imported; `words` are its arguments."""
    # pyarrow imports pandas, wherever it is installed, to see whether a list that it is given is not one of its own: a
    # quarter of a second. Nothing here ever is.
    sys.meta_path.insert(0, _Without("pandas"))
    # The threads of numpy's linear algebra, which nothing here calls, spin for a while before they sleep: .05 to .08 s.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Its allocators give memory back between batches, to take it again at once: a tenth of a run. Where memory is to be
    # saved they may. Of the two, jemalloc scatters what a decoder asks for over 30 MB less.
    if not any(word.startswith("--memory") for word in words):
        os.environ.setdefault("MIMALLOC_PURGE_DELAY", "-1")
        if _built_with("JEMALLOC"):
            os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
            os.environ.setdefault("JE_ARROW_MALLOC_CONF", "dirty_decay_ms:-1")


def _built_with(allocator: str) -> bool:
    """Whether the installed pyarrow says that it has this allocator; asked for in vain, it would print a warning."""
    found = find_spec("pyarrow")
    if found is None or found.origin is None:
        return False
    try:
        config = Path(found.origin).with_name("include") / "arrow" / "util" / "config.h"
        return f"#define ARROW_{allocator}\n" in config.read_text(encoding="utf-8")
    except OSError:
        return False


def console() -> None:
    """Run the command line as a process of its own: the console script `dejalu`."""
    prepare(sys.argv)
    try:
        main()
    except KeyboardInterrupt:  # before a verb was loaded that says more
        sys.exit(130)


def main() -> None:
    """Run the command line."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who called us, as daemons do
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 it stays open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Texts are of any script and file names of any bytes: no locale may stop them. A lone surrogate becomes
            # \\udcXX, which is a valid escape in JSON, too.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    build(verb)(prog_name="dejalu")


def _print_version(asked: bool) -> None:
    if asked:
        from .. import __version__

        typer.echo(f"dejalu {__version__}")
        raise typer.Exit()


def _top(
    version: bool = typer.Option(
        False, "--version", help="Print the version and end.", is_eager=True, callback=_print_version
    ),
) -> None:
    """Take the options that stand before a verb."""


def _elsewhere() -> None:
    """Stand in for a verb that was not asked for."""
