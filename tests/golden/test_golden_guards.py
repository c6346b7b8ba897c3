"""The guards' hashes against the values pinned in guards.json; both the native kernel and its twin must give them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from text_cases import arrow

from dejalu import kernels
from dejalu.kernels.reference import guards as twin

PINNED = json.loads(Path(__file__).with_name("guards.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", PINNED)
def test_pinned(text):
    for name, want in PINNED[text].items():
        chosen = {n: name in (n, "all") for n in ("numbers", "negation", "urls")}
        assert f"{kernels.guards(*arrow([text.encode()]), **chosen)[0]:016x}" == want
        assert f"{twin.guards(text.encode(), **chosen):016x}" == want
