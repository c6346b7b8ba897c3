"""Faults that users met in other tools, each with its right value: what is found among texts in memory.

docs/quality.md lists all cases and where each is tested; those about files are in test_faults_files.py.
"""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys
import unicodedata

import numpy as np
import oracle
import pyarrow as pa
import pytest
from running import environment

import dejalu


def clusters(texts, **options):
    """Clusters of a run as lists of positions, the kept one first."""
    result = dejalu.dedup(texts, **options)
    return {kept: sorted(map(int, gone)) for kept, gone in result.clusters().items()}


def kept(texts, **options):
    return np.flatnonzero(dejalu.dedup(texts, **options).keep).tolist()


def listed(texts, **options):
    """{(a, b): similarity} of `pairs`."""
    t = dejalu.pairs(texts, **options)
    return dict(zip(zip(t["a"].to_pylist(), t["b"].to_pylist(), strict=True), t["similarity"].to_pylist(), strict=True))


def test_bug_001_texts_shorter_than_a_shingle():
    texts = ["red", "blue", "red", "green tea", "Green  tea!", "one two three four"]
    assert clusters(texts, shingle=5, threshold=0.8) == {0: [2], 3: [4]}
    assert kept(texts, shingle=5, threshold=0.8) == [0, 1, 3, 5]
    assert dejalu.similarity("red", "blue", shingle=5) == 0.0
    assert dejalu.similarity("red", "RED.", shingle=5) == 1.0


def test_bug_003_texts_without_tokens():
    texts = ["", "   \n\t ", "The harbour ferry leaves at noon and returns before the evening tide.", ""]
    result = dejalu.dedup(texts, shingle=5, threshold=0.8)
    assert result.keep.all()
    assert (result.twin == -1).all()
    assert dejalu.similarity(texts[0], texts[2]) == 0.0
    assert dejalu.similarity(texts[0], texts[1]) == 0.0
    assert listed(texts, threshold=0.1) == {}
    # Equal bytes are a question of their own, asked with method bytes.
    assert kept(texts, method="bytes") == [0, 1, 2]


def test_bug_005_number_of_windows():
    five, six = "alpha beta gamma delta epsilon", "alpha beta gamma delta epsilon zeta"
    assert dejalu.similarity(five, six, shingle=5) == 0.5
    assert dejalu.similarity(five, five, shingle=5) == 1.0
    assert listed([five, six, five], shingle=5, threshold=0.5) == {(0, 1): 0.5, (0, 2): 1.0, (1, 2): 0.5}


def test_bug_007_arabic_is_not_empty():
    texts = [
        "تقع المدينة القديمة على ضفة النهر ويزورها كثير من الناس كل صيف",
        "افتتحت البلدية مكتبة جديدة للأطفال قرب الحديقة العامة يوم الاثنين",
        "ارتفعت أسعار القمح هذا الشهر بسبب تأخر الأمطار في الشمال",
        "فاز الفريق المحلي بثلاثة أهداف في مباراة جرت تحت المطر",
    ]
    assert kept(texts, shingle=3, threshold=0.5) == [0, 1, 2, 3]
    assert all(dejalu.similarity(a, b, shingle=3) == 0 for i, a in enumerate(texts) for b in texts[:i])
    # At least 8 words each: eight are one shingle, and seven of them another one.
    for text in texts:
        words = text.split()
        assert dejalu.similarity(text, " ".join(words[:8]), shingle=8) > 0


