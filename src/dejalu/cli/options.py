"""Turns the fields of `Plan` and `Execution` into options, so that a parameter is explained and checked once.

`@takes(Plan, Execution)` replaces a command's `**parameters` by one option per field: `text_column` becomes
`--text-column`, and its help is the field's own. An option that is not given arrives as None, so that a plan file
can stand below what is given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, fields
from typing import Annotated, Any

import typer

FINDING = "What is a duplicate"
KEEPING = "Which copy stays"
READING = "Reading"
ACTING = "Acting"
RUNNING = "Running"

_PANEL = {
    FINDING: (
        *("method", "threshold", "shingle", "unit", "slots", "distance", "bits", "weights", "keywords", "verify"),
        *("measure", "frequencies", "short_below", "short_shingle", "short_unit", "differ", "segmenter", "kept_cap"),
    ),
    KEEPING: ("keep", "prefer", "within", "source_column"),
    READING: ("text_column", "id_column", "encoding", "on_error"),
    ACTING: ("mode", "add_columns", "max_removal", "audit"),
}
_ORDER = (ACTING, FINDING, KEEPING, READING, RUNNING)
_PANEL_OF = {name: panel for panel, names in _PANEL.items() for name in names}

_METAVAR = {
    "method": "METHOD",
    "unit": "word|char",
    "short_unit": "word|char",
    "weights": "none|tf|tfidf|keywords",
    "verify": "jaccard",
    "measure": "jaccard|cosine",
    "frequencies": "FILE",
    "differ": "numbers|negation|urls",
    "mode": "drop|tag|report",
    "on_error": "stop|skip",
    "store": "auto|memory|files",
    "keep": "RULE",
    "text_column": "COLUMN",
    "id_column": "COLUMN",
    "source_column": "COLUMN",
    "within": "COLUMN",
    "add_columns": "copies",
    "prefer": "A,B,C",
    "encoding": "NAME",
    "segmenter": "jieba",
    "tmp": "DIR",
    "max_removal": "SHARE",
}
_SPLIT_AT_COMMA = {"prefer", "add_columns", "differ"}  # not text_column: a column's name may hold a comma


def takes(*classes: type, only: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one option per field of these dataclasses (or those in `only`), in place of its `**parameters`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        derived = [_parameter(f) for cls in classes for f in fields(cls) if not only or f.name in only]
        parameters = sorted(own + derived, key=_place)
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
        return command

    return decorate


def _place(p: inspect.Parameter) -> int:
    """Rank a parameter by its panel, arguments first; within a panel the order of writing stays."""
    notes = getattr(p.annotation, "__metadata__", ())
    panel = next((note.rich_help_panel for note in notes if hasattr(note, "rich_help_panel")), None)
    return _ORDER.index(panel) + 1 if panel in _ORDER else 0


def _parameter(f: Field[Any]) -> inspect.Parameter:
    """Describe one field as an option of a command."""
    many = isinstance(f.default, tuple)
    kind = str(f.type).removesuffix(" | None")
    base: Any = list[str] if many else {"int": int, "float": float, "str": str, "int | str": str}[kind]
    more = " (may repeat)" if many else "" if f.default is None else f" (default {f.default})"
    option = typer.Option(
        "--" + f.name.replace("_", "-"),
        help=f.metadata["help"] + more,
        show_default=False,
        metavar=_METAVAR.get(f.name),
        rich_help_panel=_PANEL_OF.get(f.name, RUNNING),
    )
    return inspect.Parameter(
        f.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[base | None, option]
    )


def given(cls: type, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of `cls` that were given on the command line, comma lists split."""
    found: dict[str, Any] = {}
    for f in fields(cls):
        value = parameters.get(f.name)
        if value is None or value == []:
            continue
        if isinstance(f.default, tuple):
            value = split(value) if f.name in _SPLIT_AT_COMMA else tuple(value)
        found[f.name] = value
    return found


def split(items: Iterable[str]) -> tuple[str, ...]:
    """Split comma lists: `--prefer wiki,books --prefer web` names three values."""
    return tuple(part for item in items for part in item.split(",") if part)
