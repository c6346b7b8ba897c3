"""Plain text files: one document each."""

from __future__ import annotations

import codecs

import pytest

from dejalu.errors import DamagedInput

from .helpers import load, texts


def test_the_whole_file_is_one_document(tmp_path):
    path = tmp_path / "a.txt"
    for content, expected in (
        (b"one\r\ntwo\n", "one\r\ntwo\n"),
        (b"", ""),
        (b"\xef\xbb\xbfx", "x"),
        (b"a\0b", "a\0b"),
        (codecs.BOM_UTF16_LE + "é中".encode("utf-16-le"), "é中"),
    ):
        path.write_bytes(content)
        docs, _ = load(path)
        assert (docs["row"], docs["text"]) == ([0], [expected.encode()])


def test_another_encoding_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("中文".encode("gb18030"))
    with pytest.raises(DamagedInput, match=r"a\.txt \(row 0\): not UTF-8 at byte 1 .*--encoding"):
        load(path)
    _, problems = load(path, skip=True)
    assert [(p.row, p.line) for p in problems] == [(0, None)]
    assert texts(path, encoding="gb18030") == ["中文"]
    path.write_bytes(b"\xff\xff\xff")
    with pytest.raises(DamagedInput, match="not gb18030 at byte 1"):
        load(path, encoding="gb18030")


def test_columns_asked_for_elsewhere_are_null_here(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x")
    docs, _ = load(tmp_path / "a.txt", text_columns=("title",), id_column="url", extra=("lang",))
    assert docs == {"row": [0], "text": [b"x"], "lang": [None]}
