// 64 bytes at once: where are the bytes that a format kernel must look at? Bit i stands for byte i.
#pragma once
#include "isa.hpp"

#if !defined(DEJALU_AVX512) && !defined(DEJALU_AVX2) && !defined(DEJALU_SSE2) && defined(__ARM_NEON)
#include <arm_neon.h>
#define DEJALU_NEON 1
#endif

namespace dejalu::DEJALU_ISA {

struct StringMarks {
    u64 stop;                   // quotes, backslashes and control bytes
    u64 high;                   // bytes above 0x7F
};

#if defined(DEJALU_AVX512)

struct Bytes64 {
    __m512i v;
    explicit Bytes64(const u8* p) : v(_mm512_loadu_si512(p)) {}
    void store(u8* p) const { _mm512_storeu_si512(p, v); }
    u64 eq(u8 b) const { return _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(static_cast<char>(b))); }
    u64 below(u8 b) const { return _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(static_cast<char>(b))); }
    u64 high() const { return _mm512_movepi8_mask(v); }
    StringMarks marks() const { return {eq('"') | eq('\\') | below(0x20), high()}; }
};

#elif defined(DEJALU_AVX2)

struct Bytes64 {
    __m256i a, b;
    explicit Bytes64(const u8* p)
        : a(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))),
          b(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))) {}
    void store(u8* p) const {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32), b);
    }
    static u64 mask(__m256i x, __m256i y) {
        return static_cast<u32>(_mm256_movemask_epi8(x)) |
               static_cast<u64>(static_cast<u32>(_mm256_movemask_epi8(y))) << 32;
    }
    static __m256i same(__m256i x, u8 c) { return _mm256_cmpeq_epi8(x, _mm256_set1_epi8(static_cast<char>(c))); }
    static __m256i stops(__m256i x) {
        const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(x, _mm256_set1_epi8(0x1F)), x);
        return _mm256_or_si256(_mm256_or_si256(same(x, '"'), same(x, '\\')), control);
    }
    u64 high() const { return mask(a, b); }
    StringMarks marks() const { return {mask(stops(a), stops(b)), high()}; }
};

#elif defined(DEJALU_SSE2)

struct Bytes64 {
    __m128i v[4];
    explicit Bytes64(const u8* p) {
        for (int i = 0; i < 4; ++i) v[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
    }
    void store(u8* p) const {
        for (int i = 0; i < 4; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 16 * i), v[i]);
    }
    template <class F>
    u64 mask(F f) const {
        u64 m = 0;
        for (int i = 0; i < 4; ++i) m |= static_cast<u64>(static_cast<u32>(_mm_movemask_epi8(f(v[i])))) << (16 * i);
        return m;
    }
    static __m128i same(__m128i x, u8 c) { return _mm_cmpeq_epi8(x, _mm_set1_epi8(static_cast<char>(c))); }
    u64 high() const { return mask([](__m128i x) { return x; }); }
    StringMarks marks() const {
        return {mask([](__m128i x) {
                    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1F)), x);
                    return _mm_or_si128(_mm_or_si128(same(x, '"'), same(x, '\\')), control);
                }),
                high()};
    }
};

#elif defined(DEJALU_NEON)

struct Bytes64 {
    uint8x16_t v[4];
    explicit Bytes64(const u8* p) {
        for (int i = 0; i < 4; ++i) v[i] = vld1q_u8(p + 16 * i);
    }
    void store(u8* p) const {
        for (int i = 0; i < 4; ++i) vst1q_u8(p + 16 * i, v[i]);
    }
    template <class F>
    u64 mask(F f) const {                                      // f gives 0 or 0xFF for each byte
        const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ull));
        const uint8x16_t a = vpaddq_u8(vandq_u8(f(v[0]), bit), vandq_u8(f(v[1]), bit));
        const uint8x16_t b = vpaddq_u8(vandq_u8(f(v[2]), bit), vandq_u8(f(v[3]), bit));
        const uint8x16_t c = vpaddq_u8(a, b);
        return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(c, c)), 0);
    }
    u64 high() const {
        return mask([](uint8x16_t x) { return vcgeq_u8(x, vdupq_n_u8(0x80)); });
    }
    StringMarks marks() const {
        return {mask([](uint8x16_t x) {
                    const uint8x16_t special = vorrq_u8(vceqq_u8(x, vdupq_n_u8('"')), vceqq_u8(x, vdupq_n_u8('\\')));
                    return vorrq_u8(special, vcltq_u8(x, vdupq_n_u8(0x20)));
                }),
                high()};
    }
};

#else

struct Bytes64 {
    u8 v[64];
    explicit Bytes64(const u8* p) { std::memcpy(v, p, 64); }
    void store(u8* p) const { std::memcpy(p, v, 64); }
    template <class F>
    u64 mask(F f) const {
        u64 m = 0;
        for (int i = 0; i < 64; ++i) m |= static_cast<u64>(f(v[i])) << i;
        return m;
    }
    u64 high() const { return mask([](u8 x) { return x >> 7; }); }
    StringMarks marks() const { return {mask([](u8 x) { return x == '"' || x == '\\' || x < 0x20; }), high()}; }
};

#endif

}  // namespace dejalu::DEJALU_ISA
