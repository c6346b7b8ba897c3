"""Fingerprints within a Hamming distance: all pairs of them, or a table that answers queries. Nothing is missed."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .. import kernels
from ..data import I32, I64, U64
from ..errors import FloodError, UsageError

MOST_PAIRS = 10_000_000


def hamming_pairs(
    fingerprints: npt.ArrayLike,
    k: int,
    *,
    only: npt.ArrayLike | None = None,
    threads: int = 0,
    max_pairs: int = MOST_PAIRS,
) -> pa.Table:
    """List every pair of fingerprints within k bits; equal fingerprints are pairs, too.

    Complete: up to k = 8 by block-permutation tables (Manku, Jain, Das Sarma 2007), as many as suit the number of
    fingerprints and k; beyond, by a popcount scan of all against all. See docs/method-simhash.md.

    Args:
        fingerprints: (n,) uint64, or (n, 2) uint64 for 128 bits, as `dejalu.simhash` gives; any other 64-bit hashes do.
        k: largest distance in bits, 0 or more.
        only: (n,) uint64; pairs of different values are left out.
        threads: 0 uses all processors.
        max_pairs: stop with an error when there are more.

    Returns:
        Table a, b (int64 positions, a < b), distance (int32), sorted by a, then b.

    Raises:
        UsageError: fingerprints of another kind, a parameter out of range.
        FloodError: more than `max_pairs` pairs.

    >>> import dejalu
    >>> dejalu.hamming_pairs([0b0011, 0b0111, 0b0011, 0b1100], k=1).to_pydict()
    {'a': [0, 0, 1], 'b': [1, 2, 2], 'distance': [1, 0, 1]}
    """
    prints = _prints("fingerprints", fingerprints)
    apart = None if only is None else _prints("only", only)
    if apart is not None and apart.shape != prints.shape[:1]:
        raise UsageError(f"only: needs one value for each of {len(prints):,} fingerprints, has {apart.shape}")
    found = kernels.hamming_pairs(prints, _bits(k), only=apart, most=_most(max_pairs), threads=_threads(threads))
    return _table(*found, f"more than max_pairs={max_pairs:,} pairs within {k} bits", "raise max_pairs or lower k")


class HammingTable:
    """Fingerprints laid out so that all within k bits of a query are found at once. Nothing is missed.

    Up to k = 8 by block-permutation tables (Manku, Jain, Das Sarma 2007), beyond by a popcount scan. The tables take
    12 bytes (128 bits: 20) a fingerprint each; `tables` says how many there are.

    Args:
        fingerprints: (n,) uint64, or (n, 2) uint64 for 128 bits.
        k: largest distance in bits that `query` is asked for, 0 or more.
        threads: 0 uses all processors; for building and for queries.

    Raises:
        UsageError: fingerprints of another kind, a parameter out of range.

    >>> import dejalu
    >>> table = dejalu.HammingTable([0b0011, 0b0111, 0b1100], k=1)
    >>> table.query([0b0011, 0b1101]).to_pydict()
    {'a': [0, 0, 1], 'b': [0, 1, 2], 'distance': [0, 1, 1]}
    """

    def __init__(self, fingerprints: npt.ArrayLike, k: int, *, threads: int = 0) -> None:
        self.fingerprints = _prints("fingerprints", fingerprints).copy()  # the caller may write over its own
        self.k = _bits(k)
        self.threads = _threads(threads)
        self._plan = kernels.hamming_plan(self.fingerprints, self.k, kept=True)
        self._tables = kernels.hamming_tables(self.fingerprints, self._plan, threads=self.threads)

    def __len__(self) -> int:
        return len(self.fingerprints)

    @property
    def tables(self) -> int:
        """Number of tables; 0 when queries scan."""
        return 0 if self._plan.scans else len(self._plan.masks)

    def query(
        self, fingerprints: npt.ArrayLike, *, k: int | None = None, max_pairs: int = MOST_PAIRS
    ) -> pa.Table:
        """Find all fingerprints of the table within k bits of each query.

        Args:
            fingerprints: (m,) uint64 or (m, 2) uint64, as wide as those of the table.
            k: the table's, or less.
            max_pairs: stop with an error when more are found.

        Returns:
            Table a (int64, position of the query), b (int64, position in the table), distance (int32), sorted by a,
            then b.

        Raises:
            UsageError: fingerprints of another kind, a k above the table's.
            FloodError: more than `max_pairs` found.
        """
        queries = _prints("fingerprints", fingerprints)
        if queries.ndim != self.fingerprints.ndim:
            raise UsageError("fingerprints: must have as many bits as those of the table")
        bits = self.k if k is None else _bits(k)
        if bits > self.k:
            raise UsageError(f"k={k}: the table was made for distances up to {self.k}; make one for {k}")
        found = kernels.hamming_query(
            self._tables, self._plan, self.fingerprints, queries, bits, most=_most(max_pairs), threads=self.threads
        )
        return _table(
            *found, f"more than max_pairs={max_pairs:,} found within {bits} bits", "raise max_pairs or ask for fewer"
        )


def _table(a: I64, b: I64, distance: I32, complete: bool, what: str, remedy: str) -> pa.Table:
    if not complete:
        raise FloodError(f"{what}; {remedy}")
    return pa.table({"a": a, "b": b, "distance": distance})


def _prints(name: str, fingerprints: npt.ArrayLike) -> U64:
    if isinstance(fingerprints, pa.Array | pa.ChunkedArray):
        if fingerprints.null_count:
            raise UsageError(f"{name}: {fingerprints.null_count:,} of them are null; leave those out")
        fingerprints = fingerprints.to_numpy(zero_copy_only=False) if len(fingerprints) else []
    if isinstance(fingerprints, np.ma.MaskedArray) and np.ma.is_masked(fingerprints):
        raise UsageError(f"{name}: some of them are masked; leave those out")
    found = np.asarray(fingerprints)
    if found.dtype.kind not in "iu":  # some mixtures of large and small numbers become floating point, so look at each
        found = np.array(fingerprints, object)
        if not all(isinstance(x, int) for x in found.flat):
            raise UsageError(f"{name}: must be whole numbers of 64 bits")
    if found.dtype != np.uint64:
        if found.size and not (found.min() >= 0 and found.max() < 1 << 64):
            raise UsageError(f"{name}: must lie in 0 … 2^64 - 1; give signed ones of 64 bits as .view('uint64')")
        found = found.astype(np.uint64)
    if found.ndim not in (1, 2) or (found.ndim == 2 and found.shape[1] != 2):
        raise UsageError(f"{name}: must have shape (n,) or, for 128 bits, (n, 2), not {found.shape}")
    return found


def _bits(k: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
        raise UsageError(f"k={k!r}: must be a whole number of bits, 0 or more")
    return min(int(k), 128)


def _most(max_pairs: int) -> int:
    if isinstance(max_pairs, bool) or not isinstance(max_pairs, int | np.integer) or max_pairs < 0:
        raise UsageError(f"max_pairs={max_pairs!r}: must be a whole number, 0 or more")
    return min(int(max_pairs), (1 << 63) - 1)


def _threads(threads: int) -> int:
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
        raise UsageError(f"threads={threads!r}: must be 0 (all processors) or more")
    if threads:
        return threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
