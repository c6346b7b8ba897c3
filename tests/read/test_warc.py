"""WARC and WET: pages and plain texts are documents, everything else stays where it is."""

from __future__ import annotations

import gzip
import io
import sys
import zlib

import pyarrow.parquet as pq
import pytest
import zstandard

from dejalu import dedup, read
from dejalu.cli.evidence import Evidence as Shown
from dejalu.errors import DamagedInput, UsageError
from dejalu.read import frames, warc
from dejalu.run.applying import apply

from .helpers import load, one
from .webpages import OTHER, crawl, http, members, page, record, response, words

pytest.importorskip("fastwarc", reason="needs dejalu[web]")

FORMS = {
    "a.warc": b"".join,
    "a.warc.gz": members,
    "one.warc.gz": lambda records: gzip.compress(b"".join(records), mtime=0),
    "a.warc.zst": lambda records: b"".join(zstandard.compress(r) for r in records),
    "one.warc.zst": lambda records: zstandard.compress(b"".join(records)),
}


def raw(data: bytes) -> bytes:
    """Decompressed, whatever it is."""
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()
    return data


@pytest.mark.parametrize("name", FORMS)
def test_documents_rows_ids_and_headers(tmp_path, name):
    (tmp_path / name).write_bytes(FORMS[name](crawl()))
    docs, _ = load(tmp_path / name, extra=("url", "warc-date", "WARC-Truncated"))
    assert docs["row"] == [1, 3, 4, 6]
    assert docs["text"][0] == docs["text"][1] and words(107).encode() in docs["text"][0]
    assert docs["text"][3] == words(5, 60).encode()
    assert docs["url"][1] == "http://b.example/1" and docs["warc-date"] == ["2024-05-06T07:08:09Z"] * 4
    assert docs["WARC-Truncated"] == [None] * 4
    assert all(i.startswith("<urn:uuid:") for i in docs["WARC-Record-ID"])
    assert load(tmp_path / name, id_column="url")[0]["url"][0] == "http://a.example/1"


