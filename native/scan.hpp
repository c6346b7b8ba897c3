// Looking at 16 bytes at once, with what every machine of an architecture has: SSE2, NEON, or plain C++.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)
#include <arm_neon.h>
#endif

namespace dejalu::scan {

constexpr int kWidth = 16;

#if defined(__SSE2__) || defined(_M_X64)

// A set of positions 0..15: one bit each.
struct Hits {
    uint32_t bits;
    bool any() const { return bits != 0; }
    int first() const { return std::countr_zero(bits); }
    int count() const { return std::popcount(bits); }
};

struct Block {
    __m128i v;
    explicit Block(const uint8_t* p) : v(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))) {}
    void store(uint8_t* p) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
    __m128i eq(uint8_t b) const { return _mm_cmpeq_epi8(v, _mm_set1_epi8(static_cast<char>(b))); }
    __m128i at_most(uint8_t b) const { return _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(static_cast<char>(b))), v); }
    Hits high() const { return {static_cast<uint32_t>(_mm_movemask_epi8(v))}; }   // bytes above 0x7F
    // Are the first 15 bytes five times a lead E0..EF and two continuations, none of the leads E0 or ED?
    bool threes() const {
        const __m128i mask = _mm_setr_epi8(-16, -64, -64, -16, -64, -64, -16, -64, -64, -16, -64, -64, -16, -64, -64, 0);
        const __m128i form = _mm_setr_epi8(-32, -128, -128, -32, -128, -128, -32, -128, -128, -32, -128, -128, -32, -128, -128, 0);
        const __m128i odd = _mm_or_si128(eq(0xE0), eq(0xED));
        const __m128i good = _mm_andnot_si128(odd, _mm_cmpeq_epi8(_mm_and_si128(v, mask), form));
        return (_mm_movemask_epi8(good) & 0x7FFF) == 0x7FFF;
    }
    static __m128i either(__m128i a, __m128i b) { return _mm_or_si128(a, b); }
    static Hits hits(__m128i m) { return {static_cast<uint32_t>(_mm_movemask_epi8(m))}; }
};

#elif defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)

struct Hits {
    uint64_t bits;                                             // four bits each
    bool any() const { return bits != 0; }
    int first() const { return std::countr_zero(bits) >> 2; }
    int count() const { return std::popcount(bits) >> 2; }
};

struct Block {
    uint8x16_t v;
    explicit Block(const uint8_t* p) : v(vld1q_u8(p)) {}
    void store(uint8_t* p) const { vst1q_u8(p, v); }
    uint8x16_t eq(uint8_t b) const { return vceqq_u8(v, vdupq_n_u8(b)); }
    uint8x16_t at_most(uint8_t b) const { return vcleq_u8(v, vdupq_n_u8(b)); }
    Hits high() const { return hits(vcgeq_u8(v, vdupq_n_u8(0x80))); }
    bool threes() const {
        static const uint8_t mask[16] = {0xF0, 0xC0, 0xC0, 0xF0, 0xC0, 0xC0, 0xF0, 0xC0, 0xC0, 0xF0, 0xC0, 0xC0, 0xF0, 0xC0, 0xC0, 0};
        static const uint8_t form[16] = {0xE0, 0x80, 0x80, 0xE0, 0x80, 0x80, 0xE0, 0x80, 0x80, 0xE0, 0x80, 0x80, 0xE0, 0x80, 0x80, 0};
        const uint8x16_t odd = vsetq_lane_u8(0, vorrq_u8(eq(0xE0), eq(0xED)), 15);
        return vminvq_u8(vbicq_u8(vceqq_u8(vandq_u8(v, vld1q_u8(mask)), vld1q_u8(form)), odd)) == 0xFF;
    }
    static uint8x16_t either(uint8x16_t a, uint8x16_t b) { return vorrq_u8(a, b); }
    static Hits hits(uint8x16_t m) {
        return {vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(m), 4)), 0)};
    }
};

#else

struct Hits {
    uint32_t bits;
    bool any() const { return bits != 0; }
    int first() const { return std::countr_zero(bits); }
    int count() const { return std::popcount(bits); }
};

struct Block {
    uint8_t v[kWidth];
    explicit Block(const uint8_t* p) { std::memcpy(v, p, kWidth); }
    void store(uint8_t* p) const { std::memcpy(p, v, kWidth); }
    uint32_t eq(uint8_t b) const {
        uint32_t m = 0;
        for (int i = 0; i < kWidth; ++i) m |= static_cast<uint32_t>(v[i] == b) << i;
        return m;
    }
    uint32_t at_most(uint8_t b) const {
        uint32_t m = 0;
        for (int i = 0; i < kWidth; ++i) m |= static_cast<uint32_t>(v[i] <= b) << i;
        return m;
    }
    Hits high() const {
        uint32_t m = 0;
        for (int i = 0; i < kWidth; ++i) m |= static_cast<uint32_t>(v[i] >> 7) << i;
        return {m};
    }
    bool threes() const { return false; }
    static uint32_t either(uint32_t a, uint32_t b) { return a | b; }
    static Hits hits(uint32_t m) { return {m}; }
};

#endif

// First byte equal to a or b in [p, end), else end.
inline const uint8_t* find_either(const uint8_t* p, const uint8_t* end, uint8_t a, uint8_t b) {
    for (; end - p >= kWidth; p += kWidth) {
        const Block x(p);
        const Hits h = Block::hits(Block::either(x.eq(a), x.eq(b)));
        if (h.any()) return p + h.first();
    }
    while (p < end && *p != a && *p != b) ++p;
    return p;
}

inline const uint8_t* find(const uint8_t* p, const uint8_t* end, uint8_t b) {
    const void* hit = p < end ? std::memchr(p, b, static_cast<size_t>(end - p)) : nullptr;
    return hit ? static_cast<const uint8_t*>(hit) : end;
}

// How many bytes of [p, end) equal b.
inline int64_t count(const uint8_t* p, const uint8_t* end, uint8_t b) {
    int64_t n = 0;
    for (; end - p >= kWidth; p += kWidth) n += Block::hits(Block(p).eq(b)).count();
    for (; p < end; ++p) n += *p == b;
    return n;
}

}  // namespace dejalu::scan
