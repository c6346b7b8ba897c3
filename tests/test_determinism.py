"""One input, one answer: the same bytes for every way of running, and after a kill at any moment."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import corpus
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from running import dejalu, environment, evidence_of, steady, write_jsonl

import dejalu as library
from dejalu import _native

PLANS = {
    "default": (),
    "all": (
        *("--threshold", "0.5", "--shingle", "3", "--keep", "longest", "--within", "lang", "--audit", "40"),
        *("--source-column", "source", "--prefer", "b,a", "--add-columns", "copies"),
    ),
    "tag": ("--mode", "tag", "--unit", "char", "--keep", "max:day"),
    "exact": ("--method", "exact", "--keep", "last"),
}
OTHERS = {  # every other method, in fewer ways
    "short": ("--method", "short", "--differ", "numbers", "--keep", "longest"),
    "auto": ("--method", "auto", "--keep", "last"),
    "containment": ("--method", "containment", "--within", "lang"),
    "tfidf": ("--method", "tfidf", "--threshold", "0.6"),
    "cosine": ("--method", "tfidf", "--measure", "cosine"),
    "simhash": ("--method", "simhash", "--weights", "tfidf", "--bits", "128", "--distance", "12"),
    "verified": ("--method", "simhash", "--distance", "6", "--verify", "jaccard"),
}
FEWER = ("two threads", "batches of one", "three partitions", "on files", "little memory")
WAYS = {
    "one thread": ("--threads", "1"),
    "two threads": ("--threads", "2"),
    "batches of one": ("--batch-rows", "1"),
    "batches of 10,000": ("--batch-rows", "10000"),
    "one partition": ("--partitions", "1"),
    "three partitions": ("--partitions", "3"),
    "eight partitions": ("--partitions", "8", "--threads", "2"),
    "all in memory": ("--store", "memory"),
    "on files": ("--store", "files"),
    "no text kept": ("--text-cache", "0", "--store", "files", "--threads", "2"),
    "little memory": ("--memory", "64MiB", "--text-cache", "0", "--threads", "2"),
    "no text kept, three partitions": ("--text-cache", "0", "--partitions", "3"),
}
ENVIRONMENTS = {
    "hash seed 0": {"PYTHONHASHSEED": "0"},
    "hash seed 1": {"PYTHONHASHSEED": "1"},
    **{f"isa {isa}": {"DEJALU_ISA": isa} for isa in _native.available_isas()},
}


def rows() -> list[dict]:
    """About 700 rows of the built corpus."""
    texts = corpus.build()[::3]
    return [
        {
            "id": i,
            "text": t,
            "lang": "abc"[len(t) % 3 % 2],
            "source": "abc"[i % 3],
            "day": f"2024-01-{i * 7919 % 31:02d}",
        }
        for i, t in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    """A folder `in` with every format, several row groups and gzip members, a sub-folder, empty files."""
    folder = tmp_path_factory.mktemp("determinism")
    data = rows()
    parts = [data[i::7] for i in range(7)]
    inside = folder / "in"
    write_jsonl(inside / "a.jsonl", parts[0])
    for name, part in (("b.parquet", parts[1]), ("deep/er/c.parquet", parts[2])):
        (inside / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(part), inside / name, row_group_size=17)
    encoded = ["".join(json.dumps(r, ensure_ascii=False) + "\n" for r in part).encode() for part in parts]
    cut = encoded[3].index(b"\n", len(encoded[3]) // 2) + 1
    (inside / "d.jsonl.gz").write_bytes(
        gzip.compress(encoded[3][:cut], mtime=0) + gzip.compress(encoded[3][cut:], mtime=0)
    )
    (inside / "deep" / "e.jsonl.zst").write_bytes(zstandard.compress(encoded[4]))
    with open(inside / "f.csv", "w", encoding="utf-8", newline="") as f:
        import csv

        writer = csv.DictWriter(f, list(data[0]))
        writer.writeheader()
        writer.writerows(parts[5])
    write_jsonl(inside / "z.jsonl", parts[6])
    (inside / "empty.jsonl").touch()
    return folder


def run(here: Path, out: str, *options: str, env: dict[str, str] | None = None) -> dict[str, str]:
    dejalu("dedup", "in", "-o", out, *options, cwd=here, env=env)
    return steady(here / out)


@pytest.fixture(scope="module")
def expect(here):
    """The answer per plan, computed once."""
    return {name: run(here, f"expect-{name}", *options) for name, options in (PLANS | OTHERS).items()}


def test_the_corpus_has_something_to_decide(here, expect):
    for name in PLANS | OTHERS:
        report = evidence_of(here / f"expect-{name}").report
        assert report["removed_equal"] > 5, name
        assert name == "exact" or report["removed_near"] > 50, name


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("plan", PLANS)
def test_same_bytes_for_every_way_of_running(here, expect, plan, way, tmp_path):
    assert run(here, f"{tmp_path}/out", *PLANS[plan], *WAYS[way]) == expect[plan]


@pytest.mark.parametrize("way", FEWER)
@pytest.mark.parametrize("plan", OTHERS)
def test_same_bytes_of_every_method(here, expect, plan, way, tmp_path):
    assert run(here, f"{tmp_path}/out", *OTHERS[plan], *WAYS[way]) == expect[plan]


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("plan", ["default", "all", "auto", "tfidf", "simhash"])
def test_same_bytes_in_every_environment(here, expect, plan, name, tmp_path):
    options = (*(PLANS | OTHERS)[plan], "--threads", "2")
    assert run(here, f"{tmp_path}/out", *options, env=ENVIRONMENTS[name]) == expect[plan]


def test_same_bytes_from_another_folder(here, expect, tmp_path):
    os.symlink(here / "in", tmp_path / "in")
    dejalu("dedup", f"{tmp_path}/in", "-o", "out", cwd=tmp_path)
    assert steady(tmp_path / "out") == expect["default"]


def test_plan_file_reproduces_the_run(here, expect, tmp_path):
    plan = evidence_of(here / "expect-all").folder / "plan.json"
    assert run(here, f"{tmp_path}/out", "--plan", str(plan)) == expect["all"]


KILL = """
import os, signal, sys
at, after, seen = int(os.environ["KILL_AT"]), os.environ["KILL_AFTER"] == "1", 0
def counted(rename):
    def call(*args, **keywords):
        global seen
        seen += 1
        if seen == at and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = rename(*args, **keywords)
        if seen == at and after:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call
