"""Find texts that say the same thing again, and act on them with evidence.

    dedup        verified removal of exact and near duplicates: texts, tables, data sets or files
    pairs        every pair of documents at or above a threshold
    similarity   exact Jaccard similarity of two texts
    minhash, simhash, bottom_k
                 sketches, for those who keep their own; `hamming_pairs` and `HammingTable` search fingerprints

Names are loaded when they are first used, so that the command line starts quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .api import dedup, minhash, pairs, similarity
    from .candidates import HammingTable, hamming_pairs
    from .errors import (
        ChangedInput,
        DamagedInput,
        DejaluError,
        FloodError,
        GateClosed,
        InputError,
        OutputError,
        RemoteError,
        StoreError,
        UsageError,
    )
    from .plan import Execution, Plan
    from .represent import BottomK
    from .run.result import Result
    from .sketching import bottom_k, simhash

_HOME = {
    "BottomK": "represent",
    "ChangedInput": "errors",
    "DamagedInput": "errors",
    "DejaluError": "errors",
    "Execution": "plan",
    "FloodError": "errors",
    "GateClosed": "errors",
    "HammingTable": "candidates",
    "InputError": "errors",
    "OutputError": "errors",
    "Plan": "plan",
    "RemoteError": "errors",
    "Result": "run.result",
    "StoreError": "errors",
    "UsageError": "errors",
    "bottom_k": "sketching",
    "dedup": "api",
    "hamming_pairs": "candidates",
    "minhash": "api",
    "pairs": "api",
    "similarity": "api",
    "simhash": "sketching",
}

__all__ = [
    "BottomK",
    "ChangedInput",
    "DamagedInput",
    "DejaluError",
    "Execution",
    "FloodError",
    "GateClosed",
    "HammingTable",
    "InputError",
    "OutputError",
    "Plan",
    "RemoteError",
    "Result",
    "StoreError",
    "UsageError",
    "__version__",
    "bottom_k",
    "dedup",
    "hamming_pairs",
    "minhash",
    "pairs",
    "simhash",
    "similarity",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dejalu' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
