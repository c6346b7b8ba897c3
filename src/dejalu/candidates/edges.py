"""Candidates of one band: edges that hold work groups together, and true pairs."""

from __future__ import annotations

from ..data import I64, U8, Keys
from ..kernels import band_edges
from .bands import Bands

BUCKET = 64  # documents of a bucket that are tested pair by pair; a larger bucket is joined whole


def edges(keys: Keys, packed: U8, skip: U8, bands: Bands) -> tuple[I64, I64]:
    """Find the edges of one band.

    Args:
        keys: the band's keys, ids being places 0..n-1 in order.
        packed: (n, slots) uint8 compact sketches.
        skip: (n,) uint8: 1 for documents that take no part (copies, texts without token).
        bands: for the sketch filter's floor.

    Returns:
        a, b: (e,) int64 places, a < b.
    """
    return band_edges(keys.key, packed, skip, bands.min_matches, BUCKET)
