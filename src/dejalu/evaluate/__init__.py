"""What a run is worth: the exact truth, measures against it, and the audit of a run on the user's data."""

from ..verify.audit import AuditResult
from .metrics import PairQuality, interval, left_together, pair_quality
from .truth import all_pairs

__all__ = ["AuditResult", "PairQuality", "all_pairs", "interval", "left_together", "pair_quality"]
