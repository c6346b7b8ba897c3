"""Every method against its own definition: brute force on plain Python sets, settled one document after another."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import oracle
import pytest

import dejalu
from dejalu.errors import UsageError

WORDS = [
    *("harbour", "ferry", "lantern", "quiet", "morning", "gravel", "window", "orchard", "seven", "copper", "river"),
    *("winter", "letter", "paper", "stone", "bridge", "candle", "market", "salt", "anchor", "meadow", "thunder"),
    *("basket", "silver", "garden", "kettle", "wagon", "mirror", "button", "feather"),
]


def texts(seed: int, count: int, longest: int) -> list[str]:
    """Random texts, many of them edits, parts or joins of earlier ones."""
    r = random.Random(seed)
    out: list[str] = []
    for _ in range(count):
        kind = r.random()
        if not out or kind < 0.3:
            words = [r.choice(WORDS) + str(r.randrange(40)) for _ in range(r.randint(1, longest))]
        else:
            words = r.choice(out).split()
            if kind < 0.7:
                for _ in range(r.randint(0, 3)):
                    words[r.randrange(len(words))] = r.choice(WORDS)
            elif kind < 0.85:
                first = r.randrange(len(words))
                words = words[first : first + r.randint(1, len(words))]
            else:
                words = words + r.choice(out).split()[: longest // 2]
        out.append(" ".join(words))
    out[r.randrange(count)] = "..."
    out[r.randrange(count)] = out[0].upper()
    return out


def settled(n, order, alike):
    """Twin and similarity of each document: in order, it joins the earliest kept one that `alike` has a number for."""
    twin, share, kept = np.full(n, -1), np.full(n, np.nan), []
    for d in order:
        for k in kept:
            found = alike(k, d)
            if found is not None:
                twin[d], share[d] = k, found
                break
        else:
            kept.append(d)
    return twin, share


def with_copies(data, order, alike):
    """`settled`, as the flow does it: equal token sequences follow the best of them; texts without tokens are kept."""
    best: dict[tuple[str, ...], int] = {}
    for d in range(len(data)):
        best.setdefault(tuple(oracle.tokens(data[d])), d)
    reps = {d for t, d in best.items() if t}
    twin, share = settled(len(data), [d for d in order if d in reps], alike)
    for d, text in enumerate(data):
        rep = best[tuple(oracle.tokens(text))]
        if rep != d and oracle.tokens(text):
            twin[d], share[d] = (rep, 1.0) if twin[rep] < 0 else (twin[rep], share[rep])
    return twin, share


def jaccard(sets, threshold):
    def alike(k, d):
        both = len(sets[k] & sets[d])
        value = both / len(sets[k] | sets[d])
        return value if value >= threshold else None

    return alike


def check(result, expected):
    twin, share = expected
    assert result.twin.tolist() == twin.tolist()
    np.testing.assert_allclose(result.similarity, share, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("unit", "shingle", "threshold"), [("char", 3, 0.8), ("word", 1, 0.6), ("char", 4, 0.5), ("word", 2, 1.0)]
)
def test_short(seed, unit, shingle, threshold):
    data = texts(seed, 300, 12)
    sets = [oracle.shingles(t, shingle, unit) for t in data]
    result = dejalu.dedup(data, method="short", unit=unit, shingle=shingle, threshold=threshold)
    check(result, with_copies(data, range(len(data)), jaccard(sets, threshold)))


def test_short_takes_three_characters_at_point_eight_by_itself():
    plan = dejalu.Plan(method="short")
    assert (plan.unit, plan.shingle, plan.threshold) == ("char", 3, 0.8)
    assert plan.with_(method="minhash").shingle == 5
    assert dejalu.Plan(shingle=4).with_(method="short").shingle == 4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("threshold", [0.8, 0.5, 1.0])
def test_containment(seed, threshold):
    data = texts(seed, 250, 60)
    sets = [oracle.shingles(t, 3) for t in data]
    order = sorted(range(len(data)), key=lambda d: (-len(sets[d]), d))

    def alike(k, d):
        value = len(sets[k] & sets[d]) / len(sets[d])
        return value if value >= threshold else None

    result = dejalu.dedup(data, method="containment", shingle=3, threshold=threshold)
    check(result, with_copies(data, order, alike))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("weights", ["none", "tf", "tfidf"])
def test_simhash(seed, bits, weights):
    data = texts(seed, 200, 40)
    prints = dejalu.simhash(data, bits=bits, weights="tf" if weights == "tfidf" else weights)
    if weights == "tfidf":
        result = dejalu.dedup(data, method="simhash", bits=bits, weights=weights, distance=6)
        assert (~result.keep).sum() > 10
        return
    words = prints.reshape(len(data), -1)

    def alike(k, d):
        far = sum(int(x ^ y).bit_count() for x, y in zip(words[k].tolist(), words[d].tolist(), strict=True))
        return round(max(0.0, math.cos(math.pi * far / bits)), 6) if far <= 6 else None

    result = dejalu.dedup(data, method="simhash", bits=bits, weights=weights, distance=6)
    twin, share = with_copies(data, range(len(data)), alike)
    assert result.twin.tolist() == twin.tolist()
    np.testing.assert_allclose(result.similarity, share, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_simhash_verified_by_jaccard(seed):
    data = texts(seed, 200, 40)
    prints = dejalu.simhash(data)
    sets = [oracle.shingles(t, 1) for t in data]
    true = jaccard(sets, 0.7)

    def alike(k, d):
        return true(k, d) if int(prints[k] ^ prints[d]).bit_count() <= 8 else None

    result = dejalu.dedup(data, method="simhash", distance=8, verify="jaccard", threshold=0.7)
    check(result, with_copies(data, range(len(data)), alike))


@pytest.mark.parametrize("seed", range(3))
def test_tfidf_cosine(seed):
    data = texts(seed, 200, 40)
    counts = [Counter(oracle.tokens(t)) for t in data]
    n = sum(bool(c) for c in counts)
    frequency = Counter(w for c in counts for w in c)
    vectors = [{w: c * (math.log((1 + n) / (1 + frequency[w])) + 1) for w, c in count.items()} for count in counts]
    norm = [math.sqrt(sum(v * v for v in vector.values())) for vector in vectors]
    close = 1e-3  # weights are fixed point

    def cosine(k, d):
        return sum(v * vectors[d].get(w, 0.0) for w, v in vectors[k].items()) / (norm[k] * norm[d] or 1)

    result = dejalu.dedup(data, method="tfidf", measure="cosine", threshold=0.8)
    twin = result.twin
    for d in np.flatnonzero(twin >= 0):
        assert result.keep[twin[d]]
        assert abs(cosine(twin[d], d) - result.similarity[d]) < close
    kept = [d for d in np.flatnonzero(result.keep) if counts[d]]
    assert all(cosine(k, d) < 0.8 + close for i, d in enumerate(kept) for k in kept[:i])
    assert (twin >= 0).sum() > 30


@pytest.mark.parametrize("seed", range(3))
def test_tfidf_jaccard(seed):
    data = texts(seed, 300, 40)
    sets = [set(oracle.tokens(t)) for t in data]
    n = sum(bool(s) for s in sets)
    frequency = Counter(w for s in sets for w in s)
    weight = {w: math.log((1 + n) / (1 + f)) + 1 for w, f in frequency.items()}
    result = dejalu.dedup(data, method="tfidf", threshold=0.6)

    def true(k, d):
        return sum(weight[w] for w in sets[k] & sets[d]) / sum(weight[w] for w in sets[k] | sets[d])

    missed = total = 0
    for d in np.flatnonzero(result.twin >= 0):
        assert result.keep[result.twin[d]]
        assert abs(true(result.twin[d], d) - result.similarity[d]) < 2e-3
        assert result.similarity[d] >= 0.6
    kept = set(np.flatnonzero(result.keep).tolist())
    for d in range(len(data)):
        for k in range(d):
            if sets[d] and sets[k] and true(k, d) >= 0.605:
                total += 1
                missed += d in kept and k in kept
    assert total > 100
    assert missed <= 0.01 * total


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("keep", ["first", "longest"])
def test_auto(seed, keep):
    data = texts(seed, 400, 60)
    cut, t = 20, 0.6
    n = [len(oracle.tokens(x)) for x in data]
    short = [oracle.shingles(x, 3, "char") for x in data]
    long = [oracle.shingles(x, 2) for x in data]
    by_short, by_long = jaccard(short, t), jaccard(long, t)

    def alike(k, d):
        if min(n[k], n[d]) >= cut:
            return by_long(k, d)
        return by_short(k, d) if max(n[k], n[d]) < cut / t else None

    order = sorted(range(len(data)), key=lambda d: (-len(data[d].encode()) if keep == "longest" else 0, d))
    result = dejalu.dedup(data, method="auto", short_below=cut, shingle=2, threshold=t, keep=keep, slots=512)
    assert (~result.keep).sum() > 50
    if keep == "first":
        check(result, with_copies(data, order, alike))
    for d in np.flatnonzero(result.twin >= 0):
        assert result.keep[result.twin[d]]
    assert set(result.removed().column("method").to_pylist()) == {"exact", "minhash", "short"}


def test_auto_is_minhash_where_no_text_is_short():
    data = [t for t in texts(7, 300, 120) if len(oracle.tokens(t)) >= 40]
    one, two = dejalu.dedup(data, method="auto", short_below=10), dejalu.dedup(data)
    assert one.twin.tolist() == two.twin.tolist()


def test_texts_that_share_a_template_are_apart_by_tfidf():
    r = random.Random(5)
    head = "dear reader this is the weekly report of the harbour office about arrivals and departures"
    data = [" ".join([head] + [f"{r.choice(WORDS)}{r.randrange(10**6)}" for _ in range(4)]) for _ in range(200)]
    assert (~dejalu.dedup(data, method="short", threshold=0.55, unit="word", shingle=1).keep).sum() > 150
    assert dejalu.dedup(data, method="tfidf", threshold=0.55).keep.all()


@pytest.mark.parametrize("method", ["minhash", "short", "auto", "containment", "tfidf", "simhash"])
def test_guards_and_within_keep_texts_apart(method):
    said = "the ferry to the island leaves the old harbour at {} every morning and comes back at night with the mail"
    data = [said.format("8.15"), said.format("9.45"), said.format("8.15").upper(), said.format("8.15") + "!"]
    options = {"threshold": 0.5, "distance": 20} if method == "simhash" else {"threshold": 0.5}
    free = dejalu.dedup(data, method=method, **options)
    guarded = dejalu.dedup(data, method=method, differ="numbers", **options)
    assert free.keep.tolist() == [True, False, False, False]
    assert guarded.keep.tolist() == [True, True, False, False]
    table = {"text": data, "lang": ["a", "a", "b", "b"]}
    import pyarrow as pa

    apart = dejalu.dedup(pa.table(table), method=method, within="lang", **options)
    assert apart.keep.tolist() == [True, False, True, False]


@pytest.mark.parametrize("method", ["short", "auto", "containment", "tfidf", "simhash"])
def test_a_second_run_removes_nothing(method):
    data = texts(11, 300, 30)
    result = dejalu.dedup(data, method=method)
    rest = [t for t, keep in zip(data, result.keep, strict=True) if keep]
    if method == "tfidf":
        pytest.skip("idf weights follow the input: see test_saved_frequencies_weigh_a_second_run")
    assert dejalu.dedup(rest, method=method).keep.all()


@pytest.mark.parametrize("measure", ["jaccard", "cosine"])
def test_saved_frequencies_weigh_a_second_run(tmp_path, measure):
    folder = tmp_path / "in"
    folder.mkdir()
    for i, text in enumerate(texts(11, 300, 30)):
        (folder / f"{i:03}.txt").write_text(text)
    first = dejalu.dedup([folder], tmp_path / "out", method="tfidf", measure=measure, threshold=0.7)
    assert (~first.keep).sum() > 20
    saved = tmp_path / "out-evidence" / "frequencies.parquet"
    again = dejalu.dedup(
        [tmp_path / "out"], tmp_path / "again", method="tfidf", measure=measure, threshold=0.7, frequencies=saved
    )
    assert again.keep.all()
    with pytest.raises(UsageError, match="other features"):
        dejalu.dedup([folder], tmp_path / "x", method="tfidf", shingle=2, frequencies=saved)


def test_texts_without_a_keyword_are_copies_of_nothing():
    """All of them have fingerprint 0, which says nothing of what they are about."""
    pytest.importorskip("jieba")
    data = ["the of and", "to be or not", "a b c d", "1 2 3", "the of and", "河流 水位 上涨", "河流 水位 上涨 !"]
    prints = dejalu.simhash(data, weights="keywords")
    assert prints[:5].tolist() == [0] * 5
    assert all(prints[5:])
    result = dejalu.dedup(data, method="simhash", weights="keywords", distance=8)
    assert result.twin.tolist() == [-1, -1, -1, -1, 0, -1, 5]
    assert listed(data, "simhash", weights="keywords", distance=8) == {(0, 4): 1.0, (5, 6): 1.0}


def test_options_that_a_method_does_not_look_at_are_told():
    data = ["one two three", "four five six"]
    for options, named in (
        ({"method": "simhash", "threshold": 0.5}, "--threshold is"),
        ({"method": "minhash", "distance": 5, "bits": 128}, "--distance, --bits are"),
        ({"method": "short", "slots": 64}, "--slots is"),
        ({"method": "exact", "shingle": 3}, "--shingle is"),
    ):
        first = dejalu.dedup(data, **options).report["warnings"][0]
        assert first.startswith(f"{named} not looked at by --method {options['method']}"), first
    for options in ({"method": "simhash", "verify": "jaccard", "threshold": 0.5}, {"method": "tfidf", "slots": 64}):
        assert not dejalu.Plan(**options).unused


def test_audit_is_for_methods_that_can_miss():
    with pytest.raises(UsageError, match="misses nothing"):
        dejalu.Plan(method="short", audit=10)


def listed(data, method, **options):
    """`dejalu.pairs` as {(a, b): similarity}."""
    return by_pair(dejalu.pairs(data, method=method, **options), "similarity")


def by_pair(table, column):
    a, b, values = (table.column(c).to_pylist() for c in ("a", "b", column))
    return dict(zip(zip(a, b, strict=True), values, strict=True))


def every(data, alike, *, directed=False):
    """The same by brute force: pairs of texts with tokens that `alike` has a number for."""
    out = {}
    for a in range(len(data)):
        for b in range(len(data)):
            if (a < b or (directed and a != b)) and oracle.tokens(data[a]) and oracle.tokens(data[b]):
                value = alike(a, b)
                if value is not None:
                    out[a, b] = value
    return out


def same(found, expected, close=1e-12):
    assert found.keys() == expected.keys()
    assert all(abs(found[p] - expected[p]) <= close for p in found)


@pytest.mark.parametrize("seed", range(2))
def test_pairs_of_every_method(seed):
    data = texts(seed, 200, 30)
    grams, words = [oracle.shingles(t, 3, "char") for t in data], [oracle.shingles(t, 2) for t in data]
    same(listed(data, "short", threshold=0.6), every(data, jaccard(grams, 0.6)))

    def inside(a, b):
        value = len(words[a] & words[b]) / len(words[a])
        return value if value >= 0.7 else None

    found = listed(data, "containment", shingle=2, threshold=0.7)
    same(found, every(data, inside, directed=True))
    assert any((b, a) not in found for a, b in found)

    prints = dejalu.simhash(data)
    far = {(a, b): int(prints[a] ^ prints[b]).bit_count() for a in range(len(data)) for b in range(a)}

    def near(a, b):
        return far[b, a] if far[b, a] <= 5 else None

    table = dejalu.pairs(data, method="simhash", distance=5)
    assert by_pair(table, "distance") == every(data, near)
    true = jaccard([oracle.shingles(t, 1) for t in data], 0.7)
    same(
        listed(data, "simhash", distance=5, verify="jaccard", threshold=0.7),
        every(data, lambda a, b: None if near(a, b) is None else true(a, b)),
    )

    cut, n = 15, [len(oracle.tokens(t)) for t in data]
    short, long = jaccard(grams, 0.6), jaccard(words, 0.6)

    def by_length(a, b):
        if min(n[a], n[b]) >= cut:
            return long(a, b)
        return short(a, b) if max(n[a], n[b]) < cut / 0.6 else None

    same(listed(data, "auto", short_below=cut, shingle=2, threshold=0.6, slots=512), every(data, by_length))


def test_pairs_by_tfidf():
    data = texts(3, 150, 30)
    sets = [set(oracle.tokens(t)) for t in data]
    n, frequency = sum(bool(s) for s in sets), Counter(w for s in sets for w in s)
    weight = {w: math.log((1 + n) / (1 + f)) + 1 for w, f in frequency.items()}

    def true(a, b):
        return sum(weight[w] for w in sets[a] & sets[b]) / sum(weight[w] for w in sets[a] | sets[b])

    found = listed(data, "tfidf", threshold=0.6)
    surely = every(data, lambda a, b: v if (v := true(a, b)) >= 0.602 else None)
    maybe = every(data, lambda a, b: v if (v := true(a, b)) >= 0.598 else None)
    assert surely.keys() <= found.keys() <= maybe.keys()
    assert all(abs(found[p] - maybe[p]) < 2e-3 for p in found)


def test_too_many_pairs_are_an_error():
    data = [f"the same words again and again {i % 7}" for i in range(200)]
    for method in ("short", "containment", "tfidf", "simhash", "auto"):
        with pytest.raises(dejalu.FloodError, match="max_pairs=500"):
            dejalu.pairs(data, method=method, threshold=0.5, max_pairs=500)
