"""What a text says in numbers, negations and addresses. Twin of `native/guards.hpp`; docs/guards.md gives the rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from .fold import facts, fold
from .hashing import avalanche, token_hash

ASCII_WORD = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
SCHEMES = ("http://", "https://", "ftp://", "www.")
NO_URL = frozenset('<>"`{}|\\^\x7f')
TRAILING = ".,;:!?'*/"
SEPARATORS = {".": ".", ",": ",", "\u066b": ".", "\u066c": ","}
APOSTROPHES = ("'", "\u2019")
BEFORE_SIGN = " \t\n\v\f\r(["


@dataclass(frozen=True, slots=True)
class Found:
    """What one text says, in the order of the text."""

    numbers: list[str] = field(default_factory=list)
    negation: list[str] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)


@cache
def digits() -> dict[str, str]:
    """What every character of category N stands for: a decimal digit for its value, any other for itself."""
    out = {}
    for line in files(__package__).joinpath("numbers15.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, spans = line.split()
            for span in spans.split(","):
                first, _, last = span.partition("-")
                for i, c in enumerate(range(int(first, 16), int(last or first, 16) + 1)):
                    out[chr(c)] = str(i) if kind == "digits" else chr(c)
    return out


@cache
def negations() -> tuple[frozenset[str], tuple[tuple[str, bool], ...]]:
    """Read the words, and the strings looked for everywhere with whether they count, longest first; all folded."""
    words: set[str] = set()
    strings: dict[str, bool] = {}
    for line in files(__package__).joinpath("negation.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        kind, _, *items = line.split()
        for item in (fold(item.encode()) for item in items):
            if kind == "word":
                words.add(item)
            else:
                strings[item] = kind == "inside"
    longest = sorted(strings.items(), key=lambda s: (-len(s[0].encode()), s[0]))
    return frozenset(words), tuple(longest)


def guards(raw: bytes, *, numbers: bool, negation: bool, urls: bool) -> int:
    """Hash what a text says in the chosen guards; 0 when it says nothing in any of them."""
    return hashed(scan(raw), numbers=numbers, negation=negation, urls=urls)


def hashed(found: Found, *, numbers: bool, negation: bool, urls: bool) -> int:
    """Hash the chosen parts of what was found."""
    value = _of_set(found.numbers, 1) if numbers else 0
    if negation and found.negation:
        value ^= avalanche(avalanche(2) ^ len(found.negation))
    return value ^ _of_set(found.urls, 3) if urls else value


def _of_set(items: Iterable[str], salt: int) -> int:
    hashes = sorted({token_hash(item.encode()) for item in items})
    value = avalanche(salt) if hashes else 0
    for h in hashes:
        value = avalanche(value ^ h)
    return value


def scan(raw: bytes) -> Found:
    """Find numbers, negations and addresses in the folded text, from left to right."""
    text = fold(raw)
    found = Found()
    at = 0
    while at < len(text):
        if text[at] in digits():
            at = _number(text, at, found)
        elif (host := _url_begins(text, at)) is not None:
            at = _url(text, host, found)
        elif _kind(text[at]) in ("word", "mark"):
            at = _word(text, at, found)
        else:
            at += _string(text, at, found) or 1
    return found


def _kind(c: str) -> str:
    return facts().klass.get(ord(c), "separator")


def _number(text: str, at: int, found: Found) -> int:
    """Take the number that begins at `at`; return where it ends."""
    value = digits()
    signed = at > 0 and text[at - 1] in "-\u2212" and (at == 1 or text[at - 2] in BEFORE_SIGN)
    groups, separators = [""], []
    while True:
        while at < len(text) and text[at] in value:
            groups[-1] += value[text[at]]
            at += 1
        if at + 1 < len(text) and text[at] in SEPARATORS and text[at + 1] in value:
            separators.append(SEPARATORS[text[at]])
            groups.append("")
            at += 1
        else:
            found.numbers.append("-" * signed + plain(groups, separators))
            return at


def plain(groups: list[str], separators: list[str]) -> str:
    """Write a number without its thousands marks, and with a point for every other separator."""
    first = separators[0] if separators else ""
    marks = next((i for i, s in enumerate(separators) if s != first), len(separators))
    thousands = (
        marks > 0
        and (first == "," or marks > 1 or marks < len(separators))
        and len(groups[0]) <= 3
        and all(len(g) in (2, 3) for g in groups[1:marks])
        and len(groups[marks]) == 3
    )
    return (
        "".join(groups[: marks + 1]) + "".join("." + g for g in groups[marks + 1 :]) if thousands else ".".join(groups)
    )


def _url_begins(text: str, at: int) -> int | None:
    """Where the host begins of an address that begins here; None if none does."""
    if at and text[at - 1] in ASCII_WORD:
        return None
    for scheme in SCHEMES:
        host = at + len(scheme)
        if text.startswith(scheme, at) and host < len(text) and _kind(text[host]) == "word" and text[host] != "_":
            return at if scheme == "www." else host
    return None


def _url(text: str, host: int, found: Found) -> int:
    end = host
    while end < len(text) and _in_url(text[end]):
        end += 1
    count = {c: text.count(c, host, end) for c in "()[]"}
    while (last := text[end - 1]) in TRAILING or (last in ")]" and count[last] > count["(" if last == ")" else "["]):
        count[last] = count.get(last, 0) - 1
        end -= 1
    found.urls.append(text[host:end])
    return end


def _in_url(c: str) -> bool:
    return c > " " and c not in NO_URL if c < "\x80" else _kind(c) in ("word", "mark")


def _word(text: str, start: int, found: Found) -> int:
    """Take a run of letters and marks; return where it ends."""
    words, _ = negations()
    at = start
    while at < len(text) and text[at] not in digits() and _kind(text[at]) in ("word", "mark"):
        at += _string(text, at, found) or 1
    word = text[start:at]
    before, behind = text[start - 1 : start], text[at : at + 1]
    if (
        word in words
        or (word == "t" and before in APOSTROPHES and text[start - 2 : start - 1] == "n")
        or (word == "n" and behind in APOSTROPHES and before not in APOSTROPHES)
    ):
        found.negation.append(word if word != "t" else "n" + before + word)
    return at


def _string(text: str, at: int, found: Found) -> int:
    """Length of the longest string of the table that begins here, counted if it negates; 0 if there is none."""
    for string, counts in negations()[1]:
        if text.startswith(string, at):
            if counts:
                found.negation.append(string)
            return len(string)
    return 0
