"""Faults seen in other tools that touch the text kernels, each with its right value (numbers of the shared list)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import unicodedata

import numpy as np
import pytest
from text_cases import arrow, grouped, strings

from dejalu import kernels
from dejalu.kernels.reference import sketch as twin


def words(texts: list[str]) -> list[list[str]]:
    data, borders, docs = kernels.tokens(*arrow([t.encode("utf-8", "surrogatepass") for t in texts]))
    return grouped(strings(data, borders), docs)


def sets(texts: list[str], shingle: int, unit: int = 0) -> list[set[int]]:
    raw = arrow([t.encode("utf-8", "surrogatepass") for t in texts])
    values, offsets = kernels.shingle_sets(*raw, shingle=shingle, unit=unit)
    return [set(s) for s in grouped(values.tolist(), offsets)]


def jaccard(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a | b) if a and b else 0.0


def test_bug_001_texts_shorter_than_a_shingle():
    a, b, c, d, e, f = sets(["red", "blue", "red", "green tea", "Green  tea!", "one two three four"], 5)
    assert a == c and d == e
    assert [len(s) for s in (a, b, d, f)] == [1, 1, 1, 1]
    assert len(a | b | d | f) == 4


def test_bug_003_texts_without_a_token():
    texts = ["", "   \n\t ", "The harbour ferry leaves at noon and returns before the evening tide.", ""]
    assert [len(s) for s in sets(texts, 5)] == [0, 0, 8, 0]
    signatures, token_hash, count, _, _ = kernels.sketch(*arrow([t.encode() for t in texts]), shingle=5)
    assert count.tolist() == [0, 0, 12, 0]
    assert (signatures[[0, 1, 3]] == 0xFFFFFFFF).all() and not token_hash[[0, 1, 3]].any()
    assert not (signatures[2] == 0xFFFFFFFF).any()


def test_bug_005_number_of_windows():
    a, b, c = sets(
        ["alpha beta gamma delta epsilon", "alpha beta gamma delta epsilon zeta", "alpha beta gamma delta epsilon"], 5
    )
    assert [len(s) for s in (a, b, c)] == [1, 2, 1]
    assert jaccard(a, b) == 0.5 and jaccard(a, c) == 1.0
    assert len(a & b) / len(a) == 1.0 and len(a & b) / len(b) == 0.5


def test_bug_007_arabic():
    texts = [
        "تقع المدينة القديمة على ضفة النهر ويزورها كثير من الناس كل صيف",
        "افتتحت البلدية مكتبة جديدة للأطفال قرب الحديقة العامة يوم الاثنين",
        "ارتفعت أسعار القمح هذا الشهر بسبب تأخر الأمطار في الشمال",
        "فاز الفريق المحلي بثلاثة أهداف في مباراة جرت تحت المطر",
    ]
    assert min(map(len, words(texts))) >= 8
    found = sets(texts, 3)
    assert all(jaccard(found[i], found[j]) == 0 for i in range(4) for j in range(i))


def test_bug_009_scripts_without_spaces():
    text = (
        "本市图书馆将于下周一起延长开放时间，平日开放至晚上九点，周末开放至晚上八点。"
        "馆方表示，新的时间安排将试行三个月，期间会收集读者意见，"
        "并在{}月公布最终方案。读者可以在网站上查询各分馆的具体安排。"
    )
    a, b = sets([text.format("十"), text.format("九")], 5)
    assert 0.85 < jaccard(a, b) < 0.95
    assert words(["图书馆 Thai ไทย"]) == [["图", "书", "馆", "thai", "ไ", "ท", "ย"]]


def test_bug_011_composed_and_decomposed():
    text = "Le café de la gare à Genève a été rénové; l’été prochain, il rouvrira après Noël."
    raw = arrow([unicodedata.normalize(f, text).encode() for f in ("NFC", "NFD", "NFKD")])
    signatures, token_hash, *_ = kernels.sketch(*raw, shingle=5)
    assert (token_hash == token_hash[0]).all() and (signatures == signatures[0]).all()
    assert len(np.unique(kernels.bytes_hash(*raw)[:, 0])) == 2


def test_bug_013_vowel_signs_are_part_of_the_word():
    found = words(["दिन की बात", "दीन का बात", "दान के बीत"])
    assert [len(w) for w in found] == [3, 3, 3]
    assert len({w for t in found for w in t}) == 8  # only बात is in two of them
    a, b, c = sets(["दिन की बात", "दीन का बात", "दान के बीत"], 3)
    assert not (a & b or a & c or b & c)


def test_bug_017_lone_surrogates():
    texts = ["broken \ud835 glyph inside", "emoji pair 🎉 is fine"]
    assert words(texts) == [["broken", "glyph", "inside"], ["emoji", "pair", "🎉", "is", "fine"]]
    flags = kernels.sketch(*arrow([t.encode("utf-8", "surrogatepass") for t in texts]), shingle=5)[3]
    assert flags.tolist() == [1, 0]


def test_bug_019_nul_inside_a_text():
    head = "Minutes of the parish council, first page of the record"
    texts = [f"{head}\0roads and bridges", f"{head}\0the school roof", head]
    raw = arrow([t.encode() for t in texts])
    assert len(np.unique(kernels.sketch(*raw, shingle=5, slots=0)[1], axis=0)) == 3
    assert len(np.unique(kernels.bytes_hash(*raw), axis=0)) == 3
    assert words(["a\0b"]) == [["a", "b"]]


def test_bug_021_numbers_stay_different():
    texts = [
        "1|2|300$|45|6|78|9|10|11|12",
        "9|8|7€|65|4|32|1|99|88|77",
        "1 | 2 | 300$ | 45 | 6 | 78 | 9 | 10 | 11 | 12",
    ]
    a, b, c = sets(texts, 5)
    assert jaccard(a, c) == 1.0 and jaccard(a, b) == 0.0


def test_bug_022_measure_of_templated_texts():
    texts = [
        "Bus line 41 runs from the Old Market to the North terminus every 10 minutes on weekdays.",
        "Bus line 42 runs from the Old Market to the North terminus every 10 minutes on weekdays.",
        "Bus line 43 runs from the Old Market to the North terminus every 12 minutes on weekdays.",
        "Bus line 51 runs from the Old Market to the Harbour terminus every 10 minutes on weekdays.",
        "Bus line 52 runs from the Old Market to the Harbour terminus every 15 minutes on weekdays.",
    ]
    s = sets(texts, 3)
    found = {(i, j): round(jaccard(s[i], s[j]), 4) for i in range(5) for j in range(i + 1, 5)}
    expected = [0.6667, 0.4286, 0.4286, 0.25, 0.4286, 0.4286, 0.25, 0.25, 0.25, 0.4286]
    assert list(found.values()) == expected


def test_bug_024_case_blanks_and_line_ends():
    texts = [
        "First line of the note.\nSecond line, about the boat.\nThird line: end.",
        "First line of the note.\r\nSecond line, about the boat.\r\nThird line: end.\r\n",
        "FIRST LINE OF THE NOTE.   second\tline, about the boat. third line: END",
        "First line of the note.\nSecond line, about the goat.\nThird line: end.",
    ]
    raw = arrow([t.encode() for t in texts])
    token_hash = kernels.sketch(*raw, shingle=5, slots=0)[1]
    assert (token_hash[0] == token_hash[1]).all() and (token_hash[0] == token_hash[2]).all()
    assert (token_hash[0] != token_hash[3]).any()
    assert len(np.unique(kernels.bytes_hash(*raw), axis=0)) == 4


@pytest.mark.parametrize("similarity", [0.1, 0.25, 0.5, 0.75, 0.9])
def test_bug_027_estimate_without_bias(similarity):
    left, right = [], []
    for s in range(400):
        seed = s + int(similarity * 1000) * 1000
        base, inter = seed * 10_000_000, round(similarity * 400)
        union = [f"tok{base + i}" for i in range(400)]
        shared, rest = union[:inter], union[inter:]
        left.append(" ".join(shared + rest[: len(rest) // 2]).encode())
        right.append(" ".join(shared + rest[len(rest) // 2 :]).encode())
    a, b = (kernels.sketch(*arrow(t), shingle=1)[0] for t in (left, right))
    found = kernels.estimate(a, b, bits=32, slots=128)
    assert abs(found.mean() - similarity) < 0.008
    assert found.std() <= 1.2 * np.sqrt(similarity * (1 - similarity) / 128)


def test_bug_036_same_signature_in_every_process():
    program = (
        "import numpy as np, sys; from dejalu import kernels\n"
        "d = [b'signature stability test text number %d about rivers, roads and bridges' % i for i in range(20)]\n"
        "o = np.cumsum([0, *map(len, d)], dtype=np.int64)\n"
        "s = kernels.sketch(np.frombuffer(b''.join(d), np.uint8), o, shingle=5)\n"
        "print(s[0].tobytes().hex(), s[1].tobytes().hex())"
    )
    seen = set()
    for seed, locale in (("0", "C"), ("1", "C.UTF-8"), ("random", "tr_TR.UTF-8")):
        env = os.environ | {"PYTHONHASHSEED": seed, "LC_ALL": locale}
        seen.add(
            subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True).stdout
        )
    assert len(seen) == 1


def test_bug_038_repeated_words_count_once():
    a, b = sets(["apple " * 40 + "banana " * 2, "apple " * 2 + "banana " * 40], 1)
    assert a == b and len(a) == 2


def test_bug_118_long_strings_without_spaces():
    r = random.Random(14)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    x, y = ("".join(r.choice(alphabet) for _ in range(500_000)) for _ in range(2))
    texts = ["header\n" + x, "header\n" + x[:250_000] + "*" + x[250_000:], "header\n" + y]
    start = time.monotonic()
    long_tokens = kernels.sketch(*arrow([t.encode() for t in texts]), shingle=5)[4]
    assert time.monotonic() - start < 10
    assert long_tokens.sum() == 4
    a, b, c = sets(texts, 5, unit=1)
    assert jaccard(a, b) > 0.99 and jaccard(a, c) < 0.2


def test_bug_119_correction_of_the_b_bit_estimator():
    assert twin.collision(0.1, 1) == pytest.approx(0.473684, abs=1e-6)
    rng = np.random.default_rng(0)
    left, right = ([b" ".join(b"%x" % v for v in rng.integers(0, 2**60, 200)) for _ in range(200)] for _ in range(2))
    a, b = (kernels.sketch(*arrow(t), shingle=1, slots=512)[0] for t in (left, right))
    for bits in (1, 2, 4, 8):
        found = kernels.estimate(kernels.pack(a, bits), kernels.pack(b, bits), bits=bits, slots=512)
        assert abs(found.mean()) < 0.02
    share = (a[:1] & 3 == b[:1] & 3).mean()
    found = kernels.estimate(kernels.pack(a[:1], 2), kernels.pack(b[:1], 2), bits=2, slots=512)
    assert found[0] == pytest.approx((share - 0.25) / 0.75, abs=1e-12)
