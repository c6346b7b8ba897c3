"""Faults that users met in other tools, each with its right value: files in, files out, through the command line.

docs/quality.md lists all cases and where each is tested; those about texts in memory are in test_faults_end_to_end.py.
"""

from __future__ import annotations

import datetime as dt
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import command, dejalu, environment, evidence_of, lines, records, steady, write_jsonl


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def dedup(here: Path, *inputs: object, out: str = "clean", **keywords):
    """Run `dejalu dedup INPUTS -o out`; options follow the inputs."""
    dejalu("dedup", *inputs, "-o", out, cwd=here, **keywords)
    return here / out, evidence_of(here / out)


def test_bug_003_the_report_counts_texts_without_tokens(here):
    texts = ["", "   \n\t ", "The harbour ferry leaves at noon and returns before the evening tide.", ""]
    write_jsonl(here / "a.jsonl", [{"text": t} for t in texts])
    out, evidence = dedup(here, "a.jsonl")
    report = evidence.report
    assert (report["read"], report["empty"], report["null"], report["kept"]) == (4, 3, 0, 4)
    assert (out / "a.jsonl").read_bytes() == (here / "a.jsonl").read_bytes()


def test_bug_011_the_kept_text_is_written_as_it_was(here):
    nfd = "Le cafe\u0301 de la gare a\u0300 Gene\u0300ve a e\u0301te\u0301 re\u0301nove\u0301 cet e\u0301te\u0301."
    import unicodedata

    write_jsonl(here / "a.jsonl", [{"text": nfd}, {"text": unicodedata.normalize("NFC", nfd)}])
    out, evidence = dedup(here, "a.jsonl", "--threshold", 1)
    assert [r["text"] for r in records(out / "a.jsonl")] == [nfd]
    assert [(r["row"], r["twin_row"], r["similarity"]) for r in evidence.removed()] == [(1, 0, 1.0)]


def test_bug_017_lone_surrogates(here):
    (here / "a.jsonl").write_text(
        '{"id":"1","text":"Weather report: sunny with light wind from the west all day long."}\n'
        '{"id":"2","text":"broken \\ud835 glyph inside an otherwise normal sentence about gardens and trees"}\n'
        '{"id":"3","text":"broken \\ud835 glyph inside an otherwise normal sentence about gardens and trees"}\n'
        '{"id":"4","text":"emoji pair \\ud83c\\udf89 is fine in this sentence about the village fair"}\n',
        encoding="ascii",
    )
    out, evidence = dedup(here, "a.jsonl")
    assert evidence.report["read"] == 4
    assert lines(out / "a.jsonl") == [lines(here / "a.jsonl")[i] for i in (0, 1, 3)]
    assert evidence.removed_ids() == ["3"]
    # The replaced character is told of, in words.
    assert re.search("surrogate|UTF-8", json.dumps(evidence.report, ensure_ascii=False))


def test_bug_019_nul_does_not_end_a_text(here):
    head = "Minutes of the parish council, first page of the record"
    texts = [
        head + "\0" + "roads and bridges were discussed at length by all members present that night",
        head + "\0" + "the school roof needs repair and three offers were received from builders",
        head,
    ]
    pq.write_table(pa.table({"id": ["a", "b", "c"], "text": texts}), here / "a.parquet")
    for method in ("minhash", "exact"):
        out, _ = dedup(here, "a.parquet", "--method", method, out=method)
        assert pq.read_table(out / "a.parquet")["text"].to_pylist() == texts


def test_bug_020_nul_in_ids(here):
    ids = ["k", "k\0", "k\0\0", ""]
    texts = [
        "first text about maps of the old coast",
        "second text about bread and salt",
        "third text about the moon tonight",
        "first text about maps of the old coast",
    ]
    pq.write_table(pa.table({"id": ids, "text": texts}), here / "a.parquet")
    out, evidence = dedup(here, "a.parquet")
    assert pq.read_table(out / "a.parquet")["id"].to_pylist() == ids[:3]
    assert [(r["id"], r["twin_id"]) for r in evidence.removed()] == [("", "k")]


