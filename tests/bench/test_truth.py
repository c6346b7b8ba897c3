"""The benchmark's exact truth and its scores, against plain sets and answers worked out by hand."""

from __future__ import annotations

import importlib.util
import itertools
import random
import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


def module(name: str):
    """Read a file of bench/ by its path: the folder is no package, and its names are common words."""
    if f"bench_{name}" not in sys.modules:
        spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = loaded
        spec.loader.exec_module(loaded)
    return sys.modules[f"bench_{name}"]


truth = module("truth")
corpora = module("corpora")


def of(sets: list[set[int]]):
    """Plain sets as the arrays that the module takes."""
    return truth.join_sets(
        truth.Sets(np.array(sorted(s), np.uint64), np.array([0, len(s)], np.int64)) for s in map(set, sets)
    )


def pairs_of(found) -> set[tuple[int, int]]:
    """All true pairs of documents that a truth stands for."""
    near = set(zip(found.a.tolist(), found.b.tolist(), strict=True))
    label = found.group.tolist()
    n = len(label)
    return {
        (i, j)
        for i in range(n)
        for j in range(i + 1, n)
        if label[i] >= 0
        and label[j] >= 0
        and (label[i] == label[j] or (min(label[i], label[j]), max(label[i], label[j])) in near)
    }


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_join_finds_exactly_the_pairs_that_plain_sets_have(threshold, seed):
    rnd = random.Random(seed)
    sets = [{rnd.randrange(40) for _ in range(rnd.randrange(0, 25))} for _ in range(60)]
    for _ in range(60):
        edited = set(rnd.choice(sets))
        edited ^= {rnd.randrange(40) for _ in range(rnd.randrange(0, 4))}
        sets.append(edited)
    plain = {
        (i, j)
        for i in range(len(sets))
        for j in range(i + 1, len(sets))
        if sets[i] and sets[j] and len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= threshold
    }
    assert pairs_of(truth.truth_of(of(sets), threshold)) == plain


def test_a_collection_without_a_pair_and_an_empty_one():
    assert pairs_of(truth.truth_of(of([{1}, {2}, set(), set()]), 0.8)) == set()
    nothing = truth.truth_of(truth.Sets(np.zeros(0, np.uint64), np.zeros(1, np.int64)), 0.8)
    assert truth.score(nothing, np.zeros(0, bool)).removable == 0


def test_recipes_make_the_sets_that_plain_python_makes():
    texts = ["a b c d e f", "A  b\nc d e f", "a b c", "a b d", "", "one, two; three-four five six", "x " * 9]
    for name, recipe in truth.RECIPES.items():
        sets = truth.sets_of(texts, name)
        plain = []
        for text in texts:
            words = recipe.words(text)
            made = {tuple(words[i : i + recipe.n]) for i in range(len(words) - recipe.n + 1)}
            plain.append(made or ({tuple(words)} if words and recipe.short == "whole" else set()))
        assert np.diff(sets.offsets).tolist() == list(map(len, plain)), name
        for i, one in enumerate(plain):
            for j, other in enumerate(plain):
                a, b = (set(sets.values[sets.offsets[k] : sets.offsets[k + 1]].tolist()) for k in (i, j))
                assert len(a & b) == len(one & other), (name, texts[i], texts[j])


def test_removable_follows_a_pass_in_input_order():
    # 0 ~ 1 ~ 2 but not 0 ~ 2; 3 equals 1; 4 stands alone.
    base = set(range(100))
    sets = [base, base - {0, 1} | {200, 201}, base - {0, 1, 2, 3} | {200, 201, 202, 203}]
    sets = [*sets, sets[1], {999}]
    found = truth.truth_of(of(sets), 0.95)
    assert pairs_of(found) == {(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)}
    assert truth.removable(found, np.ones(5, bool)) == 2  # 1 and 3 go for 0; 2 has no kept twin
    # Over what is left when 0 is gone: 1 stays, 2 and 3 go for it.
    assert truth.removable(found, np.array([False, True, True, True, True])) == 2


def test_scores_of_answers_worked_out_by_hand():
    base = set(range(100))
    near = base - {0} | {200}
    sets = [base, near, base, {1000, 1001}, {1000, 1001, 1002, 1003}]
    found = truth.truth_of(of(sets), 0.9)
    assert found.group.tolist() == [0, 1, 0, 2, 3]

    right = truth.score(found, np.array([1, 0, 0, 1, 1], bool), np.array([1, 2]), np.array([0, 0]))
    assert (right.removable, right.left, right.removed, right.with_twin, right.true_pairs) == (2, 0, 2, 2, 3)
    assert (right.recall, right.precision, right.pair_recall, right.pair_precision, right.largest) == (1, 1, 1, 1, 3)

    # Another copy kept is as good; a document without a true twin removed is not.
    other = truth.score(found, np.array([0, 1, 0, 1, 0], bool), np.array([0, 2, 4]), np.array([1, 1, 3]))
    assert (other.left, other.removed, other.with_twin, other.with_any) == (0, 3, 2, 2)
    assert other.pair_precision == pytest.approx(2 / 3)

    # All copies gone: nothing is left to remove, and no removal has a kept twin.
    gone = truth.score(found, np.array([0, 0, 0, 1, 1], bool))
    assert (gone.left, gone.with_twin, gone.with_any, gone.precision, gone.pair_precision) == (0, 0, 3, 0, None)

    idle = truth.score(found, np.ones(5, bool))
    assert (idle.left, idle.recall, idle.precision, idle.pair_recall) == (2, 0, None, 0)


def test_the_cache_gives_what_was_found(tmp_path):
    sets = of([{1, 2}, {1, 2}, {1, 2, 3}])
    first = truth.cached_truth(tmp_path, "corpus", "recipe", 0.5, lambda: sets)
    again = truth.cached_truth(tmp_path, "corpus", "recipe", 0.5, lambda: pytest.fail("it is there"))
    assert all(np.array_equal(x, y) for x, y in zip(first, again, strict=True))


@pytest.mark.parametrize("name", [n for n in corpora.HARD if n != "identical"])
def test_the_planted_copies_of_a_hard_set_are_its_only_true_pairs(name, tmp_path):
    corpus = corpora.hard(name, tmp_path)
    same = corpus.same()
    found = truth.truth_of(truth.sets_of(corpus.texts(), "dejalu"), 0.8)
    near = set(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert (found.group >= 0).all()
    for label in np.unique(same):
        own = np.flatnonzero(same == label).tolist()
        for i, j in itertools.pairwise(own):
            a, b = sorted((int(found.group[i]), int(found.group[j])))
            assert a == b or (a, b) in near
    copies = len(same) - len(np.unique(same))
    assert truth.removable(found, np.ones(len(same), bool)) == copies
    assert truth.score(found, np.ones(len(same), bool)).true_pairs == copies  # groups of one or two
