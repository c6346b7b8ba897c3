"""CSV: delimiters, quotes, damage, encodings, raw records."""

from __future__ import annotations

import codecs
import gzip

import pytest

from dejalu import read
from dejalu.errors import DamagedInput, UsageError

from .helpers import load, one, raw_records, texts


def write(path, text, encoding="utf-8"):
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    others = " and ".join(d for d in ",;|" if d != delimiter)
    text = "id,text,n\n1,one {},x\n2,two {},y\n".replace(",", delimiter).format(others, others)
    docs, _ = load(write(tmp_path / "a.csv", text), extra=("n",))
    assert docs == {
        "row": [0, 1],
        "text": [f"one {others}".encode(), f"two {others}".encode()],
        "id": ["1", "2"],
        "n": ["x", "y"],
    }


def test_tsv_is_cut_at_tabs_alone(tmp_path):
    assert texts(write(tmp_path / "a.tsv", "a,b,c\ttext\n1,2,3\tx\n")) == ["x"]


def test_one_column_needs_no_delimiter(tmp_path):
    assert texts(write(tmp_path / "a.csv", 'headline\n"a, b"\nc\n')) == ["a, b", "c"]


def test_quotes_line_ends_and_blank_lines(tmp_path):
    text = '\ufeffid,text\r\n1,"a ""b""\r\nc"\r\n\r\n2,5" pipe\r\n3,"x"y\r\n4,""'
    path = write(tmp_path / "a.csv", text)
    docs, _ = load(path)
    assert docs["text"] == [b'a "b"\r\nc', b'5" pipe', b"xy", b""]
    assert docs["row"] == [0, 1, 2, 3]
    preamble, found = raw_records(path)
    assert preamble == "\ufeffid,text\r\n".encode()
    assert found == {0: b'1,"a ""b""\r\nc"\r\n', 1: b'2,5" pipe\r\n', 2: b'3,"x"y\r\n', 3: b'4,""'}


def test_no_word_means_null(tmp_path):
    assert texts(write(tmp_path / "a.csv", "id,text\n1,NA\n2,nan\n3,\n4,null\n")) == ["NA", "nan", "", "null"]


def test_damage_names_line_and_row(tmp_path):
    path = write(tmp_path / "a.csv", 'id,text\n1,"a\nb"\n2,x,y\n\n3,c\n4,"never closed\n5,d\n')
    with pytest.raises(DamagedInput, match=r"a\.csv, line 4 \(row 1\): 3 fields where the header has 2\. Repair"):
        load(path)
    docs, problems = load(path, skip=True)
    assert (docs["row"], docs["text"]) == ([0, 2], [b"a\nb", b"c"])
    assert [(p.row, p.line, p.reason) for p in problems] == [
        (1, 4, "3 fields where the header has 2"),
        (3, 7, "a quote that is never closed"),
    ]
    assert raw_records(path)[1][3] == b'4,"never closed\n5,d\n'


def test_empty_files(tmp_path):
    for content, preamble in (
        (b"", b""),
        (b"\n", b""),
        (b"id,text\n", b"id,text\n"),
        (b"\xef\xbb\xbfid,text", b"\xef\xbb\xbfid,text"),
    ):
        path = write(tmp_path / "a.csv", content)
        assert texts(path) == []
        assert raw_records(path) == (preamble, {})


@pytest.mark.parametrize(
    ("encoding", "given"),
    [
        ("utf-16", None),
        ("utf-16-be", None),
        ("utf-8-sig", None),
        ("gb18030", "gb18030"),
        ("utf-16-le", "utf-16-le"),
        ("shift_jis", "shift_jis"),
    ],
)
def test_encodings_and_their_own_bytes(tmp_path, encoding, given):
    lines = ["id,text\r\n", '1,"日本語, テスト\n二"\r\n', "2,かな kana\r\n", "3,plain\r\n"]
    data = "".join(lines).encode(encoding)
    if encoding == "utf-16-be":
        data = codecs.BOM_UTF16_BE + data
    path = write(tmp_path / "a.csv", data)
    docs, _ = load(path, encoding=given)
    assert docs["text"] == ["日本語, テスト\n二".encode(), "かな kana".encode(), b"plain"]
    preamble, found = raw_records(path, encoding=given)
    plain = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(encoding, encoding)
    assert preamble + b"".join(found.values()) == data
    assert [found[i] for i in range(3)] == [line.encode(plain) for line in lines[1:]]


