// Bitmaps of sets: a bound on how many members two sets differ in (Sandes, Teodoro, Melo, "Bitmap filter: speeding up exact
// set similarity joins with bitwise operations", Information Systems 88, 2020, section 3).
//
// Every member sets one bit. Members that only one of the sets has explain each bit in which the bitmaps differ, so the sets
// differ in at least that many members.
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

constexpr size_t BITMAP_WORDS = 8;

static inline void bitmap(const u64* set, size_t n, u64* out) {
    for (size_t w = 0; w < BITMAP_WORDS; ++w) out[w] = 0;
    for (size_t i = 0; i < n; ++i) out[set[i] & 7] |= u64{1} << (set[i] >> 3 & 63);
}

static inline int64_t differing_bits(const u64* a, const u64* b) {
    size_t n = 0;
    for (size_t w = 0; w < BITMAP_WORDS; ++w) n += count_bits(a[w] ^ b[w]);
    return static_cast<int64_t>(n);
}

}  // namespace dejalu::DEJALU_ISA
