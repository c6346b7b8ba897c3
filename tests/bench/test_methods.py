"""The labelled sets, the way pairs are judged, and the driver of bench/methods.py, on answers worked out by hand."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
DATA = ROOT.parent / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the labelled sets are not at {DATA}")


def module(name: str):
    """Read a file of bench/ by its path, under its own name: these files import each other."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[name] = loaded
        spec.loader.exec_module(loaded)
    return sys.modules[name]


FILES = ("labelled", "labelled_sets", "method_tables", "methods", "method_peers")
labelled, sets, tables, methods, peers = (module(n) for n in FILES)


def pairs(*of: tuple[int, int]):
    """Pairs of positions as numbers."""
    return labelled.unordered(*np.array(of, np.int64).reshape(-1, 2).T)


def made(**more):
    """Five texts; 0-1 and 2-3 are to be found, 0-4 does not matter."""
    given = {"yes": pairs((0, 1), (2, 3)), "neither": pairs((0, 4))} | more
    return labelled.Labelled("made", "by hand", ["a b c", "a b d", "x y", "x z", "q"], **given)


def test_pairs_have_no_direction_and_no_copies():
    assert pairs((3, 1), (1, 3), (2, 2), (0, 1)).tolist() == [1, 1 << 32 | 3]


def test_all_other_pairs_are_false_alarms_when_all_are_judged():
    found = labelled.judge(made(), pairs((1, 0), (0, 4), (1, 4), (2, 4)))
    assert found[:6] == (4, 1, 2, 1 / 3, 1 / 2, 2 / 5)


def test_only_labelled_pairs_are_false_alarms_when_those_are_given():
    found = labelled.judge(made(no=pairs((1, 4))), pairs((0, 1), (2, 3), (1, 4), (2, 4)))
    assert found[:6] == (4, 2, 1, 2 / 3, 1.0, 4 / 5)
    assert made(no=pairs((1, 4))).base == pytest.approx(4 / 5)
    assert made().base is None


def test_pairs_within_a_side_are_not_judged():
    sides = np.array([0, 1, 0, 1, 0])
    assert labelled.judge(made(sides=sides), pairs((0, 1), (0, 2), (1, 2)))[:3] == (3, 1, 1)


def test_nothing_listed():
    found = labelled.judge(made(kinds={"first": pairs((0, 1))}), pairs())
    assert found == (0, 0, 0, None, 0.0, 0.0, {"first": 0.0})


def test_judging_is_what_sets_of_pairs_say():
    rng = random.Random(5)
    for _ in range(50):
        every = [(a, b) for b in range(8) for a in range(b)]
        rng.shuffle(every)
        yes, neither, no = every[:6], every[6:10], every[10:16]
        listed = rng.sample(every, rng.randrange(1, 20))
        for given in (None, no):
            of = made(yes=pairs(*yes), neither=pairs(*neither), no=None if given is None else pairs(*given))
            wrong = set(given) if given is not None else set(every) - set(yes) - set(neither)
            hits, false = len(set(yes) & set(listed)), len(wrong & set(listed))
            assert labelled.judge(of, pairs(*listed))[:3] == (len(listed), hits, false)


