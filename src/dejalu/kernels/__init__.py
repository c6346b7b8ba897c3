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
from .text import bytes_hash, estimate, fold, pack, shingle_sets, sketch, sketch_bands, tokens

isa = _native.isa                           # name of the instruction set in use
available_isas = _native.available_isas     # names that this machine and build offer, best last

__all__ = [
    "available_isas",
    "band_keys",
    "band_pairs",
    "bytes_hash",
    "csv_extract",
    "estimate",
    "flatten",
    "fold",
    "gather",
    "isa",
    "jaccard",
    "join_rows",
    "jsonl_extract",
    "mix64",
    "pack",
    "repeated",
    "scatter_rows",
    "settle",
    "settle_texts",
    "shingle_sets",
    "sketch",
    "sketch_bands",
    "tokens",
    "utf8_invalid",
]
