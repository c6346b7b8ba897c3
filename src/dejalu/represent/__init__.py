"""Represent: documents to sketches and shingle sets."""

from .bottom_k import BottomK, bottom_k
from .frequencies import Frequencies, idf
from .guards import explain_guards, guards
from .segment import Segmenter
from .segment import load as load_segmenter
from .segment import named as name_segmenter
from .simhash import simhash
from .sketch import Signed, shingle_sets, sketch, weighted_sets
from .units import UNITS
from .values import as_text, hash_values, is_number, is_string
from .weights import FeatureWeights

__all__ = [
    "UNITS",
    "BottomK",
    "FeatureWeights",
    "Frequencies",
    "Segmenter",
    "Signed",
    "as_text",
    "bottom_k",
    "explain_guards",
    "guards",
    "hash_values",
    "idf",
    "is_number",
    "is_string",
    "load_segmenter",
    "name_segmenter",
    "shingle_sets",
    "simhash",
    "sketch",
    "weighted_sets",
]
