// 64 bytes at once: which are ASCII letters, digits or '_', which are not ASCII, and the lower-cased copy.
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

struct Block {
    u64 word;                   // bit i: byte i is a letter, a digit or '_'
    u64 high;                   // bit i: byte i is not ASCII
};

#if defined(DEJALU_AVX512)
// Reads n (1..64) bytes; writes 64.
static inline Block ascii_block(const u8* p, size_t n, u8* out) {
    const __mmask64 valid = n >= 64 ? ~0ull : (1ull << n) - 1;
    const __m512i v = _mm512_maskz_loadu_epi8(valid, p);
    const __mmask64 upper = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8('A')), _mm512_set1_epi8(26));
    const __m512i low = _mm512_mask_add_epi8(v, upper, v, _mm512_set1_epi8(0x20));
    const __mmask64 letter = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(low, _mm512_set1_epi8('a')), _mm512_set1_epi8(26));
    const __mmask64 digit = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8('0')), _mm512_set1_epi8(10));
    const __mmask64 line = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('_'));
    _mm512_storeu_si512(out, low);
    return {letter | digit | line, _mm512_movepi8_mask(v)};
}
#elif defined(DEJALU_AVX2)
static inline u64 range_mask(__m256i v, char first, char size) {       // unsigned v - first < size
    const __m256i t = _mm256_sub_epi8(v, _mm256_set1_epi8(first));
    return static_cast<u32>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(t, _mm256_set1_epi8(size - 1)), t)));
}
static inline Block ascii_half(__m256i v, u8* out) {
    const __m256i t = _mm256_sub_epi8(v, _mm256_set1_epi8('A'));
    const __m256i upper = _mm256_cmpeq_epi8(_mm256_min_epu8(t, _mm256_set1_epi8(25)), t);
    const __m256i low = _mm256_add_epi8(v, _mm256_and_si256(upper, _mm256_set1_epi8(0x20)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), low);
    const u32 line = static_cast<u32>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('_'))));
    return {range_mask(low, 'a', 26) | range_mask(v, '0', 10) | line, static_cast<u32>(_mm256_movemask_epi8(v))};
}
static inline Block ascii_block(const u8* p, size_t n, u8* out) {
    alignas(32) u8 copy[64];
    if (n < 64) { std::memset(copy, 0, 64); std::memcpy(copy, p, n); p = copy; }
    const Block a = ascii_half(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), out);
    const Block b = ascii_half(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32)), out + 32);
    return {a.word | b.word << 32, a.high | b.high << 32};
}
#elif defined(DEJALU_SSE2)
static inline __m128i in_range(__m128i v, char first, char size) {
    const __m128i t = _mm_sub_epi8(v, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(t, _mm_set1_epi8(static_cast<char>(size - 1))), t);
}
static inline Block ascii_block(const u8* p, size_t n, u8* out) {
    alignas(16) u8 copy[64];
    if (n < 64) { std::memset(copy, 0, 64); std::memcpy(copy, p, n); p = copy; }
    Block r = {0, 0};
    for (int i = 0; i < 4; ++i) {
        const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
        const __m128i low = _mm_add_epi8(v, _mm_and_si128(in_range(v, 'A', 26), _mm_set1_epi8(0x20)));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * i), low);
        const __m128i line = _mm_cmpeq_epi8(v, _mm_set1_epi8('_'));
        const __m128i word = _mm_or_si128(_mm_or_si128(in_range(low, 'a', 26), in_range(v, '0', 10)), line);
        r.word |= static_cast<u64>(static_cast<u32>(_mm_movemask_epi8(word))) << (16 * i);
        r.high |= static_cast<u64>(static_cast<u32>(_mm_movemask_epi8(v))) << (16 * i);
    }
    return r;
}
#else
// Eight bytes per step in a 64-bit register; the compiler turns none of this into a mask by itself (NEON has none).
static inline u64 gather_tops(u64 v) { return ((v & 0x8080808080808080ull) >> 7) * 0x0102040810204080ull >> 56; }
static inline u64 at_least(u64 low7, u8 x) {                            // top bit of each byte: low7 >= x
    return low7 + 0x0101010101010101ull * static_cast<u64>(0x80 - x);
}
static inline Block ascii_block(const u8* p, size_t n, u8* out) {
    u8 copy[64];
    if (n < 64) { std::memset(copy, 0, 64); std::memcpy(copy, p, n); p = copy; }
    Block r = {0, 0};
    for (int i = 0; i < 8; ++i) {
        const u64 v = load64(p + 8 * i), x = v & 0x7F7F7F7F7F7F7F7Full;
        const u64 upper = at_least(x, 'A') & ~at_least(x, 'Z' + 1) & ~v & 0x8080808080808080ull;
        const u64 low = v + (upper >> 2), y = low & 0x7F7F7F7F7F7F7F7Full;
        std::memcpy(out + 8 * i, &low, 8);
        const u64 word = (at_least(y, 'a') & ~at_least(y, 'z' + 1)) | (at_least(x, '0') & ~at_least(x, '9' + 1)) |
                         (at_least(x, '_') & ~at_least(x, '_' + 1));
        r.word |= gather_tops(word & ~v) << (8 * i);
        r.high |= gather_tops(v) << (8 * i);
    }
    return r;
}
#endif

// Writes base + the place of each set bit, in rising order; up to 64 places at out are overwritten. Returns their number.
static inline size_t write_bits(u64 bits, u32 base, u32* out) {
#if defined(DEJALU_AVX512)
    const __m512i places = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34,
        33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const size_t n = count_bits(bits);
    const __m512i c = _mm512_maskz_compress_epi8(bits, places), b = _mm512_set1_epi32(static_cast<int>(base));
    _mm512_storeu_si512(out, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(c)), b));
    _mm512_storeu_si512(out + 16, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(c, 1)), b));
    if (DEJALU_UNLIKELY(n > 32)) {
        _mm512_storeu_si512(out + 32, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(c, 2)), b));
        _mm512_storeu_si512(out + 48, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(c, 3)), b));
    }
    return n;
#else
    // Most blocks of text have at most 24 borders: those are written without a branch, the rest in a loop.
    constexpr u64 TOP = 1ull << 63;                      // places past the last one are not used
    const size_t n = count_bits(bits);
    for (u64 b = bits, i = 0; i < 24; ++i, b &= b - 1) out[i] = base + static_cast<u32>(lowest_bit(b | TOP));
    if (DEJALU_UNLIKELY(n > 24)) {
        u32* o = out;
        for (u64 b = bits; b; b &= b - 1) *o++ = base + static_cast<u32>(lowest_bit(b));
    }
    return n;
#endif
}

}  // namespace dejalu::DEJALU_ISA
