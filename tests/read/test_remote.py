"""Remote inputs, on real servers of this machine: http with ranges and faults, the Hub's routes, S3."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from running import dejalu, evidence_of, steady

from dejalu import Plan, dedup, read
from dejalu.cli.evidence import Evidence as Shown
from dejalu.errors import ChangedInput, RemoteError, UsageError
from dejalu.read import remote

from .helpers import load, one
from .loopback import Loopback, serving
from .webpages import crawl, members, words

pytest.importorskip("fsspec", reason="needs dejalu[remote]")


def rows(first: int, n: int) -> dict[str, list[object]]:
    """Documents, every third of which repeats an earlier one but for a word."""
    texts = [words(i - i % 3, 60) + (" again" if i % 3 else "") for i in range(first, first + n)]
    return {"id": list(range(first, first + n)), "text": texts, "other": [words(i + 10**6, 60) for i in range(n)]}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder of every kind of file."""
    folder = tmp_path / "corpus"
    (folder / "sub").mkdir(parents=True)
    pq.write_table(pa.table(rows(0, 300)), folder / "a.parquet", row_group_size=100)
    pq.write_table(pa.table(rows(600, 30)), folder / "sub" / "b c.parquet")
    table = rows(150, 60)
    lines = "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in zip(table["id"], table["text"], strict=True))
    (folder / "d.jsonl.zst").write_bytes(zstandard.compress(lines.encode()))
    (folder / "e.csv").write_text("id,text\n" + "".join(f"{i},{words(i, 60)}\n" for i in (0, 3, 900)), "utf-8")
    (folder / "f.txt").write_text(words(900, 60), "utf-8")
    (folder / "g.warc.gz").write_bytes(members(crawl()))
    (folder / "_skip.parquet").write_bytes(b"")
    (folder / ".hidden.txt").write_bytes(b"")
    (folder / "readme.md").write_bytes(b"")
    return folder


@pytest.fixture
def server(corpus: Path) -> Iterator[Loopback]:
    pytest.importorskip("aiohttp", reason="needs dejalu[remote]")
    with serving(corpus) as own:
        yield own


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "WAIT", 0.01)


NAMES = ["a.parquet", "sub/b c.parquet", "d.jsonl.zst", "e.csv", "f.txt", "g.warc.gz"]


@pytest.mark.parametrize("name", NAMES)
def test_http_gives_what_the_disk_gives(server, corpus, name):
    there = f"{server.url}/{name.replace(' ', '%20')}"
    found = one(there)
    assert (found.file, found.size) == (name.rpartition("/")[2], (corpus / name).stat().st_size)
    assert load(there) == load(corpus / name)


def test_parquet_reads_only_the_needed_columns_and_row_groups(server, corpus):
    wide = {"text": [words(i) for i in range(3000)], "blob": [words(i, 400) for i in range(3000)]}
    pq.write_table(
        pa.table(wide), corpus / "wide.parquet", row_group_size=1000, compression="none", use_dictionary=False
    )
    where = one(f"{server.url}/wide.parquet")
    columns = read.resolve(where)
    server.log.clear()
    total = sum(len(d) for p in read.pieces(where, columns) for d in read.read(where, p, columns))
    assert total == 3000
    texts = sum(len(t) for t in wide["text"])
    assert texts < server.sent("wide.parquet") < 1.5 * texts < where.size / 10
    gets = [entry for entry in server.log if entry[0] == "GET"]
    assert all(entry[2] for entry in gets) and len(gets) < 12
    server.log.clear()
    import numpy as np

    assert [len(d) for d in read.rows(where, columns, np.array([1500]))] == [1]
    assert server.sent("wide.parquet") < texts


def test_a_run_over_http_gives_the_bytes_of_a_run_over_the_disk(server, corpus, tmp_path):
    names = ["a.parquet", "d.jsonl.zst", "e.csv", "f.txt", "g.warc.gz"]
    dedup([corpus / n for n in names], tmp_path / "disk", id_column=None)
    dedup([f"{server.url}/{n}" for n in names], tmp_path / "web")
    there, here = steady(tmp_path / "web"), steady(tmp_path / "disk")
    assert there == here
    assert any(k.startswith("corpus/") for k in here) and len(here) > 10
    result = dedup(f"{server.url}/a.parquet")
    assert len(result.keep) == 300 and not result.keep.all()


def test_it_is_shown_and_applied_from_there(server, tmp_path):
    from dejalu.run.applying import apply

    report = dedup(f"{server.url}/a.parquet", tmp_path / "out", mode="report")
    shown = Shown.open(tmp_path / "out-evidence")
    pairs = list(shown.shown(shown.first(2)))
    assert len(pairs) == 2 and pairs[0].text.startswith(pairs[0].twin_text.removesuffix(" again"))
    apply(tmp_path / "out-evidence", tmp_path / "out")
    assert pq.read_metadata(tmp_path / "out" / "a.parquet").num_rows == report.keep.sum()


