"""Every example in README and docs runs: `>>>` blocks as doctests, `$` lines of console blocks as commands.

A page's examples share one empty folder with the demo corpus in it as `corpus/`, and one namespace. In expected
output `...` stands for anything.
Lines of sh blocks are not run (they install things), but a `dejalu` command in them must be one that exists.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Return (language, text, line) of each fenced block."""
    source = page.read_text("utf-8")
    return [(m[1], m[2], source.count("\n", 0, m.start()) + 1) for m in BLOCK.finditer(source)]


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the demo corpus."""
    shutil.copytree(str(files("dejalu") / "demo" / "corpus"), tmp_path / "corpus")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command_line(line: str) -> subprocess.CompletedProcess[str]:
    """Run one line of a console block; `dejalu` is the one under test."""
    code = f"{shlex.quote(sys.executable)} -c 'from dejalu.cli import main; main()'"
    env = {**os.environ, "COLUMNS": "100", "PYTHONWARNINGS": "default"}
    line = re.sub(r"\bdejalu(?= (?:dedup|show|apply|sketch|plan|demo|-))", lambda _: code, line)
    return subprocess.run(line, shell=True, capture_output=True, text=True, env=env, check=False, timeout=300)


@pytest.mark.skipif(sys.platform == "win32", reason="the pages show a Unix shell")
@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(b[0] in ("python", "console") for b in blocks(p))], ids=lambda p: p.name
)
def test_examples(page: Path, workshop: Path) -> None:
    namespace: dict[str, object] = {}
    checker = doctest.OutputChecker()
    for language, text, line in blocks(page):
        if language == "python" and ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, namespace, f"{page.name}:{line}", str(page), line)
            said: list[str] = []
            runner = doctest.DocTestRunner(checker, optionflags=FLAGS, verbose=False)
            runner.run(test, out=said.append, clear_globs=False)
            namespace = test.globs
            assert runner.failures == 0, "".join(said)
        elif language == "console":
            for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
                ran = command_line(command)
                assert ran.returncode == 0, f"{page.name}:{line}: {command}\n{ran.stdout}{ran.stderr}"
                if wanted:
                    got = ran.stdout.rstrip("\n") + "\n"
                    assert checker.check_output(wanted, got, FLAGS), f"{page.name}:{line}: {command}\n{got}"


def commands() -> list[tuple[str, str]]:
    """All `dejalu …` commands in fenced blocks and in inline code."""
    found = []
    for page in PAGES:
        source = page.read_text("utf-8")
        candidates = [line for _, text, _ in blocks(page) for line in text.splitlines()]
        candidates += re.findall(r"`(dejalu [^`]*)`", BLOCK.sub("", source))
        for candidate in candidates:
            for part in re.split(r"&&|[|>]|<!--", candidate.split("#")[0]):
                command = part.strip().removeprefix("$ ")
                if re.match(r"(\S*/)?dejalu [a-z]", command):
                    found.append((page.name, command))
    return found


def test_commands_in_the_pages_exist() -> None:
    import inspect
    from importlib import import_module

    from dejalu.cli import VERBS

    assert len(commands()) > 10
    for page, command in commands():
        _, verb, *words = shlex.split(command.replace("…", ""))
        assert verb in VERBS, f"{page}: {command}: no such verb"
        known = set(inspect.signature(import_module(f"dejalu.cli.{verb}").command).parameters)
        for word in words:
            if word.startswith("--") and word not in ("--help", "--csv"):
                assert word[2:].split("=")[0].replace("-", "_") in known, f"{page}: {command}: no option {word}"


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "src/dejalu/demo/README.md"]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_paths_in_code_marks_exist() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for path in re.findall(r"`((?:tests|bench|scripts|docs|src|native)/[\w./-]+)`", page.read_text("utf-8")):
            assert (ROOT / path).exists() or "simhash" in path, f"{page.name} names {path}, which is not there"
