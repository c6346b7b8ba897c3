"""A corpus that builds itself: natural-looking text in ten scripts with planted copies, the same on every machine.

    base texts    words by Zipf's law from a vocabulary per language, with stock phrases that many texts share
    edits         scattered, front, deleted, moved, appended, cut: similarity from .4 to .99
    edges         texts whose similarity is a threshold exactly
    chains        neighbours alike, ends not
    templates     one frame, other fields: below, at and above the thresholds
    copies        other case, width, normal form, spacing
    short, empty  1 to 6 tokens; none

Only `Random.random()` is drawn on, the one method whose sequence Python promises to keep.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from random import Random

EDGES = {0.5: (30, 30), 0.7: (35, 15), 0.8: (40, 10), 0.9: (63, 7)}  # shingles shared, shingles added


@dataclass
class Dice:
    """A small interface to the one promised generator."""

    seed: int
    source: Random = field(init=False)

    def __post_init__(self) -> None:
        self.source = Random(self.seed)

    def below(self, n: int) -> int:
        """0 ≤ result < n."""
        return int(self.source.random() * n)

    def between(self, low: int, high: int) -> int:
        """low ≤ result ≤ high."""
        return low + self.below(high - low + 1)

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.source.random() < p

    def zipf(self, n: int) -> int:
        """0 ≤ result < n; small numbers are frequent."""
        return min(n - 1, int(n ** self.source.random()) - 1)

    def pick(self, items):
        """One of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items):
        """The items in another order."""
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


@dataclass(frozen=True)
class Language:
    """How words of a language are made and joined."""

    name: str
    syllables: tuple[str, ...]
    glue: str
    stop: str


def _span(first: int, n: int) -> tuple[str, ...]:
    return tuple(chr(first + i) for i in range(n))


LATIN = tuple(c + v for c in "bdfgklmnprstv" for v in ("a", "e", "i", "o", "u", "ai", "er", "on"))
LANGUAGES = (
    Language("latin", LATIN, " ", ". "),
    Language("accents", tuple(c + v for c in "bcdflmnprst" for v in ("é", "à", "ô", "ü", "e", "a", "ß")), " ", ". "),
    Language("cyrillic", tuple(c + v for c in "бвгдклмнпрст" for v in "аеиоуыя"), " ", ". "),
    Language("greek", tuple(c + v for c in "βγδκλμνπρστ" for v in "αεηιουώ"), " ", "· "),
    Language("arabic", tuple(c + v for c in "بتجدرسعفقلمن" for v in ("ا", "و", "ي", "")), " ", "، "),
    Language("devanagari", tuple(c + v for c in "कगजतदनपबमरलस" for v in ("ा", "ि", "ी", "ु", "े", "")), " ", "। "),
    Language("hangul", _span(0xAC00, 600), " ", ". "),
    Language("han", _span(0x4E00, 1500), "", "。"),
    Language("kana", _span(0x3042, 80) + _span(0x30A2, 80), "", "。"),
    Language("thai", tuple(c + v for c in "กขคงจชดตทนบปมยรลวสอ" for v in ("า", "ิ", "ี", "ุ", "่า", "")), "", " "),
)
EMOJI = ("🎉", "🚲", "🌧️", "👍🏽", "🇫🇷", "🐈‍⬛")


class Writer:
    """Writes texts of one language."""

    def __init__(self, language: Language, dice: Dice):
        self.language, self.dice = language, dice
        spaced = bool(language.glue)
        self.vocabulary = [
            "".join(dice.pick(language.syllables) for _ in range(dice.between(1, 4) if spaced else 1))
            for _ in range(3000 if spaced else len(language.syllables))
        ]
        self.phrases = [self.words(dice.between(6, 14), phrases=False) for _ in range(120)]

    def words(self, n: int, *, phrases: bool = True) -> list[str]:
        """About n words."""
        out: list[str] = []
        while len(out) < n:
            if phrases and self.dice.chance(0.01):
                out += self.dice.pick(self.phrases)
            elif self.dice.chance(0.003):
                out.append(self.dice.pick(EMOJI))
            elif self.dice.chance(0.02):
                out.append(str(self.dice.below(5000)))
            else:
                out.append(self.vocabulary[self.dice.zipf(len(self.vocabulary))])
        return out[:n]

    def fresh(self, n: int) -> list[str]:
        """n words that no other text has."""
        return [f"{self.dice.pick(self.language.syllables)}{self.dice.below(10**9)}" for _ in range(n)]

    def text(self, words: list[str]) -> str:
        """Words as running text with sentences."""
        out = []
        for i, word in enumerate(words):
            out.append(word)
            out.append(self.language.stop if i % 17 == 16 else self.language.glue)
        return "".join(out).strip()

    def edited(self, words: list[str], kind: str, amount: int) -> list[str]:
        """A copy of the words with `amount` of them touched."""
        words, n = list(words), len(words)
        if kind == "scattered":
            for _ in range(amount):
                words[self.dice.below(n)] = self.words(1)[0]
        elif kind == "inserted":
            for _ in range(amount):
                words.insert(self.dice.below(n), self.words(1)[0])
        elif kind == "front":
            words = self.words(amount) + words
        elif kind == "deleted":
            at = self.dice.below(n - amount)
            del words[at : at + amount]
        elif kind == "moved":
            block = words[:amount]
            at = self.dice.between(amount, n)
            words = words[amount:at] + block + words[at:]
        elif kind == "appended":
            words += self.words(amount)
        elif kind == "cut":
            words = words[: n - amount]
        return words


EDITS = ("scattered", "inserted", "front", "deleted", "moved", "appended", "cut")


def build(seed: int = 2, size: int = 1) -> list[str]:
    """Write the corpus: about 2,150 texts and 3.4 MB for size 1, in an order that mixes everything."""
    dice = Dice(seed)
    out: list[str] = []
    for language in LANGUAGES:
        w = Writer(language, dice)
        for _ in range(12 * size):
            base = w.words(dice.between(40, 500))
            out.append(w.text(base))
            for kind in EDITS:
                share = dice.pick((0.005, 0.02, 0.04, 0.08, 0.15, 0.3, 0.45))
                out.append(w.text(w.edited(base, kind, max(1, int(share * len(base) / 2)))))
        for shared, added in EDGES.values():
            for _ in range(2 * size):
                base = w.fresh(shared + 4)
                out += [w.language.glue.join(base), w.language.glue.join(base + w.fresh(added))]
        river = w.words(400, phrases=False)
        out += [w.text(river[i : i + 100]) for i in range(0, 300, 10)]
        for fields in (4, 12, 40, 120):
            frame = w.words(150)
            out += [w.text(frame[:90] + w.words(fields, phrases=False) + frame[90:]) for _ in range(12 * size)]
        original = w.text(w.words(120))
        out += [
            original,
            original,
            original.upper(),
            unicodedata.normalize("NFD", original),
            unicodedata.normalize("NFKD", original),
            original.replace(" ", " \t\n ") + "\u200b",
            "  " + original + "!!!",
        ]
        for n in (1, 2, 3, 4, 5, 6):
            few = w.words(n)
            out += [w.text(few), w.text(few) + ".", w.text(w.words(n))]
    out += ["", "   ", "!!!", "???", "—", "\u200b\ufeff", ""]
    return dice.shuffled(out)
