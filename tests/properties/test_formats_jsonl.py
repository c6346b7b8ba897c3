"""jsonl_extract: native against twin on well-formed, odd and damaged lines."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dejalu.kernels.formats import jsonl_extract
from dejalu.kernels.reference import jsonl as twin

FIELDS = ["text", "id", "a.b", "meta"]

keys = st.sampled_from(["text", "id", "a", "b", "a.b", "meta", "", "té", "x"])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=40),
    st.text(st.characters(codec=None, categories=None), max_size=20),
    st.sampled_from([10**30, "\ud835", "\ud83c\udf89", "a\u2028b", "\x00", "x" * 70, "\"\\/\n\t\r\b\f" * 5]),
)  # fmt: skip
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=3), max_leaves=6)


@st.composite
def objects(draw: st.DrawFn) -> bytes:
    """An object with keys that may repeat, written with or without escapes and blanks."""
    ascii_only = draw(st.booleans())
    gap = draw(st.sampled_from(["", " ", " \t", "\r"]))
    members = []
    for key, value in draw(st.lists(st.tuples(keys, values), max_size=5)):
        name = json.dumps(key, ensure_ascii=ascii_only)
        if draw(st.booleans()) and key == "text":
            name = '"te\\u0078t"'
        members.append(f"{gap}{name}{gap}:{gap}{json.dumps(value, ensure_ascii=ascii_only)}{gap}")
    return (gap + "{" + ",".join(members) + gap + "}" + gap).encode("utf-8", "surrogatepass")


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line: an object, perhaps damaged at one place, or something else."""
    line = draw(st.one_of(objects(), objects(), st.sampled_from([b"", b"  ", b"\t\r", b"[1]", b'"x"', b"null", b"{"])))
    if draw(st.integers(0, 3)) == 0 and line:
        at = draw(st.integers(0, len(line)))
        line = (
            line[:at]
            + draw(st.sampled_from([b"\xff", b"\xe4\xb8", b"\x01", b'"', b"\\", b"}", b",", b"0", b"nul", b"\\u12"]))
            + line[at + draw(st.integers(0, 2)) :]
        )
    return line.replace(b"\n", b"")


def same(block: bytes, final: bool, wanted: list[int] | None = None) -> None:
    array = np.frombuffer(block, np.uint8)
    native = jsonl_extract(array, FIELDS, final=final, wanted=None if wanted is None else np.array(wanted, np.int64))
    slow = twin.jsonl_extract(block, FIELDS, final=final, wanted=wanted)
    assert (native.rows, native.lines, native.consumed) == (slow.rows, slow.lines, slow.consumed)
    for got, name in (
        (native.row, "row"),
        (native.line, "line"),
        (native.start, "start"),
        (native.end, "end"),
        (native.status, "status"),
    ):
        assert got.tolist() == [getattr(r, name) for r in slow.records], name
    for f in range(len(FIELDS)):
        data, offsets = native.text[f]
        texts = [data[a:b].tobytes() for a, b in pairwise(offsets.tolist())]
        assert native.kind[f].tolist() == [r.values[f].kind for r in slow.records]
        assert texts == [r.values[f].text for r in slow.records]
        assert native.replaced[f].tolist() == [r.values[f].replaced for r in slow.records]


@given(st.lists(lines(), max_size=6), st.booleans(), st.booleans())
@example([b'{"text":"' + b"a" * 100 + b'\\ud835"}'], True, True)
@example([b'{"text":"\\ud835\\ud835\\udc00 \\udc00"}'], True, True)
@example([b'{"a":{"b":"x"},"a":{"c":1}}', b'{"a":{"b":"x"},"a.b":null}', b'{"a":[1],"a.b":"y"}'], True, True)
@example([b'{"id":-0,"text":-Infinity}', b'{"id":1e5,"text":NaN}', b'{"id":01}', b'{"id":1.}', b'{"id":-}'], True, True)
@example([b"\xef\xbb\xbf{}"], True, True)
@example([b'{"text":"a"}x', b'{"text":"a"} {}', b'{"text":"a",}', b"{,}", b'{"text"}'], True, False)
def test_jsonl_equals_its_twin(parts: list[bytes], final: bool, ended: bool) -> None:
    same(b"\n".join(parts) + (b"\n" if ended else b""), final)


@given(st.lists(lines(), max_size=6), st.sets(st.integers(0, 6)))
def test_jsonl_wanted_rows_equal_their_twin(parts: list[bytes], wanted: set[int]) -> None:
    same(b"\n".join(parts), True, sorted(wanted))


@given(st.binary(max_size=120))
def test_jsonl_takes_any_bytes(block: bytes) -> None:
    same(b'{"text":"' + block, True)
    same(block, False)


@given(objects())
def test_a_good_line_is_what_json_loads_takes(line: bytes) -> None:
    native = jsonl_extract(np.frombuffer(line, np.uint8), ["text"], final=True)
    value = json.loads(line.decode("utf-8", "replace"))
    assert native.status.tolist() == [0]
    text = value.get("text")
    if isinstance(text, str):
        data, _ = native.text[0]
        assert data.tobytes() == "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text).encode()


@pytest.mark.parametrize("depth", [1, 512, 513])
@pytest.mark.parametrize("pair", ["[]", '{"x":}'])
def test_depth_is_bounded(depth: int, pair: str) -> None:
    opening, closing = pair[:-1], pair[-1]
    line = f'{{"meta":{opening * (depth - 1)}{opening if pair == "[]" else "{"}{closing * depth},"text":"t"}}'.encode()
    same(line, True)
    assert jsonl_extract(np.frombuffer(line, np.uint8), [], final=True).status.tolist() == [0 if depth <= 512 else 2]