@pytest.mark.parametrize("faults", [["drop"], ["503", "503"], ["half"], ["slow"], ["", "429", "drop", "half", "500"]])
@pytest.mark.parametrize("name", ["a.parquet", "d.jsonl.zst"])
def test_drops_and_busy_servers_are_tried_again(server, corpus, name, faults):
    where = one(f"{server.url}/{name}")
    server.faults = list(faults)
    columns = read.resolve(where)
    server.faults += faults
    found = [d for p in read.pieces(where, columns) for d in read.read(where, p, columns)]
    assert sum(map(len, found)) == (300 if name == "a.parquet" else 60)


@pytest.mark.parametrize("fault", ["drop", "503", "half"])
def test_a_server_that_stays_away_is_an_error_that_names_the_file(server, fault):
    where = one(f"{server.url}/a.parquet")
    columns = read.resolve(where)
    server.faults = [fault] * 200
    with pytest.raises(RemoteError, match=r"a\.parquet: cannot be read, after 5 tries \(.*--resume"):
        list(read.read(where, read.Piece(0, 0, 100, 0, 1), columns))
    if fault != "half":  # of a file's head there is no half
        with pytest.raises(RemoteError, match="after 5 tries"):
            read.discover([f"{server.url}/a.parquet"])


def test_a_run_goes_on_after_the_server_was_away(server, tmp_path):
    out = tmp_path / "out"
    urls = [f"{server.url}/a.parquet", f"{server.url}/d.jsonl.zst"]
    plan = Plan()
    server.faults = [""] * 8 + ["503"] * 300
    with pytest.raises(RemoteError):
        dedup(urls, out, plan=plan)
    assert (tmp_path / "out-evidence" / ".work").is_dir()
    server.faults = []
    dedup(urls, out, plan=plan, resume=True)
    dedup(urls, tmp_path / "whole", plan=plan)
    assert steady(out) == steady(tmp_path / "whole")


def test_a_file_that_changed_is_refused(server, corpus, tmp_path):
    where = one(f"{server.url}/f.txt")
    columns = read.resolve(where)
    data = (corpus / "f.txt").read_bytes()
    (corpus / "f.txt").write_bytes(data[::-1])
    with pytest.raises(ChangedInput, match=r"f\.txt.*version was"):
        list(read.read(where, read.Piece(0), columns))
    (corpus / "f.txt").write_bytes(data + b"x")
    with pytest.raises(ChangedInput, match=r"f\.txt.*size in bytes was"):
        list(read.read(where, read.Piece(0), columns))
    (corpus / "f.txt").unlink()
    with pytest.raises(ChangedInput, match=r"f\.txt.*HTTP status 404"):
        list(read.read(where, read.Piece(0), columns))
    dedup(f"{server.url}/e.csv", tmp_path / "out")
    with (corpus / "e.csv").open("ab") as file:
        file.write(b"9,new\n")
    with pytest.raises(ChangedInput, match=r"e\.csv"):
        dedup(f"{server.url}/e.csv", tmp_path / "out", resume=True)


def test_what_is_not_there_or_not_served(server, corpus, tmp_path):
    for path, words_ in (
        (f"{server.url}/no.parquet", "no.parquet: HTTP status 404"),
        (f"{server.url}/readme.md", "unknown suffix"),
        ("nonsense://x/y.parquet", "nonsense://x/y.parquet"),
        ("memory://nowhere/x.parquet", "no such file"),
        ("memory://nowhere/*.parquet", "matches nothing"),
    ):
        with pytest.raises(UsageError, match=words_):
            read.discover([path])
    with pytest.raises(UsageError, match="local path beside addresses"):
        read.discover([corpus, f"{server.url}/a.parquet"])
    with pytest.raises(UsageError, match=r"output s3:.* is an address.*-o"):
        dedup(corpus / "a.parquet", "s3://bucket/out")
    with pytest.raises(UsageError, match=r"evidence memory:.* is an address.*--evidence"):
        dedup(corpus / "a.parquet", tmp_path / "out", evidence="memory://bucket/out")
    assert not Path("s3:").exists() and not Path("memory:").exists()
    server.sizes = False
    with pytest.raises(UsageError, match="does not tell its size"):
        read.discover([f"{server.url}/a.parquet"])
    server.sizes, server.ranges = True, False
    with pytest.raises(UsageError, match="no HTTP ranges"):
        load(f"{server.url}/a.parquet")


