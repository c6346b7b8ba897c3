"""A real web server on this machine that serves a folder: byte ranges, ETags, a few routes of the Hub, and faults."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass
class Loopback:
    """The server at `url`.

    faults   what goes wrong with the next requests for files: drop, half, slow, or a status; "" for nothing
    ranges   whether parts of a file are given; sizes: whether its size is told
    log      method, path, range and bytes sent of each request for a file
    """

    folder: Path
    url: str = ""
    faults: list[str] = field(default_factory=list)
    ranges: bool = True
    sizes: bool = True
    log: list[tuple[str, str, str, int]] = field(default_factory=list)

    def sent(self, suffix: str) -> int:
        """Bytes of files sent whose path ends so."""
        return sum(n for method, path, _, n in self.log if method == "GET" and path.endswith(suffix))


def etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    loopback: Loopback

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def do_POST(self) -> None:
        given = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = unquote(urlsplit(self.path).path)
        if "/paths-info/" in path:
            try:
                paths = json.loads(given)["paths"]
            except ValueError:
                from urllib.parse import parse_qs

                paths = parse_qs(given.decode())["paths"]
            self.json([e for p in paths if (e := self.entry(p))])
        else:
            self.send(404, b"")

    def answer(self, body: bool) -> None:
        own = self.loopback
        path = unquote(urlsplit(self.path).path)
        if path.startswith("/api/"):
            self.api(path)
            return
        name = path.partition("/resolve/")[2].partition("/")[2] if "/resolve/" in path else path[1:]
        file = own.folder / name
        if not file.is_file():
            self.send(404, b"")
            return
        data = file.read_bytes()
        fault = own.faults.pop(0) if own.faults else ""
        if fault == "drop":
            self.close_connection = True
            self.connection.close()
            return
        if fault.isdigit():
            self.send(int(fault), b"busy")
            return
        if fault == "slow":
            time.sleep(1)
        wanted = self.headers.get("Range", "")
        status, part = 200, data
        headers = {"ETag": f'"{etag(data)}"', "Accept-Ranges": "bytes", "X-Repo-Commit": "0" * 40}
        packed = "gzip" in self.headers.get("Accept-Encoding", "")
        if packed and self.headers.get("User-Agent", "").startswith("Python"):
            data = part = gzip.compress(data)  # as servers do that keep a packed form for all who say that they take it
            headers["Content-Encoding"] = "gzip"
        if wanted and own.ranges:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            part = data[int(first) : int(last) + 1 if last else None]
            status = 206
            headers["Content-Range"] = f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}"
        own.log.append((self.command, path, wanted, len(part) if body else 0))
        if fault == "half" and body:
            self.send_response(status)
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part[: len(part) // 2])
            self.close_connection = True
            return
        self.send(status, part, body=body, **headers)

    def api(self, path: str) -> None:
        """Routes of the Hub: a repository's facts, and what a folder holds."""
        if "/revision/" in path or path.count("/") == 4:
            facts = {"id": "owner/name", "sha": "0" * 40, "private": False}
            self.json({**facts, "siblings": [], "tags": [], "downloads": 0})
        elif "/tree/" in path:
            below = path.partition("/tree/")[2].partition("/")[2]
            top = self.loopback.folder / below
            if not top.is_dir():
                self.send(404, b"")
                return
            names = sorted(p.relative_to(self.loopback.folder).as_posix() for p in top.rglob("*"))
            if "recursive=true" not in self.path.lower():
                names = [n for n in names if "/" not in n.removeprefix(below).strip("/")]
            self.json([self.entry(n) for n in names])
        else:
            self.send(404, b"")

    def entry(self, name: str) -> dict[str, Any] | None:
        file = self.loopback.folder / name
        if file.is_dir():
            return {"type": "directory", "path": name, "oid": etag(name.encode()), "size": 0}
        if not file.is_file():
            return None
        data = file.read_bytes()
        return {"type": "file", "path": name, "oid": etag(data), "size": len(data)}

    def json(self, value: Any) -> None:
        self.send(200, json.dumps(value).encode(), Content_Type="application/json")

    def send(self, status: int, data: bytes, *, body: bool = True, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if self.loopback.sizes or status != 200:
            self.send_header("Content-Length", str(len(data)))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if body and self.command != "HEAD":
            self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # the client went away


@contextmanager
def serving(folder: Path) -> Iterator[Loopback]:
    """Serve a folder on a free port of this machine."""
    own = Loopback(folder)
    server = Server(("127.0.0.1", 0), type("Own", (Handler,), {"loopback": own}))
    own.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield own
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
