// Shingle sets and their exact Jaccard similarity.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "dispatch.hpp"

namespace dejalu {

// Smallest intersection with which sets of a and b members reach the threshold, decided as everywhere else by
// intersection / union >= threshold in float64.
// It depends on the sum of their sizes only; the search ends one above `most`.
inline int64_t needed_of_both(int64_t both, int64_t most, double threshold) {
    int64_t i = static_cast<int64_t>(std::floor(threshold / (1.0 + threshold) * static_cast<double>(both))) - 1;
    i = std::max<int64_t>(i, 0);
    while (i <= most && static_cast<double>(i) / static_cast<double>(both - i) < threshold) ++i;
    return i;
}

inline int64_t needed(int64_t a, int64_t b, double threshold) { return needed_of_both(a + b, std::min(a, b), threshold); }

struct Sets {                       // ascending distinct shingle hashes per document
    const uint64_t* values;
    const int64_t* offsets;
    int64_t size(int64_t d) const { return offsets[d + 1] - offsets[d]; }
    const uint64_t* begin(int64_t d) const { return values + offsets[d]; }

    // Jaccard similarity when it is at or above the threshold, else some value below it (-1): most pairs are given up early.
    double jaccard(const Table& k, int64_t a, int64_t b, double threshold) const {
        const int64_t na = size(a), nb = size(b);
        if (na == 0 || nb == 0) return -1.0;
        const int64_t need = needed(na, nb, threshold);
        if (need > std::min(na, nb)) return -1.0;
        const int64_t c = k.common(begin(a), na, begin(b), nb, need);
        return c < 0 ? -1.0 : static_cast<double>(c) / static_cast<double>(na + nb - c);
    }
};

}  // namespace dejalu
