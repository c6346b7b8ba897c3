"""Nothing that a user can give or call lacks a word in the documentation."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import dejalu
from dejalu.cli import VERBS
from dejalu.plan import METHODS, Execution, Plan

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_command_line_page_is_as_the_command_line() -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "reference_pages"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_verb_and_option_is_explained() -> None:
    page = (DOCS / "command-line.md").read_text("utf-8")
    for verb in VERBS:
        assert f"## dejalu {verb}\n" in page
    for f in (f for cls in (Plan, Execution) for f in fields(cls)):
        assert f"`--{f.name.replace('_', '-')}`" in page, f"option {f.name} has no line in command-line.md"
        assert f.metadata["help"], f"{f.name} has no help text in plan.py"


def test_every_method_has_a_page() -> None:
    for method in METHODS:
        page = (DOCS / f"method-{method}.md").read_text("utf-8")
        assert page.startswith(f"# Method `{method}`")


def test_every_public_name_is_explained() -> None:
    pages = "".join(p.read_text("utf-8") for p in [ROOT / "README.md", *DOCS.glob("*.md")])
    for name in dejalu.__all__:
        assert f"dejalu.{name}" in pages or f"`{name}" in pages, f"dejalu.{name} is in no page"


def test_the_error_tree_is_in_its_docstring() -> None:
    from dejalu import errors

    for name, value in vars(errors).items():
        if isinstance(value, type):
            assert name in (errors.__doc__ or ""), f"{name} is missing from the tree in errors.py"
