"""What jsonl and csv have in common: going through a stream block by block, and making Docs of what a kernel gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..data import I64, U8, Docs, Input, Problem, doc_ids
from ..kernels.formats import Extracted
from .arrow import cuts, join, lengths
from .columns import Columns
from .open import MAX_RECORD
from .problems import OnProblem
from .window import Window

Extract = Callable[[U8, bool, I64 | None], Extracted]
Check = Callable[[Window, int], str]


class Walk:
    """Goes through a file's blocks and counts: `row` and `line` are those of the next block's first record."""

    def __init__(self, window: Window, first_row: int = 0) -> None:
        self.window = window
        self.row = first_row
        self.line = 0

    def blocks(
        self, file: str, extract: Extract, on_problem: OnProblem, wanted: I64 | None = None, check: Check | None = None
    ) -> Iterator[tuple[U8, Extracted]]:
        """Yield each block's bytes and what the kernel finds there, counted from the block's start.

        `check` looks at the bytes of the whole records and gives what is wrong with the file, or "".
        """
        window = self.window
        done = 0
        while window.read():
            relative = None if wanted is None else wanted[done:] - self.row
            found = extract(window.view, window.final, relative)
            trouble = check(window, found.consumed) if check else ""
            if trouble:
                on_problem(Problem(file, -1, None, trouble))
                return
            done += len(found.row)
            if found.rows:
                yield window.view, found
            self.row += found.rows
            self.line += found.lines
            window.drop(found.consumed)
            if wanted is not None and done == len(wanted):
                return
            if len(window.view) > MAX_RECORD:
                reason = f"a record of more than {MAX_RECORD >> 20:,} MiB: a line end or a closing quote is missing"
                on_problem(Problem(file, self.row, self.line + 1, f"{reason}; nothing after it was read", rest=True))
                return
        if window.broken:
            good = f"after line {self.line:,}" if self.line else "in the first line"
            on_problem(
                Problem(file, self.row, self.line + 1, f"{window.broken} {good}; nothing after it was read", rest=True)
            )


def string_array(text: tuple[U8, I64], valid: npt.NDArray[np.bool_] | None) -> pa.LargeStringArray:
    """Arrow large_string over a kernel's bytes and offsets, without a copy; null where not valid."""
    data, offsets = text
    n = len(offsets) - 1
    bitmap = None
    if valid is not None and not valid.all():
        bitmap = pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(data), bitmap)


def docs_of_lines(
    input: Input,
    columns: Columns,
    first_row: int,
    found: Extracted,
    good: npt.NDArray[np.bool_],
    arrays: dict[str, pa.LargeStringArray],
    *,
    batch_bytes: int,
    batch_rows: int | None,
    kinds: dict[str, U8],
    invalid: npt.NDArray[np.bool_] | None,
) -> Iterator[Docs]:
    """Docs of the good records of a block, cut to size."""
    ids = doc_ids(input.part, found.row + first_row)
    text = join([arrays[name] for name in columns.text])
    others = {name: arrays[name] for name in columns.others}
    kinds = {name: kinds[name] for name in columns.others if name in kinds}
    if not good.all():
        keep = pa.array(good)
        ids, text = ids[good], text.filter(keep)
        others = {name: a.filter(keep) for name, a in others.items()}
        kinds = {name: k[good] for name, k in kinds.items()}
        invalid = None if invalid is None else invalid[good]
    for start, stop in cuts(lengths(text), batch_bytes, batch_rows):
        part = slice(start, stop)
        yield Docs(
            ids[part],
            text[part],
            {name: a[part] for name, a in others.items()},
            {name: k[part] for name, k in kinds.items()},
            None if invalid is None else invalid[part],
        )
