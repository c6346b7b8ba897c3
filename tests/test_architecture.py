"""The shape of the code, as a test: who may import whom, how long a file may be, what a verb must explain.

A failure here says what to do. The rules themselves stand in CONTRIBUTING.md and in the docstring of `RULE`.
"""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dejalu"
ROOMS = ("read", "represent", "candidates", "verify", "cluster", "act")

RULE = """
The import rule of dejalu, from the bottom up. A file imports from lower levels and its own package, never sideways:

    0  errors                   imports nothing of ours
    1  data, kernels            import errors
    2  the six rooms, engines   import errors, data, kernels; what they need to know arrives as arguments
    3  plan                     imports what is above
    4  run                      imports what is above: what a run is made of
    5  flow, index              import what is above
    6  pairing, evaluate, serve import what is above
    7  api, sketching           import what is above
    8  cli                      may import all

A room that needs something of another room: hand it over as an argument in flow.py, or, if it is a noun that both
speak of, put it into data.py; if it is arithmetic on arrays, into kernels.
"""
LEVEL = {
    "errors": 0,
    "data": 1,
    "kernels": 1,
    "_native": 1,  # the compiled half of kernels
    **dict.fromkeys((*ROOMS, "engines"), 2),
    "plan": 3,
    "run": 4,
    "flow": 5,
    "index": 5,
    "pairing": 6,
    "evaluate": 6,
    "api": 7,
    "sketching": 7,
    "serve": 6,
    "cli": 8,
}
ANYTHING = ("__init__", "__main__")  # the package's own doors
OPTIONAL = ("jieba", "polars", "pandas", "datasets", "duckdb", "xxhash", "ray", "pyspark")
OPTIONAL += ("fsspec", "fastwarc", "resiliparse")
MAX_PYTHON, MAX_HEADER = 400, 300


def python_files() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py"))


def place(path: Path) -> tuple[str, ...]:
    """Module path below dejalu: act/files.py -> ("act", "files")."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts


def imports(path: Path) -> list[tuple[int, str, bool]]:
    """(line, module, ours) of all imports of a file, those inside functions too; ours: path below dejalu."""
    package = path.relative_to(SOURCE).parts[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                ours = alias.name.split(".")[0] == "dejalu"
                found.append((node.lineno, alias.name.removeprefix("dejalu.") if ours else alias.name, ours))
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package[: len(package) - (node.level - 1)]
                base = ".".join((*above, *filter(None, [base])))
            elif base.split(".")[0] == "dejalu":
                base = base.removeprefix("dejalu").removeprefix(".")
            else:
                found.append((node.lineno, base, False))
                continue
            # `from .. import kernels` imports a module, `from ..data import Docs` a name of one.
            found += [(node.lineno, base or alias.name, True) for alias in node.names]
    return found


def test_import_rule():
    faults = []
    for path in python_files():
        here = place(path)[0]
        if here in ANYTHING:
            continue
        if here not in LEVEL:
            faults.append(f"{path.relative_to(ROOT)}: `{here}` has no level yet; give it one in {Path(__file__).name}")
            continue
        for line, module, ours in imports(path):
            there = module.split(".")[0]
            if not ours or there == here:
                continue
            if there not in LEVEL:
                if there != "__version__":
                    faults.append(f"{path.relative_to(ROOT)}:{line}: imports `{module}` of the package itself")
                continue
            same_half = {here, there} == {"kernels", "_native"}
            if LEVEL[there] >= LEVEL[here] and not same_half:
                faults.append(
                    f"{path.relative_to(ROOT)}:{line}: `{here}` (level {LEVEL[here]}) imports "
                    f"`{there}` (level {LEVEL[there]})"
                )
    assert not faults, RULE + "\nBroken in:\n  " + "\n  ".join(faults)


def test_an_optional_dependency_is_imported_in_one_file():
    where: dict[str, set[str]] = {}
    for path in python_files():
        for _, module, ours in imports(path):
            name = module.split(".")[0]
            if not ours and name in OPTIONAL:
                where.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    many = {name: sorted(files) for name, files in where.items() if len(files) > 1}
    assert not many, (
        f"{many}: an optional dependency is imported in the one file that needs it, and that file names the extra to "
        "install when it is absent. Move what the other files do with it there."
    )


def test_everything_imported_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = {re.split(r"[\s\[<>=!~;]", d)[0].lower().replace("-", "_") for d in project["dependencies"]}
    stdlib = __import__("sys").stdlib_module_names
    faults = {
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in python_files()
        for line, module, ours in imports(path)
        if not ours and (name := module.split(".")[0]) not in stdlib and name not in core and name not in OPTIONAL
    }
    assert not faults, f"neither in [project] dependencies nor a known optional one: {sorted(faults)}"


@pytest.mark.parametrize("path", python_files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_python_file_holds_one_idea(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_PYTHON, f"{path.name}: {lines} lines; over {MAX_PYTHON} it has more than one idea: split it"


def own_headers() -> list[Path]:
    return sorted(
        p
        for p in (ROOT / "native").rglob("*.hpp")
        if "third_party" not in p.parts and "generated" not in p.read_text(encoding="utf-8")[:400].lower()
    )


@pytest.mark.parametrize("path", own_headers(), ids=lambda p: p.name)
def test_a_header_holds_one_idea(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_HEADER, f"{path.name}: {lines} lines; over {MAX_HEADER} it has more than one idea: split it"


@pytest.mark.parametrize("path", python_files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_module_says_what_it_is(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{path.name}: begin with a docstring of one line that says what the file is for"


def public_order(name: str) -> tuple[int, str]:
    """The order of ruff's RUF022: constants, classes, then functions and modules, each by alphabet."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, name


