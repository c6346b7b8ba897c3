// 64 bytes of folded text at once: which are ASCII letters or '_', which are digits or no ASCII at all.
#pragma once
#include "isa.hpp"

namespace dejalu::guarding {

struct Letters {
    uint64_t letter;            // bit i: byte i is a letter or '_'
    uint64_t other;             // bit i: byte i is a digit or not ASCII
};

#if defined(__x86_64__) || defined(_M_X64)

inline Letters letters64(const uint8_t* p) {                        // SSE2, which every x86-64 has
    const auto in_range = [](__m128i v, char first, char size) {
        const __m128i t = _mm_sub_epi8(v, _mm_set1_epi8(first));
        return _mm_cmpeq_epi8(_mm_min_epu8(t, _mm_set1_epi8(static_cast<char>(size - 1))), t);
    };
    const auto mask = [](__m128i v) { return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(v))); };
    Letters r = {0, 0};
    for (int i = 0; i < 4; ++i) {
        const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
        r.letter |= mask(_mm_or_si128(in_range(v, 'a', 26), _mm_cmpeq_epi8(v, _mm_set1_epi8('_')))) << (16 * i);
        r.other |= mask(_mm_or_si128(in_range(v, '0', 10), v)) << (16 * i);
    }
    return r;
}

#else

inline Letters letters64(const uint8_t* p) {                        // eight bytes per step
    using dejalu::DEJALU_ISA::load64;
    constexpr uint64_t ONES = 0x0101010101010101ull, TOPS = ONES << 7;
    const auto at_least = [](uint64_t low7, unsigned x) { return low7 + 0x0101010101010101ull * (0x80 - x); };
    const auto mask = [](uint64_t v) { return ((v & 0x8080808080808080ull) >> 7) * 0x0102040810204080ull >> 56; };
    Letters r = {0, 0};
    for (int i = 0; i < 8; ++i) {
        const uint64_t v = load64(p + 8 * i), x = v & ~TOPS;
        const uint64_t letter = (at_least(x, 'a') & ~at_least(x, 'z' + 1)) | (at_least(x, '_') & ~at_least(x, '_' + 1));
        const uint64_t digit = at_least(x, '0') & ~at_least(x, '9' + 1);
        r.letter |= mask(letter & ~v) << (8 * i);
        r.other |= mask(digit | v) << (8 * i);
    }
    return r;
}

#endif

}  // namespace dejalu::guarding
