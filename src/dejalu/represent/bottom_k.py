"""Bottom-k and FracMinHash sketches of texts as a value of their own: compared, stored, read back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .. import kernels
from ..data import F64, I64, U64, SpecMismatch, text_buffers
from ..errors import DamagedInput, UsageError
from .segment import Segmenter, segmented
from .units import UNITS

VERSION = "dejalu-bottom-k-1"
Estimate = tuple[F64, F64] | tuple[float, float]


@dataclass(frozen=True, slots=True)
class BottomK:
    """Sketches of n texts: the k smallest shingle hashes of each, or all below 2^64 / scaled.

    values     (m,) uint64, distinct and ascending within a text
    offsets    (n + 1,) int64 into values
    sizes      (n,) int64: number of distinct shingles of each text
    k          number of hashes kept; 0 for scaled sketches
    scaled     1 / share of the hashes kept; 0 for sketches of k
    spec       fingerprint of all that shapes a sketch: those of different specs are never compared
    """

    values: U64
    offsets: I64
    sizes: I64
    k: int
    scaled: int
    spec: str

    def __len__(self) -> int:
        return len(self.sizes)

    def jaccard(self, i: npt.ArrayLike, j: npt.ArrayLike, other: BottomK | None = None) -> Estimate:
        """Estimate the Jaccard similarity of texts i and j (of `other`, where given).

        Args:
            i, j: places, or arrays of places that broadcast.

        Returns:
            Estimate and standard error, float64 of the shape of i and j; both exact (error 0) where the sketches hold
            all shingles.

        Raises:
            UsageError: no such text.
            SpecMismatch: `other` was made with other parameters.
        """
        a, b, shape, ours, others = self._pairs(i, j, other)
        if self.scaled:
            found = kernels.scaled_jaccard(a, b, ours, scaled=self.scaled, others=others)
        else:
            found = kernels.bottom_k_jaccard(a, b, ours, k=self.k, others=others)
        return _shaped(found, shape)

    def containment(self, i: npt.ArrayLike, j: npt.ArrayLike, other: BottomK | None = None) -> Estimate:
        """Estimate the share of the shingles of text i that are in text j (of `other`, where given).

        Returns:
            Estimate and standard error, as `jaccard`.

        Raises:
            UsageError: no such text; or a sketch of k hashes does not hold all shingles of both texts: the k smallest
                hashes of a long text say next to nothing of a short one inside it. Scaled sketches do.
            SpecMismatch: `other` was made with other parameters.
        """
        a, b, shape, ours, others = self._pairs(i, j, other)
        if self.scaled:
            return _shaped(kernels.scaled_containment(a, b, ours, scaled=self.scaled, others=others), shape)
        sizes = self.sizes[a]
        partial = (sizes > self.k) | (others[2][b] > self.k)
        if partial.any():
            p = int(np.argmax(partial))
            raise UsageError(
                f"containment: texts {a[p]} and {b[p]} have {sizes[p]:,} and {others[2][b[p]]:,} shingles, and "
                f"sketches of k={self.k} do not hold them all, so they cannot tell what is inside what; use a scaled "
                "sketch (scaled=100 keeps one hash in a hundred)"
            )
        shared, _ = kernels.shared_values(a, b, ours, others)
        return _shaped((shared / np.maximum(sizes, 1), np.zeros(len(a))), shape)

    def to_table(self) -> pa.Table:
        """Table sketch (list<uint64>), shingles (int64), one row per text, with the parameters in its metadata."""
        offsets = self.offsets - self.offsets[0]
        values = self.values[self.offsets[0] : self.offsets[-1]]
        kind = pa.ListArray if offsets[-1] < 1 << 31 else pa.LargeListArray
        sketch = kind.from_arrays(offsets.astype(np.int32 if kind is pa.ListArray else np.int64), values)
        meta = {"format": VERSION, "k": str(self.k), "scaled": str(self.scaled), "spec": self.spec}
        return pa.table({"sketch": sketch, "shingles": self.sizes}).replace_schema_metadata(meta)

    @classmethod
    def from_table(cls, table: pa.Table) -> BottomK:
        """Read what `to_table` wrote.

        Raises:
            UsageError: no table of sketches.
            DamagedInput: sketches that do not ascend, or do not fit their parameters.
        """
        meta = table.schema.metadata or {}
        if meta.get(b"format") != VERSION.encode() or not {"sketch", "shingles"} <= set(table.column_names):
            raise UsageError(f"the table holds no sketches that this version reads ({VERSION})")
        sketch = table.column("sketch").combine_chunks()
        if isinstance(sketch, pa.ChunkedArray):
            sketch = sketch.chunk(0) if sketch.num_chunks else pa.array([], sketch.type)
        offsets = sketch.offsets.to_numpy().astype(np.int64)
        values = sketch.values.to_numpy().astype(np.uint64, copy=False)[offsets[0] : offsets[-1]]
        offsets = offsets - offsets[0]
        sizes = table.column("shingles").to_numpy().astype(np.int64)
        found = cls(values, offsets, sizes, int(meta[b"k"]), int(meta[b"scaled"]), meta[b"spec"].decode())
        rises = np.ones(len(values), np.bool_)
        rises[1:] = values[1:] > values[:-1]
        rises[offsets[:-1][offsets[:-1] < len(values)]] = True
        held = np.diff(offsets)
        if found.scaled:
            fits = (held <= sizes) & bool((values <= np.uint64(((1 << 64) - 1) // found.scaled)).all())
        else:
            fits = held == np.minimum(sizes, found.k)
        if not (rises.all() and fits.all()):
            raise DamagedInput("the table's sketches are not ascending hashes of the stated number; sketch again")
        return found

    def _pairs(
        self, i: npt.ArrayLike, j: npt.ArrayLike, other: BottomK | None
    ) -> tuple[I64, I64, tuple[int, ...], kernels.Sketches, kernels.Sketches]:
        second = self if other is None else other
        if second.spec != self.spec:
            raise SpecMismatch(
                f"sketches of spec {self.spec} and {second.spec} cannot be compared: make both with the same k or "
                "scaled, shingle, unit and segmenter"
            )
        for name, given in (("i", i), ("j", j)):
            found = np.asarray(given)
            if found.size and found.dtype.kind not in "iu":
                raise UsageError(f"{name}={given!r}: places are whole numbers")
        a, b = np.broadcast_arrays(np.asarray(i, np.int64), np.asarray(j, np.int64))
        for name, places, n in (("i", a, len(self)), ("j", b, len(second))):
            if places.size and (places.min() < 0 or places.max() >= n):
                raise UsageError(f"{name}: there are {n:,} texts, so a place must lie in 0 … {n - 1:,}")
        flat = (np.ascontiguousarray(a).reshape(-1), np.ascontiguousarray(b).reshape(-1))
        return *flat, a.shape, self._arrays(), second._arrays()

    def _arrays(self) -> kernels.Sketches:
        return self.values, self.offsets, self.sizes


def bottom_k(
    texts: Iterable[pa.LargeStringArray],
    *,
    k: int = 0,
    scaled: int = 0,
    shingle: int,
    unit: str,
    segmenter: Segmenter | None = None,
    segmenter_name: str | None = None,
) -> BottomK:
    """Sketch batches of texts; parameters as in `BottomK`, one of k and scaled is 0."""
    values, sizes = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    lengths = [np.zeros(1, np.int64)]
    for text in texts:
        data, offsets = text_buffers(text)
        words = segmented(data, offsets, segmenter) if segmenter else (data, offsets)
        found, borders, size = kernels.bottom_k(
            *words, shingle=shingle, unit=UNITS[unit], unspaced=segmenter is None, k=k, scaled=scaled
        )
        values.append(found)
        lengths.append(np.diff(borders))
        sizes.append(size)
    parts: list[Any] = [VERSION, k, scaled, shingle, unit, segmenter_name]
    spec = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    offsets = np.cumsum(np.concatenate(lengths), dtype=np.int64)
    return BottomK(np.concatenate(values), offsets, np.concatenate(sizes), k, scaled, spec)


def _shaped(found: tuple[F64, F64], shape: tuple[int, ...]) -> Estimate:
    estimate, error = (f.reshape(shape) for f in found)
    return (estimate, error) if shape else (float(estimate), float(error))