def test_what_is_no_document_is_told(tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(members(crawl()))
    where = one(tmp_path / "a.warc.gz")
    passed: list[tuple[int, str]] = []
    columns = read.resolve(where)
    list(read.read(where, read.Piece(0), columns, on_passed=lambda row, kind: passed.append((row, kind))))
    assert passed == [(0, "warcinfo"), (2, "request"), (5, "response, not text"), (7, "metadata")]


def test_records_of_the_librarys_own_writer(tmp_path):
    from fastwarc.stream_io import GzipWriter
    from fastwarc.warc import WarcRecord, WarcRecordType

    with open(tmp_path / "a.warc.gz", "wb") as file:
        for seed in range(3):
            own = WarcRecord()
            own.init_headers(WarcRecordType.response, None)
            own.headers["WARC-Target-URI"] = f"http://a/{seed}"
            own.is_http = True
            own.set_bytes_content(http(page(seed).encode()))
            member = io.BytesIO()
            packer = GzipWriter(member)
            own.write(packer, checksum_data=True)
            packer.close()
            file.write(member.getvalue())
    docs, _ = load(tmp_path / "a.warc.gz", extra=("url",))
    assert docs["url"] == ["http://a/0", "http://a/1", "http://a/2"]
    assert [words(s * 100).encode() in t for s, t in enumerate(docs["text"])] == [True] * 3


def test_wet(tmp_path):
    records = [record("warcinfo", b"a: b\r\n")]
    records += [record("conversion", words(s, 50).encode(), uri=f"http://a/{s}") for s in range(5)]
    records += [record("conversion", b"", uri="http://a/empty"), record("conversion", b"{}", type="application/json")]
    for name in ("a.warc.wet.gz", "a.wet"):
        (tmp_path / name).write_bytes(members(records) if name.endswith("gz") else b"".join(records))
        docs, _ = load(tmp_path / name)
        assert docs["row"] == [1, 2, 3, 4, 5, 6]
        assert docs["text"] == [*(words(s, 50).encode() for s in range(5)), b""]


def chunked(body: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in (body[:10], body[10:])) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("body", "type", "more"),
    [
        ("Grüße aus Köln".encode(), "text/plain", {}),
        ("Grüße aus Köln".encode("latin-1"), "text/plain; charset=iso-8859-1", {}),
        ("Grüße aus Köln".encode("latin-1"), "text/plain; charset=utf-8", {}),
        ("<meta charset=latin1><p>Grüße aus Köln".encode("latin-1"), "text/html", {}),
        ("<meta charset=gbk><p>Grüße aus Köln".encode(), "TEXT/HTML; charset=UTF-8", {}),
        ("<p>Grüße aus Köln".encode(), "application/xhtml+xml", {}),
        (gzip.compress("<p>Grüße aus Köln".encode()), "text/html", {"Content_Encoding": "gzip"}),
        (zlib.compress("<p>Grüße aus Köln".encode()), "text/html", {"Content_Encoding": "deflate"}),
        (chunked("<p>Grüße aus Köln".encode()), "text/html", {"Transfer_Encoding": "chunked"}),
        (chunked(gzip.compress("<p>Grüße aus Köln".encode())), "text/html",
         {"Transfer_Encoding": "chunked", "Content_Encoding": "gzip"}),
        ("<p>Grüße aus Köln".encode(), "text/html", {"Content_Encoding": "gzip"}),
        ("<p>Grüße aus Köln".encode(), "text/html", {"Transfer_Encoding": "chunked"}),
    ],
)  # fmt: skip
def test_charsets_and_http_encodings(tmp_path, body, type, more):
    (tmp_path / "a.warc").write_bytes(record("response", http(body, type, **more)))
    assert load(tmp_path / "a.warc")[0]["text"] == ["Grüße aus Köln".encode()]


def test_headers_folded_short_or_of_old_versions(tmp_path):
    block = http(b"<p>one text")
    old = b"WARC/0.18\nWARC-Type: response\nWARC-Target-URI: http://a/\n long\nContent-Length: %d\n\n%s\n\n"
    (tmp_path / "a.warc").write_bytes(old % (len(block), block) * 2 + crawl()[1][:-4])
    docs, _ = load(tmp_path / "a.warc", id_column="url")
    assert docs["row"] == [0, 1, 2] and docs["url"][:2] == ["http://a/ long"] * 2


def test_no_record_and_one_large_one(tmp_path):
    (tmp_path / "a.warc").write_bytes(b"")
    assert load(tmp_path / "a.warc")[0]["row"] == []
    big = record("conversion", b"a b c d " * (4 << 20))
    video = record("response", http(bytes(8 << 20), "video/mp4"))
    (tmp_path / "a.warc.gz").write_bytes(members([big, video, crawl()[1]]))
    docs, _ = load(tmp_path / "a.warc.gz")
    assert docs["row"] == [0, 2] and len(docs["text"][0]) == 32 << 20


@pytest.mark.parametrize("name", FORMS)
def test_a_file_cut_short_at_any_byte(tmp_path, name):
    whole = FORMS[name](crawl())
    (tmp_path / name).write_bytes(whole)
    texts = dict(zip(*(load(tmp_path / name)[0][k] for k in ("row", "text")), strict=True))
    for cut in {*range(5, len(whole), 211), len(whole) - 1, len(whole) - 3}:
        (tmp_path / name).write_bytes(whole[:cut])
        docs, problems = load(tmp_path / name, skip=True)
        assert all(texts[row] == text for row, text in zip(docs["row"], docs["text"], strict=True))
        if problems:
            (problem,) = problems
            assert problem.rest == (problem.row >= 0)
            with pytest.raises(DamagedInput, match=rf"{name}.*--on-error skip"):
                load(tmp_path / name)
        else:  # between two records, or in the line ends of the last
            assert len(raw(whole[:cut])) in {sum(map(len, crawl()[:n])) - e for n in range(9) for e in range(5)}


