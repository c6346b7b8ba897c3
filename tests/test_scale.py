"""Crowds: many equal or templated documents finish in seconds and bounded memory.

No time is asserted, only a generous limit after which the process is stopped, and its peak memory.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
from pathlib import Path

import oracle
import pytest
from running import command, evidence_of

LIMIT = 2_000_000_000  # bytes of memory
TIME = 180  # seconds after which a run is stopped; on two free cores they need a small part of it


def dedup(here: Path, *options: object) -> int:
    """Run on `in.jsonl` and return the peak memory in bytes."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:])\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(done.returncode)\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            *command("dedup", "in.jsonl", "-o", "out", "--mode", "report", "--quiet", *options),
        ],
        cwd=here,
        capture_output=True,
        text=True,
        timeout=TIME,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1]) * (1 if sys.platform == "darwin" else 1024)


def write(here: Path, texts: list[str]) -> None:
    with open(here / "in.jsonl", "w", encoding="utf-8") as f:
        f.writelines(json.dumps({"text": t}) + "\n" for t in texts)


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_CHILDREN"), reason="this platform does not tell peak memory")
@pytest.mark.parametrize("copies", [100_000, 200_000])
def test_bug_116_identical_documents(tmp_path, copies):
    cookie = "cookie notice we use cookies to improve this site please accept or decline"
    texts = [cookie] * copies + [f"unique page number {i} about gate {i * 3} and keeper {i * 7}" for i in range(1000)]
    write(tmp_path, texts)
    assert dedup(tmp_path, "--shingle", 3) < LIMIT
    report = evidence_of(tmp_path / "out").report
    assert (report["kept"], report["removed_equal"], report["removed_near"]) == (1001, copies - 1, 0)


# A frame of 120 words around k words of its own: J of two such texts is 112 / (120 + 2 k) with 5-word shingles.
KINDS = {"above": 9, "at": 10, "below": 11}


def templated(r: random.Random, kind: str, frame: list[str], serial: int) -> str:
    own = [f"{kind}{serial}x{i}q{r.randrange(10**6)}" for i in range(KINDS[kind])]
    return " ".join(frame[:60] + own + frame[60:])


def test_similarity_of_the_templates():
    frame = [f"w{i}" for i in range(120)]
    r = random.Random(0)
    found = {k: oracle.jaccard(templated(r, k, frame, 1), templated(r, k, frame, 2)) for k in KINDS}
    assert found == {"above": 112 / 138, "at": 0.8, "below": 112 / 142}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [4_000, pytest.param(50_000, marks=pytest.mark.heavy)])
def test_templated_documents(tmp_path, kind, n):
    r = random.Random(3)
    frame = [f"{kind}w{i}" for i in range(120)]
    write(tmp_path, [templated(r, kind, frame, i) for i in range(n)])
    assert dedup(tmp_path) < LIMIT
    report = evidence_of(tmp_path / "out").report
    if kind == "below":
        assert (report["removed_near"], report["kept"]) == (0, n)
    else:
        # All are like the first one; the few that share no band with it may be kept, and then take others.
        assert report["kept"] <= 0.01 * n
        assert {row["similarity"] for row in evidence_of(tmp_path / "out").removed()} == {112 / (120 + 2 * KINDS[kind])}


@pytest.mark.parametrize("n", [5_000, pytest.param(50_000, marks=pytest.mark.heavy)])
def test_templates_with_shared_fields(tmp_path, n):
    """Pages of one shop: frames, towns and products shared by many, so that buckets of all sizes overlap."""
    r = random.Random(5)
    frames = [[f"f{k}w{i}" for i in range(90)] for k in range(20)]
    fields = [[f"field{k}v{i}" for i in range(15)] for k in range(60)]
    texts = []
    for _ in range(n):
        frame, a, b = r.choice(frames), r.choice(fields), r.choice(fields)
        texts.append(" ".join(frame[:30] + a + frame[30:60] + b + frame[60:]))
    write(tmp_path, texts)
    assert dedup(tmp_path, "--threshold", 0.7) < LIMIT
    removed = evidence_of(tmp_path / "out").removed()
    gone = {row["row"] for row in removed}
    for row in r.sample(removed, 300):
        assert row["twin_row"] not in gone
        true = oracle.jaccard(texts[row["row"]], texts[row["twin_row"]])
        assert row["similarity"] == pytest.approx(true, abs=1e-9)
        assert true >= 0.7


@pytest.mark.parametrize("threshold", [0.5, 0.9])
def test_one_long_chain(tmp_path, threshold):
    """Ten thousand texts, each like its neighbours and unlike the rest: one component, many kept."""
    words = [f"c{i:06d}" for i in range(10 * 10_000 + 100)]
    write(tmp_path, [" ".join(words[i * 10 : i * 10 + 100]) for i in range(10_000)])
    assert dedup(tmp_path, "--threshold", threshold) < LIMIT
    report = evidence_of(tmp_path / "out").report
    # At distance d: (96 - 10 d) / (96 + 10 d), so three steps still count at .5; a few of those pairs may be missed.
    assert report["kept"] in {0.5: range(2_500, 2_550), 0.9: [10_000]}[threshold]
