"""Signatures of the native module; `dejalu.kernels` documents them."""

from typing import Any

from .kernels.arrays import F64, I32, I64, U8, U32, U64

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

# guards (native/bind_guards.cpp)
def guards(data: U8, offsets: I64, *, numbers: bool, negation: bool, urls: bool) -> U64: ...

# other sketches (native/bind_sketches.cpp)
def bottom_k(
    data: U8, offsets: I64, *, shingle: int, unit: int, unspaced: bool, k: int, scaled: int
) -> tuple[U64, I64, I64]: ...
def shared_values(
    a: I64, b: I64, values: U64, offsets: I64, other_values: U64, other_offsets: I64, most: int
) -> tuple[I64, I64]: ...
def weighted_sketch(
    data: U8,
    offsets: I64,
    *,
    shingle: int,
    unit: int,
    unspaced: bool,
    slots: int,
    keys: U64,
    weights: U32,
    unseen: int,
) -> tuple[U32, I64]: ...
def feature_counts(data: U8, offsets: I64, *, shingle: int, unit: int, unspaced: bool) -> tuple[U64, U32, I64]: ...
def count_features(values: U64, offsets: I64) -> tuple[U64, I64]: ...
def merge_counts(parts: list[tuple[U64, I64]]) -> tuple[U64, I64]: ...
def idf(documents: I64, n: int) -> U32: ...
def weight_table(features: U64, weights: U32) -> tuple[U64, U32]: ...
def feature_weights(values: U64, keys: U64, weights: U32, unseen: int) -> U32: ...
def weighted_jaccard(
    a: I64, b: I64, set_values: U64, set_offsets: I64, keys: U64, weights: U32, unseen: int
) -> F64: ...
def settle_weighted(
    groups: I64,
    keys: U64,
    packed: U8,
    set_values: U64,
    set_offsets: I64,
    element_weights: U32,
    *,
    threshold: float,
    min_matches: int,
    small: int,
) -> tuple[I64, F64]: ...

# join (native/bind_join.cpp); the tuples are the fields of `dejalu.kernels.join.Ranked`
def frequent_shingles(values: U64, *, threads: int) -> tuple[U64, U32]: ...
def rank_order(hashes: U64, documents: I64, *, threads: int) -> tuple[U64, U32]: ...
def rank_by(
    values: U64, offsets: I64, hashes: U64, weights: U32 | None, *, threads: int
) -> tuple[U32, I64, I64, U32 | None, U64 | None, U64 | None]: ...
def take_ranked(ranks: U32, weights: U32 | None, offsets: I64, rows: I64) -> tuple[U32, I64, U32 | None]: ...
def join_settle(
    ranks: U32,
    offsets: I64,
    sizes: I64,
    weights: U32 | None,
    totals: U64 | None,
    r: int,
    *,
    measure: str,
    threshold: float,
    threads: int,
) -> tuple[I64, F64]: ...
def join_pairs(
    ranks: U32,
    offsets: I64,
    sizes: I64,
    weights: U32 | None,
    totals: U64 | None,
    r: int,
    *,
    measure: str,
    threshold: float,
    most: int,
    threads: int,
) -> tuple[I64, I64, F64, bool]: ...
def join_components(
    ranks: U32,
    offsets: I64,
    sizes: I64,
    weights: U32 | None,
    totals: U64 | None,
    r: int,
    *,
    measure: str,
    threshold: float,
    eligible: U8 | None,
    threads: int,
) -> U32: ...
def settle_mixed(
    ranks: U32,
    offsets: I64,
    sizes: I64,
    r: int,
    is_short: U8,
    keys: U64,
    packed: U8,
    set_values: U64,
    set_offsets: I64,
    *,
    threshold: float,
    min_matches: int,
    threads: int,
) -> tuple[I64, F64, U8]: ...

# simhash, hamming (native/bind_hamming.cpp)
def simhash(
    data: U8,
    offsets: I64,
    *,
    shingle: int,
    unit: int,
    unspaced: bool,
    bits: int,
    distinct: bool,
    keys: U64 | None,
    weights: U32 | None,
    unseen: int,
) -> tuple[U64, I64]: ...
def simhash_features(values: U64, weights: I64, offsets: I64, bits: int) -> U64: ...
def hamming_pairs(
    prints: U64, k: int, masks: U64, bits: int, *, only: U64 | None, most: int, threads: int
) -> tuple[I64, I64, I32, bool]: ...
def hamming_tables(prints: U64, masks: U64, bits: int, *, threads: int) -> tuple[U32, U64, U32]: ...
def hamming_query(
    starts: U32,
    held: U64,
    places: U32,
    masks: U64,
    bits: int,
    prints: U64,
    queries: U64,
    k: int,
    *,
    most: int,
    threads: int,
) -> tuple[I64, I64, I32, bool]: ...
def hamming_busy(
    prints: U64, k: int, masks: U64, bits: int, *, only: U64 | None, skip: U8 | None, threads: int
) -> U8: ...
def hamming_settle(
    prints: U64,
    k: int,
    masks: U64,
    bits: int,
    *,
    only: U64 | None,
    skip: U8 | None,
    values: U64 | None,
    offsets: I64 | None,
    threshold: float,
    threads: int,
) -> tuple[I64, I32, F64]: ...