def test_a_damaged_record_is_set_aside_and_reading_goes_on(tmp_path):
    records = crawl()
    length = b"Content-Length: "
    for bad in (
        records[1].replace(length, b"Content-Length: x"),
        records[1].replace(length, b"No-Length: "),
        records[1].replace(length, length + b"1", 1).replace(length + b"1", length + b"0", 1)[:-4] + b"tail\r\n\r\n",
        b"GARBAGE\r\nmore\r\n\r\n",
    ):
        (tmp_path / "a.warc").write_bytes(b"".join([records[0], bad, *records[2:]]))
        docs, problems = load(tmp_path / "a.warc", skip=True)
        assert (docs["row"], [p.row for p in problems]) == ([3, 4, 6], [1])
        assert problems[0].record
        with pytest.raises(DamagedInput, match=r"a\.warc \(row 1\).*--on-error skip"):
            load(tmp_path / "a.warc")
    long = records[1].replace(length, length + b"1")  # it takes in the records that follow, up to somewhere
    (tmp_path / "a.warc").write_bytes(b"".join([records[0], long, *records[2:] * 20]))
    assert load(tmp_path / "a.warc", skip=True)[1][0].row == 1


def test_a_flipped_byte_in_a_member_stops_there(tmp_path):
    packed = [gzip.compress(r, mtime=0) for r in crawl()]
    packed[3] = packed[3][:200] + bytes([packed[3][200] ^ 0xFF]) + packed[3][201:]
    (tmp_path / "a.warc.gz").write_bytes(b"".join(packed))
    docs, problems = load(tmp_path / "a.warc.gz", skip=True)
    assert docs["row"] == [1] and [(p.row, p.rest) for p in problems] == [(3, True)]


def test_what_is_no_warc_file(tmp_path):
    for data in (b"<html>no</html>", b"\x1f\x8b\x08nonsense" * 9, bytes(100)):
        (tmp_path / "a.warc").write_bytes(data)
        with pytest.raises(DamagedInput, match="not a WARC file"):
            read.resolve(one(tmp_path / "a.warc"))
        assert read.resolve(one(tmp_path / "a.warc"), on_error="skip").damage
    (tmp_path / "a.warc").write_bytes(b"".join(crawl()))
    with pytest.raises(UsageError, match=r"no WARC header 'lang'.*warc-target-uri"):
        read.resolve(one(tmp_path / "a.warc"), extra=("lang",))


def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch):
    (tmp_path / "a.warc").write_bytes(b"".join(crawl()))
    monkeypatch.setitem(sys.modules, "fastwarc.warc", None)
    warc._library.cache_clear()
    try:
        with pytest.raises(UsageError, match=r"dejalu\[web\]"):
            read.resolve(one(tmp_path / "a.warc"))
    finally:
        warc._library.cache_clear()


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_borders_do_not_depend_on_the_pieces(size):
    whole = b"".join([*crawl(), b"garbage\r\n\r\n", *crawl()])
    stream = frames.Stream(whole[i : i + size] for i in range(0, len(whole), size))
    found = []
    while (one := frames.frame(stream, len(found), lambda *_: True, raw=True)) is not None:
        found.append(one)
    assert [f.raw for f in found] == [*crawl(), b"garbage\r\n\r\n", *crawl()]
    assert [bool(f.damage) for f in found] == [i == 8 for i in range(17)]


