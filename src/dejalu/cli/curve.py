"""The S-curve drawn with characters: how likely a pair is compared, by its similarity."""

from __future__ import annotations

import locale
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..evaluate.planning import Chance

WIDTH, HEIGHT = 60, 12
BLOCKS = " ▁▂▃▄▅▆▇█"


def draws_blocks() -> bool:
    """Whether the terminal can be trusted with more than ASCII: its locale is UTF-8, and it is not called dumb."""
    encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0] or locale.getpreferredencoding(False)
    return encoding.lower().replace("-", "") == "utf8" and os.environ.get("TERM", "") != "dumb"


def curve(chance: Callable[[float], Chance], threshold: float, *, ascii_only: bool) -> list[str]:
    """Draw both chances over similarities 0 to 1, in lines of at most 72 characters.

    Full characters show the pairs that are compared, light ones those that only share a band key.
    """
    levels = 1 if ascii_only else 8
    full, light = ("#", ".") if ascii_only else ("█", "░")
    xs = [(i + 0.5) / WIDTH for i in range(WIDTH)]
    chances = [chance(x) for x in xs]
    solid = [round(c.compared * HEIGHT * levels) for c in chances]
    shaded = [round(c.share_a_key * HEIGHT) for c in chances]
    lines = []
    for row in range(HEIGHT, 0, -1):
        cells = []
        for high, wide in zip(solid, shaded, strict=True):
            part = high - (row - 1) * levels
            if part >= levels:
                cells.append(full)
            elif part > 0:
                cells.append(BLOCKS[part])
            else:
                cells.append(light if wide >= row else " ")
        label = {HEIGHT: "100%", HEIGHT // 2: " 50%"}.get(row, "    ")
        lines.append(f"{label} |{''.join(cells)}".rstrip() if ascii_only else f"{label} ┤{''.join(cells)}".rstrip())
    axis, mark = ("-", "^") if ascii_only else ("─", "▲")
    lines.append(f"  0% {'+' if ascii_only else '└'}{axis * WIDTH}")
    ticks = [" "] * (WIDTH + 5)
    for tenth in range(0, 11, 2):
        place = round(tenth / 10 * (WIDTH - 1))
        ticks[place : place + 3] = list("1  " if tenth == 10 else f".{tenth} " if tenth else "0  ")
    lines.append("      " + "".join(ticks).rstrip())
    at = round(threshold * (WIDTH - 1))
    told = f"threshold {threshold:g}"
    under = " " * (at - len(told) - 1) + told + " " + mark if at > len(told) else " " * at + mark + " " + told
    lines.append("      " + under)
    return lines
