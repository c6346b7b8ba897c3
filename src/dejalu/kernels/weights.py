"""Kernels of weights: document frequencies, weights of features, weighted sketches, weighted similarity.

A feature is a shingle hash. It weighs the same in every text; weights are uint32 in fixed point (idf: 10 fractional
bits), so sums are exact integers. Twins: `kernels.reference.frequencies`, `kernels.reference.weighted`.

Arguments that recur:
    keys, weights, unseen: a hash table as `weight_table` makes it, and the weight of every feature that it lacks.
"""

from __future__ import annotations

from .. import _native
from .arrays import F64, I64, U8, U32, U64


def count_features(values: U64, offsets: I64) -> tuple[U64, I64]:
    """Count in how many texts each feature occurs.

    Args:
        values, offsets: features of n texts, each once per text, as from `shingle_sets`.

    Returns:
        features (r,) uint64 ascending, and the number of texts with each, (r,) int64.

    Raises:
        ValueError: offsets that fall or leave values.
    """
    return _native.count_features(values, offsets)


def merge_counts(parts: list[tuple[U64, I64]]) -> tuple[U64, I64]:
    """Add counts: (features, documents) of several parts, as `count_features` gives, to one.

    Raises:
        ValueError: features that do not ascend, lengths that differ.
    """
    return _native.merge_counts(parts)


def idf(documents: I64, n: int) -> U32:
    """Inverse document frequency ln((1 + n) / (1 + documents)) + 1, times 1,024, rounded: (r,) uint32.

    Integers throughout, so that every machine gives the same weights; at most 1 off the rounded real number.

    Args:
        documents: (r,) int64, how many of n texts have the feature, 0 … n.

    Raises:
        ValueError: more documents than n.

    Source: Spärck Jones, "A statistical interpretation of term specificity", Journal of Documentation 28, 1972;
        smoothed as in scikit-learn's TfidfTransformer (smooth_idf).
    """
    return _native.idf(documents, n)


def weight_table(features: U64, weights: U32) -> tuple[U64, U32]:
    """Lay weights of distinct features out as a hash table.

    Returns:
        keys (2^p,) uint64 and weights (2^p,) uint32, at most half full. Key 0 marks a free slot: feature 0 is not kept.

    Raises:
        ValueError: lengths that differ.
    """
    return _native.weight_table(features, weights)


def feature_weights(values: U64, keys: U64, weights: U32, unseen: int) -> U32:
    """Look the weight of each feature up: (m,) uint32.

    Raises:
        ValueError: keys and weights that `weight_table` cannot have made.
    """
    return _native.feature_weights(values, keys, weights, unseen)


def feature_counts(
    data: U8, offsets: I64, *, shingle: int, unit: int = 0, unspaced: bool = True
) -> tuple[U64, U32, I64]:
    """Count the features of each text.

    Returns:
        values (m,) uint64, distinct and ascending within a text; counts (m,) uint32, how often each occurs there;
        offsets (n + 1,) int64 into both.

    Raises:
        ValueError: a parameter out of range, offsets that fall or leave data.
    """
    return _native.feature_counts(data, offsets, shingle=shingle, unit=unit, unspaced=unspaced)


def weighted_sketch(
    data: U8,
    offsets: I64,
    *,
    shingle: int,
    unit: int = 0,
    unspaced: bool = True,
    slots: int,
    keys: U64,
    weights: U32,
    unseen: int,
) -> tuple[U32, I64]:
    """Sketch texts for weighted Jaccard similarity: slots of two agree with probability J_w.

    J_w is the weight of the features of both divided by the weight of the features of either; slots are independent.
    `band_keys`, `pack` and `estimate` take the signatures as they take those of `sketch`.

    Returns:
        signatures: (n, slots) uint32; all 0xFFFFFFFF for a text without a feature of positive weight.
        tokens: (n,) int64, number of tokens.

    Raises:
        ValueError: a parameter out of range, offsets that fall or leave data, arrays that are no weight table.

    Source: Chum, Philbin, Zisserman, "Near duplicate image detection: min-hash and tf-idf weighting", BMVC 2008,
        word weighting; drawn as in Ertl, "ProbMinHash", IEEE TKDE 2022 (arXiv:1911.00675), algorithm ProbMinHash1a.
    """
    return _native.weighted_sketch(
        data, offsets, shingle=shingle, unit=unit, unspaced=unspaced, slots=slots, keys=keys, weights=weights,
        unseen=unseen,
    )


def weighted_jaccard(
    a: I64, b: I64, set_values: U64, set_offsets: I64, keys: U64, weights: U32, unseen: int
) -> F64:
    """Weighted Jaccard similarity of sets a[i] and b[i], exact; 0.0 when neither weighs anything; (m,) float64.

    Raises:
        ValueError: no such document, offsets that fall or leave the values, arrays that are no weight table.
    """
    return _native.weighted_jaccard(a, b, set_values, set_offsets, keys, weights, unseen)


def settle_weighted(
    groups: I64,
    keys: U64,
    packed: U8,
    set_values: U64,
    set_offsets: I64,
    element_weights: U32,
    *,
    threshold: float,
    min_matches: int,
    small: int = 256,
) -> tuple[I64, F64]:
    """Settle work groups by weighted Jaccard similarity: each document joins the earliest kept one at or above the
    threshold among those that share a band key with it and pass the sketch filter, else it is kept.

    Args:
        groups, keys, packed, set_values, set_offsets, min_matches: as in `settle`, with keys and packed from
            `weighted_sketch`.
        element_weights: (m,) uint32, weight of each entry of set_values.
        threshold: in (0, 1]; compared with weight of both / weight of either in float64, inclusive.
        small: largest group in which all kept documents are looked at; larger ones list them by key. Cost only.

    Returns:
        twin (m,) int64 place or -1; similarity (m,) float64, 0 where kept.

    Raises:
        ValueError: a parameter out of range, shapes that do not fit.
    """
    return _native.settle_weighted(
        groups, keys, packed, set_values, set_offsets, element_weights,
        threshold=threshold, min_matches=min_matches, small=small,
    )
