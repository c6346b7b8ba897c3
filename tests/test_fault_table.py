"""The table of faults in docs/quality.md: complete, and true about where each case is tested."""

import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
HANDED = HERE.parents[1] / "shared" / "bugs" / "handed.jsonl"
FILES = {"E": "test_faults_end_to_end.py", "F": "test_faults_files.py", "M": "test_faults_methods.py"}


def table() -> dict[str, str]:
    """{case: where it is tested}."""
    text = (HERE.parent / "docs" / "quality.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (BUG-\d+) \|[^|]+\| ([^|]+) \|$", text, re.MULTILINE)
    assert len(dict(rows)) == len(rows)
    return dict(rows)


@pytest.mark.skipif(not HANDED.exists(), reason="the shared list of cases is not here")
def test_every_case_is_in_the_table():
    ids = {json.loads(line)["id"] for line in HANDED.read_text(encoding="utf-8").splitlines()}
    assert ids == set(table())


def test_every_entry_names_a_test_that_is_there():
    source = {key: (HERE / name).read_text(encoding="utf-8") for key, name in FILES.items()}
    for case, where in table().items():
        number = case.removeprefix("BUG-")
        now = where.partition("later")[0]
        for key, text in source.items():
            named = re.search(rf"\b{key}\b", now) is not None
            there = re.search(rf"^def test_bug_(?:\d+_and_)*{number}_", text, re.MULTILINE) is not None
            assert named == there, f"{case}: the table says {where!r}, {FILES[key]} says {there}"
        for path in re.findall(r"`(tests/\S+)`", now):
            assert f"{number}" in (HERE.parent / path).read_text(encoding="utf-8") or case == "BUG-099"
        assert now.strip() or "later" in where
