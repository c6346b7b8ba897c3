"""`dejalu demo`: the main job on the corpus that the package ships."""

from __future__ import annotations

import dataclasses
import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import OutputError
from ..plan import Execution, Plan
from .common import Json, Overwrite, Quiet, complain, friendly, print_json, stdout
from .dedup import tell
from .options import given, takes
from .progress import progress

if TYPE_CHECKING:
    from ..act.side_by_side import Shown
    from .evidence import Evidence

DETAILS = """The corpus is 806 real texts in four formats and many scripts: Bible chapters in three translations, LLVM
documentation of three releases, Tang poems in two digitisations, and the Universal Declaration of Human Rights. All
its near-duplicates are natural."""

EXAMPLE = "Example: `dejalu demo`, then look into `dejalu-demo/`"


@takes(Execution, only=("threads",))
def command(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="new folder for corpus and results")] = Path(
        "dejalu-demo"
    ),
    *,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
    **parameters: Any,
) -> None:
    """Run the demo; the help text is in VERBS and DETAILS."""
    with friendly():
        from .. import flow
        from ..act.side_by_side import print_pairs
        from .evidence import Evidence

        if folder.exists() and not overwrite and (not folder.is_dir() or any(folder.iterdir())):
            raise OutputError(f"{folder}: exists already and is not empty; name another folder, or add --overwrite")
        corpus, clean, evidence = folder / "corpus", folder / "clean", folder / "clean-evidence"
        if not quiet:
            complain(f"Copying the demo corpus to {corpus} and running: dejalu dedup {corpus} -o {clean}")
        with as_file(files("dejalu") / "demo" / "corpus") as shipped:
            shutil.copytree(shipped, corpus, dirs_exist_ok=True)
        with progress(quiet=quiet) as shown:
            outcome = flow.run(
                [str(corpus)],
                clean,
                evidence=evidence,
                plan=Plan(),
                execution=Execution(**given(Execution, parameters)),
                overwrite=overwrite,
                progress=shown,
            )
        pairs = three(Evidence.open(evidence))
        if json:
            print_json({"report": outcome.report, "pairs": [dataclasses.asdict(pair) for pair in pairs]})
            return
        tell(outcome, quiet=quiet, json=False)
        if quiet:
            return
        typer.echo("Three of the removed texts beside the ones that were kept:\n")
        print_pairs(pairs, stdout())
        typer.echo(
            "Next:\n"
            f"  dejalu show {evidence} --near 0.8        the most doubtful removals\n"
            f"  dejalu dedup {corpus} -o {folder / 'looser'} --threshold 0.7\n"
            f"  dejalu dedup {corpus} -o {folder / 'tagged'} --mode tag\n"
            "  dejalu dedup -h                          every option"
        )


def three(run: Evidence) -> list[Shown]:
    """Choose three pairs that differ a little, each from another file."""
    table = run.nearest(0.85, run.removed)
    chosen: dict[str, int] = {}
    for place, (file, measure) in enumerate(zip(table["file"].to_pylist(), table["measure"].to_pylist(), strict=True)):
        if measure != "equal":
            chosen.setdefault(file, place)
    return list(run.shown(table.take(list(chosen.values())[:3])))
