// What the SimHash kernels and the popcount scan take and give; part of the table of isa_table.hpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "feature_table.hpp"
#include "text_table.hpp"

namespace dejalu {

struct SimhashTable {
    // Fingerprints of texts, (n, words), and tokens (n,). distinct: each feature votes once, not once per occurrence.
    // Without keys in the table every feature weighs `unseen`. False when memory ends.
    bool (*texts)(const TextIn&, bool distinct, const FeatureTable&, size_t words, uint64_t* fingerprints, int64_t* tokens);
    // Fingerprints of features that the caller gives; the sum of |weights| of one text stays below 2^63.
    void (*features)(const uint64_t* values, const int64_t* weights, const int64_t* offsets, int64_t n, size_t words, uint64_t* fingerprints);
};

// Places of the fingerprints that differ from one in at most k bits, ascending; out has room for n + 8. Returns their number.
struct HammingTable {
    size_t (*near_64)(const uint64_t* fingerprints, size_t n, const uint64_t* own, uint32_t k, uint32_t* out);
    size_t (*near_128)(const uint64_t* fingerprints, size_t n, const uint64_t* own, uint32_t k, uint32_t* out);
};

}  // namespace dejalu
