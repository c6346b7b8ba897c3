"""Tokens of folded text. Twin of `native/tokenize.hpp`."""

from __future__ import annotations

from .fold import facts, fold


def tokens(raw: bytes, *, unspaced: bool = True) -> list[str]:
    """Split UTF-8 into folded tokens.

    Runs of letters, marks, numbers and '_'; in scripts written without spaces each letter or number with the marks that
    follow it; each pictograph. With `unspaced` False those scripts form runs like any other.
    """
    out: list[str] = []
    run = ""
    joins = False                                # a mark now would belong to the last token
    klass = facts().klass
    for c in fold(raw):
        kind = klass.get(ord(c), "separator")
        if kind == "unspaced" and not unspaced:
            kind = "word"
        if kind == "mark" and not run and joins:
            out[-1] += c
        elif kind in ("word", "mark"):
            run += c
            joins = False
        else:
            if run:
                out.append(run)
            run = ""
            joins = kind == "unspaced"
            if kind in ("unspaced", "pictograph"):
                out.append(c)
    return [*out, run] if run else out


def invalid(raw: bytes) -> bool:
    """Whether UTF-8 is damaged (flag bit 0 of the sketch kernel)."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False
