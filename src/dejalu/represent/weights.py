"""Weights of features, laid out for the kernels: what document frequencies come to."""

from __future__ import annotations

from dataclasses import dataclass

from .. import kernels
from ..data import U32, U64


@dataclass(frozen=True, slots=True)
class FeatureWeights:
    """A hash table of weights: keys (2^p,) uint64, weights (2^p,) uint32 in fixed point; every other has `unseen`."""

    keys: U64
    weights: U32
    unseen: int

    def of(self, features: U64) -> U32:
        """The weight of each feature, (m,) uint32."""
        return kernels.feature_weights(features, self.keys, self.weights, self.unseen)
