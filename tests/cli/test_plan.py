"""`dejalu plan`: the theory of the bands, the costs that docs/scale.md measured, and a curve for any terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from dejalu import errors
from dejalu.candidates.bands import choose_bands
from dejalu.cli.curve import curve, draws_blocks
from dejalu.evaluate.planning import chance, planned
from dejalu.plan import METHODS, Plan

RUN = "from dejalu.cli import main; main()"


def ran(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN, "plan", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=os.environ | {"TERM": "xterm", "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "0"} | env,
    )


def told(*words: str) -> dict[str, Any]:
    done = ran("--json", *words)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_chances_are_those_of_the_bands() -> None:
    found = told("--threshold", "0.7")
    bands = choose_bands(0.7, 128)
    assert (found["bands"]["bands"], found["bands"]["rows"]) == (32, 4) == (bands.bands, bands.rows)
    similarities = [c["similarity"] for c in found["chances"]]
    assert similarities == [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]
    for c in found["chances"]:
        assert c["share_a_key"] == bands.recall(c["similarity"])
        assert c["compared"] == pytest.approx(bands.expected_recall(c["similarity"]))
    assert next(c for c in found["chances"] if c["similarity"] == 0.7)["compared"] > 0.99


@pytest.mark.parametrize(("threshold", "first"), [(0.8, 0.5), (1.0, 0.5), (0.83, 0.5), (0.5, 0.2), (0.2, 0.05)])
def test_the_table_holds_the_threshold(threshold: float, first: float) -> None:
    similarities = [c.similarity for c in planned(Plan(threshold=threshold), 1e6, threads=2, bytes_per_doc=9).chances]
    assert threshold in similarities and similarities == sorted(set(similarities))
    assert (similarities[0], similarities[-1]) == (first, 1.0)


def test_a_billion_documents_cost_what_the_page_says() -> None:
    """docs/scale.md: 3.3 CPU hours, 330 GB of sketches, 0.9 TB of work files, 5 GB of memory."""
    found = told("--docs", "1e9", "--threads", "32")
    assert found["cpu_seconds"] / 3600 == pytest.approx(3.3, rel=0.05)
    assert found["stored_per_doc"] == 328
    assert sum(step["written"] for step in found["steps"]) == pytest.approx(0.9e12, rel=0.05)
    assert found["memory_per_doc"] == 5
    assert 5 * 60 < found["computing_seconds"] < 15 * 60 < found["disk_seconds"] < 20 * 60


def test_pairs_in_vain_of_typical_text() -> None:
    found = told("--threshold", "0.8")["typical_pairs_in_vain_per_doc"]
    assert (found["share_a_key"], found["compared"]) == (pytest.approx(30.6, abs=1), pytest.approx(13.1, abs=1))
    assert planned(Plan(method="exact"), 10, threads=1, bytes_per_doc=9).in_vain == (0.0, 0.0)
    assert "templates" in ran().stdout and "templates" not in ran("--threshold", "0.2").stdout


def test_costs_follow_what_they_depend_on() -> None:
    def cost(docs: float = 1e6, size: float = 2200, threads: int = 1, **plan: Any) -> Any:
        return planned(Plan(**plan), docs, threads=threads, bytes_per_doc=size)

    assert cost(2e6).cpu == pytest.approx(2 * cost().cpu)
    assert cost(size=380).cpu < cost().cpu / 3
    assert cost(threads=1).computing == cost().cpu
    assert cost().cpu / 26 < cost(threads=64).computing < cost().cpu / 24  # docs/scale.md: a speed-up of 25
    assert cost(slots=256).stored > cost().stored
    assert cost(method="bytes").cpu < cost(method="exact").cpu < cost().cpu
    assert cost().by_accident < 1e-5 < cost(1e9).by_accident < 1


def test_pairs_by_accident_of_single_rows() -> None:
    """A band of one row is a value of 32 bits: a billion documents share many; the sketch rules them out."""
    found = planned(Plan(threshold=0.05), 1e9, threads=1, bytes_per_doc=100)
    assert found.bands is not None and found.bands.rows == 1
    assert found.by_accident > 1e9
    assert chance(found.bands, 0.0).compared == 0


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_plan(method: str) -> None:
    done = ran("--method", method, "--docs", "1e6")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{method}")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--docs", "0"], "docs=0"),
        (["--docs", "nan"], "docs=nan"),
        (["--docs", "1e30"], "docs=1e+30"),
        (["--bytes-per-doc", "-1"], "bytes_per_doc=-1"),
        (["--threshold", "2"], "threshold=2"),
        (["--method", "magic"], "method='magic'"),
    ],
)
def test_wrong_usage(words: list[str], said: str) -> None:
    done = ran(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_what_cannot_be_served_is_the_error_of_the_run() -> None:
    with pytest.raises(errors.UsageError) as as_run:
        Plan(threshold=0.01)
    done = ran("--threshold", "0.01")
    assert (done.returncode, done.stderr) == (2, f"dejalu: {as_run.value}\n")


def test_in_any_terminal() -> None:
    for extra in (
        [],
        ["--threshold", "1"],
        ["--threshold", "0.1", "--docs", "1e12"],
        ["--docs", "7", "--threads", "64"],
    ):
        full, plain = ran(*extra), ran("--ascii", *extra)
        for done in (full, plain):
            assert done.returncode == 0 and done.stderr == ""
            assert max(map(len, done.stdout.splitlines())) <= 80
            assert "\x1b" not in done.stdout
        assert "█" in full.stdout and "threshold" in full.stdout
        assert "#" in plain.stdout and "█" not in plain.stdout and "░" not in plain.stdout
    assert "█" not in ran(TERM="dumb").stdout
    assert "█" not in ran(PYTHONIOENCODING="ascii").stdout
    assert "several machines" in ran("--docs", "1e10").stdout
    assert "100%" not in ran("--quiet").stdout.split("similarity")[0]


def test_the_locale_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for encoding, blocks in (("UTF-8", True), ("utf8:replace", True), ("latin-1", False)):
        monkeypatch.setenv("PYTHONIOENCODING", encoding)
        assert draws_blocks() is blocks


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.8, 0.99, 1.0])
def test_the_curve(threshold: float, ascii_only: bool) -> None:
    bands = choose_bands(threshold, 128)
    lines = curve(lambda s: chance(bands, s), threshold, ascii_only=ascii_only)
    assert max(map(len, lines)) <= 72
    assert all(c.isascii() for line in lines for c in line) or not ascii_only
    mark = lines[-1].index("^" if ascii_only else "▲")
    assert abs((mark - 6) / 59 - threshold) < 0.01
    full = "#" if ascii_only else "█"
    bottom = lines[11]
    assert bottom.endswith(full) or threshold == 1.0
    heights = [sum(line[6 + x : 7 + x] == full for line in lines[:12]) for x in range(60)]
    assert heights == sorted(heights)  # more alike, more often compared
