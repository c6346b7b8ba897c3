"""What a result is worth against the truth: shares of pairs, and how sure a sample makes us of them."""

from __future__ import annotations

from ..verify.shares import PairQuality, interval, left_together, member, pair_quality

__all__ = ["PairQuality", "interval", "left_together", "member", "pair_quality"]
