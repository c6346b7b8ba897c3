// Well-formed UTF-8 at the speed of memory where the instruction set can look bytes up in a table of 16.
//
// Keiser, Lemire: Validating UTF-8 in less than one instruction per byte (2021), section 6: three lookups, by the high
// and low half of a byte and the high half of the next one, whose common bits are the ways in which the two can be wrong.
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

#if defined(DEJALU_AVX512) || defined(DEJALU_AVX2)

namespace pair {
enum : u8 { SHORT = 1, LONG = 2, OVER3 = 4, LARGE = 8, SURROGATE = 16, OVER2 = 32, LARGE1000 = 64, OVER4 = 64, TWO = 128 };
constexpr u8 CARRY = SHORT | LONG | TWO, BIG = CARRY | LARGE | LARGE1000;
// What a byte rules out for itself and the next, by its high half, by its low half; and the next, by its high half.
alignas(64) constexpr u8 FIRST_HIGH[16] = {LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, TWO, TWO, TWO, TWO,
                                           SHORT | OVER2, SHORT, SHORT | OVER3 | SURROGATE, SHORT | LARGE | LARGE1000 | OVER4};
alignas(64) constexpr u8 FIRST_LOW[16] = {CARRY | OVER3 | OVER2 | OVER4, CARRY | OVER2, CARRY, CARRY, CARRY | LARGE,
                                          BIG, BIG, BIG, BIG, BIG, BIG, BIG, BIG, BIG | SURROGATE, BIG, BIG};
alignas(64) constexpr u8 NEXT_HIGH[16] = {SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT,
                                          LONG | OVER2 | TWO | OVER3 | LARGE1000 | OVER4, LONG | OVER2 | TWO | OVER3 | LARGE,
                                          LONG | OVER2 | TWO | SURROGATE | LARGE, LONG | OVER2 | TWO | SURROGATE | LARGE,
                                          SHORT, SHORT, SHORT, SHORT};
}  // namespace pair

// Looks at 64 bytes after 64 bytes; what went before is held back, since a code point may lie on the border.
#if defined(DEJALU_AVX512)
struct Utf8Checker {
    __m512i before = _mm512_setzero_si512();
    u64 high_before = 0;

    static __m512i lookup(const u8* table, __m512i at) {
        return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(table))), at);
    }
    static __m512i high_half(__m512i v) { return _mm512_and_si512(_mm512_srli_epi16(v, 4), _mm512_set1_epi8(0x0F)); }

    bool bad(const u8* p, size_t n) {                          // n of 1..64 bytes, zeros after them
        const __m512i v = _mm512_maskz_loadu_epi8(n >= 64 ? ~0ull : (1ull << n) - 1, p);
        const u64 high = _mm512_movepi8_mask(v);
        if (!(high | high_before >> 61)) {
            high_before = 0;
            before = v;
            return false;
        }
        const __m512i shifted = _mm512_permutex2var_epi64(before, _mm512_set_epi64(13, 12, 11, 10, 9, 8, 7, 6), v);
        const __m512i one = _mm512_alignr_epi8(v, shifted, 15), two = _mm512_alignr_epi8(v, shifted, 14),
                      three = _mm512_alignr_epi8(v, shifted, 13);
        const __m512i wrong = _mm512_and_si512(
            _mm512_and_si512(lookup(pair::FIRST_HIGH, high_half(one)),
                             lookup(pair::FIRST_LOW, _mm512_and_si512(one, _mm512_set1_epi8(0x0F)))),
            lookup(pair::NEXT_HIGH, high_half(v)));
        const __m512i follows = _mm512_or_si512(_mm512_subs_epu8(two, _mm512_set1_epi8(0xE0 - 0x80)),
                                                _mm512_subs_epu8(three, _mm512_set1_epi8(0xF0 - 0x80)));
        before = v;
        high_before = high;
        const __m512i rest = _mm512_xor_si512(wrong, _mm512_and_si512(follows, _mm512_set1_epi8(static_cast<char>(0x80))));
        return _mm512_test_epi8_mask(rest, rest) != 0;
    }
};
#else
struct Utf8Checker {
    __m256i before = _mm256_setzero_si256();
    u64 high_before = 0;

    static __m256i lookup(const u8* table, __m256i at) {
        return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table))), at);
    }
    static __m256i high_half(__m256i v) { return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(0x0F)); }

    static __m256i wrong(__m256i last, __m256i v) {
        const __m256i shifted = _mm256_permute2x128_si256(last, v, 0x21);
        const __m256i one = _mm256_alignr_epi8(v, shifted, 15), two = _mm256_alignr_epi8(v, shifted, 14),
                      three = _mm256_alignr_epi8(v, shifted, 13);
        const __m256i pairs = _mm256_and_si256(
            _mm256_and_si256(lookup(pair::FIRST_HIGH, high_half(one)),
                             lookup(pair::FIRST_LOW, _mm256_and_si256(one, _mm256_set1_epi8(0x0F)))),
            lookup(pair::NEXT_HIGH, high_half(v)));
        const __m256i follows = _mm256_or_si256(_mm256_subs_epu8(two, _mm256_set1_epi8(0xE0 - 0x80)),
                                                _mm256_subs_epu8(three, _mm256_set1_epi8(0xF0 - 0x80)));
        return _mm256_xor_si256(pairs, _mm256_and_si256(follows, _mm256_set1_epi8(static_cast<char>(0x80))));
    }

    bool bad(const u8* p, size_t n) {                          // n of 1..64 bytes, zeros after them
        alignas(32) u8 copy[64];
        if (n < 64) {
            std::memset(copy, 0, 64);
            std::memcpy(copy, p, n);
            p = copy;
        }
        const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
                      b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
        const u32 ha = static_cast<u32>(_mm256_movemask_epi8(a)), hb = static_cast<u32>(_mm256_movemask_epi8(b));
        const u64 high = ha | static_cast<u64>(hb) << 32;
        const bool plain = !(high | high_before >> 61);
        const __m256i last = before;
        before = b;
        high_before = high;
        if (plain) return false;
        const __m256i rest = _mm256_or_si256(wrong(last, a), wrong(a, b));
        return !_mm256_testz_si256(rest, rest);
    }
};
#endif

static const u8* utf8_sure(const u8* const begin, const u8* const end) {
    Utf8Checker checker;
    for (const u8* p = begin; p < end; p += 64) {
        const size_t n = end - p < 64 ? static_cast<size_t>(end - p) : 64;
        if (DEJALU_UNLIKELY(checker.bad(p, n))) {
            p = p - begin < 3 ? begin : p - 3;                 // the code point that goes wrong may have begun before
            while (p > begin && (*p & 0xC0) == 0x80) --p;
            return p;
        }
    }
    static const u8 zero = 0;
    if (checker.high_before >> 61 && checker.bad(&zero, 1)) {  // the last code point may lack its end
        const u8* p = end - 3;
        while (p > begin && (*p & 0xC0) == 0x80) --p;
        return p;
    }
    return end;
}

#else

static const u8* utf8_sure(const u8* begin, const u8*) { return begin; }

#endif

}  // namespace dejalu::DEJALU_ISA