def test_bug_035_a_changed_setting_is_named(here):
    """Work of one plan is never mixed with that of another: going on with another setting is an error naming it."""
    write_jsonl(here / "a.jsonl", [{"text": f"text number {i // 2} about wells"} for i in range(10)])
    _, evidence = dedup(here, "a.jsonl", "--mode", "report")
    before = evidence.removed()
    for option, value, name in [
        ("--threshold", "0.7", "threshold"),
        ("--shingle", "3", "shingle"),
        ("--slots", "64", "slots"),
        ("--unit", "char", "unit"),
        ("--method", "exact", "method"),
    ]:
        done = dejalu(
            *("dedup", "a.jsonl", "-o", "clean", "--mode", "report", "--resume", option, value), cwd=here, code=None
        )
        assert done.returncode in (1, 2), done.stderr
        assert name in done.stderr
    assert evidence.removed() == before


def test_bug_043_and_045_counts_of_a_whole_run(here):
    write_jsonl(here / "a.jsonl", [{"id": i, "text": f"only text number {i} of its kind {i * i}"} for i in range(5)])
    out, evidence = dedup(here, "a.jsonl")
    assert (out / "a.jsonl").read_bytes() == (here / "a.jsonl").read_bytes()
    report = evidence.report
    assert (report["kept"], report["removed_equal"], report["removed_near"]) == (5, 0, 0)
    table = pq.read_table(evidence.folder / "removed" / "a.jsonl.parquet")
    assert table.num_rows == 0
    assert table.column_names == ["row", "id", "twin_file", "twin_row", "twin_id", "similarity", "measure", "method"]


CHARTER = "the charter of the town was signed in june by all nine guilds"


def test_bug_057_sources(here):
    rows = [("s1", CHARTER), ("s2", CHARTER), ("s2", CHARTER), ("s3", "a wholly different page on glass making")]
    write_jsonl(here / "a.jsonl", [{"id": i, "source": s, "text": t} for i, (s, t) in enumerate(rows)])
    runs = {
        "global": ((), [0, 3], {"s1": 0, "s2": 2, "s3": 0}),
        "within": (("--within", "source"), [0, 1, 3], {"s1": 0, "s2": 1, "s3": 0}),
        "prefer": (("--prefer", "s2,s1"), [1, 3], {"s1": 1, "s2": 1, "s3": 0}),
    }
    for name, (options, expect, per_source) in runs.items():
        out, evidence = dedup(here, "a.jsonl", "--threshold", 0.9, "--source-column", "source", *options, out=name)
        assert [r["id"] for r in records(out / "a.jsonl")] == expect, name
        assert {s["value"]: s["removed"] for s in evidence.report["sources"]} == per_source, name


def test_bug_073_equal_short_documents(here):
    """The document level of the case; lines and paragraphs are a later method."""
    with gzip.open(here / "d.jsonl.gz", "wt", encoding="utf-8") as f:
        for i in range(5):
            f.write(json.dumps({"id": str(i), "text": "dummy"}) + "\n")
        f.write(json.dumps({"id": "5", "text": "dummy_test"}) + "\n")
        f.write(json.dumps({"id": "6", "text": "first part\ndummy\n"}) + "\n")
    for method in ("minhash", "exact", "bytes"):
        _, evidence = dedup(here, "d.jsonl.gz", "--method", method, out=method)
        assert evidence.removed_ids() == ["1", "2", "3", "4"]


def test_bug_077_bom_crlf_blank_lines(here):
    recs = [
        '{"id":"a","text":"ferry timetable for the northern islands in winter"}',
        '{"id":"b","text":"recipe for dark rye bread with caraway seeds"}',
        '{"id":"c","text":"ferry timetable for the northern islands in winter"}',
        '{"id":"d","text":"notes on the repair of a wooden sash window"}',
    ]
    (here / "bom_crlf.jsonl").write_bytes(
        b"\xef\xbb\xbf" + "\r\n".join([recs[0], "", "   ", recs[1], recs[2], recs[3]]).encode()
    )
    out, evidence = dedup(here, "bom_crlf.jsonl")
    report = evidence.report
    assert (report["read"], report["set_aside"], report["kept"]) == (4, 0, 3)
    written = (out / "bom_crlf.jsonl").read_bytes().decode("utf-8-sig")
    assert [json.loads(line) for line in written.splitlines() if line.strip()] == [
        json.loads(recs[i]) for i in (0, 1, 3)
    ]
    assert [(r["row"], r["twin_row"], r["id"]) for r in evidence.removed()] == [(2, 0, "c")]


