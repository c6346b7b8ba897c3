"""Sketches against theory: bias and spread of the estimate, agreement of bands, b-bit form, quality of the hashes."""

from __future__ import annotations

import numpy as np
import pytest
from text_cases import arrow

from dejalu import kernels
from dejalu.kernels.reference import sketch as twin


def pairs_of(similarity: float, union: int, count: int, seed: int) -> tuple[list[bytes], list[bytes], float]:
    """Texts of distinct words (read with shingle 1) whose sets have the given Jaccard similarity, about."""
    rng = np.random.default_rng(seed)
    shared = max(1, round(similarity * union))
    left, right = [], []
    for _ in range(count):
        words = [b"%x" % w for w in rng.integers(0, 2**60, union)]
        both, rest = words[:shared], words[shared:]
        left.append(b" ".join(both + rest[::2]))
        right.append(b" ".join(both + rest[1::2]))
    return left, right, shared / union


def signatures(texts: list[bytes], slots: int) -> np.ndarray:
    return kernels.sketch(*arrow(texts), shingle=1, slots=slots)[0]


@pytest.mark.parametrize("union", [5, 20, 100, 400, 1000])
@pytest.mark.parametrize(("similarity", "bands", "rows"), [(0.5, 42, 3), (0.8, 21, 6), (0.9, 14, 9)])
def test_estimate_and_bands(union, similarity, bands, rows):
    count = 1200
    left, right, exact = pairs_of(similarity, union, count, seed=union)
    if exact >= 1:
        pytest.skip("a union this small has no such similarity below 1")
    a, b = signatures(left, 128), signatures(right, 128)
    found = kernels.estimate(a, b, bits=32, slots=128)
    spread = np.sqrt(exact * (1 - exact) / 128)
    assert abs(found.mean() - exact) < 4 * spread / np.sqrt(count)
    assert found.std() < 1.1 * spread  # never worse than MinHash
    agree = (a == b)[:, : bands * rows].reshape(count, bands, rows).all(axis=2)
    assert abs(agree.mean() - exact**rows) < 0.03 * exact**rows + 4 * np.sqrt(exact**rows / (count * bands))
    theory = (1 - exact**rows) ** bands  # chance that no band agrees
    assert (~agree.any(axis=1)).mean() <= theory + 4 * np.sqrt(max(theory, 1 / count) / count)


@pytest.mark.parametrize("slots", [1, 3, 64, 100, 200, 256, 512])
def test_any_number_of_slots(slots):
    left, right, exact = pairs_of(0.5, 120, 600, seed=slots)
    found = kernels.estimate(signatures(left, slots), signatures(right, slots), bits=32, slots=slots)
    assert abs(found.mean() - exact) < 4 * np.sqrt(0.25 / slots / 600)


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("similarity", [0.0, 0.5, 0.8])
def test_b_bit_estimate(bits, similarity):
    slots, count = 512, 200
    left, right, exact = pairs_of(similarity, 300, count, seed=bits)
    if similarity == 0:
        right, exact = pairs_of(0.5, 300, count, seed=bits + 1000)[0], 0.0
    a, b = (kernels.pack(signatures(t, slots), bits) for t in (left, right))
    found = kernels.estimate(a, b, bits=bits, slots=slots)
    c = 2.0**-bits
    m = exact + (1 - exact) * c
    spread = np.sqrt(m * (1 - m) / slots) / (1 - c)
    assert abs(found.mean() - exact) < max(4 * spread / np.sqrt(count), 1e-3)
    assert found.std() < 1.2 * spread + 1e-9


def test_lowest_bits_are_even():
    left, _, _ = pairs_of(0.5, 300, 400, seed=1)
    left += [b" ".join(b"%d" % i for i in range(k, k + 30_000)) for k in range(0, 90_000, 30_000)]
    low = signatures(left, 128) & 15
    expected = low.size / 16
    chi = ((np.bincount(low.ravel(), minlength=16) - expected) ** 2 / expected).sum()
    assert chi < 50  # 15 degrees of freedom: p about 1e-5


def test_hashes_of_millions_of_words_do_not_collide():
    """Numbers and short words are the hardest tokens: few bits differ, and shingles of them repeat in other orders."""
    words = [b"%d" % i for i in range(1_000_000)] + [b"word%d" % i for i in range(300_000)]
    values, _ = kernels.shingle_sets(*arrow([b" ".join(words)]), shingle=1)
    assert len(values) == len(words)
    bits = (values[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.003
    digits = " ".join(f"{a} {b} {c}" for a in range(100) for b in range(100) for c in range(100))
    grid = np.array([int(x) for x in digits.split()])
    windows = np.lib.stride_tricks.sliding_window_view(grid, 3)
    values, _ = kernels.shingle_sets(*arrow([digits.encode()]), shingle=3)
    assert len(values) == len(np.unique(windows @ np.array([10_000, 100, 1])))


def test_one_changed_byte_changes_half_of_the_bits():
    rng = np.random.default_rng(2)
    base = rng.integers(97, 123, (4000, 9), dtype=np.uint8)
    other = base.copy()
    other[np.arange(4000), rng.integers(0, 9, 4000)] ^= 1  # another letter, or a mark next to the letters
    keep = ((other >= 97) & (other <= 122)).all(axis=1)
    sets = [kernels.shingle_sets(*arrow([r.tobytes() for r in rows[keep]]), shingle=1)[0] for rows in (base, other)]
    flips = ((sets[0] ^ sets[1])[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert flips.mean(axis=0).min() > 0.48 and flips.mean(axis=0).max() < 0.52 + 0.01


def test_theorem_1():
    found = [twin.collision(r, b) for r, b in ((0.1, 1), (0.1, 4), (0.5, 2))]
    assert found == pytest.approx([0.473684, 0.025272, 0.066667], abs=5e-7)
    assert twin.collision(0.5, 8) == pytest.approx(8.64e-78, rel=1e-3)
    assert [twin.collision(1e-9, b) for b in (1, 2, 8)] == pytest.approx([2.0**-b for b in (1, 2, 8)], rel=1e-6)
