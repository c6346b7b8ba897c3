// Leaves of the group kernels that are worth one copy per instruction set: common members, common keys.
// (Equal bytes of packed sketches: equal_bytes.hpp.)
#pragma once
#include <cstddef>
#include <cstdint>

namespace dejalu::DEJALU_ISA {

// Size of the intersection of two ascending sets, or -1 as soon as it cannot reach `need`.
inline int64_t common(const uint64_t* a, int64_t na, const uint64_t* b, int64_t nb, int64_t need) {
    int64_t i = 0, j = 0, c = 0;
    while (i < na && j < nb) {
        // A stretch without a bound check: neither side can run out within `steps`.
        const int64_t left = na - i < nb - j ? na - i : nb - j;
        if (c + left < need) return -1;
        const int64_t steps = left < 32 ? left : 32;
        for (int64_t s = 0; s < steps; ++s) {
            const uint64_t x = a[i], y = b[j];
            c += x == y;
            i += x <= y;
            j += y <= x;
        }
    }
    return c < need ? -1 : c;
}

// Whether two documents share a band key: equal entries at the same place.
inline bool any_equal(const uint64_t* a, const uint64_t* b, size_t n) {
    uint64_t hit = 0;
    for (size_t i = 0; i < n; ++i) hit |= a[i] == b[i];
    return hit != 0;
}

}  // namespace dejalu::DEJALU_ISA
