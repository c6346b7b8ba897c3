"""Inputs at an address (s3://, gs://, https://, hf://, memory:// …) through fsspec: found, opened, and known again.

Nothing is downloaded as a whole: each read asks for a range of bytes, so that of parquet only needed columns travel.
Addresses are shown, recorded and compared without their secrets; the full one stays in this process.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO, TypeVar, cast
from urllib.parse import unquote

from ..data import Input
from ..errors import ChangedInput, RemoteError, UsageError

T = TypeVar("T")

ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
WEB = ("http", "https")
WILD = re.compile(r"[*?\[]")
BLOCK = 8 << 20  # bytes of one request when a file is streamed
TRIES, WAIT = 5, 0.5  # the pause after a failed request: half a second, doubled each time
PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")
QUERY = re.compile(
    r"([?&][^=&#\s'\"]*(?:sig|token|key|cred|secret|pass|auth|policy|code)[^=&#\s'\"]*=)[^&#\s'\")]+", re.I
)
# What tells one state of a file from another, best first; each file system has some of them.
VERSIONS = (
    "ETag", "etag", "version_id", "generation", "blob_id", "sha256", "md5", "md5Hash", "content_md5", "Content-MD5",
    "Digest", "LastModified", "last_modified", "Last-Modified", "mtime", "updated", "modified", "created",
)  # fmt: skip
ABSENT = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)  # no second try helps
BUSY = (408, 425, 429)  # HTTP statuses below 500 that ask for a second try

_full: dict[str, str] = {}  # shown address → the address with its secrets


class _Gone(Exception):
    """There is nothing at an address, or it may not be read."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file at an address: as it is shown, its size in bytes, and what tells this state of it from another."""

    address: str
    size: int
    version: str


def is_address(path: str) -> bool:
    """Whether a path is an address; `file://` is the local disk."""
    return bool(ADDRESS.match(path)) and not path.lower().startswith("file://")


def shown(address: str) -> str:
    """The address without password, signature or key; this process remembers them."""
    safe = _safe(address)
    if safe != address:
        _full[safe] = address
    return safe


def _safe(text: str) -> str:
    return QUERY.sub(r"\1***", PASSWORD.sub("", text))


def scheme(address: str) -> str:
    """What stands before `://`."""
    return address.partition("://")[0].lower()


def bare(address: str) -> str:
    """An address as a path: without query, and of web addresses without percent signs."""
    if scheme(address) not in WEB:
        return address.rstrip("/")
    parts = re.split(r"[?#]", address, maxsplit=1)[0].rstrip("/").split("/")
    return "/".join(part if "/" in (name := unquote(part)) else name for part in parts)


def parent(arguments: Sequence[str]) -> str:
    """The deepest folder that holds all addresses.

    Raises:
        UsageError: they lie on different file systems.
    """
    folders = [bare(a).rpartition("/")[0].split("/") for a in arguments]
    shared = 0
    for level in zip(*folders, strict=False):
        if len(set(level)) > 1:
            break
        shared += 1
    if shared < 3:
        raise UsageError(f"{arguments[0]} … {arguments[-1]}: no common parent; use separate runs")
    return "/".join(folders[0][:shared])


def relative(address: str, base: str) -> str:
    """The name of a file below a folder; of the address itself its last part."""
    path = bare(address)
    return path.rpartition("/")[2] if path == bare(base) else path.removeprefix(bare(base) + "/")


