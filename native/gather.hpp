// Texts from many arrays, in any order, as one array: the only copy between reading and verification.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "arrays.hpp"

namespace dejalu {

// offsets (m + 1,) and data of the texts rows[i] of batches[which[i]]; `data` holds `offsets[m]` bytes.
inline void gather_offsets(const std::vector<Text>& batches, const int64_t* which, const int64_t* rows, int64_t m, int64_t* offsets) {
    offsets[0] = 0;
    for (int64_t i = 0; i < m; ++i) {
        const int64_t* o = batches[static_cast<size_t>(which[i])].offsets + rows[i];
        offsets[i + 1] = offsets[i] + (o[1] - o[0]);
    }
}

inline void gather_bytes(const std::vector<Text>& batches, const int64_t* which, const int64_t* rows, int64_t m, const int64_t* offsets,
                         uint8_t* data) {
    for (int64_t i = 0; i < m; ++i) {
        const Text& t = batches[static_cast<size_t>(which[i])];
        const size_t n = static_cast<size_t>(offsets[i + 1] - offsets[i]);
        if (n) std::memcpy(data + offsets[i], t.data + t.offsets[rows[i]], n);
    }
}

}  // namespace dejalu
