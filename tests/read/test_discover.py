"""discover: input order, names, what is skipped, what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dejalu.errors import UsageError
from dejalu.read import discover


def put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")


def files(*paths: str | os.PathLike[str]) -> list[str]:
    return [i.file for i in discover(paths).inputs]


def test_a_folder_is_sorted_by_utf8_bytes_of_the_relative_path(tmp_path):
    put(tmp_path, "b.jsonl", "B.jsonl", "a/z.txt", "a.txt", "é.csv", "a/b/c.parquet", "\U0001f600.txt", "\uffee.txt")
    expected = ["B.jsonl", "a.txt", "a/b/c.parquet", "a/z.txt", "b.jsonl", "é.csv", "\uffee.txt", "\U0001f600.txt"]
    assert files(tmp_path) == expected
    assert [i.part for i in discover([tmp_path]).inputs] == list(range(8))


def test_formats_and_compression(tmp_path):
    put(
        tmp_path,
        "a.parquet",
        "b.jsonl",
        "c.jsonl.gz",
        "d.JSONL.ZST",
        "e.csv",
        "f.tsv.gz",
        "g.txt",
        "h.ndjson",
        "i.json.gz",
    )
    found = {i.file: (i.format, i.compression) for i in discover([tmp_path]).inputs}
    assert found == {
        "a.parquet": ("parquet", ""),
        "b.jsonl": ("jsonl", ""),
        "c.jsonl.gz": ("jsonl", "gz"),
        "d.JSONL.ZST": ("jsonl", "zst"),
        "e.csv": ("csv", ""),
        "f.tsv.gz": ("csv", "gz"),
        "g.txt": ("txt", ""),
        "h.ndjson": ("jsonl", ""),
        "i.json.gz": ("jsonl", "gz"),
    }


def test_arguments_keep_their_order_and_share_their_common_parent(tmp_path):
    put(tmp_path, "x/b.txt", "y/a.txt", "y/c/d.txt")
    assert files(tmp_path / "y", tmp_path / "x" / "b.txt") == ["y/a.txt", "y/c/d.txt", "x/b.txt"]
    assert files(tmp_path / "x" / "b.txt") == ["b.txt"]
    assert files(tmp_path / "y" / "a.txt", tmp_path / "y" / "c" / "d.txt") == ["a.txt", "c/d.txt"]


def test_what_is_skipped_is_counted(tmp_path):
    put(
        tmp_path,
        "in/a.txt",
        "in/.hidden.txt",
        "in/.git/x.txt",
        "in/_SUCCESS",
        "in/_tmp/y.txt",
        "in/readme.md",
        "out.txt",
    )
    os.symlink(tmp_path / "out.txt", tmp_path / "in" / "link.txt")
    os.symlink(tmp_path, tmp_path / "in" / "up")
    os.symlink(tmp_path / "in" / "a.txt", tmp_path / "in" / "b.txt")
    found = discover([tmp_path / "in"])
    assert [i.file for i in found.inputs] == ["a.txt"]
    assert found.skipped == {
        "hidden": 2,
        "underscore": 2,
        "outside_link": 2,
        "unknown_suffix": 1,
        "not_a_file": 0,
        "repeated": 1,
    }


def test_each_file_is_read_once_by_its_real_path(tmp_path):
    put(tmp_path, "a.txt", "b.txt")
    found = discover([tmp_path / "b.txt", tmp_path, tmp_path / "." / "a.txt"])
    assert [Path(i.path).name for i in found.inputs] == ["b.txt", "a.txt"]
    assert found.skipped["repeated"] == 2


def test_a_file_named_outright_is_read(tmp_path):
    put(tmp_path, ".h.txt", "_u.txt", "elsewhere/l.txt")
    os.symlink(tmp_path / "elsewhere" / "l.txt", tmp_path / "link.txt")
    for name in (".h.txt", "_u.txt", "link.txt"):
        assert files(tmp_path / name) == [name]
    put(tmp_path, ".hidden/x.txt")
    assert files(tmp_path / ".hidden") == ["x.txt"]


def test_patterns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(
        tmp_path, "d/b.txt", "d/a.txt", "d/_c.txt", "d/.e.txt", "d/x.md", "d/sub/f.txt", "star*.txt", "[x].txt", "x.txt"
    )
    assert files("d/*.txt") == ["a.txt", "b.txt"]
    assert files("d/*") == ["a.txt", "b.txt", "sub/f.txt"]
    assert files("d/**") == ["a.txt", "b.txt", "sub/f.txt"]
    assert files("d/_*.txt") == ["_c.txt"]
    assert files("d/.*.txt") == [".e.txt"]
    assert files("star*.txt") == ["star*.txt"]  # a literal name wins
    assert files("[x].txt") == ["[x].txt"]
    assert discover(["d/*"]).skipped == {
        "hidden": 1,
        "underscore": 1,
        "outside_link": 0,
        "unknown_suffix": 1,
        "not_a_file": 0,
        "repeated": 0,
    }


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["nothing.txt"], "no such file or folder"),
        (["no*.txt"], "no file has this name, and none matches"),
        (["a.md"], "unknown suffix; known are .parquet .jsonl"),
        (["*.md"], "none to be read"),
        (["empty"], "no readable file in this folder"),
        (["hidden"], "skipped: 1 hidden"),
        ([], "no input"),
        (["dangling.txt"], "a link to nothing"),
    ],
)
def test_what_cannot_be_served_is_refused(tmp_path, monkeypatch, paths, message):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "a.md", "hidden/.x.txt")
    (tmp_path / "empty").mkdir()
    os.symlink("gone.txt", "dangling.txt")
    with pytest.raises(UsageError, match=message.replace(".", r"\.")):
        discover(paths)


def test_size_and_time_are_those_of_the_file(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"abc")
    (found,) = discover([tmp_path]).inputs
    assert found.size == 3 and found.mtime_ns == os.stat(tmp_path / "a.txt").st_mtime_ns
