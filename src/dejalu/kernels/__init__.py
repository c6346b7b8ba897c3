"""Kernels: array-to-array functions of the native module, one plain-Python twin each in `kernels.reference`.

There is no silent slow path: without the native module the import fails, and says what to install.
"""

from __future__ import annotations

try:
    from .. import _native
except ImportError as e:
    raise ImportError(
        f"dejalu's native kernels cannot be loaded ({e}); reinstall dejalu from a wheel, "
        "or from source with a C++20 compiler"
    ) from e

from .bottom_k import Sketches, bottom_k, bottom_k_jaccard, scaled_containment, scaled_jaccard, shared_values
from .formats import csv_extract, jsonl_extract, utf8_invalid
from .grouping import flatten, join_rows, scatter_rows
from .groups import (
    band_keys,
    band_pairs,
    gather,
    jaccard,
    mix64,
    repeated,
    settle,
    settle_texts,
)
from .guards import guards
from .hamming import (
    HammingPlan,
    hamming_busy,
    hamming_pairs,
    hamming_plan,
    hamming_query,
    hamming_settle,
    hamming_tables,
)
from .join import (
    Ranked,
    join_components,
    join_pairs,
    join_settle,
    rank_by,
    rank_order,
    rank_sets,
    settle_mixed,
)
from .simhash import simhash, simhash_features
from .text import bytes_hash, estimate, fold, pack, shingle_sets, sketch, sketch_bands, tokens
from .weights import (
    count_features,
    feature_counts,
    feature_weights,
    idf,
    merge_counts,
    settle_weighted,
    weight_table,
    weighted_jaccard,
    weighted_sketch,
)

isa = _native.isa                           # name of the instruction set in use
available_isas = _native.available_isas     # names that this machine and build offer, best last

__all__ = [
    "HammingPlan",
    "Ranked",
    "Sketches",
    "available_isas",
    "band_keys",
    "band_pairs",
    "bottom_k",
    "bottom_k_jaccard",
    "bytes_hash",
    "count_features",
    "csv_extract",
    "estimate",
    "feature_counts",
    "feature_weights",
    "flatten",
    "fold",
    "gather",
    "guards",
    "hamming_busy",
    "hamming_pairs",
    "hamming_plan",
    "hamming_query",
    "hamming_settle",
    "hamming_tables",
    "idf",
    "isa",
    "jaccard",
    "join_components",
    "join_pairs",
    "join_rows",
    "join_settle",
    "jsonl_extract",
    "merge_counts",
    "mix64",
    "pack",
    "rank_by",
    "rank_order",
    "rank_sets",
    "repeated",
    "scaled_containment",
    "scaled_jaccard",
    "scatter_rows",
    "settle",
    "settle_mixed",
    "settle_texts",
    "settle_weighted",
    "shared_values",
    "shingle_sets",
    "simhash",
    "simhash_features",
    "sketch",
    "sketch_bands",
    "tokens",
    "utf8_invalid",
    "weight_table",
    "weighted_jaccard",
    "weighted_sketch",
]
