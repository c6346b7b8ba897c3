"""Find texts that say the same thing again, and act on them with evidence.

    dedup        verified removal of exact and near duplicates: texts, tables, data sets or files
    pairs        every pair of documents at or above a threshold
    similarity   exact Jaccard similarity of two texts
    minhash      signatures, for those who keep their own

Names are loaded when they are first used, so that the command line starts quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .api import dedup, minhash, pairs, similarity
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
    from .run.result import Result

_HOME = {
    "ChangedInput": "errors",
    "DamagedInput": "errors",
    "DejaluError": "errors",
    "Execution": "plan",
    "FloodError": "errors",
    "GateClosed": "errors",
    "InputError": "errors",
    "OutputError": "errors",
    "Plan": "plan",
    "RemoteError": "errors",
    "Result": "run.result",
    "StoreError": "errors",
    "UsageError": "errors",
    "dedup": "api",
    "minhash": "api",
    "pairs": "api",
    "similarity": "api",
}

__all__ = [
    "ChangedInput",
    "DamagedInput",
    "DejaluError",
    "Execution",
    "FloodError",
    "GateClosed",
    "InputError",
    "OutputError",
    "Plan",
    "RemoteError",
    "Result",
    "StoreError",
    "UsageError",
    "__version__",
    "dedup",
    "minhash",
    "pairs",
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
