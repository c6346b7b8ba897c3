// The integer mixer of band keys and column values, and what keeps collisions of different bands apart.
// Part of the format: tests/golden pins its values.
#pragma once
#include <cstdint>

namespace dejalu {

// SplitMix64's finalizer (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, §5).
inline uint64_t mix64(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

}  // namespace dejalu
