"""HTML files: one document each, of which the main text counts."""

from __future__ import annotations

import sys
import time

import pytest

from dejalu import dedup, read
from dejalu.errors import DamagedInput, UsageError
from dejalu.read import html

from .helpers import load, one, texts
from .webpages import OTHER, PLAIN, page, words

pytest.importorskip("resiliparse", reason="needs dejalu[web]")


def test_pages_that_differ_in_markup_and_furniture_have_one_text(tmp_path):
    for name, look in (("a.html", PLAIN), ("b.htm", OTHER), ("c.XHTML", PLAIN)):
        (tmp_path / name).write_text(page(3, look), "utf-8")
    found = [texts(tmp_path / name)[0] for name in ("a.html", "b.htm", "c.XHTML")]
    assert found[0] == found[1] == found[2]
    assert found[0] is not None and "Article 3" in found[0] and words(307) in found[0]
    for furniture in ("Home", "Buy now", "Section", "Example", "Imprint", "color"):
        assert furniture not in found[0]


def test_a_page_without_main_content_gives_all_its_visible_text(tmp_path):
    (tmp_path / "a.html").write_text("<body><nav><a href=x>home</a></nav><footer>the foot</footer>", "utf-8")
    (text,) = texts(tmp_path / "a.html")
    assert text is not None and "home" in text and "the foot" in text
    for nothing in ("", "<html><body><script>x()</script></body></html>"):
        (tmp_path / "a.html").write_text(nothing, "utf-8")
        assert texts(tmp_path / "a.html") == [""]


@pytest.mark.parametrize(
    ("data", "encoding", "expected"),
    [
        ("<meta charset=gb2312><p>中文网页的内容".encode("gb18030"), None, "中文网页的内容"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>Привет'.encode("cp1251"), None,
         "Привет"),
        ("\ufeff<p>Grüße".encode(), None, "Grüße"),
        ("\ufeff<p>Grüße".encode("utf-16-le"), None, "Grüße"),
        ("<p>日本語のページです。こんにちは、世界".encode("shift_jis"), None, "日本語のページです。こんにちは、世界"),
        ("<p>żółć i gęś".encode("iso8859-2"), "latin2", "żółć i gęś"),
        ("<meta charset=nonsense><p>Grüße".encode(), None, "Grüße"),
        ("<meta charset=utf-8><p>caf\xe9 au lait".encode("latin-1"), None, "café au lait"),
    ],
)  # fmt: skip
def test_the_charset_is_found_as_a_browser_finds_it(tmp_path, data, encoding, expected):
    (tmp_path / "a.html").write_bytes(data)
    assert texts(tmp_path / "a.html", encoding=encoding) == [expected]


def test_tags_nested_beyond_reason_take_no_longer(tmp_path):
    (tmp_path / "a.html").write_text("<div>" * 20_000 + "deep" + "</div>" * 20_000, "utf-8")
    start = time.perf_counter()
    assert texts(tmp_path / "a.html") == ["deep"]
    assert time.perf_counter() - start < 20  # the extractor alone: 14 seconds for each of the five readings


def test_other_columns_are_null_and_the_version_is_known(tmp_path):
    (tmp_path / "a.html").write_text("<p>x", "utf-8")
    docs, _ = load(tmp_path / "a.html", extra=("lang",))
    assert docs["lang"] == [None]
    assert read.versions([one(tmp_path / "a.html")])["main text by"].startswith("resiliparse ")


def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text("<p>x", "utf-8")
    monkeypatch.setitem(sys.modules, "resiliparse.extract.html2text", None)
    html._library.cache_clear()
    try:
        with pytest.raises(UsageError, match=r"dejalu\[web\]"):
            read.resolve(one(tmp_path / "a.html"))
    finally:
        html._library.cache_clear()


def test_a_run_is_not_gone_on_with_under_another_extractor(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.html").write_text(page(1), "utf-8")
    dedup(tmp_path / "in", tmp_path / "out")
    dedup(tmp_path / "in", tmp_path / "out", resume=True)
    monkeypatch.setattr(html, "extractor", lambda: "resiliparse 0.1")
    with pytest.raises(UsageError, match=r"main text by.*resiliparse 0\.1"):
        dedup(tmp_path / "in", tmp_path / "out", resume=True)


def test_a_repeated_page_goes_and_its_file_stays_empty(tmp_path):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "a.html").write_text(page(1), "utf-8")
    (tmp_path / "in" / "sub" / "b.html").write_text(page(1, OTHER), "utf-8")
    result = dedup(tmp_path / "in", tmp_path / "out")
    assert result.keep.tolist() == [True, False]
    assert (tmp_path / "out" / "a.html").read_text("utf-8") == page(1)
    assert (tmp_path / "out" / "sub" / "b.html").read_bytes() == b""
    again = dedup(tmp_path / "out", tmp_path / "out2")
    assert again.keep.all()
    tagged = dedup(tmp_path / "in", tmp_path / "tagged", mode="tag")
    assert (tmp_path / "tagged" / "sub" / "b.html").read_text("utf-8") == page(1, OTHER)
    assert tagged.keep.tolist() == [True, False]


def test_an_unreadable_page_is_an_error(tmp_path):
    (tmp_path / "a.html").write_text("<p>x", "utf-8")
    where = one(tmp_path / "a.html")
    (tmp_path / "a.html").unlink()
    with pytest.raises(DamagedInput, match=r"a\.html"):
        list(read.read(where, read.Piece(0), read.resolve(where)))
