"""`dejalu sketch`: the sketches of a collection as one parquet file."""

from __future__ import annotations

import json as jsons
from pathlib import Path
from typing import Annotated, Any

import typer

from ..plan import Execution, Plan
from .common import Json, Overwrite, Quiet, complain, friendly, print_json, stdout
from .dedup import Inputs
from .options import ACTING, FINDING, given, takes
from .progress import progress

DETAILS = """Reads what `dejalu dedup` reads. Writes one row per document, in input order: file, row, id (where there is
an id column), tokens and the sketch; parameters and their fingerprint (spec) stand in the metadata of the file.
Sketches of different specs must never be compared. minhash: a list of 32-bit slots, of which two texts share as many as
their Jaccard similarity says; simhash: 64 bits (128: a second column), compared by Hamming distance; bottom-k: the
smallest shingle hashes, ascending."""

EXAMPLE = "Example: `dejalu sketch corpus/ -o sketches.parquet --method minhash --slots 128`"

_FEATURES = ("slots", "shingle", "unit", "bits", "weights", "keywords", "frequencies", "segmenter")
_READING = ("text_column", "id_column", "encoding", "on_error")
_RUNNING = ("threads", "batch_rows", "tmp", "memory")


@takes(Plan, Execution, only=(*_FEATURES, *_READING, *_RUNNING))
def command(
    inputs: Inputs,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="parquet file to write", rich_help_panel=ACTING)
    ],
    method: Annotated[
        str, typer.Option(metavar="minhash|simhash|bottom-k", help="kind of sketch", rich_help_panel=FINDING)
    ] = "minhash",
    k: Annotated[
        int | None,
        typer.Option("--k", help="bottom-k: hashes of a text to keep (default 128)", rich_help_panel=FINDING),
    ] = None,
    scaled: Annotated[
        int | None,
        typer.Option(help="bottom-k: keep one hash in so many instead (FracMinHash)", rich_help_panel=FINDING),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
    **parameters: Any,
) -> None:
    """Write sketches; the help text is in VERBS and DETAILS."""
    with friendly():
        from ..run.sketches import Sketching
        from ..run.sketching import sketch_files

        what = Sketching.of(method, k=k, scaled=scaled, **given(Plan, parameters))
        execution = Execution(**given(Execution, parameters))
        with progress(quiet=quiet) as shown:
            done = sketch_files(inputs, output, what, execution=execution, overwrite=overwrite, progress=shown)
        for problem in done.problems:
            complain(f"dejalu: set aside: {problem}")
        if json:
            print_json(
                {
                    "output": str(done.output),
                    "texts": done.texts,
                    "files": done.files,
                    "bytes": done.size,
                    "set_aside": len(done.problems),
                    "spec": done.metadata["spec"],
                    **jsons.loads(done.metadata["dejalu"]),
                }
            )
        elif not quiet:
            stdout().print(
                f"{_many(done.texts, 'text')} of {_many(done.files, 'file')}: {_size(done.size)} of {method} sketches "
                f"in {done.output}, spec {done.metadata['spec']}",
                soft_wrap=True,
            )


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _size(n: int) -> str:
    return f"{n / 1e6:,.1f} MB" if n >= 100_000 else f"{n / 1e3:,.1f} kB"
