"""Estimators against theory: bias and variance of each sketch over pairs of texts of known similarity.

    python bench/estimators.py [--pairs 10000] [--only NAME] [--json FILE]

Pairs of texts of random words, read with shingle 1, so that the similarity of each pair is known; seeds are fixed.
For each sketch and similarity it prints
    bias      mean of estimate − truth, in its own standard errors; passes within ±3
    variance  mean square of estimate − truth, as a multiple of the formula; passes up to 1.1
    stated    mean square of the standard error that the estimator gives, as a multiple of the same, where it gives one
and leaves with status 1 where something does not pass.

Formulas: J (1 − J) / slots for minhash, and for weighted with J_w; r (1 − r) / slots / (1 − C)², r = C + (1 − C) J and
C = 1/256 for minhash kept in 8 bits; J (1 − J) / m · (N − m) / (N − 1) for bottom-k, with m = k of N shingles of either
text, and for scaled sketches, with the m that were sampled; p (1 − p) / bits for the share of differing bits of
simhash, p = angle / π.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np

from dejalu import kernels

SIMILARITIES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
STEP = 250                                       # pairs that are made at a time
LETTERS = 9                                      # of a word, the blank behind it included
SLOTS, K, SCALED, BITS = 128, 128, 16, 64


@dataclass(frozen=True)
class Pairs:
    """Texts of m pairs, text 2 i and 2 i + 1 belong together: `shared` words of both, `left` and `right` of one."""

    data: np.ndarray                             # (bytes,) uint8
    offsets: np.ndarray                          # (2 m + 1,) int64
    shared: int
    left: int
    right: int

    @property
    def arrow(self) -> tuple[np.ndarray, np.ndarray]:
        return self.data, self.offsets

    @property
    def a(self) -> np.ndarray:
        return np.arange(0, len(self.offsets) - 1, 2)

    @property
    def union(self) -> int:
        return self.shared + self.left + self.right

    @property
    def jaccard(self) -> float:
        return self.shared / self.union


@dataclass(frozen=True)
class Found:
    """Estimates of m pairs, the truth, the variance that theory gives each, and the squared standard errors stated."""

    estimate: np.ndarray
    truth: np.ndarray | float
    variance: np.ndarray | float
    stated: np.ndarray | None = None


@dataclass(frozen=True)
class Row:
    """One line of the table; bias in standard errors of the mean, variance and stated as multiples of the formula."""

    sketch: str
    similarity: float
    pairs: int
    bias: float
    variance: float
    stated: float | None

    @property
    def passes(self) -> bool:
        return abs(self.bias) < 3 and self.variance <= 1.1


def texts(rng: np.random.Generator, count: int, similarity: float, union: int, uneven: bool = False) -> Pairs:
    """Make pairs of texts whose sets of words have about the given Jaccard similarity; `uneven`: b is the larger."""
    shared = round(similarity * union)
    left = (union - shared) // (8 if uneven else 2)
    right = union - shared - left
    letters = rng.integers(97, 123, (count, union, LETTERS), np.uint8)
    letters[:, :, -1] = 32
    rows = [
        part
        for pair in letters
        for part in (pair[: shared + left], np.concatenate((pair[:shared], pair[shared + left :])))
    ]
    size = np.tile([(shared + left) * LETTERS, (shared + right) * LETTERS], count)
    return Pairs(np.concatenate(rows).reshape(-1), np.concatenate(([0], np.cumsum(size))), shared, left, right)


def minhash(pairs: Pairs, bits: int) -> Found:
    """MinHash as shipped: all 32 bits of a slot, or the lowest 8."""
    signatures = kernels.sketch(*pairs.arrow, shingle=1, slots=SLOTS)[0]
    kept = signatures if bits == 32 else kernels.pack(signatures, bits)
    estimate = kernels.estimate(kept[::2].copy(), kept[1::2].copy(), bits=bits, slots=SLOTS)
    c = 0.0 if bits == 32 else 2.0**-bits
    r = c + (1 - c) * pairs.jaccard
    return Found(estimate, pairs.jaccard, r * (1 - r) / SLOTS / (1 - c) ** 2)


def bottom_k(pairs: Pairs) -> Found:
    """Broder's estimator from the k smallest of the union."""
    held = kernels.bottom_k(*pairs.arrow, shingle=1, k=K)
    estimate, error = kernels.bottom_k_jaccard(pairs.a, pairs.a + 1, held, k=K)
    j, n = pairs.jaccard, pairs.union
    return Found(estimate, j, j * (1 - j) / K * (n - K) / (n - 1), error**2)