def _system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it.

    Raises:
        UsageError: fsspec, or the package for this kind of address, is not installed; an unknown kind.
    """
    kind = scheme(address)
    extra = "hf" if kind == "hf" else "remote"
    try:
        import fsspec

        more = {}
        if kind in WEB:  # a part of a file is of the file's own bytes, not of some that were packed for the way
            own = fsspec.config.conf.get(kind, {}).get("headers", {})
            more["headers"] = {**own, "Accept-Encoding": "identity"}
        system, path = fsspec.core.url_to_fs(_full.get(address, address), **more)
        return system, str(path)
    except ImportError as e:
        beside = "" if kind in (*WEB, "hf") else f" and the file system's own package ({_safe(str(e))})"
        raise UsageError(f"{address}: needs pip install 'dejalu[{extra}]'{beside}") from None
    except ValueError as e:
        raise UsageError(f"{address}: cannot be read ({_safe(str(e))})") from None


def expand(address: str) -> tuple[list[str], str]:
    """The addresses that one argument stands for, by their UTF-8 bytes: itself, or all that its pattern matches.

    Of http only single files are read: it has no folders.

    Returns:
        the addresses; the folder before the first wildcard, or "" where there is none.

    Raises:
        UsageError: the pattern matches nothing.
    """
    safe = shown(address)
    if scheme(address) in WEB:
        return [safe], ""
    system, path = _system(safe)
    own = _address(system, path)
    if not WILD.search(own):
        return [own], ""
    matches = _tried(safe, lambda: cast("dict[str, Any]", system.glob(path, detail=True)))
    names = [name for name, info in matches.items() if info["type"] == "file" or "**" not in own]
    if not names:
        raise UsageError(f"{safe}: matches nothing")
    return sorted((_address(system, name) for name in names), key=str.encode), WILD.split(own)[0].rpartition("/")[0]


def files(address: str) -> tuple[list[Found], bool]:
    """The files at an address, and whether it is a folder.

    Raises:
        UsageError: there is nothing, or it may not be read.
    """
    system, path = _system(address)
    if scheme(address) in WEB:
        return [_found(address, _info(address, system, path))], False
    info = _info(address, system, path)
    if info["type"] != "directory":
        return [_found(address, info)], False
    below = _tried(address, lambda: system.find(path, detail=True))
    return [_found(_address(system, name), value) for name, value in below.items() if value["type"] == "file"], True


def _address(system: Any, name: str) -> str:
    return shown(str(system.unstrip_protocol(name)))


def _info(address: str, system: Any, path: str) -> dict[str, Any]:
    try:
        return _tried(address, lambda: cast("dict[str, Any]", system.info(path)))
    except _Gone as e:
        raise UsageError(f"{address}: {e}") from None


def _found(address: str, info: dict[str, Any]) -> Found:
    size = info.get("size")
    if size is None:
        raise UsageError(f"{address}: the server does not tell its size; download the file and give its path")
    lfs = info.get("lfs")
    told = {**info, **(lfs if isinstance(lfs, dict) else {})}
    version = next((told[key] for key in VERSIONS if told.get(key)), "")
    if isinstance(version, float):  # a listing tells a time otherwise than the file does
        version = datetime.fromtimestamp(version, UTC)
    return Found(address, int(size), version.isoformat() if isinstance(version, datetime) else str(version))


def open_address(input: Input, *, stream: bool = True) -> BinaryIO:
    """Open a remote input for reading.

    Args:
        stream: read ahead in requests of BLOCK bytes; else each read is one request for just its bytes.

    Raises:
        ChangedInput: it is not what it was when the run began, or is gone.
        RemoteError: it does not answer.
    """
    system, path = _system(input.path)
    if scheme(input.path) not in WEB:  # which remembers nothing
        system.invalidate_cache(system._parent(path))
    try:
        now = _found(input.path, _tried(input.path, lambda: cast("dict[str, Any]", system.info(path))))
    except _Gone as e:
        raise ChangedInput(f"{input.file}: {input.path}: {e}; it was there when the run began") from None
    for what, old, new in (("size in bytes", input.size, now.size), ("version", input.version, now.version)):
        if old != new:
            raise ChangedInput(
                f"{input.file}: {input.path} differs from what it was when the run began: {what} was {old}, is {new}. "
                "Start anew with --overwrite."
            )
    raw = _Ranges(input, system, path)
    return io.BufferedReader(raw, BLOCK) if stream else cast("BinaryIO", raw)


class _Ranges(io.RawIOBase):
    """A remote file as a binary file: each read is one request."""

    def __init__(self, input: Input, system: Any, path: str) -> None:
        self._input, self._system, self._path = input, system, path
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + (0, self._at, self._input.size)[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return self.read()

    def read(self, size: int | None = -1) -> bytes:
        """Read `size` bytes, fewer at the end, all of the rest if negative."""
        left = max(0, self._input.size - self._at)
        n = left if size is None or size < 0 else min(size, left)
        data = self._range(self._at, self._at + n) if n else b""
        self._at += n
        return data

    def _range(self, start: int, end: int) -> bytes:
        def ask() -> bytes:
            data = bytes(self._system.cat_file(self._path, start=start, end=end))
            if len(data) > end - start:
                raise UsageError(
                    f"{self._input.path}: the server gives the whole file where a part was asked for (no HTTP ranges); "
                    "download it and give its path"
                )
            if len(data) < end - start:
                raise ConnectionError(f"{len(data):,} of {end - start:,} bytes came")
            return data

        try:
            return _tried(self._input.path, ask)
        except _Gone as e:
            raise RemoteError(
                f"{self._input.file}: {self._input.path}: {e}; it was there when the run began. Run again with "
                "--resume when it can be read again."
            ) from None


def _tried(address: str, ask: Callable[[], T]) -> T:
    """Make a request; again, after a pause, where the connection drops or the server is busy.

    Raises:
        _Gone: the answer is that there is nothing, or that it may not be read.
        RemoteError: it failed TRIES times, or in a way that no second try helps.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return ask()
        except (UsageError, ImportError):
            raise
        except Exception as error:  # each file system has errors of its own
            cause = _cause(error)
            status = _status(cause)
            if status in (401, 403, 404, 410) or (status is None and isinstance(cause, ABSENT)):
                raise _Gone(_why(cause)) from None
            if attempt == TRIES or (status is not None and status < 500 and status not in BUSY):
                tries = f"{attempt} tries" if attempt > 1 else "one try"
                raise RemoteError(
                    f"{address}: cannot be read, after {tries} ({_why(cause)}). Check the connection, then run again "
                    "with --resume, or download the file and give its path."
                ) from None
        time.sleep(WAIT * 2 ** (attempt - 1))


def _cause(error: BaseException) -> BaseException:
    """What lies behind an error: fsspec says "not found" of a server that does not answer."""
    while error.__cause__ is not None and _status(error) is None:
        error = error.__cause__
    return error


def _status(error: BaseException) -> int | None:
    """The HTTP status that an error of aiohttp, httpx or botocore tells, or None."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        response = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    found = getattr(error, "status", None) or getattr(response, "status_code", response)
    return found if isinstance(found, int) else None


def _why(error: BaseException) -> str:
    """An error in words, without secrets: libraries put whole addresses into their messages."""
    status = _status(error)
    if status is not None:
        what = {401: "needs credentials", 403: "access denied", 404: "not found", 410: "gone"}.get(status, "")
        return f"HTTP status {status}{', ' if what else ''}{what}"
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    said = _safe(str(error)).splitlines()
    return f"{type(error).__name__}: {said[0][:200]}" if said else type(error).__name__
