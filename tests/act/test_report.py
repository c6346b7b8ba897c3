"""The report, its warnings in words, and the summary."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from dejalu.act import (
    CapFacts,
    ClusterFacts,
    Facts,
    FileFacts,
    InvalidFacts,
    RepeatedFacts,
    RoomFacts,
    ShortFacts,
    SourceFacts,
    build,
    short_limit,
    warnings,
    write_plan,
    write_report,
)
from dejalu.act.facts import fitting_shingle, fitting_threshold
from dejalu.act.report import read, summary
from dejalu.data import Input
from dejalu.errors import OutputError


def facts(read: int = 2000, equal: int = 100, near: int = 50, **changes: Any) -> Facts:
    """Facts of an ordinary run, of which nothing is to be warned."""
    base = Facts(
        counts={
            "read": read,
            "null": 2,
            "empty": 1,
            "set_aside": 0,
            "removed_equal": equal,
            "removed_near": near,
            "kept": read - equal - near,
        },
        plan={"method": "minhash", "threshold": 0.8, "shingle": 5},
        method="minhash",
        threshold=0.8,
        shingle=5,
        versions={"pyarrow": "1", "dejalu": "0.1"},
        digest="ab" * 32,
        short=ShortFacts(texts=read - 3, below_shingle=5, below_limit=10, median=300),
        files=[FileFacts("a.parquet", read, equal, near)],
    )
    return replace(base, **changes)


def test_the_report_has_its_integers_at_the_top_and_the_rest_in_a_fixed_order(tmp_path: Path) -> None:
    full = facts(
        caps=[CapFacts("z", 5, 0), CapFacts("a", 65_536, 3)],
        sources=[SourceFacts(None, 1, 0), SourceFacts("web", 5, 1), SourceFacts("books", 3, 0)],
        clusters=[ClusterFacts("a.parquet", 4, 2**63, 7, "Der Tag \ud800")],
        skipped={"hidden": 2, "ads": 1},
        inputs=[Input(0, "a.parquet", "/data/a.parquet", "parquet", size=5, mtime_ns=6)],
        rooms={"read": RoomFacts(1.5, 1.25, 2**30)},
        run={"threads": 2},
    )
    value = build(full)
    names = ["read", "null", "empty", "set_aside", "removed_equal", "removed_near", "kept"]
    assert list(value)[:7] == names and [value[n] for n in names] == [2000, 2, 1, 0, 100, 50, 1850]
    assert list(value)[-1] == "run" and value["run"]["threads"] == 2 and value["run"]["inputs"][0]["size"] == 5
    assert [c["name"] for c in value["caps"]] == ["a", "z"]
    assert [s["value"] for s in value["sources"]] == ["books", "web", None]
    assert value["short"]["limit"] == 49 and value["short"]["below_limit_share"] == 10 / 1997
    write_report(tmp_path, full)
    first = (tmp_path / "report.json").read_bytes()
    assert read(tmp_path) == json.loads(first)
    again = replace(full, counts=dict(reversed(full.counts.items())), caps=full.caps[::-1], sources=full.sources[::-1])
    write_report(tmp_path, again)
    assert (tmp_path / "report.json").read_bytes() == first


def test_all_that_varies_is_under_run() -> None:
    one = build(facts(run={"threads": 1}, rooms={"read": RoomFacts(1, 1, 1)}))
    two = build(facts(run={"threads": 8}, inputs=[Input(0, "a", "/b", "csv")]))
    assert one.pop("run") != two.pop("run")
    assert json.dumps(one) == json.dumps(two)


def test_counts_must_add_up() -> None:
    with pytest.raises(ValueError, match="read is not removed"):
        replace(facts(), counts={**facts().counts, "kept": 5})
    with pytest.raises(ValueError, match="lacks"):
        replace(facts(), counts={"read": 0})


def test_the_plan_is_written_without_loss(tmp_path: Path) -> None:
    plan = {"threshold": 0.7000000000000001, "prefer": ["wiki", "ü"], "keep": "first", "none": None}
    write_plan(tmp_path, plan)
    assert json.loads((tmp_path / "plan.json").read_bytes()) == plan


def test_a_folder_without_a_report(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="not the evidence folder"):
        read(tmp_path)
    (tmp_path / "report.json").write_text("{")
    with pytest.raises(OutputError, match="is damaged"):
        read(tmp_path)
    (tmp_path / "report.json").write_text("[]")
    with pytest.raises(OutputError, match="is damaged"):
        read(tmp_path)


# Warnings.


def one_warning(given: Facts) -> str:
    found = warnings(given)
    assert len(found) == 1
    return found[0]


def test_an_ordinary_run_has_no_warning() -> None:
    assert warnings(facts()) == []


def test_short_texts_are_warned_of_in_words_with_what_to_use_instead() -> None:
    short = ShortFacts(texts=1000, below_limit=201, median=30)
    text = one_warning(facts(short=short))
    assert "20% of the texts have fewer than 49 words" in text
    assert "one changed word hides such a text at --threshold 0.8 with --shingle 5" in text
    assert "the median text (30 words) --shingle 3 or --threshold 0.67 would do" in text
    assert warnings(facts(short=replace(short, below_limit=200))) == []  # not over 20%
    assert warnings(facts(short=short, method="exact")) == []
    assert "fewer than 49 characters" in one_warning(facts(short=short, unit="char"))
    assert "long enough as it is" in one_warning(facts(short=replace(short, median=60)))
    assert "(14 words) --shingle 1 would do" in one_warning(facts(short=replace(short, median=14)))
    assert "(8 words) --shingle 2 --threshold 0.5 would do" in one_warning(facts(short=replace(short, median=8)))
    assert "too few for any setting" in one_warning(facts(short=replace(short, median=2)))


def test_every_text_is_short_at_threshold_one() -> None:
    given = facts(threshold=1.0, short=ShortFacts(texts=1000, below_limit=1000, median=300))
    assert one_warning(given).startswith("At --threshold 1 one changed word hides every text")
    assert "for example 0.8" in one_warning(given) and build(given)["short"]["limit"] is None


def test_heavy_losses_are_warned_of_by_source_or_for_the_whole_input() -> None:
    text = one_warning(facts(read=1000, equal=400, near=101))
    assert text.startswith("The input loses more than half: 501 of 1,000 documents (50.1%) are removed.")
    assert warnings(facts(read=1000, equal=400, near=100)) == []
    assert warnings(facts(read=999, equal=600, near=0)) == []
    sources = [SourceFacts("web", 1000, 501), SourceFacts("books", 999, 999), SourceFacts(None, 5000, 4000)]
    found = warnings(facts(read=8000, equal=6000, near=0, sources=sources, source_column="src"))
    assert [text.split(" loses")[0] for text in found] == ["src = 'web'", "src = null"]


def test_other_warnings() -> None:
    assert "id x occurs 3 times" in one_warning(facts(repeated=RepeatedFacts(1, [("x", 3)])))
    many = one_warning(facts(repeated=RepeatedFacts(5, [("x", 3000), (7, 2), ("y", 2), ("z", 2)])))
    assert "5 ids occur more than once: id x occurs 3,000 times, id 7 occurs 2 times, id y occurs 2 times." in many
    invalid = one_warning(facts(invalid=InvalidFacts(2, [("a.parquet", 5), ("b.jsonl", 1234)])))
    assert "2 texts were not valid Unicode" in invalid and "a.parquet row 5, b.jsonl row 1,234" in invalid
    cap = CapFacts("kept_cap", 65_536, 1200, "comparisons", "Raise --kept-cap to make them.")
    text = "1,200 comparisons were skipped by the cap of 65,536 (kept_cap): some duplicates may be left."
    assert one_warning(facts(caps=[cap])) == f"{text} Raise --kept-cap to make them."
    counts = {**facts().counts, "set_aside": 1}
    assert one_warning(facts(counts=counts)).startswith("1 damaged record was set aside")
    broken = [FileFacts("a.parquet", 5, whole=False)]
    assert "1 file was not read to the end, the first is a.parquet" in one_warning(facts(files=broken))


# The mathematics of short texts.


@given(st.integers(1, 30), st.integers(1, 99))
def test_the_limit_is_where_one_changed_word_stops_hiding_a_text(w: int, percent: int) -> None:
    t = percent / 100
    limit = short_limit(t, w)
    assert limit is not None

    def similarity(n: int) -> float:
        """Jaccard of a text of n different words and the same with its middle word changed, by counting shingles."""
        a = list(range(n))
        b = [*a[: n // 2], -1, *a[n // 2 + 1 :]]
        x, y = ({tuple(s[i : i + w]) for i in range(max(1, n - w + 1))} for s in (a, b))
        return len(x & y) / len(x | y)

    if limit <= 2000:
        assert similarity(limit) >= float(Fraction(percent, 100)) - 1e-12
        if limit - 1 >= 2 * w:
            assert similarity(limit - 1) < t


@given(st.integers(2, 20), st.integers(1, 99), st.integers(1, 500))
def test_what_is_proposed_for_the_median_text_works(w: int, percent: int, median: int) -> None:
    t = percent / 100
    shingle, threshold = fitting_shingle(t, median), fitting_threshold(w, median)
    if shingle:
        limit, wider = short_limit(t, shingle), short_limit(t, shingle + 1)
        assert limit is not None and wider is not None and limit <= median < wider
    if threshold:
        limit = short_limit(threshold, w)
        assert limit is not None and limit <= median


# The terminal.


def shown(given: Facts, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, no_color=True).print(summary(given))
    return out.getvalue()


def test_the_summary_tells_counts_losses_audit_and_warnings() -> None:
    audit = {"recall": 0.995, "sentence": "Audit: 50 sampled documents have 1,200 true pairs."}
    text = shown(facts(repeated=RepeatedFacts(1, [("[bold]x", 3)]), audit=audit))
    for words in ("2,000", "2 null, 1 without a token", "5.0%", "similarity ≥ 0.8", "id [bold]x occurs 3 times"):
        assert words in text
    assert "Audit: 50 sampled documents have 1,200 true pairs." in text
    files = [FileFacts(f"[v{i}].parquet", 100, i, 0) for i in range(8)]
    text = shown(facts(files=files))
    assert "[v7].parquet" in text and "and 2 more" in text and "[v0].parquet" not in text
    sources = [SourceFacts(None, 10, 3), SourceFacts("web", 100, 30)]
    text = shown(facts(sources=sources, source_column="src"))
    assert "by src" in text and "(null)" in text and "−30" in text
    assert "similarity" not in shown(facts(method="exact", near=0))
