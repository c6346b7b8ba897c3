"""Bottom-k, weighted sketches and feature counts: the same bits from every instruction set."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dejalu import kernels

PROGRAM = """
import hashlib, sys
import numpy as np
sys.path.insert(0, {tests!r})
from text_cases import POINTS, BROKEN, arrow
from dejalu import kernels
rng = np.random.default_rng(12)
alphabet = [c.encode("utf-8", "surrogatepass") for c in POINTS] + BROKEN
alphabet += [b"word", b" ", b"Some longer words here ", b"x" * 20] * 9
texts = [b"".join(alphabet[i] for i in rng.integers(0, len(alphabet), n)) for n in [*range(70), 300, 3000]]
texts += [b" ".join(b"%x" % i for i in rng.integers(0, spread, 12_000)) for spread in (40, 9_000, 1 << 60)]
raw = arrow(texts)
h = hashlib.sha256()
def put(arrays):
    for a in arrays: h.update(str(a.dtype).encode() + str(a.shape).encode() + a.tobytes())
for unit in (0, 1):
    for shingle in (1, 3, 5):
        o = dict(shingle=shingle, unit=unit)
        for how in (dict(k=1), dict(k=20), dict(k=128), dict(scaled=1), dict(scaled=7), dict(scaled=1000)):
            put(kernels.bottom_k(*raw, **o, **how))
        put(kernels.feature_counts(*raw, **o))
        values, offsets = kernels.shingle_sets(*raw, **o)
        features, documents = kernels.count_features(values, offsets)
        put([features, documents])
        keys, weights = kernels.weight_table(features[::2].copy(), kernels.idf(documents, len(texts))[::2].copy())
        put([keys, weights])
        for slots in (1, 31, 128, 300):
            put(kernels.weighted_sketch(*raw, **o, slots=slots, keys=keys, weights=weights, unseen=3000))
print(kernels.isa(), h.hexdigest())
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
    name, digest = done.stdout.split()
    assert name == isa
    return digest


def test_same_bits():
    names = kernels.available_isas()
    if len(names) == 1:
        pytest.skip("this machine and build have one instruction set only")
    assert len({run(n) for n in names}) == 1
