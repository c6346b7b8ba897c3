"""csv_extract: native against twin on any bytes, and against Python's csv module on well-formed files."""

from __future__ import annotations

import csv
import io
from itertools import pairwise

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from dejalu.kernels.formats import csv_extract, utf8_invalid
from dejalu.kernels.reference import csv as twin

pieces = st.sampled_from(
    [b'"', b'""', b",", b";", b"\n", b"\r\n", b"\r", b"a", b"long enough for a block ", "é中".encode(), b"\x00"]
)
blocks = st.lists(pieces, max_size=40).map(b"".join)


def same(block: bytes, columns: list[int], expected: int, final: bool, wanted: list[int] | None = None) -> None:
    array = np.frombuffer(block, np.uint8)
    rows = None if wanted is None else np.array(wanted, np.int64)
    native = csv_extract(array, ",", columns, expected=expected, final=final, wanted=rows)
    slow = twin.csv_extract(block, ",", columns, expected=expected, final=final, wanted=wanted)
    assert (native.rows, native.lines, native.consumed) == (slow.rows, slow.lines, slow.consumed)
    for got, name in (
        (native.row, "row"),
        (native.line, "line"),
        (native.start, "start"),
        (native.end, "end"),
        (native.status, "status"),
        (native.detail, "fields"),
    ):
        assert got.tolist() == [getattr(r, name) for r in slow.records], name
    for i, (data, offsets) in enumerate(native.text):
        texts = [data[a:b].tobytes() for a, b in pairwise(offsets.tolist())]
        assert texts == [r.values[i] for r in slow.records]


@given(blocks, st.permutations(range(4)), st.integers(-1, 4), st.booleans())
@example(b'a,"b\n', [0, 1, 2, 3], 2, True)
@example(b'"a"\r\n"b"x,\r\n\r\n', [0, 1, 2, 3], -1, True)
def test_csv_equals_its_twin(block: bytes, columns: list[int], expected: int, final: bool) -> None:
    same(block, columns[:2], expected, final)


@given(blocks, st.sets(st.integers(0, 5)))
def test_csv_wanted_rows_equal_their_twin(block: bytes, wanted: set[int]) -> None:
    same(block, [1, 0], -1, True, sorted(wanted))


fields = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=20)


@given(st.lists(st.lists(fields, min_size=2, max_size=3), max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_csv_reads_what_python_writes(records: list[list[str]], end: str) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerows(records)
    data = np.frombuffer(out.getvalue().encode(), np.uint8)
    found = csv_extract(data, ",", [0, 1], expected=-1, final=True)
    assert found.detail.tolist() == [len(r) for r in records]
    for i, (text, offsets) in enumerate(found.text):
        assert [text[a:b].tobytes().decode() for a, b in pairwise(offsets.tolist())] == [r[i] for r in records]


@given(
    st.one_of(
        st.binary(max_size=60),
        st.lists(
            st.sampled_from(
                [
                    b"a" * 16,
                    "é".encode(),
                    "中".encode(),
                    "𝄞".encode(),
                    b"\xed\xa0\x80",
                    b"\xf4\x90",
                    b"\xe4\xb8",
                    b"\x80",
                    b"\xc0\x80",
                    b"\xe0\x80",
                ]
            ),
            max_size=12,
        ).map(b"".join),
    )
)
def test_utf8_invalid_equals_python(data: bytes) -> None:
    try:
        data.decode()
        expected = -1
    except UnicodeDecodeError as e:
        expected = e.start
    assert utf8_invalid(np.frombuffer(data, np.uint8)) == expected