def modules_with_all() -> list[str]:
    names = []
    for path in python_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__all__" for n in tree.body):
            names.append(".".join(("dejalu", *place(path))).removesuffix(".__init__"))
    return names


@pytest.mark.parametrize("name", modules_with_all())
def test_public_names_are_there_and_sorted(name):
    module = importlib.import_module(name)
    assert module.__all__ == sorted(module.__all__, key=public_order), f"{name}.__all__ is not sorted"
    missing = [n for n in module.__all__ if not hasattr(module, n)]
    assert not missing, f"{name}.__all__ lists {missing}, which it does not have"


def test_rooms_are_documented_where_one_looks():
    for room in ROOMS:
        doc = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8")))
        assert doc, f"{room}/__init__.py: say in one line what goes in and what comes out"


def test_no_machine_of_ours_is_named():
    """Nothing of where it was written: no absolute path of a home, work or temporary folder in what ships."""
    pattern = re.compile(r"/(?:home|root|work|Users)/\w|/var/tmp/")
    faults = [
        f"{path.relative_to(ROOT)}:{i}"
        for folder in ("src", "native", "docs", "tests", "bench", "scripts", ".ci")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file()
        and path.suffix in {".py", ".hpp", ".cpp", ".md", ".toml", ".txt", ".sh", ""}
        and "third_party" not in path.parts
        and path != Path(__file__)
        and "demo" not in path.parts
        for i, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not faults, f"paths of one machine in {faults}"


def test_every_verb_has_help_with_an_example():
    from typer.testing import CliRunner

    from dejalu.cli import VERBS, build

    assert {"dedup", "show", "apply", "demo"} <= set(VERBS)
    runner = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"})
    for verb in VERBS:
        shown = runner.invoke(build(verb), [verb, "-h"])
        assert shown.exit_code == 0, f"dejalu {verb} -h: exit code {shown.exit_code}"
        assert re.search(rf"Example.*dejalu {verb}\b", shown.output), (
            f"dejalu {verb} -h: give one example that begins with the verb, in a line that says so"
        )
        assert "--json" in shown.output, f"dejalu {verb} -h: every verb has --json"