def test_secrets_are_in_no_file_and_no_message(server, corpus, tmp_path):
    host = server.url.removeprefix("http://")
    secret = f"http://user:pa55@{host}/e.csv?X-Amz-Signature=s3cr3t&id=3"
    dedup(secret, tmp_path / "out")
    for path in [p for f in ("out", "out-evidence") for p in (tmp_path / f).rglob("*") if p.is_file()]:
        assert b"pa55" not in path.read_bytes() and b"s3cr3t" not in path.read_bytes()
    inputs = evidence_of(tmp_path / "out").report["run"]["inputs"]
    assert inputs[0]["path"] == f"http://{host}/e.csv?X-Amz-Signature=***&id=3"
    dedup(secret, tmp_path / "out", resume=True)
    where = one(secret)
    for fault in ("503", "403", "drop"):
        server.faults = [fault] * 100
        with pytest.raises((RemoteError, ChangedInput)) as caught:
            list(read.read(where, read.Piece(0), read.Columns(("text",))))
        assert "pa55" not in str(caught.value) and "s3cr3t" not in str(caught.value)
        assert caught.value.__cause__ is None
        with pytest.raises((RemoteError, UsageError)) as caught:
            read.discover([secret])
        assert "pa55" not in str(caught.value) and "s3cr3t" not in str(caught.value)


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UsageError, match=r"https://a/b\.parquet.*dejalu\[remote\]"):
        read.discover(["https://a/b.parquet"])
    with pytest.raises(UsageError, match=r"dejalu\[hf\]"):
        read.discover(["hf://datasets/a/b/c.parquet"])
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(UsageError, match=r"gs://a/b\.parquet.*gcsfs"):
        read.discover(["gs://a/b.parquet"])


@pytest.fixture
def memory(corpus: Path) -> Iterator[str]:
    import fsspec

    system = fsspec.filesystem("memory")
    for path in corpus.rglob("*"):
        if path.is_file():
            system.pipe_file(f"/bucket/top/{path.relative_to(corpus).as_posix()}", path.read_bytes())
    yield "memory://bucket/top"
    system.rm("/bucket", recursive=True)


def test_folders_and_patterns_name_files_as_the_disk_does(memory, corpus):
    for below in ([""], ["/*.parquet"], ["/**/*.parquet"], ["/sub", "/d.jsonl.zst"], ["/_skip*", "/e.csv"], ["/[de]*"]):
        if below[0].startswith("/_"):
            (corpus / "_skip.parquet").unlink()
            continue
        here = read.discover([f"{corpus}{b}" for b in below])
        there = read.discover([f"{memory}{b}" for b in below])
        assert [i.file for i in there.inputs] == [i.file for i in here.inputs]
        assert [(i.part, i.format, i.size) for i in there.inputs] == [(i.part, i.format, i.size) for i in here.inputs]
        assert there.skipped == here.skipped and there.roots == ()
    assert one(f"file://{corpus}/f.txt").path == str(corpus / "f.txt")


def test_a_run_over_memory_gives_the_bytes_of_a_run_over_the_disk(memory, corpus, tmp_path):
    dedup(corpus, tmp_path / "disk", mode="tag")
    dedup(memory, tmp_path / "far", mode="tag")
    assert steady(tmp_path / "far") == steady(tmp_path / "disk")


def test_the_hub(server, corpus, tmp_path):
    pytest.importorskip("huggingface_hub", reason="needs dejalu[hf]")
    env = {"HF_ENDPOINT": server.url, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_TELEMETRY": "1"}
    env |= {"HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1"}
    for address, local in (
        ("hf://datasets/owner/name", str(corpus)),
        ("hf://datasets/owner/name/**/*.parquet", f"{corpus}/**/*.parquet"),
    ):
        shutil.rmtree(tmp_path / "disk", ignore_errors=True)
        dejalu("dedup", local, "-o", "disk", "--overwrite", cwd=tmp_path)
        ran = dejalu("dedup", address, "-o", "hub", "--overwrite", cwd=tmp_path, env=env)
        assert steady(tmp_path / "hub") == steady(tmp_path / "disk"), ran.stderr
    ran = dejalu("dedup", "hf://datasets/owner/name/no.parquet", "-o", "x", cwd=tmp_path, env=env, code=2)
    assert "no.parquet" in ran.stderr and "Traceback" not in ran.stderr


def test_s3(corpus, tmp_path, monkeypatch):
    pytest.importorskip("s3fs", reason="needs s3fs and moto[server]")
    moto = pytest.importorskip("moto.server", reason="needs s3fs and moto[server]")
    import boto3

    for name, value in (
        ("AWS_ACCESS_KEY_ID", "AKIATEST"),
        ("AWS_SECRET_ACCESS_KEY", "s3cr3t"),
        ("AWS_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    own = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    own.start()
    try:
        url = "http://{}:{}".format(*own.get_host_and_port())
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        client = boto3.client("s3", endpoint_url=url, region_name="us-east-1")
        client.create_bucket(Bucket="bucket")
        for path in corpus.rglob("*"):
            if path.is_file():
                client.put_object(
                    Bucket="bucket", Key=f"top/{path.relative_to(corpus).as_posix()}", Body=path.read_bytes()
                )
        client.close()
        dedup(corpus, tmp_path / "disk")
        dedup("s3://bucket/top", tmp_path / "far")
        assert steady(tmp_path / "far") == steady(tmp_path / "disk")
        for path in (tmp_path / "far-evidence").rglob("*"):
            assert path.is_dir() or b"s3cr3t" not in path.read_bytes()
        (found,) = read.discover(["s3://bucket/top/a.parquet"]).inputs
        assert (found.file, found.path) == ("a.parquet", "s3://bucket/top/a.parquet") and found.version
        with pytest.raises(UsageError, match="no such file"):
            read.discover(["s3://bucket/nowhere.parquet"])
    finally:
        own.stop()
