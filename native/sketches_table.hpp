// What the kernels of bottom-k and weighted sketches take and give; part of the table of isa_table.hpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "feature_table.hpp"
#include "text_table.hpp"

namespace dejalu {

// Functions that return false when memory ends. What comes out by pointer to pointer is freed by the caller.
struct SketchesTable {
    // k > 0: the k smallest distinct shingle hashes; k = 0: those up to `highest`. offsets (n + 1,), sizes (n,).
    bool (*bottom_k)(const TextIn&, size_t k, uint64_t highest, int64_t* offsets, int64_t* sizes, uint64_t** values);
    // signatures (n, slots), tokens (n,)
    bool (*weighted)(const TextIn&, size_t slots, const FeatureTable&, uint32_t* signatures, int64_t* tokens);
    // Distinct shingle hashes with the number of times each occurs. offsets (n + 1,).
    bool (*counts)(const TextIn&, int64_t* offsets, uint64_t** values, uint32_t** counts);
};

}  // namespace dejalu
