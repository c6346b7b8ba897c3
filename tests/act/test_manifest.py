"""Going on with a run, verifying a finished one, and acting from its evidence."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from act.test_evidence import table

from dejalu.act import (
    FileFacts,
    Journal,
    Manifest,
    load_evidence,
    removed_table,
    write_corpus,
    write_removed,
    write_report,
    write_set_aside,
)
from dejalu.act.files import Written, describe
from dejalu.act.manifest import fingerprint, inputs_unchanged, load, same_run, save, verify
from dejalu.data import Input, Problem
from dejalu.errors import ChangedInput, OutputError, UsageError

PLAN = {"method": "minhash", "threshold": 0.8, "prefer": ["a", "b"]}


def inputs(folder: Path, count: int = 3) -> list[Input]:
    found = []
    for part in range(count):
        path = folder / "in" / f"{part}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"text": [f"t{part}-{i}" for i in range(6)]}), path)
        stat = path.stat()
        found.append(
            Input(part, path.name, str(path), "parquet", size=stat.st_size, mtime_ns=stat.st_mtime_ns)
        )
    return found


def test_a_manifest_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "work" / "manifest.json"
    assert load(path) is None
    run = Manifest(PLAN, tuple(inputs(tmp_path)))
    save(path, run)
    assert load(path) == run
    done = run.finished([Written("removed/a", 1, "x")], [Written("b", 1, "x"), Written("a", 2, "y")])
    save(path, done)
    assert load(path) == done and done.state == "finished" and [w.name for w in done.outputs] == ["a", "b"]
    path.write_text('{"format": 99}')
    with pytest.raises(OutputError, match="another version"):
        load(path)
    path.write_text("{")
    with pytest.raises(OutputError, match="is damaged"):
        load(path)


def test_the_fingerprint_is_of_the_values_alone() -> None:
    assert fingerprint(PLAN) == fingerprint(dict(reversed(PLAN.items()))) == fingerprint({**PLAN, "prefer": ("a", "b")})
    assert fingerprint(PLAN) != fingerprint({**PLAN, "threshold": 0.9})


def test_what_differs_is_named(tmp_path: Path) -> None:
    found = inputs(tmp_path)
    run = Manifest(PLAN, found)
    same_run(run, {**PLAN, "prefer": ("a", "b")}, found)
    with pytest.raises(UsageError, match=r"threshold = 0\.8, now it is 0\.9.*--overwrite"):
        same_run(run, {**PLAN, "threshold": 0.9}, found)
    with pytest.raises(UsageError, match="shingle = None, now it is 5"):
        same_run(run, {**PLAN, "shingle": 5}, found)
    for change, words in (
        ({"size": 5}, r"1\.parquet differs .* size in bytes was \d+, is 5"),
        ({"mtime_ns": 5}, r"1\.parquet differs .* time of modification"),
        ({"path": "/x"}, r"1\.parquet differs .* path was .*1\.parquet, is /x"),
    ):
        with pytest.raises(ChangedInput, match=words):
            same_run(run, PLAN, [found[0], replace(found[1], **change), found[2]])
    with pytest.raises(ChangedInput, match=r"2\.parquet was an input .* is none now"):
        same_run(run, PLAN, found[:2])
    with pytest.raises(ChangedInput, match=r"new\.parquet is a new input"):
        same_run(run, PLAN, [*found, replace(found[2], file="new.parquet")])


def test_inputs_are_checked_on_the_disk(tmp_path: Path) -> None:
    found = inputs(tmp_path)
    inputs_unchanged(found)
    os.utime(found[1].path, ns=(1, 1))
    with pytest.raises(ChangedInput, match=r"1\.parquet: .* was modified"):
        inputs_unchanged(found)
    os.unlink(found[0].path)
    with pytest.raises(ChangedInput, match=r"0\.parquet: .* is gone"):
        inputs_unchanged(found)


def test_a_finished_run_is_verified_file_by_file(tmp_path: Path) -> None:
    out, evidence = tmp_path / "out", tmp_path / "evidence"
    (out / "sub").mkdir(parents=True)
    (out / "sub" / "a.txt").write_bytes(b"text")
    proof = write_removed(evidence, "sub/a.txt", table([1]))
    run = Manifest(PLAN, []).finished([proof], [describe(out / "sub" / "a.txt", "sub/a.txt")])
    assert verify(run, out, evidence) == 2 and verify(run, None, evidence, threads=4) == 1
    (out / "stray").write_bytes(b"")
    with pytest.raises(OutputError, match="stray was not written by this run"):
        verify(run, out, evidence)
    (out / "stray").unlink()
    (out / "sub" / "a.txt").write_bytes(b"tezt")
    with pytest.raises(OutputError, match=r"a\.txt was changed"):
        verify(run, out, evidence)
    (out / "sub" / "a.txt").unlink()
    with pytest.raises(OutputError, match=r"a\.txt is missing"):
        verify(run, out, evidence)


def test_the_journal_knows_the_files_that_are_still_whole(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "work" / "journal")
    assert journal.whole(tmp_path) == {}
    for name in ("a", "b", "c", "sub/d"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
        journal.add(describe(path, name))
    (tmp_path / "b").write_bytes(b"x")
    (tmp_path / "c").unlink()
    with open(tmp_path / "work" / "journal", "ab") as file:  # cut off by a kill
        file.write(b'{"name": "z", "si')
    assert set(journal.whole(tmp_path)) == {"a", "sub/d"}


# Acting from evidence.


def finished_run(folder: Path) -> tuple[Path, list[Input]]:
    """Evidence of three files of six rows; row 1.parquet:5 was set aside, 2.parquet was read up to row 4."""
    from act.test_report import facts

    found, evidence = inputs(folder), folder / "evidence"
    removed: dict[str, list[tuple[int, str, int]]] = {
        "0.parquet": [(2, "0.parquet", 0)],
        "1.parquet": [(0, "0.parquet", 0), (3, "1.parquet", 1)],
        "2.parquet": [],
    }
    for file, rows in removed.items():
        m = len(rows)
        null = pa.nulls(m, pa.string())
        write_removed(
            evidence,
            file,
            removed_table(
                np.array([r for r, _, _ in rows], np.int64),
                null,
                np.array([f for _, f, _ in rows], object),
                np.array([t for _, _, t in rows], np.int64),
                null,
                np.full(m, 0.9),
                np.ones(m, np.uint8),
                np.full(m, 2, np.uint8),
            ),
        )
    write_set_aside(evidence, [Problem("1.parquet", 5, None, "bad"), Problem("2.parquet", 4, None, "cut off here")])
    files = [FileFacts("0.parquet", 6, 0, 1), FileFacts("1.parquet", 6, 0, 2, 1)]
    files += [FileFacts("2.parquet", 4, whole=False)]
    write_report(evidence, facts(inputs=found, files=files, plan=PLAN))
    return evidence, found


def test_evidence_gives_the_verdicts_back(tmp_path: Path) -> None:
    folder, found = finished_run(tmp_path)
    evidence = load_evidence(folder)
    assert evidence.inputs == tuple(found) and evidence.plan == PLAN and evidence.broken == {"2.parquet"}
    zero, one, two = evidence.verdicts(copies=True)
    assert zero.removed.tolist() == [2] and zero.rows == 6 and zero.input == found[0]
    assert one.removed.tolist() == [0, 3] and one.set_aside.tolist() == [5]
    assert one.twin_file.tolist() == ["0.parquet", "1.parquet"] and one.twin_row.tolist() == [0, 1]
    assert two.removed.tolist() == [] and two.set_aside.tolist() == [] and two.rows == 4
    assert [v.copies.tolist() for v in (zero, one, two) if v.copies is not None] == [
        [3, 1, 0, 1, 1, 1],
        [0, 2, 1, 0, 1, 1],
        [1, 1, 1, 1],
    ]
    assert all(v.copies is None for v in evidence.verdicts())
    texts = []
    for own in evidence.verdicts():
        target = tmp_path / "out" / own.input.file
        write_corpus(own, Path(own.input.path), target, whole=own.input.file not in evidence.broken)
        texts.append(pq.read_table(target)["text"].to_pylist())
    assert texts[0] == [f"t0-{i}" for i in (0, 1, 3, 4, 5)]
    assert texts[1:] == [[f"t1-{i}" for i in (1, 2, 4)], [f"t2-{i}" for i in range(4)]]


def test_evidence_that_cannot_be_acted_on(tmp_path: Path) -> None:
    folder, found = finished_run(tmp_path)
    report = folder / "report.json"
    value = json.loads(report.read_bytes())

    def refused(error: type[Exception], words: str, changed: Any) -> None:
        report.write_text(json.dumps(changed))
        with pytest.raises(error, match=words):
            list(load_evidence(folder).verdicts(copies=True))

    refused(OutputError, "texts in memory", {**value, "run": {"inputs": []}})
    refused(OutputError, "lacks 'files'", {k: v for k, v in value.items() if k != "files"})
    refused(OutputError, "does not count the rows of 2", {**value, "files": value["files"][:2]})
    small = [{**f, "rows": 2} for f in value["files"]]
    refused(OutputError, "names rows that the report does not know", {**value, "files": small})
    fewer = {**value, "run": {"inputs": value["run"]["inputs"][1:]}}
    refused(OutputError, "names a twin in a file that is no input", fewer)
    report.write_text(json.dumps(value))
    Path(found[2].path).write_bytes(b"other")
    with pytest.raises(ChangedInput, match=r"2\.parquet"):
        load_evidence(folder)
