"""Keep order: who is kept when texts repeat.

Documents are ranked by, first, the place of their source in `prefer` (values not named come after all that are),
then the
`keep` rule, then input order. The document with the lowest rank of a group stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data import I64
from ..errors import UsageError


def keep_rank(
    n: int,
    keep: str,
    *,
    sizes: I64 | None = None,
    values: pa.ChunkedArray | pa.Array | None = None,
    sources: pa.ChunkedArray | pa.Array | None = None,
    prefer: Sequence[str] = (),
) -> I64 | None:
    """Rank n documents, given in input order.

    Args:
        n: number of documents.
        keep: first, last, longest, max:COLUMN or min:COLUMN.
        sizes: (n,) int64 UTF-8 bytes of each text, for longest.
        values: (n,) the column of max/min; nulls come last. A column of strings that are all numbers is compared as
            numbers.
        sources: (n,) strings, for prefer.
        prefer: source values, most wanted first.

    Returns:
        (n,) int64: each document's place in keep order, a permutation of 0..n-1; None where that is input order.

    Raises:
        UsageError: the column cannot be ordered.
    """
    if keep == "first" and not prefer:
        return None
    place = np.arange(n, dtype=np.int64)
    by: list[I64] = [place]  # least important first, as lexsort wants it
    if keep == "last":
        by = [-place]
    elif keep == "longest":
        assert sizes is not None
        by.append(-sizes)
    elif keep.startswith(("max:", "min:")):
        assert values is not None
        by.append(_places(values, descending=keep.startswith("max:"), column=keep[4:]))
    if prefer:
        assert sources is not None
        wanted = pc.index_in(_text(sources), pa.array(list(prefer), pa.large_string()))
        by.append(pc.fill_null(wanted, len(prefer)).to_numpy(zero_copy_only=False).astype(np.int64))
    rank = np.empty(n, np.int64)
    rank[np.lexsort(by)] = place
    return rank


def _text(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return values.cast(pa.large_string())


def _places(values: pa.ChunkedArray | pa.Array, *, descending: bool, column: str) -> I64:
    """Dense rank of the values, equal values alike, nulls last."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_null(values.type):
        return np.zeros(len(values), np.int64)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = numbers_if_all(values)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)  # NaN says nothing: as null
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    try:
        coded = values.dictionary_encode()
        order = pc.sort_indices(coded.dictionary, sort_keys=[("", "descending" if descending else "ascending")])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as e:
        raise UsageError(
            f"keep: column {column!r} of type {values.type} cannot be ordered; "
            "name a column of numbers, strings or dates"
        ) from e
    rank = np.empty(len(order), np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    codes = coded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    null = values.is_null().to_numpy(zero_copy_only=False)
    return np.where(null, len(order), rank[codes] if len(order) else 0).astype(np.int64)


def numbers_if_all(values: pa.Array) -> pa.Array:
    """Read strings as numbers where every one is one (int64, else float64); else they stay strings."""
    for kind in (pa.int64(), pa.float64()):
        try:
            return values.cast(kind)
        except pa.ArrowInvalid:
            continue
    return values
