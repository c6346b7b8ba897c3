"""What the text kernels refuse, and the empty cases."""

from __future__ import annotations

import numpy as np
import pytest
from text_cases import arrow

from dejalu import kernels

DATA, OFFSETS = arrow([b"one two", b"three"])


@pytest.mark.parametrize("offsets", [[], [-1, 3], [0, 99], [3, 1], [0, 5, 4]])
def test_offsets_that_do_not_fit(offsets):
    with pytest.raises(ValueError, match="offsets"):
        kernels.fold(DATA, np.array(offsets, np.int64))


@pytest.mark.parametrize(
    ("change", "name"),
    [({"shingle": 0}, "shingle"), ({"unit": 2}, "unit"), ({"slots": -1}, "slots"), ({"slots": 2**21}, "slots")],
)
def test_parameters_out_of_range(change, name):
    with pytest.raises(ValueError, match=name):
        kernels.sketch(DATA, OFFSETS, **{"shingle": 5, "unit": 0, "slots": 128} | change)


@pytest.mark.parametrize("bits", [0, 3, 32, 64])
def test_bits_out_of_range(bits):
    with pytest.raises(ValueError, match="bits"):
        kernels.pack(np.zeros((1, 8), np.uint32), bits)


def test_shapes_that_differ():
    a = np.zeros((2, 4), np.uint8)
    with pytest.raises(ValueError, match="columns"):
        kernels.estimate(a, a, bits=8, slots=5)
    with pytest.raises(ValueError, match="rows"):
        kernels.estimate(a, a[:1], bits=8, slots=4)


def test_no_silent_conversion():
    with pytest.raises(TypeError):
        kernels.fold(DATA.astype(np.int64), OFFSETS)
    with pytest.raises(TypeError):
        kernels.fold(DATA, OFFSETS.astype(np.int32))


def test_no_text_and_empty_texts():
    none, zero = np.zeros(0, np.uint8), np.zeros(1, np.int64)
    assert kernels.sketch(none, zero, shingle=5)[0].shape == (0, 128)
    assert kernels.tokens(none, zero)[1].tolist() == [0]
    signatures, token_hash, count, flags, _ = kernels.sketch(
        *arrow([b"", b" \n", "\u200b".encode(), b"\xff"]), shingle=5
    )
    assert (signatures == 0xFFFFFFFF).all()
    assert not token_hash.any() and not count.any()
    assert flags.tolist() == [0, 0, 0, 1]


def test_read_only_and_unaligned_buffers():
    data, offsets = arrow([b"unaligned text, read only"], before=3)
    assert not data.flags.writeable
    same = arrow([b"unaligned text, read only"])
    assert (kernels.sketch(data, offsets, shingle=2)[0] == kernels.sketch(*same, shingle=2)[0]).all()