def test_bug_009_chinese_is_not_one_word():
    texts = [
        "本市图书馆将于下周一起延长开放时间，平日开放至晚上九点，周末开放至晚上八点。馆方表示，新的时间安排将试行三个月，期间会收集读者意见，并在十月公布最终方案。读者可以在网站上查询各分馆的具体安排。",
        "本市图书馆将于下周一起延长开放时间，平日开放至晚上九点，周末开放至晚上八点。馆方表示，新的时间安排将试行三个月，期间会收集读者意见，并在九月公布最终方案。读者可以在网站上查询各分馆的具体安排。",
        "受台风影响，沿海三条客运航线今天上午全部停航，预计明天中午以后恢复。已经购票的旅客可以在七天内免费退票或者改签，窗口和手机应用都可以办理。",
    ]
    assert clusters(texts, threshold=0.8) == {0: [1]}
    assert dejalu.similarity(texts[0], texts[1], unit="char") == pytest.approx(0.90, abs=0.02)
    assert dejalu.similarity(texts[0], texts[2]) < 0.05


def test_bug_011_composed_and_decomposed():
    s = "Le café de la gare à Genève a été rénové; l’été prochain, il rouvrira après Noël."
    texts = [unicodedata.normalize("NFC", s), unicodedata.normalize("NFD", s)]
    assert texts[0] != texts[1]
    result = dejalu.dedup(texts, threshold=1.0)
    assert result.keep.tolist() == [True, False]
    assert result.similarity[1] == 1.0
    assert result.filter(texts) == texts[:1]
    assert kept(texts, method="bytes") == [0, 1]


def test_bug_013_vowel_signs_belong_to_the_word():
    texts = ["दिन की बात", "दीन का बात", "दान के बीत"]
    assert [[dejalu.similarity(a, b, shingle=3) for b in texts] for a in texts] == np.eye(3).tolist()
    assert kept(texts, shingle=3, threshold=0.5) == [0, 1, 2]
    # Words one by one: only बात is shared by 0 and 1, of five different ones.
    assert dejalu.similarity(texts[0], texts[1], shingle=1) == 1 / 5
    assert dejalu.similarity(texts[0], texts[2], shingle=1) == 0.0


def test_bug_021_numbers_stay_apart():
    texts = [
        "1|2|300$|45|6|78|9|10|11|12",
        "9|8|7€|65|4|32|1|99|88|77",
        "1 | 2 | 300$ | 45 | 6 | 78 | 9 | 10 | 11 | 12",
    ]
    assert clusters(texts, shingle=5, threshold=0.8) == {0: [2]}
    assert dejalu.similarity(texts[0], texts[1]) == dejalu.similarity(texts[2], texts[1]) == 0.0


def test_bug_022_pairs_are_those_of_the_measure():
    texts = [
        "Bus line 41 runs from the Old Market to the North terminus every 10 minutes on weekdays.",
        "Bus line 42 runs from the Old Market to the North terminus every 10 minutes on weekdays.",
        "Bus line 43 runs from the Old Market to the North terminus every 12 minutes on weekdays.",
        "Bus line 51 runs from the Old Market to the Harbour terminus every 10 minutes on weekdays.",
        "Bus line 52 runs from the Old Market to the Harbour terminus every 15 minutes on weekdays.",
    ]
    assert listed(texts, shingle=5, threshold=0.8) == {}
    assert list(listed(texts, shingle=3, threshold=0.5)) == [(0, 1)]
    assert list(listed(texts, shingle=1, threshold=0.8)) == [(0, 1)]
    expect = {"01": 0.6667, "02": 0.4286, "03": 0.4286, "04": 0.25, "12": 0.4286, "13": 0.4286, "14": 0.25}
    expect |= {"23": 0.25, "24": 0.25, "34": 0.4286}
    for (i, j), value in expect.items():
        assert dejalu.similarity(texts[int(i)], texts[int(j)], shingle=3) == pytest.approx(value, abs=5e-4)


def test_bug_024_case_spacing_line_ends():
    texts = [
        "First line of the note.\nSecond line, about the boat.\nThird line: end.",
        "First line of the note.\r\nSecond line, about the boat.\r\nThird line: end.\r\n",
        "FIRST LINE OF THE NOTE.   second\tline, about the boat. third line: END",
        "First line of the note.\nSecond line, about the goat.\nThird line: end.",
    ]
    assert clusters(texts, shingle=5, threshold=1.0) == {0: [1, 2]}
    assert kept(texts, method="bytes") == [0, 1, 2, 3]


