"""Represent: documents to sketches and shingle sets."""

from .segment import Segmenter
from .segment import load as load_segmenter
from .segment import named as name_segmenter
from .sketch import UNITS, Signed, shingle_sets, sketch
from .values import as_text, hash_values, is_number, is_string

__all__ = [
    "UNITS",
    "Segmenter",
    "Signed",
    "as_text",
    "hash_values",
    "is_number",
    "is_string",
    "load_segmenter",
    "name_segmenter",
    "shingle_sets",
    "sketch",
]
