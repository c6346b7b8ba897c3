"""What a run will find and cost, from the theory of its bands and from measured costs of each step.

The chances come from `candidates.bands`. The costs are a straight line through two measured corpora: English web text
of 2,200 bytes a document and short text of 380, each step timed by itself (docs/scale.md, "What a document costs"; the
work files are counted from what is stored). They are those of one machine, two cores of a Xeon with AVX-512: on another
the shares of the steps hold better than the times.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..candidates.bands import Bands
from ..errors import UsageError
from ..plan import Plan

RECKONED = ("minhash", "exact", "bytes")  # methods whose steps are measured
MOST_DOCS = 4_290_000_000  # of one run: places are 32 bits wide
SERIAL = 0.025  # share of the work that stays on one thread (docs/scale.md, "64 cores")
PARQUET = 0.32  # bytes of zstd parquet per byte of English web text
AGAIN = 0.25  # share of the text that ends up in work groups, of English web text (docs/decisions/0008)
DISK_SPEED = 3e9  # bytes a second, of one NVMe disk
SOURCE = "a Xeon with AVX-512 (docs/scale.md)"
# Pairs a document in steps of .05 of the similarity from .3 on (bench/similarities.py): 84,559 different texts among
# 104,151 of English web text. Most come of a few templates; a corpus twice as large may have four times as many in all.
TYPICAL = (38.33, 25.90, 19.23, 12.04, 10.71, 7.27, 2.98, 1.17, 0.58, 12.21, 2.08, 0.11, 0.03, 0.02)
# CPU seconds of a step: per document, and per byte of its text.
DECODE = (2.0e-7, 1.32e-9)
SKETCH = (1.4e-7, 1.21e-9)
HASH = (4.0e-8, 7.5e-10)  # tokens and their hashes alone
BYTES = (1.0e-8, 1.1e-10)  # hashes of the bytes
KEEP = 3.0e-7
GROUP = 3.6e-7
SETTLE = (1.9e-7, 5.5e-10)
EVIDENCE = (1.0e-7, 2.0e-10)


@dataclass(frozen=True, slots=True)
class Chance:
    """Of pairs of one similarity: the share that share a band key, and the share that pass the sketch filter as well.

    What passes is compared exactly; so below the threshold `compared` is wasted work, never a wrong removal.
    """

    similarity: float
    share_a_key: float
    compared: float


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run: CPU seconds, bytes that it reads from and writes to disk."""

    name: str
    cpu: float
    read: float = 0.0
    written: float = 0.0


@dataclass(frozen=True, slots=True)
class Planned:
    """What `dejalu plan` prints.

    bands, chances  None and empty where the search is complete
    in_vain         pairs a document below the threshold in typical web text: that share a key, that pass the sketch too
    by_accident     pairs of documents with nothing in common that share a band key: before the sketch filter
    memory          bytes a document that are held whatever the budget
    stored          bytes a document in the work files, before texts are dealt
    steps           empty for a method whose steps are not measured: then neither memory nor times mean anything
    """

    method: str
    docs: float
    bytes_per_doc: float
    threads: int
    bands: Bands | None
    chances: tuple[Chance, ...]
    in_vain: tuple[float, float]
    by_accident: float
    memory: float
    stored: float
    steps: tuple[Step, ...]

    @property
    def cpu(self) -> float:
        """CPU seconds."""
        return sum(step.cpu for step in self.steps)

    @property
    def computing(self) -> float:
        """Seconds of computing on `threads` threads, with the work that stays on one of them (Amdahl's law)."""
        return self.cpu * (SERIAL + (1.0 - SERIAL) / self.threads)

    @property
    def disk(self) -> float:
        """Seconds of reading and writing on one disk."""
        return sum(step.read + step.written for step in self.steps) / DISK_SPEED


def planned(plan: Plan, docs: float, *, threads: int, bytes_per_doc: float) -> Planned:
    """Reckon a run before it is begun.

    Args:
        plan: method, threshold and slots are looked at.
        docs: number of documents, at least 1.
        threads: at least 1.
        bytes_per_doc: UTF-8 bytes of text in a document.

    Raises:
        UsageError: a value out of range.
    """
    for name, value in (("docs", docs), ("bytes_per_doc", bytes_per_doc)):
        if not 1 <= value <= 1e18:
            raise UsageError(f"{name}={value:g}: must be a number from 1 to 1e18")
    b = plan.bands if plan.banded else None
    chances = tuple(chance(b, s) for s in _similarities(plan.threshold)) if b else ()
    pairs = docs * (docs - 1.0) / 2.0
    by_accident = pairs * b.bands * (2.0 ** (-32 * b.rows) + 2.0**-64) if b else 0.0
    stored = 32.0 + (8.0 * b.bands + b.slots if b else 0.0)
    steps = _steps(plan, b, docs, bytes_per_doc, stored) if plan.method in RECKONED else []
    return Planned(
        method=plan.method,
        docs=docs,
        bytes_per_doc=bytes_per_doc,
        threads=threads,
        bands=b,
        chances=chances,
        in_vain=_in_vain(b),
        by_accident=by_accident,
        memory=5.0,
        stored=stored,
        steps=tuple(steps),
    )


def chance(bands: Bands, similarity: float) -> Chance:
    """Chances of a pair of this similarity."""
    shared = bands.recall(similarity)
    return Chance(similarity, shared, shared * bands.sketch_pass(similarity) if shared > 1e-12 else 0.0)


def _in_vain(bands: Bands | None) -> tuple[float, float]:
    before = after = 0.0
    for i, pairs in enumerate(TYPICAL):
        middle = 0.325 + 0.05 * i
        if bands is not None and middle < bands.threshold:
            c = chance(bands, middle)
            before, after = before + pairs * c.share_a_key, after + pairs * c.compared
    return before, after


def _similarities(threshold: float) -> list[float]:
    """From .5, or .3 below the threshold, to 1 in steps of .05, with the threshold."""
    first = max(1, min(10, round(20 * threshold) - 6))
    return sorted({threshold, *(i / 20 for i in range(first, 21))})


def _steps(plan: Plan, b: Bands | None, docs: float, size: float, stored: float) -> list[Step]:
    def cpu(line: tuple[float, float], share: float = 1.0) -> float:
        return docs * (line[0] + line[1] * size) * share

    text, parquet = docs * size, docs * size * PARQUET
    decode = Step("decode parquet", cpu(DECODE), read=parquet)
    if b is None:
        hashes = Step("hash", cpu(HASH if plan.method == "exact" else BYTES))
        keep = Step("keep the hashes", docs * KEEP * stored / 328, written=docs * stored)
        group = Step("group equal texts", docs * GROUP / 22, read=docs * 16)
        return [decode, hashes, keep, group, Step("evidence, report", cpu(EVIDENCE), written=docs * 5)]
    # Sketching costs the tokens and shingles of the text, and little for the slots.
    sketch = Step("sketch", cpu(SKETCH))
    keep = Step("keep the sketches", docs * KEEP * stored / 328, written=docs * stored)
    group = Step(
        f"group equal texts, {b.bands} bands", docs * GROUP * (b.bands + 1) / 22, read=docs * (16 + 8 * b.bands)
    )
    again = Step("read again what needs it", cpu(DECODE), read=parquet, written=text * AGAIN)
    settle = Step("verify and settle", cpu(SETTLE), read=text * AGAIN)
    return [decode, sketch, keep, group, again, settle, Step("evidence, report", cpu(EVIDENCE), written=docs * 5)]
