"""A removed text beside its kept twin, differences marked: as two columns for a terminal, as lines for a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .alignment import PIECE, Stretch, compare

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

# Characters that would move the cursor, colour the screen or turn the reading direction are shown by a sign instead.
_ACTING = [*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)]
_LEAST = 40  # equal characters that are worth leaving out
_LAST_WORD, _FIRST_WORD = re.compile(r"\S{1,20}\Z"), re.compile(r"\A\S{1,20}(?=\s)")
_VISIBLE: dict[int, str] = {c: chr(0x2400 + c) for c in range(32) if c not in (9, 10)}
_VISIBLE |= {127: "\u2421"} | dict.fromkeys(_ACTING, "\ufffd")


@dataclass(frozen=True, slots=True)
class Shown:
    """A removed document with its kept twin and both texts.

    `file` and `row` (0-based) name each; `id` and `twin_id` are the user's own, or None; so are texts not at hand, and
    the Hamming distance where fingerprints were not compared.
    """

    file: str
    row: int
    id: Any
    twin_file: str
    twin_row: int
    twin_id: Any
    similarity: float
    measure: str
    method: str
    text: str | None
    twin_text: str | None
    distance: int | None = None

    def heading(self) -> tuple[str, str, str]:
        """Return three lines: the similarity, the removed document, the kept one."""
        measure = "simhash, an estimate" if self.measure == "simhash" else self.measure
        far = "" if self.distance is None else f", distance {self.distance}"
        return (
            f"similarity {self.similarity:.4f} ({measure}{far}, method {self.method})",
            f"removed  {_name(self.file, self.row, self.id)}",
            f"kept     {_name(self.twin_file, self.twin_row, self.twin_id)}",
        )


def _name(file: str, row: int, own: Any) -> str:
    return f"{file} row {row}" + (f" id {own}" if own is not None else "")


def shorten(stretches: Sequence[Stretch], context: int = 120) -> Iterator[Stretch]:
    """Cut long equal stretches down to `context` characters at each difference, and say what is left out."""
    last = len(stretches) - 1
    for n, s in enumerate(stretches):
        if not s.same:
            yield Stretch(_cap(s.a, 8 * context), _cap(s.b, 8 * context), False)
            continue
        head, tail = (context if n else 0), (context if n < last else 0)
        if last == 0:
            head = 2 * context
        yield Stretch(_cut(s.a, head, tail), _cut(s.b, head, tail), True)


def _cap(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} […{len(text) - most:,} more characters…]"


def _cut(text: str, head: int, tail: int) -> str:
    """Leave out the middle of a text, between words where there are some."""
    if len(text) - head - tail <= _LEAST:
        return text
    start, end = text[:head], text[len(text) - tail :] if tail else ""
    if head and not text[head].isspace() and (word := _LAST_WORD.search(start)):
        start = start[: word.start()]
    if tail and not text[-tail - 1].isspace() and (word := _FIRST_WORD.search(end)):
        end = end[word.end() :]
    left_out = len(text) - len(start) - len(end)
    return f"{start}{' ' if start else ''}[…{left_out:,} equal characters…]{' ' if end else ''}{end}"


def visible(text: str) -> str:
    """Replace what would act on a terminal (escape codes, direction overrides, lone surrogates) by visible signs."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def print_pairs(pairs: Iterable[Shown | Mapping[str, Any]], console: Console | None = None) -> None:
    """Print pairs as the place allows: side by side in colour on a terminal, as plain lines elsewhere.

    Args:
        pairs: `Shown`, or mappings with its fields; where both texts are missing the headings alone are printed.
        console: where to; standard output by default.
    """
    from rich.console import Console

    console = console or Console()
    for item in pairs:
        pair = item if isinstance(item, Shown) else Shown(**{"text": None, "twin_text": None} | dict(item))
        if console.is_terminal:
            console.print(columns(pair))
        else:
            console.file.write(plain(pair, max(console.width, 20)) + "\n")


def columns(pair: Shown) -> RenderableType:
    """Draw a pair as two columns: the removed text left, the kept one right, differences in colour.

    Width is counted in terminal cells, so that Chinese and Japanese characters take two.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, expand=True, show_header=True, pad_edge=False)
    heading, removed, kept = pair.heading()
    table.add_column(Text(visible(removed), style="bold red"), ratio=1, overflow="fold")
    table.add_column(Text(visible(kept), style="bold green"), ratio=1, overflow="fold")
    stretches = list(shorten(compare(pair.text or "", pair.twin_text or "")))
    table.add_row(_marked(stretches, "a", "bold red"), _marked(stretches, "b", "bold green"))
    return Group(Text(heading, style="bold"), table)


def _marked(stretches: Sequence[Stretch], side: str, style: str) -> Text:
    from rich.text import Text

    text = Text()
    for s in stretches:
        text.append(visible(getattr(s, side)), style=None if s.same else f"{style} underline")
    return text


def plain(pair: Shown, width: int = 100) -> str:
    """Write a pair as lines for a pipe or a file.

    Equal text stands after two spaces, what only the removed text has after `- `, what the kept one after `+ `.

    Raises:
        UsageError: width under 20.
    """
    if width < 20:
        raise UsageError(f"width={width}: lines of at least 20 columns are needed")
    heading, removed, kept = pair.heading()
    lines = [f"# {visible(line)}" for line in (heading, removed, kept)]
    for s in shorten(compare(pair.text or "", pair.twin_text or "")):
        if s.same:
            lines += _prefixed("  ", s.b, width)
        else:
            lines += _prefixed("- ", s.a, width) + _prefixed("+ ", s.b, width)
    return "\n".join(lines) + "\n"


def _prefixed(sign: str, text: str, width: int) -> list[str]:
    """Wrap text to `width` terminal cells, each line after its sign; nothing for an empty text."""
    if not text.strip():
        return []
    lines = visible(text).strip("\n").split("\n")
    return [sign + row for line in lines for row in _wrap(line.strip(), width - len(sign))]


def _wrap(line: str, width: int) -> list[str]:
    from rich.cells import cell_len

    if cell_len(line) <= width:
        return [line]
    rows: list[str] = []
    row, used = "", 0
    for piece in _narrow(line, width):
        size = cell_len(piece)
        if used + size > width:
            rows.append(row.rstrip())
            row, used = "", 0
            if piece.isspace():
                continue
        row, used = row + piece, used + size
    return [*rows, row.rstrip()] if row.strip() else rows


def _narrow(line: str, width: int) -> Iterator[str]:
    """Yield the line's pieces; one that is wider than a line comes character by character."""
    from rich.cells import cell_len

    for piece in PIECE.findall(line):
        if cell_len(piece) <= width:
            yield piece
        else:
            yield from piece
