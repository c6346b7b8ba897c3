// Shingle hashes: w token hashes t[i..i+w) in order become avalanche(((t[i]*5 + t[i+1])*5 + ...) + t[i+w-1]).
//
// Token hashes are random 64-bit numbers, so small odd weights do: no two different sequences have the same weights on
// every token, and powers of 5 differ by few factors of two. The multiplication by 5 is a shift and an addition.
#pragma once
#include "hash.hpp"

namespace dejalu::DEJALU_ISA {

// A text of 1..w-1 tokens has one shingle made of all of them; none has none.
static inline size_t shingle_count(size_t tokens, size_t w) { return tokens >= w ? tokens - w + 1 : tokens > 0; }

template <int W>
static inline void shingles_of(const u64* t, size_t n, u64* out) {
    for (size_t i = 0; i < n; ++i) {
        u64 s = t[i];
        for (int j = 1; j < W; ++j) s = s * 5 + t[i + static_cast<size_t>(j)];
        out[i] = avalanche(s);
    }
}

// Hashes of the n shingles of width w that begin at t[0..n).
static inline void shingles(const u64* t, size_t n, size_t w, u64* out) {
    switch (w) {
        case 1: return shingles_of<1>(t, n, out);
        case 2: return shingles_of<2>(t, n, out);
        case 3: return shingles_of<3>(t, n, out);
        case 4: return shingles_of<4>(t, n, out);
        case 5: return shingles_of<5>(t, n, out);
        case 6: return shingles_of<6>(t, n, out);
        case 7: return shingles_of<7>(t, n, out);
        case 8: return shingles_of<8>(t, n, out);
        default: break;
    }
    for (size_t i = 0; i < n; ++i) out[i] = t[i];
    for (size_t j = 1; j < w; ++j)
        for (size_t i = 0; i < n; ++i) out[i] = out[i] * 5 + t[i + j];
    for (size_t i = 0; i < n; ++i) out[i] = avalanche(out[i]);
}

}  // namespace dejalu::DEJALU_ISA