def test_bug_079_damaged_lines(here):
    good = [f'{{"id":{i},"text":"article {i} about the bridge number {i} over the canal"}}' for i in range(10)]
    (here / "mid.jsonl").write_text("\n".join([*good[:4], '{"id":99,"text":"broken', *good[4:]]) + "\n")
    (here / "end.jsonl").write_text("\n".join(good) + "\n" + '{"id":10,"text":"cut in the mid')
    (here / "type.jsonl").write_text("\n".join([*good, "[1,2,3]", '"just a string"', "null"]) + "\n")
    for name, line, bad in [("mid", 5, 1), ("end", 11, 1), ("type", 11, 3)]:
        done = dejalu("dedup", f"{name}.jsonl", "-o", f"strict-{name}", cwd=here, code=1)
        assert f"{name}.jsonl" in done.stderr
        assert re.search(rf"line {line}\b", done.stderr)
        assert "--on-error skip" in done.stderr
        assert not list((here / f"strict-{name}").glob("*"))
        out, evidence = dedup(here, f"{name}.jsonl", "--on-error", "skip", out=name)
        report = evidence.report
        # `read` counts what could be read; what was set aside stands apart.
        assert (report["read"], report["set_aside"], report["kept"]) == (10, bad, 10)
        assert [r["id"] for r in records(out / f"{name}.jsonl")] == list(range(10))
        aside = pq.read_table(evidence.folder / "set_aside.parquet").to_pylist()
        assert [r["line"] for r in aside] == list(range(line, line + bad))
        assert all(r["file"] == f"{name}.jsonl" and r["reason"] for r in aside)


def test_bug_081_several_gzip_members(here):
    parts = [json.dumps({"id": i, "text": f"diary page {i} written at anchor in bay {i}"}) + "\n" for i in range(50)]
    (here / "multi.jsonl.gz").write_bytes(
        b"".join(
            [*(gzip.compress(p.encode()) for p in parts[:-1]), gzip.compress(b""), gzip.compress(parts[-1].encode())]
        )
    )
    out, evidence = dedup(here, "multi.jsonl.gz")
    assert (evidence.report["read"], evidence.report["kept"]) == (50, 50)
    assert len(records(out / "multi.jsonl.gz")) == 50


PEAK = """
import sys
from dejalu.cli import main
from dejalu.run.meter import peak_memory
try:
    code = main()
except SystemExit as stop:
    code = stop.code
print("peak", peak_memory(), file=sys.stderr)
sys.exit(code)
"""


def dedup_with_peak(here: Path, *args: object, timeout: float = 300) -> int:
    """Run `dejalu dedup` and return its peak memory in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, "dedup", *map(str, args)],
        cwd=here,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stderr.rsplit("peak ", 1)[1])


def test_bug_083_lines_of_35_megabytes(here):
    long = " ".join(f"w{i * 7919 % 1000003}" for i in range(4_500_000))
    texts = {"short1": "a short note", "long1": long, "long2": long + " end", "short2": "another short note"}
    write_jsonl(here / "long.jsonl", [{"id": k, "text": v} for k, v in texts.items()])
    size = (here / "long.jsonl").stat().st_size
    peak = dedup_with_peak(here, "long.jsonl", "-o", "clean")
    evidence = evidence_of(here / "clean")
    assert evidence.report["read"] == 4
    removed = evidence.removed()
    assert [(r["id"], r["twin_id"]) for r in removed] == [("long2", "long1")]
    assert removed[0]["similarity"] > 0.999
    assert [json.loads(line)["id"] for line in lines(here / "clean" / "long.jsonl")] == ["short1", "long1", "short2"]
    assert peak < 12 * size


def big_column(path: Path, megabytes: int, *, groups: bool = True) -> None:
    """BUG-085's file: pairs of equal texts of 1 MB each, in row groups of 50 or in one."""
    block = " ".join(f"word{i % 9973:05d}" for i in range(100_000))
    schema = pa.schema([("id", pa.int64()), ("text", pa.string() if groups else pa.large_string())])

    def table(first: int, n: int) -> pa.Table:
        texts = [f"doc {k // 2} {block} doc {k // 2}" for k in range(first, first + n)]
        return pa.table(
            {"id": list(range(first, first + n)), "text": pa.array(texts, schema.field("text").type)}, schema
        )

    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        if groups:
            for i in range(0, megabytes, 50):
                writer.write_table(table(i, 50))
        else:
            writer.write_table(table(0, megabytes))


