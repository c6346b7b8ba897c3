"""Cluster: work groups, settling in keep order, who is kept and why."""

from .equal import representatives
from .groups import Groups, work_groups
from .order import keep_rank
from .settle import verdicts

__all__ = ["Groups", "keep_rank", "representatives", "verdicts", "work_groups"]
