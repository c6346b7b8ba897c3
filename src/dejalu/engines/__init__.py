"""Engines place tasks; the store keeps what lies between stages."""

from .base import Engine, Store
from .local import Local
from .store import FileStore, MemoryStore

__all__ = ["Engine", "FileStore", "Local", "MemoryStore", "Store"]
