"""The guards' kernel against its twin, and what the rules of docs/guards.md promise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from text_cases import arrow, raw_texts

from dejalu import errors, kernels, represent
from dejalu.kernels.reference import guards as twin

FAULTS = Path(__file__).resolve().parents[3] / "shared" / "bugs" / "handed.jsonl"
CHOICES = [(n, g, u) for n in (False, True) for g in (False, True) for u in (False, True)]
ALL = {"numbers": True, "negation": True, "urls": True}

WORDS, STRINGS = twin.negations()
PARTS = (
    [*"0123456789", "00", "123", "1,234", "1.234.567", "12,34", "½", "²", "٣", "๕", "〇", "Ⅳ", "፩", "፲", "𝟘", "१२"]
    + [*".,٫٬-−−'’()[]/:_<>\"{}", " ", "\n", "\u3000", "\x00"]
    + ["http://", "https://", "FTP://", "www.", "WWW.", "a.org/x_(y)", "a.org", "é", "ж", "Größe", "。", "😀", "̈"]
    + ["n", "t", "don", "n't", "N’T", "rock 'n' roll", "n'est", "не", "word", "字", "か", "한"]
    + sorted(WORDS)[::9]
    + [s for s, _ in STRINGS]
)
said = st.lists(st.sampled_from(PARTS), max_size=14).map(lambda p: "".join(p).encode())
lines = st.lists(st.sampled_from(PARTS + [" "] * 60), max_size=120).map(lambda p: "".join(p).encode())


def hashes(*texts: str, numbers: bool = False, negation: bool = False, urls: bool = False) -> list[int]:
    data = arrow([t.encode("utf-8", "surrogatepass") for t in texts])
    return kernels.guards(*data, numbers=numbers, negation=negation, urls=urls).tolist()


def sees(text: str) -> twin.Found:
    return twin.scan(text.encode())


@given(
    st.lists(said | lines | raw_texts | st.tuples(said, raw_texts, said).map(b"".join), max_size=6), st.integers(0, 5)
)
@example([b"http://a.b/((x)).", b"-1,234,567.8.9", "−5 (-5 5-5".encode(), b"t't n't 'n' n'"], 0)
@example(["ไม่http://0".encode(), "ไม่www.a".encode()], 0)
@example([b"1" * 9000 + b",000", b"not " * 3000 + b"http://" + b"x" * 9000 + b")))((."], 0)
def test_the_same_as_the_twin(texts: list[bytes], before: int) -> None:
    data, offsets = arrow(texts, before=before)
    found = [twin.scan(t) for t in texts]
    for n, g, u in CHOICES:
        got = kernels.guards(data, offsets, numbers=n, negation=g, urls=u)
        assert got.dtype == np.uint64
        assert got.tolist() == [twin.hashed(f, numbers=n, negation=g, urls=u) for f in found]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("5 mg, not 50", ["5", "50"]),
        ("B12, v2 and 5mg", ["12", "2", "5"]),
        ("1,000 or 1000", ["1000", "1000"]),
        ("1,234,567.89", ["1234567.89"]),
        ("1.234.567,89", ["1234567.89"]),
        ("1,00,000", ["100000"]),  # a lakh
        ("3,14 and 3.14", ["3.14", "3.14"]),
        ("1.234", ["1.234"]),  # a point alone may be either; it stays one
        ("1234,567", ["1234.567"]),
        ("1,2,3", ["1.2.3"]),
        ("007 7", ["007", "7"]),
        ("-5 (-6) 7-8 a-9 −10", ["-5", "-6", "7", "8", "9", "-10"]),
        ("12:30 2024-01-15 1/2", ["12", "30", "2024", "01", "15", "1", "2"]),
        ("½ ²", ["1", "2", "2"]),
        ("٣٫١٤ १२ ５０ ๕", ["3.14", "12", "50", "5"]),
        ("فئة ١٬٠٠٠", ["1000"]),
        ("二〇二四", ["〇"]),
        ("https://example.org/5 and 6", ["6"]),
        ("5. Then 6, then 7.", ["5", "6", "7"]),
        ("five", []),
    ],
)
def test_numbers(text: str, numbers: list[str]) -> None:
    assert sees(text).numbers == numbers


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It was approved.", 0),
        ("It was not approved.", 1),
        ("It wasn't approved, DON’T ask; nobody cannot.", 4),
        ("rock 'n' roll, the letter n, a t-shirt", 0),
        ("Das ist nicht wahr, kein Wort.", 2),
        ("Ce n'est pas vrai.", 2),
        ("No es verdad.", 1),
        ("Non è vero.", 1),
        ("Não é verdade.", 1),
        ("Het is niet waar.", 1),
        ("Это не правда.", 1),
        ("这不是真的", 1),
        ("这是非常特别的, 是否在未来?", 0),
        ("我没有别的", 1),
        ("這沒有", 1),
        ("それは本当ではない", 1),
        ("少ない", 0),
        ("知りません", 1),
        ("이것은 사실이 아니다, 하지 않았다", 2),
        ("잘못했다", 0),
        ("นี่ไม่จริง", 1),
        ("هذا ليس صحيحا", 1),
        ("यह सच नहीं है", 1),
        ("notable knot http://not.org/no", 0),
        ("unapproved", 0),  # an affix is not seen
    ],
)
def test_negations(text: str, count: int) -> None:
    assert len(sees(text).negation) == count


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see HTTPS://Example.ORG/Path/, now", ["example.org/path"]),
        ("(http://a.org/x_(y))", ["a.org/x_(y)"]),
        ("http://a.org. ftp://a.org/b! www.a.org", ["a.org", "a.org/b", "www.a.org"]),
        ("看http://t.cn/abc转发", ["t.cn/abc"]),
        ("https://de.wikipedia.org/wiki/Größe", ["de.wikipedia.org/wiki/grösse"]),
        ('<a href="http://a.org/?q=1&r=2#top">', ["a.org/?q=1&r=2#top"]),
        ("xhttp://a.org http:// www. http://.", []),
        ("a.org and me@a.org", []),
    ],
)
def test_urls(text: str, urls: list[str]) -> None:
    assert sees(text).urls == urls


def test_what_differs_and_what_does_not() -> None:
    a, b, c, d = hashes("5 of 12", "12 of 5, of 12", "5 of 13", "no digit", numbers=True)
    assert a == b and len({a, c, d}) == 3 and d == 0
    a, b, c = hashes("it is", "it isn't", "it is not", negation=True)
    assert a == 0 and b == c != 0
    a, b, c = hashes("at http://a.org/", "https://a.org, at", "www.a.org", urls=True)
    assert a == b != c
    text = "not 5 http://a.org"
    parts = [hashes(text, **{name: True})[0] for name in ALL]
    assert hashes(text, **ALL)[0] == parts[0] ^ parts[1] ^ parts[2] and len({*parts, 0}) == 4
    assert hashes(text) == [0]


def test_parts_are_told_apart() -> None:
    texts = [f"{i} mg" for i in range(3000)] + [f"{i}.{j}" for i in range(40) for j in range(40)]
    assert len(set(hashes(*texts, numbers=True))) == len(texts)


@pytest.mark.parametrize("word", ["nicht", "ñandú"])
def test_long_texts_and_bad_arguments(word: str) -> None:
    long = (word + " 7 http://a.org/ ") * 100_000
    assert hashes(long, long[:20], **ALL)[0] != 0
    with pytest.raises(ValueError, match="offsets"):
        kernels.guards(np.zeros(3, np.uint8), np.array([0, 4]), **ALL)
    assert kernels.guards(np.zeros(0, np.uint8), np.zeros(1, np.int64), **ALL).shape == (0,)


def test_the_room() -> None:
    text = pa.array(["No 5", None, "plain"], pa.large_string())
    assert represent.guards(text, ("numbers",)).tolist() == hashes("No 5", "", "plain", numbers=True)
    assert represent.guards(text, ()).tolist() == [0, 0, 0]
    assert represent.explain_guards("www.a.org at the start")["urls"] == ["www.a.org"]
    assert represent.explain_guards("No 5, no 4 at www.a.org") == {
        "numbers": ["4", "5"],
        "negation": ["no", "no"],
        "urls": ["www.a.org"],
    }
    assert represent.explain_guards("\ud800 5", ("numbers",)) == {"numbers": ["5"]}
    with pytest.raises(errors.UsageError, match="names"):
        represent.guards(text, ("names",))


@pytest.mark.skipif(not FAULTS.exists(), reason="the shared list of faults is not beside the checkout")
def test_bug_115_numbers_and_negations() -> None:
    fault = next(f for f in map(json.loads, FAULTS.read_text("utf-8").splitlines()) if f["id"] == "BUG-115")
    h = hashes(*fault["input"]["texts"], numbers=True, negation=True)
    assert h[0] != h[1] and h[2] != h[3] and h[2] == h[4]
