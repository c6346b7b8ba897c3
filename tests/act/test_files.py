"""Writing whole files or none: errors, kills, full disks; and which folders are refused or cleared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from act.helpers import verdicts

from dejalu.act import atomic, atomic_file, check_output, clear, sweep, write_corpus
from dejalu.act.files import copy, inside, temporary_name
from dejalu.data import Input
from dejalu.errors import DejaluError, OutputError, UsageError


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.jsonl"
    with atomic_file(path) as file:
        file.write(b"new")
        assert not path.exists()
        assert [p.name for p in path.parent.iterdir()] == [".a.jsonl.dejalu-tmp"]
    assert path.read_bytes() == b"new" and len(list(path.parent.iterdir())) == 1
    with pytest.raises(KeyboardInterrupt), atomic_file(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"new" and len(list(path.parent.iterdir())) == 1


def test_a_leftover_or_a_planted_link_is_not_written_through(tmp_path: Path) -> None:
    path, victim = tmp_path / "a", tmp_path / "victim"
    victim.write_bytes(b"precious")
    temporary_name(path).symlink_to(victim)
    with atomic_file(path) as file:
        file.write(b"new")
    assert victim.read_bytes() == b"precious" and path.read_bytes() == b"new" and not path.is_symlink()


def test_names_at_the_limit_of_the_file_system(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    with atomic_file(path) as file:
        file.write(b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["é" * 127]
    assert not temporary_name(tmp_path / "x.parquet").name.endswith("parquet")


def test_copy_is_byte_for_byte(tmp_path: Path) -> None:
    data = os.urandom(3_000_001)
    for size in (0, 1, len(data)):
        (tmp_path / "a").write_bytes(data[:size])
        copy(tmp_path / "a", tmp_path / "b")
        assert (tmp_path / "b").read_bytes() == data[:size]


def test_names_cannot_leave_the_folder(tmp_path: Path) -> None:
    assert inside(tmp_path, "a/b [1].parquet") == tmp_path / "a" / "b [1].parquet"
    for name in ("../a", "/a", "a/../../b", "a//b", "."):
        with pytest.raises(OutputError, match="not a name below"):
            inside(tmp_path, name)


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match=r"file/a\.txt cannot be written: .*choose another output folder"), atomic(
        tmp_path / "file" / "a.txt"
    ):
        pass


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount command here")
    if done.returncode:
        pytest.skip("a small disk can only be mounted as root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("kind", ["copy", "parquet", "jsonl"])
def test_a_full_disk_is_a_clear_error(small_disk: Path, tmp_path: Path, kind: str) -> None:
    source = tmp_path / f"a.{kind}"
    texts = [os.urandom(500).hex() for _ in range(3000)]
    if kind == "jsonl":
        from act.helpers import records

        data = b"".join(b'{"text":"%s"}\n' % text.encode() for text in texts)
        source.write_bytes(data)
        found, split = verdicts(3000, [0], format="jsonl"), records(data, size=100)
    else:
        pq.write_table(pa.table({"text": texts}), source, row_group_size=100)
        found, split = verdicts(3000, [] if kind == "copy" else [0]), None
    with pytest.raises(OutputError, match=r"disk full: .*could not be written.*Free space.*--resume"):
        write_corpus(found, source, small_disk / "out" / source.name, records=split)
    assert list((small_disk / "out").iterdir()) == []


def test_a_limit_on_file_sizes_is_a_clear_error(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, old[1]))
    try:
        with pytest.raises(OutputError, match="disk full"), atomic_file(tmp_path / "a") as file:
            file.write(bytes(3_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert list(tmp_path.iterdir()) == []


WRITER = """
    import sys
    from pathlib import Path
    sys.path[:0] = [{tests!r}]
    from act.helpers import records, verdicts
    from dejalu.act import write_corpus
    folder = Path(sys.argv[1])
    data = (folder / "a.jsonl").read_bytes()
    print("ready", flush=True)
    for i in range(10**6):
        write_corpus(verdicts(400, [0, 7]), folder / "a.parquet", folder / "out" / f"{{i % 50}}.parquet")
        found = verdicts(1000, [0], format="jsonl", compression="gz")
        split = records(data, size=500)
        write_corpus(found, folder / "a.jsonl", folder / "out" / f"{{i % 50}}.jsonl.gz", records=split)
