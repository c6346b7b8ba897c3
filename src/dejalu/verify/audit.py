"""`--audit N`: how much the run missed, measured on the user's own data.

N documents are drawn and compared with the whole input by an exact join, which knows nothing of sketches,
bands or components. A true pair (similarity at or above the threshold) is *missed* when both of its documents
are kept.

The estimate. With T(d) true pairs and M(d) missed ones at document d, the share that is missed over all pairs
is sum M / sum T over all documents (each pair is seen from both its ends), so the ratio over the drawn
documents estimates it: Cochran, Sampling Techniques (1977), section 6.3.

Its interval. The pairs of one document are not independent: a page with a thousand copies brings a thousand
pairs that are found or missed together. The interval therefore takes them as wholly dependent, the worst
case, which leaves (sum T)^2 / sum T^2 effective trials (Kish, Survey Sampling, 1965, section 8.2) in the
exact interval of Clopper and Pearson (see `shares.interval`). It is wider than one that counts pairs, never
narrower, and one huge cluster makes it very wide. Beside it stands the recall per document, in which each drawn
document that has a true pair counts once, however many it has: the mean of 1 - M(d) / T(d). Drawn documents are
independent, so its interval is narrow where there are many of them, however their pairs are distributed.

Order of calls: `sample` once; `prepare` once with the drawn documents' shingles; `join` per batch, in any
order and on any thread; `merge` of the tallies; `recall`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import F64, I64, U64, Bool, Pairs, part_of, row_of
from ..kernels.evaluate import OverlapTable, overlap_join, overlap_table
from .shares import interval, member

__all__ = ["AuditResult", "Sample", "Tally", "join", "merge", "prepare", "recall", "sample"]

EXAMPLES = 20  # missed pairs that are named, the most similar first
_CELLS = 1 << 22  # (document, sample) pairs that one call of the kernel may find: about 100 MB


@dataclass(frozen=True, slots=True)
class Sample:
    """The drawn documents: ids (s,) int64, ascending; groups (s,) int64; kept (s,) bool; their table."""

    ids: I64
    groups: I64
    kept: Bool
    table: OverlapTable


@dataclass(frozen=True, slots=True)
class Tally:
    """True and missed pairs per drawn document, (s,) int64 each; the most similar missed ones."""

    true: I64
    missed: I64
    missed_pairs: Pairs


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What the audit found.

    sampled, documents  documents drawn, and documents with a token in the input
    pairs, missed       true pairs of the drawn documents, and those left with both documents kept (a pair of
                        two drawn documents counts at each)
    recall              1 - missed / pairs; None when no drawn document has a true pair
    low, high           bounds of its 95% interval; equal to `recall` when every document was drawn
    effective           effective number of independent trials behind the interval
    with_pairs          drawn documents that have a true pair
    per_document, per_document_low, per_document_high
                        mean over those of 1 - missed / pairs of the document, and its 95% interval
    examples            missed pairs, at most 20, the most similar first: a is the drawn document
    """

    sampled: int
    documents: int
    pairs: int
    missed: int
    recall: float | None
    low: float
    high: float
    effective: float
    with_pairs: int
    per_document: float | None
    per_document_low: float
    per_document_high: float
    examples: Pairs

    def sentence(self) -> str:
        """Say the result in words."""
        if self.recall is None:
            return (
                f"Audit: none of {self.sampled:,} sampled documents has a true pair; a larger --audit would say more."
            )
        return (
            f"Audit: {self.sampled:,} sampled documents have {self.pairs:,} true pairs; "
            f"{self.missed:,} of them are left with both documents kept: recall {self.recall:.2%} "
            f"(95% interval {self.low:.2%} to {self.high:.2%}); {self.per_document:.2%} when each of the "
            f"{self.with_pairs:,} documents with a pair counts once ({self.per_document_low:.2%} to "
            f"{self.per_document_high:.2%})."
        )

    def as_json(self, files: Sequence[str]) -> dict[str, Any]:
        """Give the result as the report holds it; `files`: names of the files by part."""
        a, b, similarity = self.examples.a, self.examples.b, self.examples.similarity
        assert similarity is not None
        return {
            "sampled": self.sampled,
            "documents": self.documents,
            "pairs": self.pairs,
            "missed": self.missed,
            "recall": self.recall,
            "low": self.low,
            "high": self.high,
            "effective": round(self.effective, 3),
            "with_pairs": self.with_pairs,
            "per_document": self.per_document,
            "per_document_low": self.per_document_low,
            "per_document_high": self.per_document_high,
            "examples": [
                {
                    "file": files[part_of(a)[i]],
                    "row": int(row_of(a)[i]),
                    "other_file": files[part_of(b)[i]],
                    "other_row": int(row_of(b)[i]),
                    "similarity": float(similarity[i]),
                }
                for i in range(len(a))
            ],
        }


