// The inner loop of a join: which of many signatures are near one.
//
// A signature of a set has 64 bits; each member turns one of them over. The signatures of two sets differ in no more bits than
// there are members that only one of the sets has: such a member turns a bit, members of both turn the same one twice.
// Mitzenmacher, Pagh and Pham, "Efficient estimation for high similarities using odd sketches", WWW 2014.
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

// Writes the places of the signatures that differ from `own` in at most `most` bits; returns how many. out: room for n.
static inline size_t near_signatures(const u64* signatures, size_t n, u64 own, u32 most, u32* out) {
    size_t found = 0, i = 0;
#if defined(DEJALU_AVX512)
    const __m512i low = _mm512_set1_epi8(15), mine = _mm512_set1_epi64(static_cast<long long>(own));
    const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i limit = _mm512_set1_epi64(most);
    for (; i + 8 <= n; i += 8) {
        const __m512i x = _mm512_xor_si512(_mm512_loadu_si512(signatures + i), mine);
        const __m512i bytes = _mm512_add_epi8(_mm512_shuffle_epi8(table, _mm512_and_si512(x, low)),
                                              _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(x, 4), low)));
        u64 hit = _mm512_cmple_epi64_mask(_mm512_sad_epu8(bytes, _mm512_setzero_si512()), limit);
        for (; hit != 0; hit &= hit - 1) out[found++] = static_cast<u32>(i) + static_cast<u32>(lowest_bit(hit));
    }
#elif defined(DEJALU_AVX2)
    const __m256i low = _mm256_set1_epi8(15), mine = _mm256_set1_epi64x(static_cast<long long>(own));
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i limit = _mm256_set1_epi64x(most);
    for (; i + 4 <= n; i += 4) {
        const __m256i x = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(signatures + i)), mine);
        const __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
                                              _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
        const __m256i beyond = _mm256_cmpgt_epi64(_mm256_sad_epu8(bytes, _mm256_setzero_si256()), limit);
        u64 hit = static_cast<u64>(_mm256_movemask_pd(_mm256_castsi256_pd(beyond))) ^ 15;
        for (; hit != 0; hit &= hit - 1) out[found++] = static_cast<u32>(i) + static_cast<u32>(lowest_bit(hit));
    }
#endif
    for (; i < n; ++i) {
        out[found] = static_cast<u32>(i);
        found += count_bits(signatures[i] ^ own) <= most;
    }
    return found;
}

}  // namespace dejalu::DEJALU_ISA