os.replace, os.rename = counted(os.replace), counted(os.rename)
from dejalu.cli import main
try:
    main()
finally:
    print("renames", seen)
"""


def killed(here: Path, out: str, options: tuple[str, ...], at: int, *, after: bool) -> subprocess.CompletedProcess[str]:
    """Run, and die by SIGKILL at the n-th rename: everything that lasts comes about by a rename."""
    return subprocess.run(
        [sys.executable, "-c", KILL, "dedup", "in", "-o", out, *options],
        cwd=here,
        env=environment({"KILL_AT": str(at), "KILL_AFTER": str(int(after))}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("plan", ["default", "all", "tag", "auto", "tfidf", "containment", "simhash"])
def test_same_bytes_after_kill_and_resume(here, expect, plan, tmp_path):
    store = "auto" if plan == "tag" else "files"  # this little is kept in memory else
    options = (*(PLANS | OTHERS)[plan], "--threads", "1", "--text-cache", "0", "--store", store)
    whole = killed(here, f"{tmp_path}/whole", options, -1, after=False)
    assert whole.returncode == 0, whole.stderr
    assert steady(tmp_path / "whole") == expect[plan]
    renames = int(whole.stdout.rsplit("renames ", 1)[1])
    assert renames > 20
    for share, after in [(0.05, True), (0.4, False), (0.65, True), (0.95, False)]:
        out = tmp_path / f"out-{share}"
        at = max(1, int(share * renames))
        assert killed(here, str(out), options, at, after=after).returncode == -9
        # What is there under its final name is whole.
        half = set() if not out.exists() else {p for p in out.rglob("*") if p.is_file() and not p.name.startswith(".")}
        for path in half:
            assert path.read_bytes() == (tmp_path / "whole" / path.relative_to(out)).read_bytes()
        dejalu("dedup", "in", "-o", out, *options, "--resume", cwd=here)
        assert steady(out) == expect[plan], f"killed at rename {at} of {renames}"
        assert not (evidence_of(out).folder / ".work").exists()
        # On a finished run, --resume verifies, changes nothing and ends well.
        dejalu("dedup", "in", "-o", out, *options, "--resume", cwd=here)
        assert steady(out) == expect[plan]


def test_killed_twice(here, expect, tmp_path):
    """A resumed run may be killed too, and go on with other threads."""
    options = (*PLANS["default"], "--text-cache", "0")
    out = tmp_path / "out"
    assert killed(here, str(out), (*options, "--threads", "1"), 9, after=True).returncode == -9
    assert killed(here, str(out), (*options, "--threads", "2", "--resume"), 14, after=True).returncode == -9
    dejalu("dedup", "in", "-o", out, *options, "--resume", "--threads", "2", cwd=here)
    assert steady(out) == expect["default"]


def verdicts(out: Path, first: dict[str, int]) -> list[tuple]:
    """Removed rows with positions over all files."""
    return sorted(
        (
            first[r["file"]] + r["row"],
            first[r["twin_file"]] + r["twin_row"],
            r["similarity"],
            r["measure"],
            r["method"],
            r["id"],
        )
        for r in evidence_of(out).removed()
    )


def test_one_file_or_seven(tmp_path):
    data = rows()
    write_jsonl(tmp_path / "one" / "all.jsonl", data)
    cuts = np.linspace(0, len(data), 8).astype(int).tolist()
    for i in range(7):
        write_jsonl(tmp_path / "seven" / f"part{i}.jsonl", data[cuts[i] : cuts[i + 1]])
    for name in ("one", "seven"):
        dejalu("dedup", name, "-o", f"{name}-out", cwd=tmp_path)
    one = verdicts(tmp_path / "one-out", {"all.jsonl": 0})
    seven = verdicts(tmp_path / "seven-out", {f"part{i}.jsonl": cuts[i] for i in range(7)})
    assert one == seven
    assert len(one) > 50
    joined = b"".join((tmp_path / "seven-out" / f"part{i}.jsonl").read_bytes() for i in range(7))
    assert joined == (tmp_path / "one-out" / "all.jsonl").read_bytes()
    # In memory too.
    result = library.dedup([r["text"] for r in data])
    gone = np.flatnonzero(~result.keep)
    assert [(v[0], v[1], v[2]) for v in one] == list(
        zip(gone.tolist(), result.twin[gone].tolist(), result.similarity[gone].tolist(), strict=True)
    )


@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "ok gone"])
def test_a_damaged_work_file_is_made_again(here, expect, damage, tmp_path):
    """Work that is not whole does not count: a resumed run notices and does it again."""
    out = tmp_path / "out"
    options = (*PLANS["default"], "--threads", "1", "--text-cache", "0", "--store", "files")
    assert killed(here, str(out), options, 40, after=True).returncode == -9
    work = evidence_of(out).folder / ".work"
    tables = sorted(work.rglob("*.table"))  # a damaged manifest is an error that says so
    assert tables
    for path in tables:
        data = bytearray(path.read_bytes())
        if damage == "cut":
            path.write_bytes(data[: len(data) // 2])
        elif damage == "flip":
            data[len(data) // 2] ^= 0xFF
            path.write_bytes(data)
        elif damage == "gone":
            path.unlink()
        else:
            for vouched in path.parent.glob(path.stem + "*.ok"):
                vouched.unlink()
    dejalu("dedup", "in", "-o", out, *options, "--resume", cwd=here)
    assert steady(out) == expect["default"]


def test_no_work_file_looks_like_data(here, tmp_path):
    out = tmp_path / "out"
    options = ("--threads", "1", "--text-cache", "0", "--store", "files")
    assert killed(here, str(out), options, 30, after=True).returncode == -9
    work = evidence_of(out).folder / ".work"
    names = [p.name for p in work.rglob("*") if p.is_file()]
    assert names
    assert not [n for n in names if n.endswith((".parquet", ".jsonl", ".csv", ".txt", ".gz", ".zst", ".tsv"))]
    # And a run on the folder above it reads none of it.
    (tmp_path / "plain.jsonl").write_text('{"text": "only this"}\n')
    dejalu("dedup", tmp_path, "-o", tmp_path.parent / f"{tmp_path.name}-clean", "--mode", "report", cwd=tmp_path)
    report = evidence_of(tmp_path.parent / f"{tmp_path.name}-clean").report
    assert {f["file"] for f in report["files"] if f["file"].startswith("out-evidence/.work")} == set()
