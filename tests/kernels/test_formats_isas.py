"""The format kernels give the same bits under all instruction sets of this machine, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dejalu import kernels

PROGRAM = """
import hashlib
import numpy as np
from dejalu import kernels
from dejalu.kernels.formats import csv_extract, jsonl_extract, utf8_invalid
rng = np.random.default_rng(5)
pieces = [b"word ", b"x" * 20, b"\\\\n", b'\\\\"', b"\\\\\\\\", b"\\\\u00e9", b"\\\\ud83c\\\\udf89", b"\\\\ud835"]
pieces += ["字".encode(), "Я".encode(), "🎉".encode()]
pieces += [b"\\xff", b"\\xe4\\xb8", b'"', b"\\\\", b"\\x01", b"\\n", b",", b"}", b'","text":"']
chances = np.array([60, 30, 20, 9, 9, 5, 3, 1, 40, 20, 5] + [0.15] * 9)
h = hashlib.sha256()
for n in [*range(60), 300, 3000]:
    inside = b"".join(pieces[i] for i in rng.choice(len(pieces), n, p=chances / chances.sum()))
    for block in (b'{"text":"' + inside + b'"}\\n{"id":1,"text":"' + inside, b'id,"' + inside + b'"\\n' + inside):
        array = np.frombuffer(block, np.uint8)
        for final in (False, True):
            j = jsonl_extract(array, ["text", "id"], final=final)
            c = csv_extract(array, ",", [0, 1], expected=2, final=final)
            for e in (j, c):
                arrays = [e.row, e.start, e.end, e.line, e.detail, e.status, *e.kind, *e.replaced]
                for a in [*arrays, *(a for t in e.text for a in t)]:
                    h.update(str(a.dtype).encode() + a.tobytes())
        h.update(str(utf8_invalid(array)).encode())
print(kernels.isa(), h.hexdigest())
"""


def run(isa: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"DEJALU_ISA": isa},
        capture_output=True,
        text=True,
        check=True,
    )
    name, digest = done.stdout.split()
    assert name == isa
    return digest


@pytest.mark.parametrize("isa", kernels.available_isas()[1:] or ["baseline"])
def test_same_bits(isa: str) -> None:
    assert run(isa) == run("baseline")
