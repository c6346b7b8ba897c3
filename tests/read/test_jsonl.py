"""JSON lines: what counts as a record, kinds, damage, compressed streams, raw records."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import zstandard

from dejalu import read
from dejalu.data import ABSENT, BOOLEAN, INTEGER, NESTED, NULL, REAL, STRING
from dejalu.errors import DamagedInput, UsageError

from .helpers import load, merge, one, raw_records, texts


def write(path, *lines, end="\n"):
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + end.encode() for line in lines))
    return path


def test_nulls_absent_keys_and_kinds_of_ids(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        '{"id":1,"text":"a"}',
        '{"id":"x","text":null}',
        '{"id":1.50}',
        '{"id":null,"text":""}',
        '{"text":"b"}',
        '{"id":true,"text":"c"}',
        '{"id":{"k": [1]},"text":"d"}',
        '{"id":18446744073709551616,"text":"e"}',
    )
    docs, _ = load(path)
    assert docs["text"] == [b"a", None, None, b"", b"b", b"c", b"d", b"e"]
    assert docs["id"] == ["1", "x", "1.50", None, None, "true", '{"k": [1]}', "18446744073709551616"]
    assert docs["id:kind"] == [INTEGER, STRING, REAL, NULL, ABSENT, BOOLEAN, NESTED, INTEGER]
    assert docs["invalid"] == [False] * 8


def test_a_text_that_is_no_string_is_damage(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text":"a"}', '{"text":5}', "", '{"text":["x"]}', '{"text":"b"}')
    with pytest.raises(
        DamagedInput, match=r"a\.jsonl, line 2 \(row 1\): 'text' is a number, not a string or null.*skip"
    ):
        texts(path)
    docs, problems = load(path, skip=True)
    assert (docs["row"], docs["text"]) == ([0, 3], [b"a", b"b"])
    assert [(p.row, p.line, p.raw) for p in problems] == [(1, 2, b'{"text":5}\n'), (2, 4, b'{"text":["x"]}\n')]


def test_reasons_are_words(tmp_path):
    lines = ["[1]", '{"text":"a"} x', '{"text":"a', '{"text":"a\tb"}', '{"text":tru}', '{"text":"good"}']
    _, problems = load(write(tmp_path / "a.jsonl", *lines), skip=True)
    assert [p.reason for p in problems] == [
        "not a JSON object",
        "more text after the JSON object, from byte 14 of the line",
        "not JSON: it ends too early",
        "not JSON at byte 11 of the line",
        "not JSON at byte 12 of the line",
    ]


def test_surrogates_and_invalid_utf8_are_replaced_and_flagged(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        '{"text":"pair \\ud83c\\udf89"}',
        '{"text":"lone \\ud835 end"}',
        b'{"text":"bad \xff\xe4\xb8 end"}',
        b'{"text":"ok","other":"\xff"}',
        '{"text":"\u2028\\u0000\u0085"}',
    )
    docs, _ = load(path)
    assert docs["text"] == [
        "pair \U0001f389".encode(),
        "lone \ufffd end".encode(),
        "bad \ufffd\ufffd end".encode(),
        b"ok",
        "\u2028\0\u0085".encode(),
    ]
    assert docs["invalid"] == [False, True, True, False, False]


def test_nested_keys_and_joined_columns(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        '{"a":{"b":"deep","c":1},"t":"x"}',
        '{"a.b":"literal","a":{"b":"deep"},"t":null}',
        '{"a":[],"t":"y"}',
        '{"t":null}',
    )
    docs, _ = load(path, text_columns=("a.b",), extra=("a.c",))
    assert docs["text"] == [b"deep", b"literal", None, None]
    assert docs["a.c"] == ["1", None, None, None]
    assert texts(path, text_columns=("t", "a.b")) == [
        "x\U0001fffd\x1f\x1edeep",
        "\U0001fffd\x1f\x1eliteral",
        "y\U0001fffd\x1f\x1e",
        None,
    ]


def test_lone_cr_no_final_line_end_and_blank_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf\n \t\r\n{"text":"a"}\r\n\r\n{"text":"b"}')
    docs, _ = load(path)
    assert (docs["row"], docs["text"]) == ([0, 1], [b"a", b"b"])
    assert raw_records(path) == (b"\xef\xbb\xbf", {0: b'{"text":"a"}\r\n', 1: b'{"text":"b"}'})


def test_empty_files(tmp_path):
    for content in (b"", b"\n", b"  ", b"\xef\xbb\xbf"):
        (tmp_path / "a.jsonl").write_bytes(content)
        assert texts(tmp_path / "a.jsonl") == []
    assert raw_records(tmp_path / "a.jsonl") == (b"\xef\xbb\xbf", {})
    (tmp_path / "e.jsonl.gz").write_bytes(b"")
    assert texts(tmp_path / "e.jsonl.gz") == []


def test_columns_are_found(tmp_path):
    resolve = lambda *lines, **ask: read.resolve(one(write(tmp_path / "a.jsonl", *lines)), **ask)  # noqa: E731
    assert resolve('{"n":1,"content":"a"}', '{"id":3}').id == "id"
    assert resolve('{"n":1,"headline":"a"}').text == ("headline",)
    assert resolve('{"n":1,"text":null}', '{"title":"x"}').text == ("text",)
    assert resolve('{"text":5,"a":"x","b":"y"}').text == ("text",)
    assert resolve("broken", '{"a":{"b":"x"}}', text_columns=("a.b",)).text == ("a.b",)
    with pytest.raises(UsageError, match=r"a\.jsonl: has no column 'txt'; it has text"):
        resolve('{"text":"a"}', text_columns=("txt",))
    with pytest.raises(UsageError, match=r"title: 'T'; abstract: 'A'"):
        resolve('{"title":"T","abstract":"A"}')


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_streams_of_many_members(tmp_path, suffix):
    pack = gzip.compress if suffix == "gz" else zstandard.ZstdCompressor(write_checksum=True).compress
    parts = [json.dumps({"text": f"page {i}"}).encode() + b"\n" for i in range(50)]
    path = tmp_path / f"a.jsonl.{suffix}"
    path.write_bytes(
        b"".join(map(pack, parts[:-1])) + pack(b"") + pack(parts[-1]) + (b"\0" * 600 if suffix == "gz" else b"")
    )
    assert texts(path) == [f"page {i}" for i in range(50)]
    assert b"".join(raw_records(path)[1].values()) == b"".join(parts)


def test_zst_skippable_frames_and_frames_without_size(tmp_path):
    frame = zstandard.ZstdCompressor(write_content_size=False).compress(b'{"text":"a"}\n')
    skippable = (0x184D2A50).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"hello"
    (tmp_path / "a.jsonl.zst").write_bytes(skippable + frame + skippable + frame)
    assert texts(tmp_path / "a.jsonl.zst") == ["a", "a"]


def broken(tmp_path, suffix, how):
    lines = [
        json.dumps({"text": f"page {i} " + "".join(map(chr, np.random.default_rng(i).integers(97, 123, 50)))}) + "\n"
        for i in range(4000)
    ]
    if suffix == "gz":
        data = bytearray(gzip.compress("".join(lines).encode()))
    else:
        pack = zstandard.ZstdCompressor(write_checksum=True).compress
        data = bytearray(pack("".join(lines[:2500]).encode()) + pack("".join(lines[2500:]).encode()))
    if how == "cut":
        del data[-300:]
    elif how == "noise":
        data[-40_000:-39_900] = b"\xff" * 100
    else:
        data += b"not a stream"
    path = tmp_path / f"a.jsonl.{suffix}"
    path.write_bytes(data)
    return path, lines


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@pytest.mark.parametrize("how", ["cut", "noise", "tail"])
def test_a_broken_stream_keeps_what_came_before(tmp_path, suffix, how):
    path, lines = broken(tmp_path, suffix, how)
    message = rf"a\.jsonl\.{suffix}, line .*the {suffix} stream (ends too early|is damaged).*after line .*skip"
    with pytest.raises(DamagedInput, match=message if how != "noise" else "damaged|line"):
        load(path)
    docs, problems = load(path, skip=True)
    n = len(docs["row"])
    whole = [p for p in problems if "stream" in p.reason]
    assert len(whole) == 1 and whole[0].line >= n
    if how == "cut":
        assert (3900 if suffix == "gz" else 2500) <= n < 4000
    elif how == "tail":
        assert n == 4000
    else:
        assert n >= 2000
    good = [json.loads(line)["text"].encode() for line in lines]
    assert how == "noise" or docs["text"] == good[:n]
    assert how == "noise" or list(raw_records(path)[1].values()) == [line.encode() for line in lines[:n]]


def test_records_keep_damaged_lines_and_their_numbers(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text":"a"}', "broken", "", '{"text":"b"}')
    _, found = raw_records(path)
    assert found == {0: b'{"text":"a"}\n', 1: b"broken\n", 2: b'{"text":"b"}\n'}


def test_lines_longer_than_a_batch(tmp_path):
    long = "w" * 3_000_000
    path = write(tmp_path / "a.jsonl", '{"text":"short"}', json.dumps({"text": long}), '{"text":"short"}')
    where = one(path)
    columns = read.resolve(where)
    docs = merge(d for p in read.pieces(where, columns) for d in read.read(where, p, columns, batch_bytes=1000))
    assert [len(t) for t in docs["text"]] == [5, 3_000_000, 5]


def test_a_record_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dejalu.read.lines.MAX_RECORD", 1000)
    path = write(tmp_path / "a.jsonl", '{"text":"a"}', '{"text":"' + "b" * 5000)
    where = one(path)
    columns = read.resolve(where)
    with pytest.raises(DamagedInput, match=r"line 2 .*a line end or a closing quote is missing"):
        list(read.read(where, read.Piece(0), columns, batch_bytes=500))


def test_a_missing_or_locked_file_is_an_error_or_set_aside(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text":"a"}')
    where = one(path)
    columns = read.resolve(where)
    path.unlink()
    with pytest.raises(DamagedInput, match=r"a\.jsonl: cannot be read \(No such file"):
        list(read.read(where, read.Piece(0), columns))
    collect = read.Collector()
    assert list(read.read(where, read.Piece(0), columns, on_problem=collect)) == []
    assert [p.row for p in collect.problems] == [-1]
