"""Signatures of the native module; `dejalu.kernels` documents them."""

from typing import Any

from .kernels.arrays import F64, I64, U8, U32, U64

def isa() -> str: ...
def available_isas() -> list[str]: ...

# text (native/bind_text.cpp)
def fold(data: U8, offsets: I64) -> tuple[U8, I64]: ...
def tokens(data: U8, offsets: I64, *, unspaced: bool) -> tuple[U8, I64, I64]: ...
def sketch(
    data: U8, offsets: I64, *, shingle: int, unit: int, unspaced: bool, slots: int
) -> tuple[U32, U64, I64, U8, U32]: ...
def sketch_bands(
    data: U8, offsets: I64, *, shingle: int, unit: int, unspaced: bool, slots: int, bands: int, rows: int
) -> tuple[U64, U8, U64, I64, U8, U32]: ...
def shingle_sets(data: U8, offsets: I64, *, shingle: int, unit: int, unspaced: bool) -> tuple[U64, I64]: ...
def bytes_hash(data: U8, offsets: I64) -> U64: ...
def pack(signatures: U32, bits: int) -> U8: ...
def estimate(a: U8 | U32, b: U8 | U32, *, bits: int, slots: int) -> F64: ...

# formats (native/bind_formats.cpp); the tuples are the fields of `dejalu.kernels.formats.Extracted`
def jsonl_extract(block: U8, fields: list[str], final: bool, wanted: I64 | None) -> tuple[Any, ...]: ...
def csv_extract(
    block: U8, delimiter: int, columns: I64, expected: int, final: bool, wanted: I64 | None
) -> tuple[Any, ...]: ...
def utf8_invalid(data: U8) -> int: ...

# groups (native/bind_groups.cpp)
def band_keys(signatures: U32, bands: int, rows: int) -> U64: ...
def repeated(key: U64, skip: U8 | None) -> tuple[I64, I64]: ...
def settle(
    groups: I64,
    keys: U64,
    packed: U8,
    set_values: U64,
    set_offsets: I64,
    threshold: float,
    min_matches: int,
    cap: int,
    settled: int,
    small: int,
) -> tuple[I64, F64, int]: ...
def settle_texts(
    batches: list[tuple[U8, I64]],
    which: I64,
    rows: I64,
    groups: I64,
    keys: U64,
    packed: U8,
    *,
    shingle: int,
    unit: int,
    unspaced: bool,
    threshold: float,
    min_matches: int,
    cap: int,
    small: int,
    chunk: int,
) -> tuple[I64, F64, int]: ...
def jaccard(a: I64, b: I64, set_values: U64, set_offsets: I64) -> F64: ...
def band_pairs(
    keys: U64,
    band: int,
    skip: U8 | None,
    packed: U8,
    set_values: U64,
    set_offsets: I64,
    weight: I64,
    threshold: float,
    min_matches: int,
    most: int,
) -> tuple[I64, I64, F64, bool]: ...
def gather(batches: list[tuple[U8, I64]], which: I64, rows: I64) -> tuple[U8, I64]: ...
def mix64(values: U64) -> U64: ...

# grouping (native/bind_grouping.cpp)
def scatter_rows(
    key: U64,
    high: U64 | None,
    skip: U8 | None,
    first: int,
    low: int,
    span: int,
    shift: int,
    rows: U32,
    chain: U32,
    parts: U32,
    parent: U32,
    sketched: bool,
    limit: int,
) -> bool: ...
def join_rows(
    low: int,
    span: int,
    shift: int,
    rows: U32,
    chain: U32,
    parts: U32,
    parent: U32,
    packed: U8 | None,
    min_matches: int,
    limit: int,
) -> None: ...
def flatten(parent: U32) -> None: ...

# evaluate (native/bind_evaluate.cpp)
def overlap_table(values: U64, offsets: I64) -> tuple[U64, U32, I64, U32]: ...
def overlap_join(
    slot_key: U64,
    slot_ref: U32,
    starts: I64,
    posting: U32,
    sample_values: U64,
    sample_offsets: I64,
    values: U64,
    offsets: I64,
    threshold: float,
) -> tuple[I64, I64, F64]: ...
