// How many of n bytes are equal: the number of matching 8-bit slots of two packed sketches.
#pragma once
#include <cstddef>
#include <cstdint>

namespace dejalu::DEJALU_ISA {

inline int32_t equal_bytes(const uint8_t* a, const uint8_t* b, size_t n) {
    int32_t equal = 0;
    for (size_t i = 0; i < n; ++i) equal += a[i] == b[i];     // vectorised by the compiler in each instruction set
    return equal;
}

}  // namespace dejalu::DEJALU_ISA
