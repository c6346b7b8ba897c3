"""Text kernels against their plain twins, on any bytes and all parameters."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from text_cases import arrow, grouped, raw_texts, strings

from dejalu import kernels
from dejalu.kernels.reference import fold, hashing, shingles, sketch, tokens

texts = st.lists(raw_texts, min_size=1, max_size=3)
units = st.sampled_from([0, 1])
widths = st.sampled_from([1, 2, 3, 5, 8, 9, 40])
slots = st.sampled_from([0, 1, 2, 7, 64, 100, 128, 129, 200, 300])


@given(texts, st.integers(0, 3))
def test_fold(raws, before):
    data, offsets = kernels.fold(*arrow(raws, before=before))
    assert strings(data, offsets) == [fold.fold(r) for r in raws]


@given(texts, st.booleans(), st.integers(0, 3))
def test_tokens(raws, unspaced, before):
    data, borders, docs = kernels.tokens(*arrow(raws, before=before), unspaced=unspaced)
    assert grouped(strings(data, borders), docs) == [tokens.tokens(r, unspaced=unspaced) for r in raws]


@given(texts, widths, units, st.booleans())
def test_shingle_sets(raws, width, unit, unspaced):
    values, offsets = kernels.shingle_sets(*arrow(raws), shingle=width, unit=unit, unspaced=unspaced)
    name = ("word", "char")[unit]
    expected = [shingles.shingle_set(r, shingle=width, unit=name, unspaced=unspaced) for r in raws]
    assert grouped(values.tolist(), offsets) == expected


@settings(max_examples=60)
@given(texts, widths, units, st.booleans(), slots)
def test_sketch(raws, width, unit, unspaced, k):
    signatures, token_hash, count, flags, long_tokens = kernels.sketch(
        *arrow(raws), shingle=width, unit=unit, unspaced=unspaced, slots=k
    )
    for i, raw in enumerate(raws):
        words = tokens.tokens(raw, unspaced=unspaced)
        hashes = [hashing.token_hash(w.encode()) for w in words]
        value = xxhash.xxh3_128_intdigest(b"".join(h.to_bytes(8, "little") for h in hashes)) if words else 0
        assert token_hash[i].tolist() == [value >> 64, value & hashing.M64]
        assert count[i] == len(words)
        assert flags[i] == tokens.invalid(raw)
        assert long_tokens[i] == sum(len(w) > 1000 for w in words)
        made_of = shingles.units(raw, unit=("word", "char")[unit], unspaced=unspaced)
        assert signatures[i].tolist() == sketch.signature(shingles.shingles(made_of, width), k)


@given(texts)
def test_bytes_hash(raws):
    expected = [xxhash.xxh3_128_intdigest(r) for r in raws]
    assert kernels.bytes_hash(*arrow(raws)).tolist() == [[e >> 64, e & hashing.M64] for e in expected]


@given(st.integers(0, 2**32), st.integers(1, 70), st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_pack_and_estimate(seed, k, bits):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2**32, (2, 4, k), dtype=np.uint32)
    b = np.where(rng.random((4, k)) < 0.5, a, b)
    rows = [(x.tolist(), y.tolist()) for x, y in zip(a, b, strict=True)]
    if bits == 32:
        found = kernels.estimate(a, b, bits=bits, slots=k)
    else:
        packed = kernels.pack(a, bits)
        assert [r.tobytes() for r in packed] == [sketch.pack(x, bits) for x, _ in rows]
        found = kernels.estimate(packed, kernels.pack(b, bits), bits=bits, slots=k)
    assert found.tolist() == [sketch.estimate(x, y, bits=bits) for x, y in rows]


@settings(max_examples=60)
@given(texts, widths, units, st.booleans(), st.sampled_from([1, 7, 128, 200]), st.data())
def test_sketch_bands_is_sketch_keys_and_pack(raws, width, unit, unspaced, k, data):
    rows = data.draw(st.integers(1, k))
    bands = data.draw(st.integers(1, k // rows))
    raws = raws * data.draw(st.sampled_from([1, 90]))  # beyond one step of documents
    how = {"shingle": width, "unit": unit, "unspaced": unspaced}
    keys, packed, *rest = kernels.sketch_bands(*arrow(raws), **how, slots=k, bands=bands, rows=rows)
    signatures, *expected = kernels.sketch(*arrow(raws), **how, slots=k)
    np.testing.assert_array_equal(keys, kernels.band_keys(signatures, bands, rows))
    np.testing.assert_array_equal(packed, kernels.pack(signatures, 8))
    for got, want in zip(rest, expected, strict=True):
        np.testing.assert_array_equal(got, want)