@pytest.mark.parametrize(
    "megabytes", [200, pytest.param(int(os.environ.get("BUG085_MB", "2400")), marks=pytest.mark.heavy)]
)
def test_bug_085_a_column_larger_than_memory_for_it(here, megabytes):
    big_column(here / "big.parquet", megabytes)
    peak = dedup_with_peak(here, "big.parquet", "-o", "clean", "--method", "exact", "--threads", 2, timeout=1200)
    assert pq.read_table(here / "clean" / "big.parquet", columns=["id"])["id"].to_pylist() == list(
        range(0, megabytes, 2)
    )
    # By the batch, not by the column.
    assert peak < 1_500_000_000


@pytest.mark.heavy
def test_bug_085_in_one_row_group_past_two_gib(here):
    big_column(here / "big.parquet", 2400, groups=False)
    dedup(here, "big.parquet", "--method", "exact", timeout=1200)
    assert pq.read_table(here / "clean" / "big.parquet", columns=["id"])["id"].to_pylist() == list(range(0, 2400, 2))


TYPES = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "binary": pa.binary(),
}


@pytest.mark.parametrize("name", TYPES)
def test_bug_086_types_of_the_text_column(here, name):
    import dejalu as library

    texts = pa.array(["a note on the tides", "a note on the moon", "a note on the tides", None], pa.string())
    column = texts.dictionary_encode() if name == "dictionary" else texts.cast(TYPES[name])
    table = pa.table({"id": [1, 2, 3, 4], "text": column})
    assert library.dedup(table, method="exact").keep.tolist() == [True, True, False, True]
    try:
        pq.write_table(table, here / "a.parquet")
    except pa.ArrowNotImplementedError:
        pytest.skip(f"this pyarrow cannot write {name} to parquet")
    out, evidence = dedup(here, "a.parquet", "--method", "exact", "--text-column", "text")
    assert evidence.removed_ids() == [3]
    back = pq.read_table(out / "a.parquet")
    assert back["id"].to_pylist() == [1, 2, 4]
    assert back.schema.equals(pq.read_table(here / "a.parquet").schema, check_metadata=True)


def test_bug_088_nulls_in_a_file(here):
    texts = [None, "nan", None, "None", "", "null", "nan"]
    pq.write_table(pa.table({"id": list("abcdefg"), "text": texts}), here / "n.parquet")
    out, evidence = dedup(here, "n.parquet")
    assert evidence.removed_ids() == ["g"]
    assert pq.read_table(out / "n.parquet")["text"].to_pylist() == texts[:-1]
    report = evidence.report
    assert (report["null"], report["empty"], report["kept"]) == (2, 1, 6)


def test_bug_090_empty_files_and_null_columns(here):
    (here / "in").mkdir()
    schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
    pq.write_table(
        pa.table({"id": [1, 2, 3], "text": ["red barn", "blue barn", "red barn"]}, schema=schema), "in/p0.parquet"
    )
    pq.write_table(schema.empty_table(), "in/p1.parquet")
    with pq.ParquetWriter("in/p2.parquet", schema):
        pass
    pq.write_table(pa.table({"id": [4, 5], "text": pa.nulls(2)}), "in/p3.parquet")
    (here / "in" / "p4.jsonl").touch()
    pq.write_table(pa.table({"id": [6], "text": ["blue barn"]}, schema=schema), "in/p5.parquet")
    out, evidence = dedup(here, "in", "--method", "exact")
    assert evidence.report["read"] == 6
    assert evidence.removed_ids() == [3, 6]
    assert {p.name for p in out.iterdir()} == {f"p{i}.parquet" for i in (0, 1, 2, 3, 5)} | {"p4.jsonl"}
    for name in ("p1", "p2", "p5"):
        assert pq.read_table(out / f"{name}.parquet").schema == schema
    assert pq.read_table(out / "p5.parquet").num_rows == 0


