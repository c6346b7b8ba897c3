"""Cluster: work groups, settling in keep order, who is kept and why."""

from .equal import representatives
from .groups import Groups, work_groups
from .order import keep_rank, numbers_if_all
from .settle import verdicts

__all__ = ["Groups", "keep_rank", "numbers_if_all", "representatives", "verdicts", "work_groups"]
