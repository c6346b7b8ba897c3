// The leaf of every Hamming search: which of many fingerprints differ from one in at most k bits.
//
// Differing bits are counted by table look-up of half bytes (Mula, Kurz, Lemire, "Faster population counts using AVX2
// instructions", The Computer Journal 2018, section 2.6), 8 or 4 words at a time.
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

#if defined(DEJALU_AVX512)

static inline __m512i bits_of_words(__m512i x) {
    const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i half = _mm512_set1_epi8(15);
    const __m512i low = _mm512_shuffle_epi8(table, _mm512_and_si512(x, half));
    const __m512i high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(x, 4), half));
    return _mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512());
}

// Bits of 8 words of 64, or of 4 fingerprints of two words each, the sum in the first of the two.
template <bool Wide>
static inline __mmask8 near_mask(__m512i x, __m512i own, __m512i most) {
    __m512i bits = bits_of_words(_mm512_xor_si512(x, own));
    if constexpr (Wide) bits = _mm512_add_epi64(bits, _mm512_shuffle_epi32(bits, static_cast<_MM_PERM_ENUM>(0x4E)));
    return _mm512_cmple_epu64_mask(bits, most);
}

template <bool Wide>
static inline size_t near_of(const u64* f, size_t n, const u64* own, u32 k, u32* out) {
    constexpr size_t W = Wide ? 2 : 1, STEP = 8 / W;
    constexpr __mmask8 COUNTED = Wide ? 0x55 : 0xFF;
    const __m512i mine = Wide ? _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(own)))
                              : _mm512_set1_epi64(static_cast<long long>(own[0]));
    const __m512i most = _mm512_set1_epi64(k);
    size_t c = 0, i = 0;
    const auto put = [&](u32 hits, size_t first) {
        for (; hits; hits &= hits - 1) out[c++] = static_cast<u32>(first + static_cast<size_t>(lowest_bit(hits)) / W);
    };
    for (; i + 4 * STEP <= n; i += 4 * STEP) {
        u32 hits = 0;
        for (u32 j = 0; j < 4; ++j)
            hits |= static_cast<u32>(near_mask<Wide>(_mm512_loadu_si512(f + (i + j * STEP) * W), mine, most) & COUNTED) << 8 * j;
        if (DEJALU_UNLIKELY(hits)) put(hits, i);
    }
    for (; i < n; i += STEP) {
        const size_t left = (n - i) * W;
        const __mmask8 there = left >= 8 ? 0xFF : static_cast<__mmask8>((1u << left) - 1);
        const u32 hits = near_mask<Wide>(_mm512_maskz_loadu_epi64(there, f + i * W), mine, most) & there & COUNTED;
        if (DEJALU_UNLIKELY(hits)) put(hits, i);
    }
    return c;
}

#elif defined(DEJALU_AVX2)

template <bool Wide>
static inline u32 near_mask(const u64* f, __m256i own, __m256i most) {      // one bit a byte
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i half = _mm256_set1_epi8(15);
    const __m256i x = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(f)), own);
    const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(x, half));
    const __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), half));
    __m256i bits = _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
    if constexpr (Wide) bits = _mm256_add_epi64(bits, _mm256_shuffle_epi32(bits, 0x4E));
    return static_cast<u32>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(most, bits))));
}

template <bool Wide>
static inline size_t near_of(const u64* f, size_t n, const u64* own, u32 k, u32* out) {
    constexpr size_t W = Wide ? 2 : 1, STEP = 4 / W;
    constexpr u32 COUNTED = Wide ? 0x5 : 0xF;
    const __m256i mine = Wide ? _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(own)))
                              : _mm256_set1_epi64x(static_cast<long long>(own[0]));
    const __m256i most = _mm256_set1_epi64x(static_cast<long long>(k) + 1);
    size_t c = 0, i = 0;
    for (; i + 4 * STEP <= n; i += 4 * STEP) {
        u32 hits = 0;
        for (u32 j = 0; j < 4; ++j) hits |= (near_mask<Wide>(f + (i + j * STEP) * W, mine, most) & COUNTED) << 4 * j;
        for (; DEJALU_UNLIKELY(hits); hits &= hits - 1) out[c++] = static_cast<u32>(i + static_cast<size_t>(lowest_bit(hits)) / W);
    }
    for (; i < n; ++i) {
        u64 bits = count_bits(f[i * W] ^ own[0]);
        if constexpr (Wide) bits += count_bits(f[i * W + 1] ^ own[1]);
        out[c] = static_cast<u32>(i);
        c += bits <= k;
    }
    return c;
}

#else

template <bool Wide>
static inline size_t near_of(const u64* f, size_t n, const u64* own, u32 k, u32* out) {
    constexpr size_t W = Wide ? 2 : 1;
    size_t c = 0;
    for (size_t i = 0; i < n; ++i) {
        u64 bits = count_bits(f[i * W] ^ own[0]);
        if constexpr (Wide) bits += count_bits(f[i * W + 1] ^ own[1]);
        out[c] = static_cast<u32>(i);
        c += bits <= k;
    }
    return c;
}

#endif

static size_t near_64(const u64* f, size_t n, const u64* own, u32 k, u32* out) { return near_of<false>(f, n, own, k, out); }
static size_t near_128(const u64* f, size_t n, const u64* own, u32 k, u32* out) { return near_of<true>(f, n, own, k, out); }

}  // namespace dejalu::DEJALU_ISA