def test_bug_092_other_columns_pass_through(here):
    table = pa.table(
        {
            "url": ["u1", "u2", "u3"],
            "text": ["iron gate", "iron gate", "copper gate"],
            "when": pa.array([dt.datetime(2024, 2, 29, 12, 0, 0, 123456)] * 3, pa.timestamp("us", "UTC")),
            "meta": pa.array([{"lang": "en", "p": [0.1, 0.2]}, {"lang": "en", "p": []}, {"lang": None, "p": None}]),
            "price": pa.array(["1.10", "1.10", "2.30"]).cast(pa.decimal128(10, 2)),
            "n": pa.array([2**63 - 1, 1, None], pa.int64()),
        }
    )
    pq.write_table(table, here / "m.parquet")
    table = pq.read_table(here / "m.parquet")  # parquet calls the items of a list `element`
    out, _ = dedup(here, "m.parquet", "--method", "exact", "--text-column", "text")
    back = pq.read_table(out / "m.parquet")
    assert back.schema.equals(table.schema, check_metadata=True)
    assert back.equals(table.take([0, 2]))
    _, again = dedup(here, "clean", "--method", "exact", "--text-column", "text", out="again")
    assert again.removed() == []


def test_bug_093_ids_keep_their_digits_and_kinds(here):
    (here / "i.jsonl").write_text(
        '{"id":9007199254740992,"text":"slate roof"}\n{"id":9007199254740993,"text":"tile roof"}\n'
        '{"id":"72057594038135102","text":"slate roof"}\n{"id":18446744073709551615,"text":"straw roof"}\n'
        '{"id":null,"text":"tin roof"}\n'
    )
    out, evidence = dedup(here, "i.jsonl", "--method", "exact")
    assert lines(out / "i.jsonl") == [lines(here / "i.jsonl")[i] for i in (0, 1, 3, 4)]
    # Numbers and strings in one column: their JSON text.
    assert [(r["id"], r["twin_id"]) for r in evidence.removed()] == [('"72057594038135102"', "9007199254740992")]


def test_bug_095_repeated_ids(here):
    (here / "d.jsonl").write_text(
        '{"id":"x","text":"the grey heron stands in the shallow pond"}\n'
        '{"id":"x","text":"a red kite circles above the ploughed field"}\n'
        '{"id":"y","text":"a red kite circles above the ploughed field"}\n'
        '{"id":"x","text":"the grey heron stands in the shallow pond"}\n'
    )
    out, evidence = dedup(here, "d.jsonl", "--method", "exact")
    assert lines(out / "d.jsonl") == lines(here / "d.jsonl")[:2]
    assert any("x" in w and "3 times" in w for w in evidence.report["warnings"])


def test_bug_097_the_input_is_never_destroyed(here):
    write_jsonl(here / "data.jsonl", [{"id": i, "text": f"line about well {i % 3}"} for i in range(4)])
    before = (here / "data.jsonl").read_bytes()
    os.symlink("data.jsonl", "alias.jsonl")
    os.link("data.jsonl", "hard.jsonl")
    for target in ("data.jsonl", "./alias.jsonl", "hard.jsonl", here / "data.jsonl"):
        for more in ([], ["--overwrite"], ["--resume"]):
            done = dejalu("dedup", "data.jsonl", "-o", target, "--method", "exact", *more, cwd=here, code=None)
            assert done.returncode in (1, 2), done.stderr
            assert (here / "data.jsonl").read_bytes() == before
            assert (here / "alias.jsonl").is_symlink()
    # The same for folders, through links too.
    (here / "in").mkdir()
    shutil.copy(here / "data.jsonl", here / "in")
    os.symlink("in", "link")
    for target in ("in", "in/out", "link", "link/deep/out", ".", "in/../in"):
        done = dejalu("dedup", "in", "-o", target, "--overwrite", cwd=here, code=None)
        assert done.returncode in (1, 2), (target, done.stderr)
        assert sorted(p.name for p in (here / "in").iterdir()) == ["data.jsonl"]
        assert (here / "in" / "data.jsonl").read_bytes() == before
    for target in ("in", "in/evidence", "clean", "clean/evidence"):
        done = dejalu("dedup", "in", "-o", "clean", "--evidence", target, "--overwrite", cwd=here, code=None)
        assert done.returncode in (1, 2), (target, done.stderr)
        assert (here / "in" / "data.jsonl").read_bytes() == before


