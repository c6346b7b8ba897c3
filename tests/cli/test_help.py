"""The command line explains itself, quickly."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dejalu
from dejalu.cli import VERBS

RUN = "from dejalu.cli import main; main()"


def dejalu_(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", RUN, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_verb_has_help_with_an_example(verb: str, flag: str) -> None:
    ran = dejalu_(verb, flag)
    assert ran.returncode == 0
    assert "Example: dejalu" in ran.stdout
    for option in ("--json", "--quiet"):
        assert option in ran.stdout
    assert ran.stderr == ""


def test_top_help_lists_the_verbs() -> None:
    ran = dejalu_("-h")
    assert ran.returncode == 0
    for verb in VERBS:
        assert verb in ran.stdout
    assert "Example" in ran.stdout


def test_version() -> None:
    assert dejalu_("--version").stdout.strip() == f"dejalu {dejalu.__version__}"


def test_top_help_imports_no_array_library() -> None:
    code = f"import sys; sys.argv = ['dejalu', '-h']\ntry:\n    {RUN}\nexcept SystemExit:\n    pass\n"
    code += "print([m for m in ('numpy', 'pyarrow', 'dejalu._native') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "words", [(), ("nonsense",), ("dedup",), ("dedup", "--nonsense"), ("dedup", "x", "--shingle", "few")]
)
def test_wrong_usage_ends_with_2(words: tuple[str, ...]) -> None:
    ran = dejalu_(*words)
    assert ran.returncode == 2