@pytest.mark.parametrize("name", FORMS)
def test_kept_records_are_written_as_they_were_stored(tmp_path, name):
    (tmp_path / name).write_bytes(FORMS[name](crawl()))
    result = dedup(tmp_path / name, tmp_path / "out")
    assert result.keep.tolist() == [i != 3 for i in range(8)]
    kept = [r for i, r in enumerate(crawl()) if i != 3]
    written = (tmp_path / "out" / name).read_bytes()
    assert raw(written) == b"".join(kept)
    if not name.startswith("one"):
        assert written == FORMS[name](kept)
    docs, _ = load(tmp_path / "out" / name)
    assert docs["row"] == [1, 3, 5]
    from fastwarc.warc import ArchiveIterator

    with open(tmp_path / "out" / name, "rb") as file:  # each reachable by its place
        places = [r.stream_pos for r in ArchiveIterator(file)]
    assert len(set(places)) == 7
    skipped = result.report["skipped"]
    assert {k: v for k, v in skipped.items() if k.startswith("record")} == {
        "record: metadata": 1, "record: request": 1, "record: response, not text": 1, "record: warcinfo": 1,
    }  # fmt: skip
    (row,) = pq.read_table(tmp_path / "out-evidence" / "removed" / f"{name}.parquet").to_pylist()
    assert (row["row"], row["twin_row"], row["twin_file"]) == (3, 1, name)
    again = dedup(tmp_path / "out" / name, tmp_path / "out2")
    assert again.keep.all() and (tmp_path / "out2" / name).read_bytes() == written


def test_damaged_and_lost_records_are_in_no_output(tmp_path):
    records = crawl()
    bad = records[4].replace(b"Content-Length: ", b"Content-Length: x")
    packed = members([*records[:4], bad, *records[5:]])
    (tmp_path / "a.warc.gz").write_bytes(packed[:-40])
    result = dedup(tmp_path / "a.warc.gz", tmp_path / "out", on_error="skip")
    assert result.keep.tolist() == [True, True, True, False, False, True, True]
    written = (tmp_path / "out" / "a.warc.gz").read_bytes()
    assert written == members([*records[:3], *records[5:7]])


def test_what_came_before_a_damaged_checksum_is_written(tmp_path):
    data = bytearray(gzip.compress(b"".join(crawl()), mtime=0))
    data[-8] ^= 1
    (tmp_path / "a.warc.gz").write_bytes(data)
    docs, problems = load(tmp_path / "a.warc.gz", skip=True)
    assert docs["row"] == [1, 3, 4, 6] and [(p.row, p.rest) for p in problems] == [(8, True)]
    dedup(tmp_path / "a.warc.gz", tmp_path / "out", on_error="skip")
    assert raw((tmp_path / "out" / "a.warc.gz").read_bytes()) == b"".join(r for i, r in enumerate(crawl()) if i != 3)


def test_removed_pages_are_shown_as_their_main_text(tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(members(crawl()))
    dedup(tmp_path / "a.warc.gz", tmp_path / "out", mode="report")
    shown = Shown.open(tmp_path / "out-evidence")
    (pair,) = shown.shown(shown.first(9))
    assert pair.text == pair.twin_text and pair.text.startswith("Article 1")
    apply(tmp_path / "out-evidence", tmp_path / "out")
    assert (tmp_path / "out" / "a.warc.gz").read_bytes() == members(r for i, r in enumerate(crawl()) if i != 3)


def test_tags_stand_in_a_table_beside(tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(members(crawl()))
    dedup(tmp_path / "a.warc.gz", tmp_path / "out", mode="tag")
    assert (tmp_path / "out" / "a.warc.gz").read_bytes() == members(crawl())
    tags = pq.read_table(tmp_path / "out-evidence" / "tags" / "a.warc.gz.parquet")
    assert tags.column("dejalu_keep").to_pylist() == [i != 3 for i in range(8)]


def test_headers_choose_what_stays(tmp_path):
    records = [response(1, date="2020-01-01T00:00:00Z"), response(1, OTHER, date="2024-01-01T00:00:00Z")]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    result = dedup(tmp_path / "a.warc", tmp_path / "out", keep="max:date", id_column="url", source_column="WARC-Type")
    assert result.keep.tolist() == [False, True]
