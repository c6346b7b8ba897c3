// Is it UTF-8 (Unicode 15, table 3-7), where does it stop being so, and the repair: U+FFFD for each maximal ill-formed part.
#pragma once
#include <cstdint>

#include "dispatch.hpp"
#include "scan.hpp"

namespace dejalu::utf8 {

// Length 1..4 of the well-formed sequence at p, or minus the length (1..3) of the maximal ill-formed part there.
inline int sequence(const uint8_t* p, const uint8_t* end) {
    const uint8_t b = *p;
    if (b < 0x80) return 1;
    int need;
    uint8_t low = 0x80, high = 0xBF;                           // what the second byte may be
    if (b >= 0xC2 && b <= 0xDF) {
        need = 1;
    } else if (b >= 0xE0 && b <= 0xEF) {
        need = 2;
        if (b == 0xE0) low = 0xA0;
        if (b == 0xED) high = 0x9F;                            // no surrogates
    } else if (b >= 0xF0 && b <= 0xF4) {
        need = 3;
        if (b == 0xF0) low = 0x90;
        if (b == 0xF4) high = 0x8F;                            // at most U+10FFFF
    } else {
        return -1;
    }
    for (int i = 1; i <= need; ++i) {
        if (end - p <= i || p[i] < low || p[i] > high) return -i;
        low = 0x80;
        high = 0xBF;
    }
    return need + 1;
}

// The first byte of [p, end) where an ill-formed part begins, else end.
inline const uint8_t* first_invalid(const uint8_t* p, const uint8_t* end) {
    p = kernels().formats.utf8_sure(p, end);
    while (p < end) {
        if (end - p >= scan::kWidth) {
            const auto high = scan::Block(p).high();
            p += high.any() ? high.first() : scan::kWidth;
            if (!high.any()) continue;
        }
        do {                                                   // a run of code points above U+007F, or the last bytes
            if (end - p >= scan::kWidth && scan::Block(p).threes()) {
                p += 15;                                       // most of Chinese, Japanese, Korean, Thai, Hindi
            } else if (*p >= 0xC2 && *p < 0xE0 && end - p >= 2) {
                if ((p[1] & 0xC0) != 0x80) return p;
                p += 2;                                        // Cyrillic, Greek, Arabic, accents
            } else {
                const int n = sequence(p, end);
                if (n < 0) return p;
                p += n;
            }
        } while (p < end && *p >= 0x80);
    }
    return end;
}

// Copy [p, end) with U+FFFD for each maximal ill-formed part; `to` has room for three times the bytes. Returns the end.
inline uint8_t* repair(const uint8_t* p, const uint8_t* end, uint8_t* to) {
    while (p < end) {
        int n = sequence(p, end);
        if (n > 0) {
            while (n--) *to++ = *p++;
        } else {
            p -= n;
            *to++ = 0xEF;
            *to++ = 0xBF;
            *to++ = 0xBD;
        }
    }
    return to;
}

}  // namespace dejalu::utf8