def test_cp1252_is_an_error_that_names_the_remedy(tmp_path):
    path = write(tmp_path / "a.csv", "id,text\n1,caf\xe9\n", "cp1252")
    with pytest.raises(DamagedInput, match=r"a\.csv: not UTF-8 at byte 14 \(e9 0a\).*--encoding gb18030 \| cp1252"):
        load(path)
    assert texts(path, encoding="cp1252") == ["café"]
    docs, problems = load(path, skip=True)
    assert docs["row"] == [] and [p.row for p in problems] == [-1]
    with pytest.raises(UsageError, match="--encoding klingon"):
        texts(path, encoding="klingon")


def test_utf16_without_a_mark_is_recognised(tmp_path):
    path = write(tmp_path / "a.csv", "id,text\n1,a\n", "utf-16-le")
    with pytest.raises(DamagedInput, match=r"zero bytes in the header: name its encoding .--encoding utf-16-le"):
        load(path)
    assert texts(path, encoding="utf-16-le") == ["a"]


def test_an_odd_byte_far_into_the_file(tmp_path):
    body = b"id,text\n" + b"".join(b"%d,a plain line of text\n" % i for i in range(40_000))
    path = write(tmp_path / "a.csv", body + b"40000,caf\xe9\n40001,b\n")
    where = one(path)
    columns = read.resolve(where)
    with pytest.raises(DamagedInput, match=f"not UTF-8 at byte {len(body) + 10:,} "):
        list(read.read(where, read.Piece(0), columns, batch_bytes=10_000))
    body = body.replace(b"\n", "，\n".encode("gb18030"))
    path.write_bytes(body + b"40000,\xff\n")
    with pytest.raises(DamagedInput, match=rf"not gb18030 at byte {len(body) + 7:,} \(ff"):
        list(read.read(where, read.Piece(0), read.resolve(where, text_columns=("text，",), encoding="gb18030")))


def test_stateful_encodings_cannot_be_written_back(tmp_path):
    path = write(tmp_path / "a.csv", "id,text\n1,日本語\n2,かな\n", "iso-2022-jp")
    assert texts(path, encoding="iso-2022-jp") == ["日本語", "かな"]
    with pytest.raises(DamagedInput, match="cannot be written back byte for byte"):
        raw_records(path, encoding="iso-2022-jp")


def test_compressed(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"id,text\n1,a\n") + gzip.compress(b"2,b\n"))
    assert texts(path) == ["a", "b"]
    path.write_bytes(path.read_bytes()[:-10])
    docs, problems = load(path, skip=True)
    assert docs["text"][:1] == [b"a"] and "ends too early" in problems[-1].reason


def test_equal_column_names(tmp_path):
    path = write(tmp_path / "a.csv", "text,text,n\na,b,1\n")
    with pytest.raises(UsageError, match="2 columns are named 'text'"):
        load(path)


def test_columns_are_found_or_asked_for(tmp_path):
    path = write(tmp_path / "a.csv", "title,abstract\nT,A\n")
    with pytest.raises(UsageError, match=r"a\.csv: .*title: 'T'; abstract: 'A'; choose with --text-column"):
        load(path)
    assert texts(path, text_columns=("abstract", "title")) == ["A\U0001fffd\x1f\x1eT"]


def test_an_encoding_is_for_the_files_that_are_not_utf8(tmp_path):
    import dejalu

    text = "Le café de la gare à Genève a été rénové; l'été prochain, il rouvrira après Noël."
    (tmp_path / "a.csv").write_bytes(f'id,text\n1,"{text}"\n'.encode())
    (tmp_path / "b.csv").write_bytes(f'id,text\n2,"{text}"\n'.encode("cp1252"))
    (tmp_path / "c.txt").write_bytes(text.encode())
    (tmp_path / "d.txt").write_bytes(text.encode("cp1252"))
    assert dejalu.dedup(tmp_path, encoding="cp1252").keep.tolist() == [True, False, False, False]