def test_bug_099_killed_and_resumed(here):
    r = random.Random(12)
    for f in range(8):
        rows = []
        for k in range(2500):
            g = r.randrange(12000)
            rows.append({"id": f"{f}-{k}", "text": " ".join(f"g{g}w{j}" for j in range(80))})
        write_jsonl(here / "in" / f"p{f}.jsonl", rows)
    began = time.monotonic()
    dedup(here, "in", out="clean")
    length = time.monotonic() - began
    expect = steady(here / "clean")
    kept = [r["id"] for f in range(8) for r in records(here / "clean" / f"p{f}.jsonl")]
    assert len(kept) == len(set(kept))
    interrupted = 0
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        for folder in ("out", "out-evidence"):
            shutil.rmtree(here / folder, ignore_errors=True)
        process = subprocess.Popen(
            command("dedup", "in", "-o", "out"),
            cwd=here,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        time.sleep(share * length)
        interrupted += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        for path in (here / "out").glob("*.jsonl") if (here / "out").exists() else ():
            assert path.read_bytes() == (here / "clean" / path.name).read_bytes(), "half a file under a final name"
        dedup(here, "in", "--resume", out="out")
        assert steady(here / "out") == expect
        assert not (here / "out-evidence" / ".work").exists()
    assert interrupted >= 3


NAMES = [
    *("data [v1].jsonl", "100%25.jsonl", "a b.jsonl", "q?.jsonl", "star*.jsonl", "~tilde.jsonl", "#hash.jsonl"),
    *("-dash.jsonl", "naïve–x.jsonl", "semi;colon.jsonl"),
]


def test_bug_101_names_with_special_characters(here):
    (here / "in").mkdir()
    for i, name in enumerate(NAMES):
        write_jsonl(here / "in" / name, [{"id": i, "text": f"page {i} on kilns and ovens"}])
    inside = here / "in"

    def read(*what: object, out: str) -> int:
        dejalu("dedup", "--mode", "report", "-o", here / out, "--", *what, cwd=inside)
        return evidence_of(here / out).report["read"]

    for i, name in enumerate(NAMES):
        assert read(name, out=f"name{i}") == 1, name
    assert read(here / "in", out="folder") == 10
    assert read("*.jsonl", out="pattern") == 10
    out, _ = dedup(here, "in", out="all")
    assert sorted(p.name for p in out.iterdir()) == sorted(NAMES)
    for nothing in ("none*.jsonl", "missing.jsonl", "[x].jsonl"):
        done = dejalu("dedup", nothing, "-o", here / "nothing", cwd=inside, code=2)
        assert nothing in done.stderr


def test_bug_105_an_unknown_option_is_wrong_usage(here):
    write_jsonl(here / "a.jsonl", [{"text": "a text"}])
    done = dejalu("dedup", "a.jsonl", "-o", "clean", "--treshold", "0.8", cwd=here, code=2)
    assert "--treshold" in done.stderr
    assert not (here / "clean").exists()


def test_bug_118_long_tokens_are_counted(here):
    r = random.Random(14)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    x, y = ("".join(r.choice(letters) for _ in range(500_000)) for _ in range(2))
    texts = ["header\n" + x, "header\n" + x[:250_000] + "*" + x[250_000:], "header\n" + y]
    write_jsonl(here / "a.jsonl", [{"text": t} for t in texts])
    _, evidence = dedup(here, "a.jsonl", timeout=30)
    assert evidence.report["long_tokens"] == 4
    assert evidence.report["kept"] == 3


@pytest.mark.parametrize(
    ("name", "data", "wrong", "remedy"),
    [
        ("a.csv", b"id,text\n1,caf\xe9 au lait\n", (), ("--encoding", "cp1252")),
        ("a.jsonl", b'{"text":"one"}\n{"text":\n', (), ("--on-error", "skip")),
        ("a.jsonl", b'{"body_text":"one","title":"two"}\n', (), ("--text-column", "body_text")),
        ("a.jsonl", b'{"text":"one","n":1}\n', ("--keep", "max:m"), ("--keep", "max:n")),
        ("a.jsonl", b'{"text":"one","n":1}\n', ("--threshold", "7"), ("--threshold", "0.7")),
    ],
)
def test_the_remedy_of_an_error_works(here, name, data, wrong, remedy):
    """After a stop the same command with the remedy runs: nothing that the stopped run left is in the way."""
    (here / name).write_bytes(data)
    done = dejalu("dedup", name, "-o", "out", *wrong, cwd=here, code=None)
    assert done.returncode in (1, 2)
    assert not (here / "out-evidence").exists()
    assert not (here / "out").exists()
    out, evidence = dedup(here, name, *remedy, out="out")
    assert evidence.report["kept"] == 1
    assert (out / name).exists()