@needs_data
def test_labels_are_read_as_the_data_says():
    counts = {}
    for name in ("plag_clough", "plag_code_irplag", "noise_ocr", "short_er/Textual_Abt-Buy", "xling_udhr"):
        of = sets.load(DATA, name)
        assert of.name == name and of.about.endswith(".")
        assert not len(np.intersect1d(of.yes, of.neither))
        assert of.no is None or not len(np.intersect1d(of.yes, of.no))
        assert all(len(np.setdiff1d(part, of.yes)) == 0 for part in of.kinds.values())
        assert max(of.yes.max() & 0xFFFFFFFF, of.yes.max() >> 32) < len(of.texts)
        counts[name] = (len(of.texts), len(of.yes), None if of.no is None else len(of.no))
    assert counts == {
        "plag_clough": (60, 32, 25),
        "plag_code_irplag": (194, 146, 45),
        "noise_ocr": (1569, 1046, None),
        "short_er/Textual_Abt-Buy": (2103, 1015, 8474),  # 13 pairs are labelled both ways
        "xling_udhr": (465, 31 * 15 * 14 // 2, None),
    }


@needs_data
def test_every_set_of_the_folder_has_a_reading():
    files = {str(p.relative_to(DATA)).split(".")[0] for p in DATA.rglob("*.jsonl.gz")}
    assert files == {name.split(" ")[0] for name in sets.names()}


@needs_data
@pytest.mark.parametrize("method", tables.OURS)
def test_a_set_through_a_method(method):
    options = methods.Options(DATA, None, True, (method,))
    result = methods.run_set("plag_clough", options)
    (row,) = result["rows"]
    assert result["base"] == pytest.approx(2 * 32 / (32 + 57), abs=1e-9)
    if method == "exact":
        assert row["default"]["listed"] == 0 and "best" not in row
    else:
        assert row["tried"] > 5 and row["best"]["f1"] > max(row["default"]["f1"], 0.4)
        assert set(row["best"]["kinds"]) == {"cut", "light", "heavy"}
    shown = tables.of_set(result)
    assert f"| {method} |" in shown and "Listing every judged pair has F1 .719" in shown


def test_a_flood_is_shown_and_not_counted():
    of = made()
    row = {"method": "short", "default": methods.measured(of, {"threshold": 0.8}, None), "tried": 0}
    assert row["default"] == {"setting": "≥ .8", "flooded": methods.MOST}
    assert "> 2,000,000" in tables.table(["method"] * 7, [["short", *tables.cells(row["default"])]])


def test_shares_are_never_rounded_to_nothing_or_all():
    assert [tables.share(x) for x in (0.0, 1.0, None, 0.00001, 0.99999, 0.5)] == ["0", "1", "–", ".001", ".999", ".500"]


def test_the_page_is_filled_in_between_its_marks(tmp_path):
    of = made(no=pairs((1, 4)))
    good = methods.measured(of, {"threshold": 0.8}, methods.Listed(pairs((0, 1)), None, 0.5))
    found = {
        "name": "made", "about": "by hand.", "texts": 5, "bytes": 14, "yes": 2, "no": 1, "neither": 1, "base": 0.8,
        "rows": [{"method": "exact", "default": good}, {"method": "short", "default": good, "best": good, "tried": 3}],
    }  # fmt: skip
    results = {"dejalu": "1", "python": "3", "machine": "m", "grid": methods.grid(), "sets": [found]}
    page = tmp_path / "methods.md"
    page.write_text(f"before {tables.BEGIN} old {tables.END} after", "utf-8")
    for _ in range(2):
        tables.write(page, results)
    text = page.read_text("utf-8")
    assert text.startswith("before ") and text.endswith(" after") and " old " not in text
    assert "| made | .800 | .667 | .667 **.667** |" in text
    assert "| made | exact,  | 1 |" not in text.split("### The grid")[1]


def test_a_part_is_merged_into_what_was_there():
    one, two = ({"name": name, "rows": [{"method": "short", "n": 1}]} for name in ("noise_ocr", "plag_clough"))
    again = {"name": "noise_ocr", "rows": [{"method": "exact", "n": 2}, {"method": "short", "n": 2}]}
    assert methods.merged(methods.merged([], one), two) == [two, one]
    assert methods.merged([two, one], again) == [two, again]
    assert methods.merged([again], one)[0]["rows"] == [{"method": "exact", "n": 2}, {"method": "short", "n": 1}]


def test_what_the_other_tools_are_fed():
    assert peers.words("A b  c") == ["A", "b", "c"]
    assert peers.shingles("A b c d e F") == ["a b c d e", "b c d e f"]
    assert peers.shingles("a B") == ["a b"] and peers.shingles(" ") == []
    assert peers.characters("Ab\n cde") == ["ab cd", "b cde"] and peers.characters("ab") == ["ab"]
    json.dumps(methods.grid())


def test_the_page_holds_the_marks_and_the_figures_last_written():
    page = (ROOT / "docs" / "methods.md").read_text("utf-8")
    results = json.loads((BENCH / "results" / "methods.json").read_text("utf-8"))
    between = page.split(tables.BEGIN)[1].split(tables.END)[0]
    assert between.strip() == tables.markdown(results)
    assert [made["name"] for made in results["sets"]] == sets.names()
