"""Aligning two texts: which stretches they share and which they do not.

Words, single characters of scripts without spaces, and signs are the pieces that are compared. Long texts are
anchored on runs of pieces that occur once in both (patience diff, Bram Cohen, 2010), and only what lies between
is compared in full, so that a text of a megabyte with a few changes takes a moment.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

_UNSPACED = (  # Thai and Lao, Myanmar, Khmer, kana, Han
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# A piece: a run of white space, one character of a script without spaces, a word, or any one other character.
PIECE = re.compile(rf"\s+|[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+|[^\w\s]")
_WORD = re.compile(r"\w")
_DIRECT = 2_000  # pieces, of both texts, up to which a gap is compared at once
_MOST = 8_000  # pieces beyond which a gap without anchors is taken as one difference
_RUN = 8  # pieces of an anchor


@dataclass(frozen=True, slots=True)
class Stretch:
    """One stretch of an alignment: `a` of the first text, `b` of the second.

    same  the two are equal but for white space; otherwise they differ, and one of them may be empty
    """

    a: str
    b: str
    same: bool


def compare(a: str, b: str) -> list[Stretch]:
    """Align two texts.

    The stretches' `a` joined give the first text, their `b` the second; equal and differing ones alternate.

    >>> [(s.a, s.b) for s in compare("the old cat sat", "the new cat sat") if not s.same]
    [('old', 'new')]
    """
    left, right = PIECE.findall(a), PIECE.findall(b)
    # White space is compared as such: a line that was wrapped elsewhere is no difference to a reader.
    keys_a = [" " if p.isspace() else p for p in left]
    keys_b = [" " if p.isspace() else p for p in right]
    stretches: list[Stretch] = []
    at_a = at_b = 0
    for i, j, n in _matches(keys_a, keys_b):
        _add(stretches, left[at_a:i], right[at_b:j], same=False)
        _add(stretches, left[i : i + n], right[j : j + n], same=True)
        at_a, at_b = i + n, j + n
    _add(stretches, left[at_a:], right[at_b:], same=False)
    return _without_crumbs(stretches)


def _add(stretches: list[Stretch], a: Sequence[str], b: Sequence[str], *, same: bool) -> None:
    if not a and not b:
        return
    text_a, text_b = "".join(a), "".join(b)
    if stretches and stretches[-1].same == same:
        last = stretches.pop()
        text_a, text_b = last.a + text_a, last.b + text_b
    stretches.append(Stretch(text_a, text_b, same))


def _without_crumbs(stretches: list[Stretch]) -> list[Stretch]:
    """Join differences that no word parts: a reworded phrase, or a changed address, is one difference and not ten."""
    joined: list[Stretch] = []
    for i, s in enumerate(stretches):
        crumb = s.same and not _WORD.search(s.a) and 0 < i < len(stretches) - 1
        _add(joined, [s.a], [s.b], same=s.same and not crumb)
    return joined


@dataclass(frozen=True, slots=True)
class _Gap:
    """What is still to be compared: a[a0:a1] with b[b0:b1]."""

    a0: int
    a1: int
    b0: int
    b1: int

    @property
    def size(self) -> int:
        return self.a1 - self.a0 + self.b1 - self.b0


def _matches(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return (place in a, place in b, length) of equal runs, ascending in both."""
    found: list[tuple[int, int, int]] = []
    work = [_Gap(0, len(a), 0, len(b))]
    while work:
        gap = work.pop()
        head = _common_head(a, b, gap)
        gap = _Gap(gap.a0 + head, gap.a1, gap.b0 + head, gap.b1)
        tail = _common_tail(a, b, gap)
        gap = _Gap(gap.a0, gap.a1 - tail, gap.b0, gap.b1 - tail)
        found += [(gap.a0 - head, gap.b0 - head, head)] if head else []
        found += [(gap.a1, gap.b1, tail)] if tail else []
        if gap.a0 == gap.a1 or gap.b0 == gap.b1:
            continue
        if gap.size > _DIRECT and (anchors := _anchors(a, b, gap)):
            # Each anchor is the head of the gap that it begins; it is one piece at least, so the work ends.
            places = [(gap.a0, gap.b0), *anchors, (gap.a1, gap.b1)]
            work += [_Gap(i, k, j, m) for (i, j), (k, m) in pairwise(places)]
        elif gap.size <= _MOST:
            blocks = SequenceMatcher(None, a[gap.a0 : gap.a1], b[gap.b0 : gap.b1], autojunk=False).get_matching_blocks()
            found += [(gap.a0 + i, gap.b0 + j, n) for i, j, n in blocks if n]
    return sorted(found)


def _common_head(a: Sequence[str], b: Sequence[str], gap: _Gap) -> int:
    most = min(gap.a1 - gap.a0, gap.b1 - gap.b0)
    return next((n for n in range(most) if a[gap.a0 + n] != b[gap.b0 + n]), most)


def _common_tail(a: Sequence[str], b: Sequence[str], gap: _Gap) -> int:
    most = min(gap.a1 - gap.a0, gap.b1 - gap.b0)
    return next((n for n in range(most) if a[gap.a1 - n - 1] != b[gap.b1 - n - 1]), most)


def _anchors(a: Sequence[str], b: Sequence[str], gap: _Gap) -> list[tuple[int, int]]:
    """Return places, ascending in both texts, where a run of pieces stands that occurs once in each."""
    in_a = _once(a, gap.a0, gap.a1)
    in_b = _once(b, gap.b0, gap.b1)
    chain = _ascending(sorted((i, in_b[run]) for run, i in in_a.items() if run in in_b))
    # Of anchors that follow each other piece by piece the first is enough: comparing runs on from there.
    return [place for n, place in enumerate(chain) if n == 0 or place != (chain[n - 1][0] + 1, chain[n - 1][1] + 1)]


def _once(pieces: Sequence[str], start: int, stop: int) -> dict[tuple[str, ...], int]:
    seen: dict[tuple[str, ...], int] = {}
    for i in range(start, stop - _RUN + 1):
        run = tuple(pieces[i : i + _RUN])
        seen[run] = -1 if run in seen else i
    return {run: i for run, i in seen.items() if i >= 0}


def _ascending(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Longest ascending subsequence by the second number (Fredman 1975), n log n."""
    tails: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for n, (_, j) in enumerate(places):
        k = bisect_left(tails, j)
        before.append(at[k - 1] if k else -1)
        tails[k : k + 1] = [j]
        at[k : k + 1] = [n]
    chain: list[tuple[int, int]] = []
    n = at[-1] if at else -1
    while n >= 0:
        chain.append(places[n])
        n = before[n]
    return chain[::-1]
