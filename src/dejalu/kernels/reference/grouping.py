"""Twins of `kernels.grouping`, in plain Python, on the same arrays: what each kernel means, slowly.

Only in this may the two differ: whether a range that is near the end of the scratch memory still fits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..arrays import U8, U32, U64
from ..grouping import Scratch, Span

MASK = (1 << 64) - 1
Row = tuple[int, int, int]  # spread key, second half (0 in narrow rows), place


def _spread(key: int) -> int:
    return (key ^ key >> 32) * 0x9E3779B97F4A7C15 & MASK


def _root(parent: U32, place: int) -> int:
    while int(parent[place]) != place:
        place = int(parent[place])
    return place


def _unite(parent: U32, a: int, b: int) -> None:
    a, b = _root(parent, a), _root(parent, b)
    parent[max(a, b)] = min(a, b)


def _rows(scratch: Scratch, p: int) -> Iterator[Row]:
    """Walk along the chain of a partition, up to the row that is written next."""
    rows, chain, parts = scratch
    block, at = int(parts[1, p]), int(parts[0, p])
    while True:
        for i in range(rows.shape[1]):
            if block * rows.shape[1] + i == at:
                return
            words = [int(w) for w in rows[block, i]]
            yield words[0] | words[1] << 32, words[2] | words[3] << 32 if len(words) == 5 else 0, words[-1]
        block = int(chain[block])


def _append(scratch: Scratch, p: int, row: Row) -> bool:
    """Write a row; when that fills the block, chain a free one behind it. False when there is none."""
    rows, chain, parts = scratch
    key, high, place = row
    block, i = divmod(int(parts[0, p]), rows.shape[1])
    wide = [high & 0xFFFFFFFF, high >> 32] if rows.shape[2] == 5 else []
    rows[block, i] = [key & 0xFFFFFFFF, key >> 32, *wide, place]
    if i + 1 < rows.shape[1]:
        parts[0, p] += 1
        return True
    if not chain[-1]:
        return False
    fresh = int(chain[-2])
    chain[-2], chain[block], chain[fresh] = chain[fresh], fresh, 0xFFFFFFFF
    chain[-1] -= 1
    parts[0, p], parts[2, p] = fresh * rows.shape[1], parts[2, p] + 1
    return True


def _replace(scratch: Scratch, p: int, rows: list[Row]) -> None:
    """Let a partition hold these rows, fewer than before."""
    _, chain, parts = scratch
    block = int(chain[parts[1, p]])
    chain[parts[1, p]] = 0xFFFFFFFF
    for _ in range(int(parts[2, p]) - 1):
        chain[block], chain[-2], block = chain[-2], block, int(chain[block])
        chain[-1] += 1
    parts[0, p], parts[2, p] = int(parts[1, p]) * scratch.rows.shape[1], 1
    for row in rows:
        _append(scratch, p, row)


def _shrink(scratch: Scratch, parent: U32, p: int, sketched: bool, limit: int) -> None:
    """Unite the buckets of a partition that are joined whole; keep as many of their rows as tell that they are."""
    rows, kept = list(_rows(scratch, p)), []
    buckets: dict[tuple[int, int], list[int]] = defaultdict(list)
    for key, high, place in rows:
        buckets[key, high].append(place)
    for key, high, place in rows:
        bucket = buckets[key, high]
        whole = len(bucket) > (limit if sketched else 1)
        if whole:
            _unite(parent, bucket[0], place)
        if not whole or place in bucket[: limit + 1 if sketched else 1]:
            kept.append((key, high, place))
    if len(kept) < len(rows):
        _replace(scratch, p, kept)


def scatter_rows(
    key: U64,
    high: U64 | None,
    skip: U8 | None,
    first: int,
    keys: Span,
    scratch: Scratch,
    parent: U32,
    *,
    sketched: bool,
    limit: int,
) -> bool:
    """Append each row to its partition; when no block is free, shrink all partitions once."""
    for i, k in enumerate(key):
        if skip is not None and skip[i]:
            continue
        half = int(high[i]) if high is not None else 0
        spread = _spread(int(k) ^ _spread(half)) if high is not None else _spread(int(k))
        if not keys.low <= spread <= keys.low + keys.span:
            continue
        p = (spread - keys.low) >> keys.shift
        if scratch.chain[-1] == 0:
            for q in range(scratch.parts.shape[1]):
                _shrink(scratch, parent, q, sketched, limit)
        if not _append(scratch, p, (spread, half, first + i)):
            return False
    return True


def join_rows(
    keys: Span, scratch: Scratch, parent: U32, packed: U8 | None = None, *, min_matches: int = 0, limit: int = 64
) -> None:
    """Gather each key's documents; unite all of them, or the pairs that agree enough."""
    del keys
    for p in range(scratch.parts.shape[1]):
        buckets: dict[tuple[int, int], list[int]] = defaultdict(list)
        for key, high, place in _rows(scratch, p):
            buckets[key, high].append(place)
        for bucket in buckets.values():
            whole = packed is None or len(bucket) > limit
            for i, a in enumerate(bucket[:1] if whole else bucket):
                for b in bucket[i + 1 :]:
                    if packed is None or whole or int((packed[a] == packed[b]).sum()) >= min_matches:
                        _unite(parent, a, b)


def flatten(parent: U32) -> None:
    """Walk from each place to its root."""
    parent[:] = [_root(parent, place) for place in range(len(parent))]
