"""WARC records and pages with furniture, made by hand, for tests."""

from __future__ import annotations

import gzip
import uuid
from collections.abc import Iterable

HEAD = "<!doctype html><html><head><meta charset=utf-8><title>{title}</title><style>p {{ color: red }}</style></head>"
FRAME = (
    "<body><header class='site-header'><nav class='menu'><ul>{nav}</ul></nav></header>{open}"
    "<h1>{title}</h1>{body}{close}<aside class='sidebar'>{ad}</aside><footer>{foot}</footer></body></html>"
)
PLAIN = {"open": "<main><article>", "close": "</article></main>", "nav": "<li><a href=/>Home</a></li>"}
PLAIN |= {"ad": "<div class='advertisement'>Buy now!</div>", "foot": "© 2020 Example"}
OTHER = {"open": "<div id='content' class='content'><article class='post'>", "close": "</article></div>"}
OTHER |= {"nav": "".join(f"<li><a href=/{i}>Section {i}</a></li>" for i in range(12))}
OTHER |= {"ad": "<p>Related stories</p><p>Cheap flights</p>", "foot": "<p>Imprint</p><p>Privacy</p><p>Contact</p>"}


def words(seed: int, n: int = 12) -> str:
    """A sentence that no other seed gives."""
    return " ".join(f"word{(seed * 7919 + i * 104729) % 99991}" for i in range(n)) + "."


def page(seed: int, look: dict[str, str] = PLAIN) -> str:
    """A page whose article depends on the seed alone, and the rest on the look."""
    body = "".join(f"<p>{words(seed * 100 + i)}</p>" for i in range(8))
    return (HEAD + FRAME).format(title=f"Article {seed}", body=body, **look)


def record(
    kind: str, block: bytes, *, uri: str = "http://a.example/", type: str = "", date: str = "", ident: str = ""
) -> bytes:
    """One record of WARC 1.1."""
    types = {"response": "application/http; msgtype=response", "conversion": "text/plain"}
    head = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{ident or uuid.uuid5(uuid.NAMESPACE_URL, kind + uri)}>",
        "WARC-Date": date or "2024-05-06T07:08:09Z",
        "WARC-Target-URI": uri,
        "Content-Type": type or types.get(kind, "application/warc-fields"),
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def http(body: bytes, type: str = "text/html; charset=utf-8", **more: str) -> bytes:
    """An HTTP answer; `more` are headers, `_` for `-`."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in more.items())
    kind = f"Content-Type: {type}\r\n" if type else ""
    return f"HTTP/1.1 200 OK\r\n{kind}{lines}\r\n".encode() + body


def response(seed: int, look: dict[str, str] = PLAIN, uri: str = "", **more: str) -> bytes:
    """A record with a page."""
    return record("response", http(page(seed, look).encode()), uri=uri or f"http://a.example/{seed}", **more)


def crawl() -> list[bytes]:
    """Eight records: pages in rows 1, 3, 4 and 6; row 3 repeats row 1 in another look."""
    return [
        record("warcinfo", b"software: tests\r\n"),
        response(1),
        record("request", b"GET /1 HTTP/1.1\r\n\r\n", type="application/http; msgtype=request"),
        response(1, OTHER, uri="http://b.example/1"),
        response(2),
        record("response", http(b"\x89PNG" * 100, "image/png"), uri="http://a.example/x.png"),
        record("response", http(words(5, 60).encode(), "text/plain"), uri="http://a.example/t.txt"),
        record("metadata", b"fetchTimeMs: 1\r\n"),
    ]


def members(records: Iterable[bytes]) -> bytes:
    """Each record in a gz member of its own."""
    return b"".join(gzip.compress(r, mtime=0) for r in records)