def sample(ids: I64, tokens: I64, n: int) -> I64:
    """Draw n documents that have a token: those with the smallest hash of their DocId.

    ids, tokens  (d,) int64 each; all documents of the input, in any order;  n ≥ 1, all are drawn when there
                 are fewer

    The hash makes the draw the same for any thread count, batch size and partition count, and spread over the
    input. Returns ids (≤ n,) int64, ascending.
    """
    if n < 1:
        raise ValueError(f"n: must be at least 1, is {n}")
    with_tokens = ids[tokens > 0]
    order = np.lexsort((with_tokens, _mix(with_tokens)))[:n]
    return np.sort(with_tokens[order])


def prepare(ids: I64, values: U64, offsets: I64, *, removed: I64, groups: I64 | None = None) -> Sample:
    """Build the table of the drawn documents.

    ids              (s,) int64, ascending
    values, offsets  their distinct shingle hashes, ragged: (m,) uint64, (s + 1,) int64
    removed          (r,) int64 ids of all removed documents, ascending
    groups           (s,) int64 codes of the value of --within, or None
    """
    return Sample(ids, _groups(groups, len(ids)), ~member(ids, removed), overlap_table(values, offsets))


def join(
    drawn: Sample,
    ids: I64,
    values: U64,
    offsets: I64,
    *,
    threshold: float,
    removed: I64,
    groups: I64 | None = None,
) -> Tally:
    """Compare one batch of documents with the drawn ones, exactly.

    ids (n,) int64; values, offsets, groups as in `prepare`; threshold in (0, 1]. Memory is bounded by the
    batch.
    """
    s, n = len(drawn.ids), len(ids)
    kept = ~member(ids, removed)
    groups = _groups(groups, n)
    step = max(1, _CELLS // max(1, s))
    parts = []
    for first in range(0, n, step):
        last = min(first + step, n)
        doc, place, similarity = overlap_join(
            drawn.table, values, np.ascontiguousarray(offsets[first : last + 1]), threshold=threshold
        )
        doc += first
        good = (drawn.ids[place] != ids[doc]) & (drawn.groups[place] == groups[doc])
        doc, place, similarity = doc[good], place[good], similarity[good]
        missed = kept[doc] & drawn.kept[place]
        parts.append(
            Tally(
                np.bincount(place, minlength=s).astype(np.int64),
                np.bincount(place[missed], minlength=s).astype(np.int64),
                _most_similar(drawn.ids[place[missed]], ids[doc[missed]], similarity[missed]),
            )
        )
    return merge(drawn, parts)


def merge(drawn: Sample, tallies: Iterable[Tally]) -> Tally:
    """Add tallies up; the order of the batches never matters."""
    true = np.zeros(len(drawn.ids), np.int64)
    missed = np.zeros(len(drawn.ids), np.int64)
    pairs = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    for tally in tallies:
        true += tally.true
        missed += tally.missed
        a, b, similarity = (
            np.concatenate([getattr(pairs, name), getattr(tally.missed_pairs, name)])
            for name in ("a", "b", "similarity")
        )
        pairs = _most_similar(a, b, similarity)
    return Tally(true, missed, pairs)


def recall(tally: Tally, *, documents: int) -> AuditResult:
    """Turn the tally of the whole input into recall and its interval; documents: number that have a token."""
    pairs, missed = int(tally.true.sum()), int(tally.missed.sum())
    squares = float((tally.true.astype(np.float64) ** 2).sum())
    effective = pairs**2 / squares if squares else 0.0
    own = tally.true[tally.true > 0]
    settled = 1 - tally.missed[tally.true > 0] / own
    share = 1 - missed / pairs if pairs else None
    mean = round(math.fsum(settled.tolist()) / len(own), 12) if pairs else None
    census = len(tally.true) >= documents  # every document was drawn: nothing is estimated
    low, high = _bounds(share, effective, census)
    mean_low, mean_high = _bounds(mean, float(len(own)), census)
    return AuditResult(
        sampled=len(tally.true),
        documents=documents,
        pairs=pairs,
        missed=missed,
        recall=share,
        low=low,
        high=high,
        effective=effective,
        with_pairs=len(own),
        per_document=mean,
        per_document_low=mean_low,
        per_document_high=mean_high,
        examples=tally.missed_pairs,
    )


def _bounds(share: float | None, trials: float, census: bool) -> tuple[float, float]:
    if share is None:
        return 0.0, 1.0
    return (share, share) if census else interval(min(share * trials, trials), trials)


def _mix(ids: I64) -> U64:
    """SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014): a permutation of 64-bit values."""
    z = ids.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _groups(groups: I64 | None, n: int) -> I64:
    return np.zeros(n, np.int64) if groups is None else groups


def _most_similar(a: I64, b: I64, similarity: F64) -> Pairs:
    order = np.lexsort((b, a, -similarity))[:EXAMPLES]
    return Pairs(a[order], b[order], similarity[order])
