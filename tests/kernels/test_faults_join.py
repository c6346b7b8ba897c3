"""Faults seen in other tools that touch the join, each with its right value (numbers of the shared list)."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from dejalu import kernels


def arrow(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    raw = [t.encode() for t in texts]
    offsets = np.cumsum([0, *(len(t) for t in raw)]).astype(np.int64)
    return np.frombuffer(b"".join(raw), np.uint8), offsets


def ranked(texts: list[str], shingle: int, unit: int = 0) -> kernels.Ranked:
    return kernels.rank_sets(*kernels.shingle_sets(*arrow(texts), shingle=shingle, unit=unit), threads=2)


def pairs(texts: list[str], shingle: int, threshold: float, measure: str = "jaccard") -> dict[tuple[int, int], float]:
    a, b, s, complete = kernels.join_pairs(
        ranked(texts, shingle), measure=measure, threshold=threshold, most=10_000, threads=2
    )
    assert complete
    return dict(zip(zip(a.tolist(), b.tolist(), strict=True), s.tolist(), strict=True))


def settled(texts: list[str], shingle: int, threshold: float, measure: str = "jaccard") -> list[int]:
    twin, _ = kernels.join_settle(ranked(texts, shingle), measure=measure, threshold=threshold, threads=2)
    return twin.tolist()


def test_bug_001_texts_shorter_than_a_shingle():
    texts = ["red", "blue", "red", "green tea", "Green  tea!", "one two three four"]
    assert pairs(texts, 5, 0.8) == {(0, 2): 1.0, (3, 4): 1.0}
    assert settled(texts, 5, 0.8) == [-1, -1, 0, -1, 3, -1]


def test_bug_003_texts_without_a_token():
    texts = ["", "   \n\t ", "The harbour ferry leaves at noon and returns before the evening tide.", ""]
    for measure in ("jaccard", "containment"):
        assert settled(texts, 5, 0.01, measure) == [-1] * 4
        assert pairs(texts, 5, 0.01, measure) == {}


def test_bug_021_figures_stay_apart():
    texts = [
        "1|2|300$|45|6|78|9|10|11|12",
        "9|8|7€|65|4|32|1|99|88|77",
        "1 | 2 | 300$ | 45 | 6 | 78 | 9 | 10 | 11 | 12",
    ]
    assert pairs(texts, 5, 0.001) == {(0, 2): 1.0}


def test_bug_022_templated_texts():
    bus = "Bus line {} runs from the Old Market to the {} terminus every {} minutes on weekdays."
    lines = [(41, "North", 10), (42, "North", 10), (43, "North", 12), (51, "Harbour", 10), (52, "Harbour", 15)]
    texts = [bus.format(*line) for line in lines]
    assert pairs(texts, 5, 0.8) == {}
    assert list(pairs(texts, 3, 0.5)) == [(0, 1)]
    assert list(pairs(texts, 1, 0.8)) == [(0, 1)]
    expected = [0.6667, 0.4286, 0.4286, 0.25, 0.4286, 0.4286, 0.25, 0.25, 0.25, 0.4286]
    assert [round(s, 4) for s in pairs(texts, 3, 0.2).values()] == expected


def test_bug_031_containment_is_no_similarity():
    r = random.Random(7)
    words = [f"v{i:05d}" for i in range(50_000)]
    small = [r.choice(words) for _ in range(1_000)]
    big = [r.choice(words) for _ in range(9_000)] + small + [r.choice(words) for _ in range(10_000)]
    found = pairs([" ".join(small), " ".join(big)], 4, 0.01, "containment")
    assert found[0, 1] == 1.0
    assert found[1, 0] == pytest.approx(0.0499, abs=0.01)
    assert settled([" ".join(big), " ".join(small)], 4, 0.8, "containment") == [-1, 0]
    assert settled([" ".join(small), " ".join(big)], 4, 0.8, "containment") == [-1, -1]  # the later one is not inside


def test_bug_033_threshold_edges():
    texts = [
        "The tower clock struck nine as the last train left the valley station.",
        "The tower clock struck nine as the last train left the valley station!",
        "The tower clock struck ten as the last train left the valley station.",
    ]
    assert list(pairs(texts, 3, 1.0)) == [(0, 1)]
    for threshold in (0.0, -0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="threshold: must lie in"):
            pairs(texts, 3, threshold)


def test_bug_039_reported_scores_are_real():
    r = random.Random(11)
    base = [f"b{i}" for i in range(200)]
    texts = [" ".join(base)]
    for n in (1, 3, 6, 10, 20):
        words = list(base)
        for p in r.sample(range(5, 195), n):
            words[p] = f"m{n}_{p}"
        texts.append(" ".join(words))
    texts.append(" ".join(f"z{i}" for i in range(200)))
    found = pairs(texts, 3, 0.01)
    scores = [found[0, i] for i in range(1, 6)]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == 5
    assert not any(6 in pair for pair in found)
    frames = [{tuple(t.split()[i : i + 3]) for i in range(198)} for t in texts]
    assert scores == [len(frames[0] & f) / len(frames[0] | f) for f in frames[1:6]]


def test_bug_047_chains_do_not_swallow():
    words = [f"c{i:04d}" for i in range(60 * 10 + 100)]
    texts = [" ".join(words[i * 10 : i * 10 + 100]) for i in range(60)]
    twin = settled(texts, 5, 0.7)
    assert [i for i, t in enumerate(twin) if t < 0] == list(range(0, 60, 2))
    assert settled(texts[::2], 5, 0.7) == [-1] * 30
    label = kernels.join_components(ranked(texts, 5), measure="jaccard", threshold=0.7, threads=2)
    assert not label.any()  # one component, and yet 30 of its documents stay


def test_bug_107_shares_are_shares():
    row = "row row row your boat"
    texts = [
        f"{row} gently down the stream {row} gently down the stream {row}",
        f"{row} gently down the stream {row}",
        f"{row} gently down the stream {row} gently down the stream {row} {row} gently",
    ]
    found = pairs(texts, 4, 0.01, "containment")
    assert all(0 < s <= 1 for s in found.values())
    assert found[1, 0] == 1.0
    both_ways = pairs(texts[::-1], 4, 0.01)
    assert pairs(texts, 4, 0.01) == {(2 - b, 2 - a): s for (a, b), s in both_ways.items()}


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_bug_116_a_hundred_thousand_copies(measure):
    copies, others = 100_000, 1_000
    texts = ["cookie notice we use cookies to improve this site please accept or decline"] * copies
    texts += [f"unique page number {i} about gate {i * 3} and keeper {i * 7}" for i in range(others)]
    sets = ranked(texts, 3)
    start = time.process_time()
    twin, _ = kernels.join_settle(sets, measure=measure, threshold=0.8, threads=2)
    assert int((twin < 0).sum()) == 1 + others
    label = kernels.join_components(sets, measure=measure, threshold=0.8, threads=2)
    assert len(np.unique(label)) == 1 + others
    assert time.process_time() - start < 20  # the square would be hours
