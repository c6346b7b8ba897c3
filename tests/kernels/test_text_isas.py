"""All instruction sets of this machine give the same bits, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dejalu import kernels

PROGRAM = """
import hashlib, json, sys
import numpy as np
sys.path.insert(0, {tests!r})
from text_cases import POINTS, BROKEN, arrow
from dejalu import kernels
rng = np.random.default_rng(11)
alphabet = [c.encode("utf-8", "surrogatepass") for c in POINTS] + BROKEN
alphabet += [b"word", b" ", b"Some longer words here ", b"x" * 20] * 9
texts = [b"".join(alphabet[i] for i in rng.integers(0, len(alphabet), n)) for n in [*range(70), 300, 3000, 20000]]
out = {{}}
def put(name, arrays):
    h = hashlib.sha256()
    for a in arrays: h.update(str(a.dtype).encode() + str(a.shape).encode() + a.tobytes())
    out[name] = h.hexdigest()
raw = arrow(texts)
put("fold", kernels.fold(*raw))
put("bytes_hash", [kernels.bytes_hash(*raw)])
for unspaced in (False, True):
    put(f"tokens {{unspaced}}", kernels.tokens(*raw, unspaced=unspaced))
    for unit in (0, 1):
        for shingle in (1, 2, 3, 4, 5, 6, 7, 8, 9, 33):
            o = dict(shingle=shingle, unit=unit, unspaced=unspaced)
            put(f"sets {{o}}", kernels.shingle_sets(*raw, **o))
            for slots in (1, 31, 64, 128, 200, 256, 500):
                s = kernels.sketch(*raw, **o, slots=slots)
                put(f"sketch {{o}} {{slots}}", s)
for bits in (1, 2, 4, 8, 16):
    p = kernels.pack(s[0], bits)
    put(f"pack {{bits}}", [p, kernels.estimate(p, p[::-1].copy(), bits=bits, slots=500)])
put("estimate", [kernels.estimate(s[0], s[0][::-1].copy(), bits=32, slots=500)])
print(kernels.isa(), json.dumps(out))
"""


def run(isa: str) -> str:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(tests=here)],
        env=os.environ | {"DEJALU_ISA": isa},
        capture_output=True,
        text=True,
        check=True,
    )
    name, _, rest = done.stdout.partition(" ")
    assert name == isa
    return rest


def test_same_bits():
    names = kernels.available_isas()
    assert names[0] == "baseline"
    if len(names) == 1:
        pytest.skip("this machine and build have one instruction set only")
    first = run(names[0])
    assert [run(n) == first for n in names[1:]] == [True] * (len(names) - 1)


def test_unknown_name_is_an_error():
    done = subprocess.run(
        [sys.executable, "-c", "import dejalu.kernels"],
        env=os.environ | {"DEJALU_ISA": "mmx"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0 and "baseline" in done.stderr
