"""HTML files, one document each, and the main text of a page: what is left without markup, navigation, footer and ads.

The parser and extractor is resiliparse (Bevendorff et al., ECIR 2018): one call per page, which holds Python's lock, as
a word segmenter does. A page whose main content is empty falls back to all its visible text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from itertools import accumulate
from typing import Any

from ..data import I64, Docs, Input, Problem
from ..errors import UsageError
from .columns import TEXT_NAMES, Ask, Columns
from .encoding import MARKS, encoding_of
from .open import open_text
from .pieces import Piece
from .problems import OnProblem
from .whole import document, pieces  # noqa: F401 pieces is asked of every format (files.py)

# The extractor's time grows with the square of the nesting: 8,000 levels take seconds. No page that a person wrote has
# 500; beyond, all visible text is taken, in linear time.
MAX_DEPTH = 500
NESTING = re.compile(r"<(/?)(?:div|section|article|main|span|table|tbody|tr|td|center|font|form|blockquote)\b", re.I)


@cache
def _library() -> Any:
    """The functions of resiliparse: encoding to its HTML name, detection, decoding, extraction.

    Raises:
        UsageError: it is not installed.
    """
    try:
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5
    except ImportError as e:
        raise UsageError("HTML and WARC need the extra `web`: pip install 'dejalu[web]'") from e
    return map_encoding_to_html5, detect_encoding, bytes_to_str, extract_plain_text


def extractor() -> str:
    """Name and version of what turns pages into text; another version may give other texts."""
    _library()
    return f"resiliparse {version('resiliparse')}"


def decode(data: bytes, charset: str | None) -> str:
    """Decode a page as a browser does (HTML Standard, 13.2.3): byte order mark, then the given charset (of the HTTP
    header or the user), then the page's `meta`, then what its bytes look like.

    Where the bytes are not of the charset that is given, they are looked at after all; what cannot be decoded becomes
    U+FFFD.
    """
    to_html5, detect, to_str, _ = _library()
    for mark, name in MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    given = to_html5(charset, fallback_utf8=False) if charset else None
    if given:
        try:
            return data.decode(given)
        except (UnicodeDecodeError, LookupError):
            pass
    found = detect(data, from_html_meta=True) or "utf-8"
    try:
        return data.decode(found)
    except (UnicodeDecodeError, LookupError):
        return str(to_str(data, found, errors="replace"))


def page_text(page: str) -> str:
    """The main text of a page; all its visible text where no main content is found or tags are nested beyond reason.

    Documented exception to "no Python per document": one call of the extractor for each page.
    """
    extract = _library()[3]
    text = "" if _depth(page) > MAX_DEPTH else extract(page, main_content=True)
    return str(text if text.strip() else extract(page))


def _depth(page: str) -> int:
    """Deepest nesting of block tags, about; 0 where there are too few tags to matter."""
    if page.count("<") <= MAX_DEPTH:
        return 0
    return max(accumulate((-1 if close else 1 for close in NESTING.findall(page)), initial=0))


def resolve(input: Input, ask: Ask) -> Columns:
    """The text is the page's; the encoding is found when it is read, unless one was asked for."""
    _library()
    encoding_of(b"", ask.encoding)
    return Columns(ask.text[:1] or (TEXT_NAMES[0],), None, ask.extra, ask.encoding or "")


def read(
    input: Input, piece: Piece, columns: Columns, *, batch_bytes: int, batch_rows: int | None, on_problem: OnProblem
) -> Iterator[Docs]:
    """Read the page."""
    broken: list[str] = []
    data = b"".join(open_text(input, broken.append))
    if broken:
        on_problem(Problem(input.file, 0, None, broken[0]))
        return
    body = page_text(decode(data, _name(columns.encoding))).encode()
    yield document(input, columns, body)


def rows(input: Input, columns: Columns, wanted: I64) -> Iterator[Docs]:
    """Read the page, if it is wanted."""
    if len(wanted):
        yield from read(input, Piece(0), columns, batch_bytes=0, batch_rows=None, on_problem=lambda problem: None)


def _name(encoding: str) -> str | None:
    """The charset name of a Python encoding, as pages write it."""
    return codecs.lookup(encoding).name if encoding else None