def scaled(pairs: Pairs, containment: bool) -> Found:
    """FracMinHash: Jaccard similarity, or the share of a in b."""
    held = kernels.bottom_k(*pairs.arrow, shingle=1, scaled=SCALED)
    a, b = pairs.a, pairs.a + 1
    if containment:
        estimate, error = kernels.scaled_containment(a, b, held, scaled=SCALED)
        every, sampled = pairs.shared + pairs.left, np.diff(held[1])[a]
        truth = pairs.shared / every
    else:
        estimate, error = kernels.scaled_jaccard(a, b, held, scaled=SCALED)
        every, sampled = pairs.union, kernels.shared_values(a, b, held)[1]
        truth = pairs.jaccard
    return Found(estimate, truth, truth * (1 - truth) / sampled * (every - sampled) / (every - 1), error**2)


def weighted(pairs: Pairs, rng: np.random.Generator) -> Found:
    """Weighted sketch; weights of 1 to 16 as idf gives them, each pair with a J_w of its own."""
    sets = kernels.shingle_sets(*pairs.arrow, shingle=1)
    features = np.unique(sets[0])
    weights = (1024 * np.exp(rng.random(len(features)) * math.log(16))).astype(np.uint32)
    keys, table = kernels.weight_table(features, weights)
    signatures, _ = kernels.weighted_sketch(*pairs.arrow, shingle=1, slots=SLOTS, keys=keys, weights=table, unseen=1)
    estimate = kernels.estimate(signatures[::2].copy(), signatures[1::2].copy(), bits=32, slots=SLOTS)
    j = kernels.weighted_jaccard(pairs.a, pairs.a + 1, *sets, keys, table, 1)
    return Found(estimate, j, j * (1 - j) / SLOTS)


def simhash(pairs: Pairs) -> Found:
    """SimHash with weights none: the share of differing bits against angle / π of the two vectors of 0 and 1."""
    fingerprints, _ = kernels.simhash(*pairs.arrow, shingle=1, unit=0, bits=BITS, weights=0)
    apart = (fingerprints[::2] ^ fingerprints[1::2]).view(np.uint8).reshape(-1, BITS // 8)
    differ = np.unpackbits(apart, axis=1).sum(axis=1) / BITS
    cosine = pairs.shared / math.sqrt((pairs.shared + pairs.left) * (pairs.shared + pairs.right))
    p = math.acos(min(1.0, cosine)) / math.pi
    return Found(differ, p, p * (1 - p) / BITS)


def sketches() -> dict[str, tuple[int, Callable[[Pairs, np.random.Generator], Found]]]:
    """Each sketch by name: the number of words of both texts together, and what it makes of pairs."""
    known: dict[str, tuple[int, Callable[[Pairs, np.random.Generator], Found]]] = {
        "minhash": (401, lambda p, _: minhash(p, 32)),
        "minhash, 8 bits": (401, lambda p, _: minhash(p, 8)),
        "bottom-k": (1001, lambda p, _: bottom_k(p)),
        "scaled, Jaccard": (2001, lambda p, _: scaled(p, False)),
        "scaled, containment": (2001, lambda p, _: scaled(p, True)),
        "weighted": (401, weighted),
    }
    if hasattr(kernels, "simhash"):
        known["simhash, angle"] = (2001, lambda p, _: simhash(p))
    return known


def measure(name: str, similarity: float, count: int, seed: int = 0) -> Row:
    """Estimate `count` pairs of about one similarity and hold the errors against the formula."""
    union, estimate = sketches()[name]
    rng = np.random.default_rng([seed, round(similarity * 1000), *name.encode()])
    errors, variances, stated = [], [], []
    for first in range(0, count, STEP):
        pairs = texts(rng, min(STEP, count - first), similarity, union, uneven="containment" in name)
        found = estimate(pairs, rng)
        errors.append(found.estimate - found.truth)
        variances.append(np.broadcast_to(found.variance, errors[-1].shape))
        if found.stated is not None:
            stated.append(found.stated)
    error, variance = np.concatenate(errors), np.concatenate(variances).mean()
    return Row(
        name, similarity, count, float(error.mean() / np.sqrt(variance / count)), float((error**2).mean() / variance),
        float(np.concatenate(stated).mean() / variance) if stated else None,
    )


def table(count: int, only: str | None) -> Iterator[Row]:
    """Every sketch at every similarity."""
    for name in sketches():
        if only in (None, name):
            for similarity in SIMILARITIES:
                yield measure(name, similarity, count)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--only", choices=sorted(sketches()))
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []
    print(f"{options.pairs:,} pairs a line, kernels of {kernels.isa()}")
    print(f"{'sketch':<20} {'about':>5} {'bias':>7} {'variance':>9} {'stated':>7}")
    for row in table(options.pairs, options.only):
        rows.append(row)
        stated = "" if row.stated is None else f"{row.stated:.3f}"
        told = "" if row.passes else "  DOES NOT PASS"
        line = f"{row.sketch:<20} {row.similarity:>5} {row.bias:>7.2f} {row.variance:>9.3f} {stated:>7}{told}"
        print(line, flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump([asdict(r) for r in rows], f, indent=1)
    failed = sum(not r.passes for r in rows)
    print(f"{len(rows) - failed} of {len(rows)} pass")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
