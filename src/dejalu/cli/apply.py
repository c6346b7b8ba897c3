"""`dejalu apply`: act on the evidence of a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..plan import Execution
from .common import Json, Overwrite, Quiet, Resume, friendly
from .dedup import tell
from .options import ACTING, given, split, takes
from .progress import progress

DETAILS = """The evidence comes from `dejalu dedup` in any mode, usually `--mode report`. The inputs must be where they
were, and unchanged; they are read once more to write the corpus, and nothing is compared again."""

EXAMPLE = "Example: `dejalu dedup corpus/ -o clean/ --mode report`, then `dejalu apply clean-evidence/ -o clean/`"


@takes(Execution, only=("threads",))
def command(
    evidence: Annotated[Path, typer.Argument(metavar="EVIDENCE", help="evidence folder of a run", show_default=False)],
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="folder for the corpus", rich_help_panel=ACTING)
    ],
    mode: Annotated[
        str,
        typer.Option(
            metavar="drop|tag", help="drop removed rows, or keep all rows and tag them", rich_help_panel=ACTING
        ),
    ] = "drop",
    add_columns: Annotated[
        list[str] | None,
        typer.Option(metavar="copies", help="columns to add when dropping (may repeat)", rich_help_panel=ACTING),
    ] = None,
    overwrite: Overwrite = False,
    resume: Resume = False,
    quiet: Quiet = False,
    json: Json = False,
    **parameters: Any,
) -> None:
    """Write the corpus; the help text is in VERBS and DETAILS."""
    with friendly(resumable=True):
        from .. import flow

        execution = Execution(**given(Execution, parameters))
        with progress(quiet=quiet) as shown:
            outcome = flow.apply(
                evidence,
                output,
                mode=mode,
                add_columns=split(add_columns or ()),
                overwrite=overwrite,
                resume=resume,
                execution=execution,
                progress=shown,
            )
        tell(outcome, quiet=quiet, json=json)
