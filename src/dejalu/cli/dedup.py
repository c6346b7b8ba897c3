"""`dejalu dedup`: the main job on files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from ..plan import Execution, Plan
from .common import Json, Overwrite, Quiet, Resume, complain, friendly, output_folder, print_json, stdout, warn
from .options import ACTING, FINDING, given, takes
from .progress import progress

if TYPE_CHECKING:
    from ..run.result import Result

DETAILS = """Reads parquet, jsonl, csv, txt, html and warc files (jsonl, csv and warc also as .gz and .zst), folders of
them, glob patterns, and addresses (s3://, https://, hf:// …). Writes the kept rows to the output folder under the same
names, and the evidence (each removed row with its kept twin and their true similarity) to a folder beside it."""

EXAMPLE = "Example: `dejalu dedup corpus/ -o clean/ --threshold 0.8 --keep longest`"


Inputs = Annotated[
    list[str],
    typer.Argument(metavar="IN", help="files, folders, glob patterns or addresses", show_default=False),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="DIR", help="folder for the corpus and nothing else", rich_help_panel=ACTING
    ),
]
Evidence = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="folder for evidence and report (default: OUTPUT-evidence)", rich_help_panel=ACTING
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="take the parameters from a plan.json; other options override it", rich_help_panel=FINDING
    ),
]


@takes(Plan, Execution)
def command(
    inputs: Inputs,
    *,
    output: Output = None,
    evidence: Evidence = None,
    plan: PlanFile = None,
    overwrite: Overwrite = False,
    resume: Resume = False,
    quiet: Quiet = False,
    json: Json = False,
    **parameters: Any,
) -> None:
    """Remove exact and near duplicates; the help text is in VERBS and DETAILS."""
    with friendly(resumable=True):
        from .. import flow

        chosen = (Plan.load(plan) if plan else Plan()).with_(**given(Plan, parameters))
        execution = Execution(**given(Execution, parameters))
        output = output_folder(output, evidence, chosen.mode)
        if overwrite and resume:
            raise UsageError("--overwrite begins anew and --resume goes on: choose one")
        with progress(quiet=quiet) as shown:
            outcome = flow.run(
                inputs,
                output,
                evidence=evidence,
                plan=chosen,
                execution=execution,
                overwrite=overwrite,
                resume=resume,
                progress=shown,
            )
        tell(outcome, quiet=quiet, json=json)


def tell(outcome: Result, *, quiet: bool, json: bool) -> None:
    """Print what a run found: report.json, or the summary, or with `quiet` the warnings alone."""
    if json:
        print_json(outcome.report)
    if json or quiet:
        warn(outcome.warnings)
    else:
        from ..act.summary import summary

        stdout().print(summary(outcome.facts))
        for what, folder in (("corpus", outcome.output), ("evidence", outcome.evidence)):
            if folder is not None:
                complain(f"{what} in {folder}")
        if outcome.evidence is not None:
            complain(f"to see what was removed: dejalu show {shlex.quote(str(outcome.evidence))}")
