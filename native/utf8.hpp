// UTF-8 in and out. Invalid bytes decode as U+FFFD, one per maximal subpart (Unicode 3.9, the practice that Python's
// errors="replace" follows too): encoded surrogates, overlong forms and code points over U+10FFFF are invalid.
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

struct Decoded {
    u32 point;
    u32 length;                 // bytes consumed, at least 1
    bool valid;
};

// Decodes the code point at p; p < end.
static inline Decoded decode(const u8* p, const u8* end) {
    const u32 a = p[0];
    if (a < 0x80) return {a, 1, true};
    const size_t left = static_cast<size_t>(end - p);
    const auto follows = [&](size_t i) { return i < left && (p[i] & 0xC0) == 0x80; };
    if (a >= 0xC2 && a < 0xE0) {
        if (follows(1)) return {(a & 0x1F) << 6 | (p[1] & 0x3Fu), 2, true};
        return {0xFFFD, 1, false};
    }
    if (a >= 0xE0 && a < 0xF0) {
        if (!follows(1) || (a == 0xE0 && p[1] < 0xA0) || (a == 0xED && p[1] > 0x9F)) return {0xFFFD, 1, false};
        if (!follows(2)) return {0xFFFD, 2, false};
        return {(a & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu), 3, true};
    }
    if (a >= 0xF0 && a < 0xF5) {
        if (!follows(1) || (a == 0xF0 && p[1] < 0x90) || (a == 0xF4 && p[1] > 0x8F)) return {0xFFFD, 1, false};
        if (!follows(2)) return {0xFFFD, 2, false};
        if (!follows(3)) return {0xFFFD, 3, false};
        return {(a & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu), 4, true};
    }
    return {0xFFFD, 1, false};
}

// The same, with no branch between one and two bytes: in Cyrillic text every blank would be a wrong guess.
static inline Decoded decode_fast(const u8* p, const u8* end) {
    if (DEJALU_UNLIKELY(end - p < 4)) return decode(p, end);
    const u32 w = load32(p), a = w & 0xFF, two = a >> 7;
    if (a < 0xE0) {
        if (DEJALU_UNLIKELY(two && (a < 0xC2 || (w & 0xC000) != 0x8000))) return {0xFFFD, 1, false};
        const u32 c = (a & 0x1F) << 6 | (w >> 8 & 0x3F);
        return {two ? c : a, 1 + two, true};
    }
    const u32 c = (w & 0xF) << 12 | (w >> 8 & 0x3F) << 6 | (w >> 16 & 0x3F);
    if ((w & 0xC0C0F0) == 0x8080E0 && c >= 0x800 && c - 0xD800 >= 0x800) return {c, 3, true};
    return decode(p, end);
}

// Writes a code point; up to 4 bytes at p are overwritten. Returns its length.
static inline u32 encode(u32 c, u8* p) {
    if (c < 0x800) {
        const u32 two = c >= 0x80, pair = (0xC0 | c >> 6) | (0x80 | (c & 0x3F)) << 8;
        const u16 w = static_cast<u16>(two ? pair : c);
        std::memcpy(p, &w, 2);
        return 1 + two;
    }
    if (c < 0x10000) {
        p[0] = static_cast<u8>(0xE0 | c >> 12); p[1] = static_cast<u8>(0x80 | (c >> 6 & 0x3F));
        p[2] = static_cast<u8>(0x80 | (c & 0x3F));
        return 3;
    }
    p[0] = static_cast<u8>(0xF0 | c >> 18); p[1] = static_cast<u8>(0x80 | (c >> 12 & 0x3F));
    p[2] = static_cast<u8>(0x80 | (c >> 6 & 0x3F)); p[3] = static_cast<u8>(0x80 | (c & 0x3F));
    return 4;
}

}  // namespace dejalu::DEJALU_ISA
