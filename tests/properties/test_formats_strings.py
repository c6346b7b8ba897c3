"""Long strings, where the kernels look at 64 bytes at once: JSON strings against their twin, UTF-8 against Python's."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from dejalu.kernels.formats import jsonl_extract, utf8_invalid
from dejalu.kernels.reference import jsonl as twin

# Pieces of a string's inside as it stands in the file; the last ones are damage.
PIECES = [
    b"", b"x", b"word " * 5, b"y" * 61, b"z" * 64, "深山何處鐘".encode(), "Привет".encode(), "\U0001f389".encode(),
    rb"\n", rb"\n\n", rb"\"", rb"\\", rb"\\\\\\", rb"\/\b\f\r\t", rb"\u00e9", rb"\ud83c\udf89", rb"\ud835", rb"\udc00",
    rb"\ud835\n", rb"\\\"", rb"\\n",
]  # fmt: skip
DAMAGE = [b"\\", rb"\x", rb"\u12", rb"\u12g4", b"\x01", b'"', b"\\\x01", b"\xff", b"\xe4\xb8", b"\xed\xa0\x80", b"\xc3"]
insides = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(min_size=1, max_size=1)), max_size=40).map(b"".join)
whole = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)


def check(*lines: bytes) -> None:
    """Followed by a long line, so that the ones before are far from the end of the block."""
    block = b"\n".join([*lines, b'{"id":"' + b"e" * 200 + b'"}'])
    native = jsonl_extract(np.frombuffer(block, np.uint8), ["text", "id"], final=True)
    slow = twin.jsonl_extract(block, ["text", "id"], final=True)
    assert (native.rows, native.lines, native.consumed) == (slow.rows, slow.lines, slow.consumed)
    assert native.status.tolist() == [r.status for r in slow.records]
    for f in range(2):
        data, ends = native.text[f]
        got = [
            (int(k), data[a:b].tobytes(), bool(r))
            for k, a, b, r in zip(native.kind[f], ends[:-1], ends[1:], native.replaced[f], strict=True)
        ]
        assert got == [tuple(r.values[f]) for r in slow.records]


@given(st.lists(whole, min_size=1, max_size=3), st.integers(0, 70))
@example([b"a" * 63 + rb"\n", b"a" * 62 + rb"\\" + rb"\n", b"\\\\" * 40], 0)
def test_long_strings_equal_their_twin(texts: list[bytes], shift: int) -> None:
    check(*[b'{"id":"' + b"i" * shift + b'","text":"' + text + b'"}' for text in texts])


@given(whole, st.sampled_from(DAMAGE), whole, st.integers(0, 70))
@example(b"", b"\\", b"", 40)
@example(b"", rb"\u12", b"", 40)
def test_damage_in_long_strings_equals_the_twin(before: bytes, damage: bytes, after: bytes, shift: int) -> None:
    good = b'{"text":"' + before + b'"}'
    check(good, b'{"id":"' + b"i" * shift + b'","text":"' + before + damage + after + b'"}', good)


@given(insides)
def test_any_inside_equals_the_twin(inside: bytes) -> None:
    check(b'{"text":"' + inside.replace(b"\n", b"") + b'"}')


@given(whole, whole)
def test_the_last_of_equal_keys_counts(first: bytes, second: bytes) -> None:
    check(
        b'{"text":"' + first + b'","text":"' + second + b'"}', b'{"text":"' + first + b'","text":17}',
        b'{"text":[],"text":"' + second + b'"}', b'{"text":"' + first + b'","text":"' + second,
    )  # fmt: skip


def test_the_place_of_damage_lies_in_its_line() -> None:
    lines = [b'{"text":"abc\\', b'{"text":"abc\\u12', b'{"text":"abc', b'{"text":"a\\qb"}', b'{"text":', b'{"a":1} x']
    block = b"\n".join([*lines, b'{"id":"' + b"e" * 200 + b'"}'])
    native = jsonl_extract(np.frombuffer(block, np.uint8), ["text"], final=True)
    assert native.detail.tolist() == [len(lines[0]), len(lines[1]), len(lines[2]), 10, len(lines[4]), 8, 0]


@given(st.lists(st.one_of(st.text(max_size=80), st.sampled_from(["a" * 64, "字" * 40]))), st.binary(max_size=4))
def test_a_record_without_its_end_waits_for_the_next_block(texts: list[str], rest: bytes) -> None:
    lines = b"".join(json.dumps({"text": t}, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for t in texts)
    block = lines + b'{"text":"' + b"u" * 100 + rest.replace(b"\n", b"")
    native = jsonl_extract(np.frombuffer(block, np.uint8), ["text"], final=False)
    assert (native.rows, native.consumed) == (len(texts), len(lines))
    assert len(native.text[0][0]) == int(native.text[0][1][-1])


ODD = [
    b"\xff", b"\xc0\x80", b"\xc3", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf5",
    b"\xe4\xb8", b"\xf0\x9f\x8e", b"\x80", b"\xf4\x8f\xbf\xbf", b"\xef\xbf\xbf",
]  # fmt: skip
odd = st.sampled_from(ODD)
runs = st.one_of(
    st.text(max_size=50).map(lambda t: t.encode("utf-8", "replace")), st.sampled_from([b"a" * 64, b"b" * 63])
)


@given(st.lists(st.one_of(runs, runs, runs, odd), max_size=20).map(b"".join))
@example("字".encode() * 64)
@example(b"a" * 62 + b"\xe4\xb8")
@example(b"a" * 61 + b"\xf0\x9f\x8e")
@example(b"a" * 63 + b"\xc3")
@example(b"a" * 63 + b"\xc3" + b"a" * 64)
def test_utf8_is_what_python_takes(data: bytes) -> None:
    try:
        data.decode()
        place = -1
    except UnicodeDecodeError as e:
        place = e.start
    assert utf8_invalid(np.frombuffer(data, np.uint8)) == place