"""


def test_kill_leaves_no_half_written_file_under_a_final_name(tmp_path: Path) -> None:
    import gzip

    text = "words " * 300
    pq.write_table(pa.table({"text": [f"{i} {text}" for i in range(400)]}), tmp_path / "a.parquet", row_group_size=50)
    lines = [b'{"text":"%d %s"}\n' % (i, text.encode()) for i in range(1000)]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    code = textwrap.dedent(WRITER.format(tests=str(Path(__file__).parents[1])))
    leftovers = 0
    for attempt in range(4):
        command = [sys.executable, "-c", code, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            while len(list(tmp_path.glob("out/*.gz"))) < 2:
                time.sleep(0.01)
            time.sleep(0.037 * attempt)
            process.send_signal(signal.SIGKILL)
        for path in (tmp_path / "out").iterdir():
            if path.name.startswith("."):
                assert path.name.endswith(".dejalu-tmp")
            elif path.suffix == ".gz":
                assert gzip.decompress(path.read_bytes()) == b"".join(lines[1:])
            else:
                assert pq.read_table(path).num_rows == 398
        leftovers += sweep(tmp_path / "out")
        assert not any(p.name.startswith(".") for p in (tmp_path / "out").iterdir())
    assert any((tmp_path / "out").iterdir()) and leftovers <= 4


# Which folders may be written.


def corpus(folder: Path) -> tuple[Path, list[Input]]:
    """An input folder with one file, and what reading would make of it."""
    root = folder / "corpus"
    (root / "sub").mkdir(parents=True)
    path = root / "sub" / "a.jsonl"
    path.write_bytes(b'{"text":"x"}\n')
    return root, [Input(0, "sub/a.jsonl", str(path), "jsonl", size=path.stat().st_size)]


def refused(words: str, folder: Path, out: Path, evidence: Path, *, roots: list[Path] | None = None) -> None:
    root, inputs = folder / "corpus", [Input(0, "sub/a.jsonl", str(folder / "corpus/sub/a.jsonl"), "jsonl")]
    before = sorted(folder.rglob("*"))
    for options in ({}, {"overwrite": True}, {"resume": True}):
        with pytest.raises(DejaluError, match=words):
            check_output(out, evidence, inputs, roots or [root], **options)
    assert sorted(folder.rglob("*")) == before


def test_folders_that_would_mix_with_the_input_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, _ = corpus(tmp_path)
    elsewhere = tmp_path / "evidence"
    refused("output folder .* is the input folder", tmp_path, root, elsewhere)
    refused("evidence folder .* is the input folder", tmp_path, elsewhere, root)
    refused("lies inside the input folder", tmp_path, root / "new" / "deep", elsewhere)
    refused("lies inside the input folder", tmp_path, tmp_path / "clean", root / "evidence")
    refused("holds the input", tmp_path, tmp_path, tmp_path.parent / "somewhere-else")
    refused("holds the input", tmp_path, root / "sub", elsewhere, roots=[root / "sub" / "a.jsonl"])
    (tmp_path / "link").symlink_to(root)
    refused("is the input folder", tmp_path, tmp_path / "link", elsewhere)
    refused("lies inside the input folder", tmp_path, tmp_path / "link" / "clean", elsewhere)
    refused("lies inside the input folder", tmp_path, root / ".." / "corpus" / "clean", elsewhere)
    monkeypatch.chdir(root)
    refused("is the input folder", tmp_path, Path("."), elsewhere)
    refused("holds the input", tmp_path, Path(".."), elsewhere)


def test_an_input_file_as_output_is_refused_by_every_name(tmp_path: Path) -> None:
    root, _ = corpus(tmp_path)
    data = root / "sub" / "a.jsonl"
    (tmp_path / "alias.jsonl").symlink_to(data)
    os.link(data, tmp_path / "hard.jsonl")
    for name in (data, tmp_path / "alias.jsonl", tmp_path / "hard.jsonl", data.resolve()):
        refused("is the input file .* itself", tmp_path, name, tmp_path / "evidence", roots=[data])
        assert data.read_bytes() == b'{"text":"x"}\n'


def test_output_and_evidence_must_be_apart(tmp_path: Path) -> None:
    corpus(tmp_path)
    out = tmp_path / "clean"
    refused("the same folder", tmp_path, out, out)
    refused("evidence folder lies inside the output", tmp_path, out, out / "evidence")
    refused("output folder lies inside the evidence", tmp_path, out / "data", out)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    refused("the same folder", tmp_path, tmp_path / "real", tmp_path / "link")
    refused("lies inside", tmp_path, tmp_path / "link", tmp_path / "real" / "evidence")


def test_folders_that_are_not_empty_need_a_word(tmp_path: Path) -> None:
    root, inputs = corpus(tmp_path)
    out, evidence = tmp_path / "a" / "clean", tmp_path / "b" / "evidence"
    check_output(out, evidence, inputs, [root])
    assert out.is_dir() and evidence.is_dir()
    check_output(out, evidence, inputs, [str(root)])  # empty folders are fine
    for folder, name in ((out, "old.parquet"), (evidence, ".work")):
        (folder / name).write_bytes(b"")
        with pytest.raises(OutputError, match=rf"is not empty \(it holds '{name}'\).*--resume.*--overwrite"):
            check_output(out, evidence, inputs, [root])
        check_output(out, evidence, inputs, [root], overwrite=True)
        check_output(out, evidence, inputs, [root], resume=True)
        if folder == evidence:
            check_output(out, evidence, inputs, [root], evidence_is_read=True)
        (folder / name).unlink()
    with pytest.raises(UsageError, match="give one of them"):
        check_output(out, evidence, inputs, [root], overwrite=True, resume=True)
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "lost").symlink_to("nowhere")
    for name, words in (("file", "is a file"), ("lost", "leads nowhere")):
        with pytest.raises(OutputError, match=words):
            check_output(tmp_path / name, evidence, inputs, [root])
    check_output(None, evidence, inputs, [root])


def test_folders_that_cannot_be_made_are_clear_errors(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match="cannot be written"):
        check_output(tmp_path / "file" / "clean", tmp_path / "evidence", [], [])


def test_evidence_names_that_collide_are_refused(tmp_path: Path) -> None:
    names = ["x.jsonl", "x.jsonl.parquet/part.parquet", "y.parquet"]
    inputs = [Input(part, name, str(tmp_path / name), "parquet") for part, name in enumerate(names)]
    with pytest.raises(OutputError, match=r"evidence of 'x\.jsonl'.*Rename"):
        check_output(tmp_path / "out", tmp_path / "ev", inputs, [])
    check_output(tmp_path / "out", tmp_path / "ev", inputs[1:], [])


def test_clear_deletes_what_the_folder_holds_and_nothing_else(tmp_path: Path) -> None:
    out, outside = tmp_path / "out", tmp_path / "outside"
    (out / "a" / "b").mkdir(parents=True)
    outside.mkdir()
    for path in (out / "x.parquet", out / "a" / "b" / "y", out / "a" / ".hidden", outside / "precious"):
        path.write_bytes(b"x")
    (out / "link").symlink_to(outside)
    (out / "a" / "file-link").symlink_to(outside / "precious")
    os.link(outside / "precious", out / "hard")
    clear(out)
    assert list(out.iterdir()) == [] and (outside / "precious").read_bytes() == b"x"
    clear(tmp_path / "absent")
    (out / "again").write_bytes(b"x")
    (tmp_path / "link").symlink_to(out)
    clear(tmp_path / "link")  # the named folder itself may be a link: what it holds is cleared
    assert list(out.iterdir()) == [] and (tmp_path / "link").is_symlink()


def test_folders_that_are_never_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, inputs = corpus(tmp_path)
    home, work, repo = tmp_path / "home" / "me", tmp_path / "work" / "now", tmp_path / "repo"
    for folder in (home, work, repo / ".git"):
        folder.mkdir(parents=True)
        (folder / "precious").write_bytes(b"x")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    for folder, words in (
        (Path("/"), "root of the file system"),
        (home, "home folder"),
        (home.parent, "home folder"),
        (work, "working folder"),
        (work.parent, "working folder"),
        (repo, "git repository"),
        (root, "holds the input"),
        (root / "sub", "holds the input"),
        (root / "sub" / "a.jsonl", "is a file"),
    ):
        with pytest.raises(OutputError, match=words):
            clear(folder, inputs)
    assert sum(p.name == "precious" for p in tmp_path.rglob("*")) == 3 and (root / "sub" / "a.jsonl").exists()


def test_disks_are_never_cleared(small_disk: Path) -> None:
    (small_disk / "precious").write_bytes(b"x")
    with pytest.raises(OutputError, match="is a mounted disk"):
        clear(small_disk)
    with pytest.raises(OutputError, match="another disk, mounted inside"):
        clear(small_disk.parent)
    assert (small_disk / "precious").exists()


def test_verdicts_in_any_order_give_the_same_file(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [f"t{i}" for i in range(50)]}), tmp_path / "a.parquet")
    names = [f"{i}.parquet" for i in range(6)]
    for folder, order in (("x", names), ("y", names[::-1])):
        for name in order:
            removed = np.arange(int(name[0]), 50, 3).tolist()
            write_corpus(verdicts(50, removed), tmp_path / "a.parquet", tmp_path / folder / name)
    for name in names:
        assert (tmp_path / "x" / name).read_bytes() == (tmp_path / "y" / name).read_bytes()
