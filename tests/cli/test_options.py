"""Options are the fields of Plan and Execution: none is forgotten, none has two meanings."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from dejalu.cli import dedup
from dejalu.cli.common import output_folder
from dejalu.cli.options import _METAVAR, _PANEL_OF, given, split
from dejalu.errors import UsageError
from dejalu.plan import Execution, Plan


def test_dedup_has_every_parameter() -> None:
    names = set(inspect.signature(dedup.command).parameters)
    assert {f.name for cls in (Plan, Execution) for f in fields(cls)} <= names


def test_every_parameter_of_the_plan_has_a_place_in_the_help() -> None:
    assert set(_PANEL_OF) == {f.name for f in fields(Plan)}
    assert set(_METAVAR) <= {f.name for cls in (Plan, Execution) for f in fields(cls)}


def test_given_leaves_out_what_was_not_given() -> None:
    parameters = {
        "threshold": 0.9,
        "shingle": None,
        "prefer": ["wiki,books", "web"],
        "text_column": ["a,b", "c"],
        "keep": None,
    }
    assert given(Plan, parameters) == {
        "threshold": 0.9,
        "prefer": ("wiki", "books", "web"),
        "text_column": ("a,b", "c"),  # a column's name may hold a comma
    }
    assert given(Execution, parameters) == {}


def test_split() -> None:
    assert split(["a,b", ",c", ""]) == ("a", "b", "c")


def test_output_folder() -> None:
    with pytest.raises(UsageError, match="-o DIR"):
        output_folder(None, None, "drop")
    with pytest.raises(UsageError, match="--evidence DIR"):
        output_folder(None, None, "report")
