"""From the user's paths to input files, in input order.

Arguments count in the order given; within a folder, files are sorted by the UTF-8 bytes of their relative path; each
file is read once, by its real path. Inside folders, hidden files and names that begin with `_` are skipped, as are
links that leave the folder and files of unknown suffix; each is counted. A file named outright is always read.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..data import MAX_PARTS, Input
from ..errors import UsageError
from . import remote

# Suffix → format and compression. Of `.json` only the compressed forms are taken, since those are data sets with one
# object a line (C4, Dolma); a bare `.json` is as often one pretty-printed document or a configuration.
SUFFIXES: dict[str, tuple[str, str]] = {
    ".parquet": ("parquet", ""),
    ".jsonl": ("jsonl", ""),
    ".jsonl.gz": ("jsonl", "gz"),
    ".jsonl.zst": ("jsonl", "zst"),
    ".ndjson": ("jsonl", ""),
    ".ndjson.gz": ("jsonl", "gz"),
    ".ndjson.zst": ("jsonl", "zst"),
    ".json.gz": ("jsonl", "gz"),
    ".json.zst": ("jsonl", "zst"),
    ".csv": ("csv", ""),
    ".csv.gz": ("csv", "gz"),
    ".csv.zst": ("csv", "zst"),
    ".tsv": ("csv", ""),
    ".tsv.gz": ("csv", "gz"),
    ".tsv.zst": ("csv", "zst"),
    ".txt": ("txt", ""),
    ".html": ("html", ""),
    ".htm": ("html", ""),
    ".xhtml": ("html", ""),
    ".warc": ("warc", ""),
    ".warc.gz": ("warc", "gz"),
    ".warc.zst": ("warc", "zst"),
    ".wet": ("warc", ""),
    ".wet.gz": ("warc", "gz"),
    ".wet.zst": ("warc", "zst"),
}
SKIPS = ("hidden", "underscore", "outside_link", "unknown_suffix", "not_a_file", "repeated")


@dataclass(frozen=True, slots=True)
class Discovery:
    """The input files in input order; how many entries were skipped, by reason; the local arguments as absolute paths.

    A skipped folder (hidden, `_…`, or a link) counts once and is not looked into.
    """

    inputs: tuple[Input, ...]
    skipped: dict[str, int]
    roots: tuple[str, ...]


def format_of(name: str) -> tuple[str, str] | None:
    """Format and compression by the suffix of a file name (letter case aside), or None."""
    parts = name.lower().split(".")[-2:]
    for suffix in ("." + ".".join(parts), "." + parts[-1]):
        if "." in name and suffix in SUFFIXES and len(name) >= len(suffix):
            return SUFFIXES[suffix]
    return None


def discover(paths: Sequence[str | os.PathLike[str]]) -> Discovery:
    """Find the input files of the given files, folders, glob patterns and addresses (s3://, https://, hf:// …).

    An existing literal name wins over its reading as a pattern. `Input.file` is relative to the argument, or to the
    common parent of all arguments when there are several; a single file's is its name.

    Raises:
        UsageError: no path, a path or pattern that matches nothing, a folder without a readable file, an unknown suffix
            named outright, two files with one name, a name that is not UTF-8.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    skipped = dict.fromkeys(SKIPS, 0)
    given = [_local(os.fspath(path)) for path in paths]
    if any(map(remote.is_address, given)):
        return _remote(given, skipped)
    arguments = [a for path in given for a in _expand(path, skipped)]
    if not arguments:
        raise UsageError("no input: name at least one file or folder")
    base = _common_parent(arguments) if len(arguments) > 1 else None
    seen: set[str] = set()
    names: dict[str, str] = {}
    inputs: list[Input] = []
    for argument in arguments:
        files = list(_files(argument, skipped))
        own = {os.path.realpath(path) for path, _ in files if not os.path.islink(path)}
        for path, (fmt, compression) in files:
            real = os.path.realpath(path)
            if real in seen or (real in own and os.path.islink(path)):  # a file is met where it lies, not at a link
                skipped["repeated"] += 1
                continue
            seen.add(real)
            file = _name(path, argument if base is None else base)
            if file in names:
                raise UsageError(f"{file}: the name of {names[file]} and of {path}; use separate runs or rename one")
            names[file] = path
            try:
                stat = os.stat(path)
            except OSError as e:
                raise UsageError(f"{path}: cannot be read ({e.strerror})") from e
            inputs.append(Input(len(inputs), file, path, fmt, compression, stat.st_size, stat.st_mtime_ns))
    if len(inputs) > MAX_PARTS:
        raise UsageError(f"{len(inputs):,} input files: at most {MAX_PARTS:,} fit one run; merge small files first")
    return Discovery(tuple(inputs), skipped, tuple(arguments))


def _local(path: str) -> str:
    """A path, of a file:// address the one that it names."""
    return url2pathname(urlsplit(path).path) if path.lower().startswith("file://") else path


def _remote(paths: Sequence[str], skipped: dict[str, int]) -> Discovery:
    """Find the files of addresses, by the same rules as on a disk; links there are none."""
    if here := [path for path in paths if not remote.is_address(path)]:
        raise UsageError(f"{here[0]}: a local path beside addresses has no parent in common; use separate runs")
    arguments: list[str] = []
    for path in paths:
        arguments += _expand_address(path, skipped)
    base = remote.parent(arguments) if len(arguments) > 1 else None
    inputs: dict[str, Input] = {}
    names: dict[str, str] = {}
    for argument in arguments:
        for found, (fmt, compression) in _addressed(argument, skipped):
            if found.address in inputs:
                skipped["repeated"] += 1
                continue
            file = remote.relative(found.address, argument if base is None else base)
            if file in names:
                raise UsageError(
                    f"{file}: the name of {names[file]} and of {found.address}; use separate runs or rename one"
                )
            names[file] = found.address
            inputs[found.address] = Input(
                len(inputs), file, found.address, fmt, compression, found.size, version=found.version
            )
    if len(inputs) > MAX_PARTS:
        raise UsageError(f"{len(inputs):,} input files: at most {MAX_PARTS:,} fit one run; merge small files first")
    return Discovery(tuple(inputs.values()), skipped, ())


def _expand_address(path: str, skipped: dict[str, int]) -> Iterator[str]:
    """The addresses that one stands for, without those that a pattern is not to find."""
    matches, head = remote.expand(path)
    if not head:
        yield from matches
        return
    named = {part[0] for part in path.split("/") if part and part[0] in "._"}
    found = False
    for match in matches:
        reason = _skip_reason(remote.relative(match, head).split("/"))
        if reason is not None and reason[1] not in named:
            skipped[reason[0]] += 1
        elif "." in remote.bare(match).rpartition("/")[2] and format_of(remote.bare(match)) is None:
            skipped["unknown_suffix"] += 1
        else:
            found = True
            yield match
    if not found:
        raise UsageError(
            f"{remote.shown(path)}: matches {len(matches):,} names, none to be read; known suffixes: {_known()}"
        )


def _addressed(argument: str, skipped: dict[str, int]) -> Iterator[tuple[remote.Found, tuple[str, str]]]:
    """The files of one address with their formats, in a folder by the UTF-8 bytes of their names below it."""
    before = dict(skipped)
    files, folder = remote.files(argument)
    kept = []
    for found in files:
        fmt = format_of(remote.bare(found.address).rpartition("/")[2])
        reason = _skip_reason(remote.relative(found.address, argument).split("/")) if folder else None
        if reason is not None:
            skipped[reason[0]] += 1
        elif fmt is not None:
            kept.append((found, fmt))
        elif folder:
            skipped["unknown_suffix"] += 1
        else:
            raise UsageError(f"{argument}: unknown suffix; known are {_known()}")
    if not kept:
        raise _nothing(argument, before, skipped)
    yield from sorted(kept, key=lambda f: remote.relative(f[0].address, argument).encode())


def _expand(path: str, skipped: dict[str, int]) -> Iterator[str]:
    """Absolute arguments that one path stands for: itself, or what its pattern matches, by UTF-8 bytes."""
    if os.path.lexists(path):
        yield os.path.abspath(path)
        return
    if not glob.has_magic(path):
        raise UsageError(f"{path}: no such file or folder")
    matches = glob.glob(path, recursive=True, include_hidden=True)
    if "**" in path:
        matches = [m for m in matches if not os.path.isdir(m)]  # their files match by themselves
    if not matches:
        raise UsageError(f"{path}: no file has this name, and none matches it as a pattern")
    named = {part[0] for part in Path(path).parts if part[0] in "._"}
    fixed = len(_literal_head(path))
    found = False
    for match in sorted(matches, key=os.fsencode):
        reason = _skip_reason(Path(match).parts[fixed:])
        if reason is not None and reason[1] not in named:
            skipped[reason[0]] += 1
        elif os.path.isfile(match) and format_of(os.path.basename(match)) is None:
            skipped["unknown_suffix"] += 1
        else:
            found = True
            yield os.path.abspath(match)
    if not found:
        raise UsageError(f"{path}: matches {len(matches):,} names, none to be read; known suffixes: {_known()}")


def _literal_head(pattern: str) -> tuple[str, ...]:
    """The leading folders of a pattern that hold no wildcard."""
    parts = Path(pattern).parts
    for i, part in enumerate(parts):
        if glob.has_magic(part):
            return parts[:i]
    return parts


def _skip_reason(parts: Sequence[str]) -> tuple[str, str] | None:
    for part in parts:
        if part.startswith("."):
            return "hidden", "."
        if part.startswith("_"):
            return "underscore", "_"
    return None


def _files(argument: str, skipped: dict[str, int]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The files of one argument with their formats."""
    if not os.path.isdir(argument):
        if not os.path.isfile(argument):
            what = "a link to nothing" if os.path.islink(argument) else "not a regular file"
            raise UsageError(f"{argument}: {what}")
        fmt = format_of(os.path.basename(argument))
        if fmt is None:
            raise UsageError(f"{argument}: unknown suffix; known are {_known()}")
        yield argument, fmt
        return
    before = dict(skipped)
    walked = _walk(argument, os.path.realpath(argument), skipped)
    found = sorted(walked, key=lambda f: os.fsencode(_slashes(f[0], argument)))
    if not found:
        raise _nothing(argument, before, skipped)
    yield from found


def _nothing(argument: str, before: dict[str, int], skipped: dict[str, int]) -> UsageError:
    seen = {k: skipped[k] - before[k] for k in skipped if skipped[k] > before[k]}
    had = ", ".join(f"{n:,} {k.replace('_', ' ')}" for k, n in seen.items())
    note = f" (skipped: {had})" if had else ""
    return UsageError(f"{argument}: no readable file in this folder{note}; known suffixes: {_known()}")


def _walk(folder: str, root: str, skipped: dict[str, int]) -> Iterator[tuple[str, tuple[str, str]]]:
    try:
        entries = list(os.scandir(folder))
    except OSError as e:
        raise UsageError(f"{folder}: cannot be listed ({e.strerror})") from e
    for entry in entries:
        reason = _skip_reason([entry.name])
        if reason is not None:
            skipped[reason[0]] += 1
        elif entry.is_symlink() and not _inside(os.path.realpath(entry.path), root):
            skipped["outside_link"] += 1
        elif entry.is_dir():
            if entry.is_symlink():
                skipped["repeated"] += 1  # its files are met where they lie
            else:
                yield from _walk(entry.path, root, skipped)
        elif (fmt := format_of(entry.name)) is None:
            skipped["unknown_suffix"] += 1
        elif not entry.is_file():
            skipped["not_a_file"] += 1  # a link to nothing, a pipe, a socket
        else:
            yield entry.path, fmt


def _inside(real: str, root: str) -> bool:
    return real.startswith(root if root.endswith(os.sep) else root + os.sep)


def _common_parent(arguments: Sequence[str]) -> str:
    try:
        return os.path.commonpath([os.path.dirname(a) for a in arguments])
    except ValueError as e:  # several drives
        raise UsageError(f"{arguments[0]} … {arguments[-1]}: no common parent folder; use separate runs") from e


def _slashes(path: str, base: str) -> str:
    return os.path.relpath(path, base).replace(os.sep, "/")


def _name(path: str, base: str) -> str:
    name = os.path.basename(path) if path == base else _slashes(path, base)
    try:
        name.encode()
    except UnicodeEncodeError as e:
        raise UsageError(f"{os.fsencode(path)!r}: a file name that is not UTF-8; rename the file") from e
    return name


def _known() -> str:
    return " ".join(SUFFIXES)
