"""What a run knows about itself when it is done: the input of the report, its warnings and the summary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..data import Input

COUNTS = ("read", "null", "empty", "set_aside", "removed_equal", "removed_near", "kept")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One input file: records (set-aside ones included), and how many of them were removed or set aside.

    `whole` is False where a file could not be read to its end.
    """

    file: str
    rows: int
    removed_equal: int = 0
    removed_near: int = 0
    set_aside: int = 0
    whole: bool = True


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """One value of the source column (None: rows without one): documents read and removed."""

    value: str | None
    read: int
    removed: int


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """A kept document and what was removed for it: `size` counts both; `example` is the beginning of its text."""

    file: str
    row: int
    id: Any
    size: int
    example: str


@dataclass(frozen=True, slots=True)
class CapFacts:
    """A cap of the plan and what it skipped: `what` was counted in words, up to `limit`; `remedy` names the option."""

    name: str
    limit: int
    skipped: int
    what: str = "comparisons"
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class ShortFacts:
    """Lengths of the texts that have a token: how many there are, and how many are short.

    below_shingle  fewer tokens than the shingle: the whole text is one shingle
    below_limit    fewer tokens than `short_limit`: one changed word hides them (every text at threshold 1)
    median         tokens of the median text
    """

    texts: int = 0
    below_shingle: int = 0
    below_limit: int = 0
    median: int = 0


@dataclass(frozen=True, slots=True)
class RoomFacts:
    """Cost of one room: wall-clock and CPU seconds, peak memory of the process so far in bytes."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class InvalidFacts:
    """Texts that held invalid UTF-8 or lone surrogates: how many, and the first few as (file, row)."""

    texts: int = 0
    first: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True, slots=True)
class RepeatedFacts:
    """Ids that occur more than once: how many such ids, and the most frequent as (id, times)."""

    ids: int = 0
    most: Sequence[tuple[Any, int]] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """All that the report tells; what varies (times, machine, paths, threads) is in `run`, `rooms` and `inputs`.

    counts        integers by the names of COUNTS; read = removed_equal + removed_near + kept, set_aside apart
    plan          the plan as JSON values, without paths
    method, threshold, shingle, unit, source_column   of the plan, for the words of the warnings
    unused        parameters of the plan that were given and that the method does not look at
    versions      dejalu, pyarrow
    digest        logical digest of the verdicts (see digest.py)
    bands, band_rows, expected_recall   of the candidate stage; 0 and None for exact methods
    audit         result of --audit as JSON values, or None
    skipped       what was skipped in folders, by reason
    run           machine facts and execution options as JSON values
    """

    counts: Mapping[str, int]
    plan: Mapping[str, Any]
    method: str
    threshold: float
    shingle: int
    unit: str = "word"
    source_column: str | None = None
    unused: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    caps: Sequence[CapFacts] = ()
    long_tokens: int = 0
    invalid: InvalidFacts = InvalidFacts()
    repeated: RepeatedFacts = RepeatedFacts()
    short: ShortFacts = ShortFacts()
    files: Sequence[FileFacts] = ()
    sources: Sequence[SourceFacts] = ()
    clusters: Sequence[ClusterFacts] = ()
    bands: int = 0
    band_rows: int = 0
    expected_recall: float | None = None
    audit: Mapping[str, Any] | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    inputs: Sequence[Input] = ()
    rooms: Mapping[str, RoomFacts] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        missing = set(COUNTS) - set(self.counts)
        if missing:
            raise ValueError(f"counts lacks {sorted(missing)}")
        removed = self.counts["removed_equal"] + self.counts["removed_near"]
        if self.counts["read"] != removed + self.counts["kept"]:
            raise ValueError(f"read is not removed + kept: {dict(self.counts)}")

    @property
    def removed(self) -> int:
        """Number of removed documents."""
        return self.counts["removed_equal"] + self.counts["removed_near"]


def short_limit(threshold: float, shingle: int) -> int | None:
    """Return the number of tokens from which one changed word no longer hides a text; None at threshold 1.

    A word in the middle of n distinct shingle positions changes w of the n - w + 1 shingles, so that the Jaccard
    similarity is (n - 2w + 1) / (n + 1); it is at or above t from n = (2w - 1 + t) / (1 - t) on.

    >>> short_limit(0.8, 5)
    49
    """
    t = Fraction(repr(threshold))  # the decimal that was typed: 0.8, not 0.8000000000000000444
    return None if t >= 1 else math.ceil((2 * shingle - 1 + t) / (1 - t))


def fitting_shingle(threshold: float, tokens: int) -> int:
    """Return the widest shingle at which one changed word does not hide a text of so many tokens; 0 if none."""
    return int((tokens + 1) * (1 - Fraction(repr(threshold))) / 2)


def fitting_threshold(shingle: int, tokens: int) -> float:
    """Return the highest threshold, in hundredths, at which one changed word does not hide such a text; 0.0 if none."""
    return max(0, math.floor(100 * Fraction(tokens - 2 * shingle + 1, tokens + 1))) / 100