def test_bug_026_entities_are_words_of_a_plain_text():
    """With no HTML option: the names of the entities count, and `<M8>` is no tag."""
    raw = "Smith &amp; Sons&nbsp;Ltd. sells bolts &lt;M8&gt; and nuts at a fair price since 1901 in Leith."
    plain = "Smith & Sons Ltd. sells bolts <M8> and nuts at a fair price since 1901 in Leith."
    words = "smith amp sons nbsp ltd sells bolts lt m8 gt and nuts at a fair price since 1901 in leith"
    assert dejalu.similarity(raw, words) == 1.0
    assert dejalu.similarity(plain, plain.replace("<M8>", "M8")) == 1.0
    assert dejalu.similarity(plain, plain.replace("<M8>", "")) < 1.0
    assert dejalu.similarity(raw, plain, shingle=1) == 16 / 20


def test_bug_027_estimate_is_unbiased_with_the_expected_spread():
    def pair(share, n_union, seed):
        base, inter = seed * 10_000_000, round(share * n_union)
        rest = n_union - inter
        union = [f"tok{base + i}" for i in range(n_union)]
        common, other = union[:inter], union[inter:]
        return " ".join(common + other[: rest // 2]), " ".join(common + other[rest // 2 :])

    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        made = [pair(share, 400, s + int(share * 1000) * 1000) for s in range(400)]
        a = dejalu.minhash([x for x, _ in made], slots=128, shingle=1)
        b = dejalu.minhash([y for _, y in made], slots=128, shingle=1)
        assert a.shape == (400, 128)
        assert a.dtype == np.uint32
        estimate = (a == b).mean(axis=1)
        assert abs(estimate.mean() - share) < 0.008
        assert estimate.std(ddof=1) <= 1.2 * math.sqrt(share * (1 - share) / 128)


def test_bug_031_jaccard_of_a_text_inside_another():
    """The Jaccard half of the case; containment itself is a later method."""
    r = random.Random(7)
    words = [f"v{i:05d}" for i in range(50000)]
    small = [r.choice(words) for _ in range(1000)]
    big = [r.choice(words) for _ in range(9000)] + small + [r.choice(words) for _ in range(10000)]
    assert dejalu.similarity(" ".join(small), " ".join(big), shingle=4) == pytest.approx(0.0499, abs=0.01)


def test_bug_033_thresholds_at_and_past_the_ends():
    texts = [
        "The tower clock struck nine as the last train left the valley station.",
        "The tower clock struck nine as the last train left the valley station!",
        "The tower clock struck ten as the last train left the valley station.",
    ]
    for one in (1.0, 1):
        assert listed(texts, shingle=3, threshold=one) == {(0, 1): 1.0}
        assert clusters(texts, shingle=3, threshold=one) == {0: [1]}
    for wrong in (0.0, -0.1, 1.5, float("nan"), "0.8x", True):
        for call in (dejalu.dedup, dejalu.pairs):
            with pytest.raises(ValueError, match="threshold"):
                call(texts, threshold=wrong)


def test_bug_036_signatures_are_the_same_in_every_process(tmp_path):
    code = (
        "import dejalu, hashlib\n"
        "docs = [f'signature stability test text number {i} about rivers, roads and bridges' for i in range(20)]\n"
        "print(hashlib.sha256(dejalu.minhash(docs, slots=128).tobytes()).hexdigest(),\n"
        "      dejalu.dedup(docs, threshold=0.5, shingle=3).twin.tolist())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=cwd, env=environment(env), capture_output=True, text=True, check=True
        ).stdout
        for cwd, env in [
            (".", {"PYTHONHASHSEED": "0"}),
            (".", {"PYTHONHASHSEED": "1"}),
            (tmp_path, {"PYTHONHASHSEED": "random", "LC_ALL": "C"}),
            (".", {"LC_ALL": "tr_TR.UTF-8"}),
        ]
    }
    assert len(outputs) == 1


def test_bug_038_set_jaccard_counts_a_word_once():
    texts = [" ".join(["apple"] * 40 + ["banana"] * 2), " ".join(["apple"] * 2 + ["banana"] * 40)]
    assert dejalu.similarity(*texts, shingle=1) == 1.0
    removed = dejalu.dedup(texts, shingle=1, threshold=1.0).removed().to_pylist()
    assert [(row["similarity"], row["measure"], row["method"]) for row in removed] == [(1.0, "jaccard", "minhash")]


def test_bug_039_scores_are_real():
    r = random.Random(11)
    base = [f"b{i}" for i in range(200)]

    def changed(n):
        words = base[:]
        for p in r.sample(range(5, 195), n):
            words[p] = f"m{n}_{p}"
        return " ".join(words)

    texts = [" ".join(base), *[changed(n) for n in (1, 3, 6, 10, 20)], " ".join(f"z{i}" for i in range(200))]
    scores = [dejalu.similarity(texts[0], t, shingle=3) for t in texts]
    assert scores[0] == 1.0
    assert all(x > y for x, y in itertools.pairwise(scores))
    assert scores[6] == 0.0
    for text, score in zip(texts, scores, strict=True):
        assert score == pytest.approx(oracle.jaccard(texts[0], text, 3), abs=1e-9)
    found = listed(texts, shingle=3, threshold=0.5)
    assert all(found[p] == pytest.approx(oracle.jaccard(texts[p[0]], texts[p[1]], 3), abs=1e-9) for p in found)
    assert not any(6 in p for p in found)


def test_bug_041_nothing_below_the_threshold_little_missed():
    r = random.Random(1)
    texts = []
    for g in range(200):
        base = [f"g{g}w{k}" for k in range(120)]
        for n in (0, 1, 2, 3, 5, 8, 12, 20):
            words = base[:]
            for p in r.sample(range(120), n):
                words[p] = f"s{g}_{n}_{p}"
            texts.append(" ".join(words))
    collection = oracle.Collection(texts, 5)
    truth = collection.pairs(0.8).as_dict()
    found = listed(texts, shingle=5, threshold=0.8)
    assert all(a // 8 == b // 8 for a, b in found)
    assert set(found) <= set(truth)
    assert len(found) >= 0.99 * len(truth)
    result = dejalu.dedup(texts, shingle=5, threshold=0.8)
    assert oracle.check_verdicts(collection, result.keep, result.twin, result.similarity, threshold=0.8) == []


FOUR = [
    "harbour master reports calm water and light traffic this morning near the long pier",
    "village bakery sells rye bread and plum cake every saturday near the church door",
    "harbour master reports calm water and light traffic this morning near the long quay",
    "village bakery sells rye bread and plum cake every saturday near the church gate",
]


def test_bug_042_two_pairs_stay_two_clusters():
    result = dejalu.dedup(FOUR, shingle=3, threshold=0.8)
    assert result.twin.tolist() == [-1, -1, 0, 1]
    assert result.similarity[2:].tolist() == [11 / 13, 11 / 13]


def test_bug_042_one_bucket_for_all_changes_nothing():
    """All four become candidates of each other by a long shared tail; only the verified pairs may count."""
    tail = " so the clerk wrote it down in the big green book of the parish and went home at four"
    texts = [t + tail for t in FOUR]
    truth = oracle.Collection(texts, 3).pairs(0.7).as_dict()
    assert set(truth) == {(0, 2), (1, 3)}
    assert clusters(texts, shingle=3, threshold=0.7) == {0: [2], 1: [3]}
    assert clusters(texts, shingle=3, threshold=0.5) == {0: [2], 1: [3]}


def test_bug_043_one_survivor_per_cluster():
    groups = []
    for g, size in enumerate([1, 2, 5, 1, 3]):
        groups += [f"cluster text number {g} tells the story of ship {g} and its crew on the way to port {g}"] * size
    texts = [groups[i] for i in [0, 1, 3, 8, 9, 4, 2, 10, 5, 6, 11, 7]]
    result = dejalu.dedup(texts)
    assert np.flatnonzero(result.keep).tolist() == [0, 1, 2, 3, 4]
    assert all(texts[t] == texts[i] for i, t in enumerate(result.twin.tolist()) if t >= 0)
    assert result.keep[result.twin[~result.keep]].all()
    assert len(result.removed()) == 7


def test_bug_045_nothing_to_remove():
    texts = [
        "Rain fell on the hills for three days without a break.",
        "A new bridge opened between the two mill towns.",
        "The choir sang old songs by candle light in the barn.",
        "Prices for apples dropped after a very good harvest.",
        "Nobody saw the grey cat leave the signal box.",
    ]
    result = dejalu.dedup(texts, shingle=3, threshold=0.8)
    assert result.keep.all()
    assert result.clusters() == {}
    assert result.removed().num_rows == 0
    assert {"row", "id", "twin_file", "twin_row", "twin_id", "similarity", "measure", "method"} <= set(
        result.removed().column_names
    )
    assert result.filter(texts) == texts


def test_bug_047_chains_do_not_drag_the_unlike():
    words = [f"c{i:04d}" for i in range(700)]
    texts = [" ".join(words[i * 10 : i * 10 + 100]) for i in range(60)]
    result = dejalu.dedup(texts, shingle=5, threshold=0.7)
    assert np.flatnonzero(result.keep).tolist() == list(range(0, 60, 2))
    assert result.similarity[1::2].tolist() == [86 / 106] * 30
    assert dejalu.dedup(texts[::2], shingle=5, threshold=0.7).keep.all()


def test_bug_048_a_shared_frame_is_no_duplicate():
    r = random.Random(23)
    intro = (
        "Hello and welcome back to our little evening talk where we look at one question in plain words and with a "
        "few examples from daily life so that everybody can follow along without any special knowledge"
    )
    outro = (
        "That is all for tonight and if you have further questions you can write to us at the usual address and we "
        "will be glad to answer in one of the next talks so take care and see you soon"
    )
    topics = [f"topic{i:05d}" for i in range(20000)]
    texts = [" ".join([intro, *(r.choice(topics) for _ in range(150)), outro]) for _ in range(300)]
    texts.append(texts[17])
    assert listed(texts, shingle=5, threshold=0.7) == {(17, 300): 1.0}
    assert clusters(texts, shingle=5, threshold=0.7) == {17: [300]}


def test_bug_051_components_run_to_their_end():
    """One long path with shuffled labels and a ring, edges in any order, direction and number."""
    from dejalu.candidates import group

    r = random.Random(2)
    n = 5000
    perm = list(range(n))
    r.shuffle(perm)
    edges = [(perm[i], perm[i + 1]) for i in range(n - 1)]
    edges += [(10000 + i, 10000 + (i * 7 + 1) % 97) for i in range(97)]
    for order in range(4):
        r.shuffle(edges)
        turned = [(b, a) if r.random() < 0.5 else (a, b) for a, b in edges] + edges[: order * 1000]
        bands: list[np.ndarray] = []  # each edge is a key that its ends share, in the first band where both are free
        for key, (a, b) in enumerate(turned):
            band = next((x for x in bands if x[a] == x[b] == 0), None)
            if band is None:
                band = np.zeros(10100, np.uint64)
                bands.append(band)
            band[a] = band[b] = key + 1
        for band in bands:
            band[band == 0] = np.arange(10**6, 10**6 + (band == 0).sum())
        label = group(10100, lambda b, bands=bands: [bands[b]], len(bands))
        _, number, sizes = np.unique(label, return_inverse=True, return_counts=True)
        large = [np.flatnonzero(number == k).tolist() for k in np.flatnonzero(sizes > 1)]
        assert sorted(large) == [list(range(5000)), [10000 + i for i in range(97) if i != 16]]


def test_bug_054_a_document_is_no_duplicate_of_itself():
    """The document levels of the case; paragraphs and substrings are later methods."""
    texts = ["\n".join(" ".join(f"d{i}p{p}w{k}" for k in range(30)) for p in range(4)) for i in range(200)]
    for method in ("minhash", "exact", "bytes"):
        assert dejalu.dedup(texts, method=method).keep.all()


def test_bug_055_no_state_between_calls():
    first = [
        "the cat sat on the old red mat by the open door",
        "a dog ran along the wet sand at low tide",
        "nine boats waited for the lock to open",
    ]
    second = [*first[1:], "seven swans slept under the bridge"]
    assert kept(first, shingle=3) == [0, 1, 2]
    assert kept(second, shingle=3) == [0, 1, 2]


def test_bug_105_an_unknown_option_is_an_error():
    """The option half of the case; the index is a later part."""
    with pytest.raises(TypeError, match="treshold"):
        dejalu.dedup(["a text"], treshold=0.8)
    with pytest.raises(TypeError, match="base_name"):
        dejalu.pairs(["a text"], base_name="x")


def test_bug_085_more_than_one_chunk_in_memory():
    """The in-memory half of the case at reduced size: chunks are never joined into one array."""
    block = " ".join(f"word{i % 9973:05d}" for i in range(2000))
    chunks = [[f"doc {k // 2} {block} doc {k // 2}" for k in range(i, i + 50)] for i in range(0, 200, 50)]
    table = pa.table({"id": pa.array(range(200)), "text": pa.chunked_array(chunks, pa.string())})
    result = dejalu.dedup(table, method="exact")
    assert np.flatnonzero(result.keep).tolist() == list(range(0, 200, 2))
    assert result.filter(table).num_rows == 100


def test_bug_088_nulls_are_not_texts():
    texts = [None, "nan", None, "None", "", "null", "nan"]
    assert kept(texts, threshold=0.8) == [0, 1, 2, 3, 4, 5]
    assert clusters(texts, threshold=0.8) == {1: [6]}


def test_bug_118_long_strings_without_spaces():
    r = random.Random(14)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    x, y = ("".join(r.choice(letters) for _ in range(500_000)) for _ in range(2))
    texts = ["header\n" + x, "header\n" + x[:250_000] + "*" + x[250_000:], "header\n" + y]
    assert kept(texts, threshold=0.8) == [0, 1, 2]
    assert clusters(texts, threshold=0.8, unit="char") == {0: [1]}
    assert dejalu.similarity(texts[0], texts[1], unit="char") > 0.99


def test_lone_surrogates_in_python_strings():
    """Of BUG-017: the same in memory."""
    broken = "broken \ud835 glyph inside an otherwise normal sentence about gardens and trees"
    texts = [broken, "another sentence altogether about the weather in the north", broken]
    result = dejalu.dedup(texts)
    assert result.twin.tolist() == [-1, -1, 0]
    assert result.filter(texts) == texts[:2]


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_bug_119_b_bit_estimates_of_unrelated_texts_are_zero(bits):
    """The correction divides by 1 - 2**-b: without it unrelated texts would seem alike by 1 / 2**b."""
    from dejalu import kernels

    texts = [[" ".join(f"{side}{i}w{k}" for k in range(300)) for i in range(200)] for side in "ab"]
    packed = [kernels.pack(dejalu.minhash(t, slots=512), bits) for t in texts]
    estimate = kernels.estimate(*packed, bits=bits, slots=512)
    assert abs(estimate.mean()) < 0.02
    assert kernels.estimate(packed[0], packed[0], bits=bits, slots=512).tolist() == [1.0] * 200
