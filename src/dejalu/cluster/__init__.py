"""Cluster: work groups, settling in keep order, who is kept and why."""

from .equal import Copies, copies
from .groups import Groups, not_smallest, work_groups
from .order import keep_rank, numbers_if_all
from .settle import Near, verdicts

__all__ = [
    "Copies",
    "Groups",
    "Near",
    "copies",
    "keep_rank",
    "not_smallest",
    "numbers_if_all",
    "verdicts",
    "work_groups",
]
