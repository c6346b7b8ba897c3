"""Engines place tasks; the store keeps what lies between stages."""

from .base import Engine, Store
from .local import Local
from .store import FileStore, MemoryStore, SpillStore

__all__ = ["Engine", "FileStore", "Local", "MemoryStore", "SpillStore", "Store"]
