// Weights of features as plain arrays, to be handed to the kernels of any instruction set (feature_weights.hpp).
#pragma once
#include <cstdint>

namespace dejalu {

struct FeatureTable {
    const uint64_t* keys = nullptr;     // (2^p,)
    const uint32_t* weights = nullptr;  // (2^p,)
    int shift = 0;                      // 64 - p
    uint32_t unseen = 1;                // weight of every feature that is not in it
};

}  // namespace dejalu
