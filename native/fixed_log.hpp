// Logarithms in integers, the same bits on every machine: log2 in fixed point with 48 fractional bits.
//
// A table of log2(1 + i / 2048), rounded down, made once bit by bit by squaring (Knuth, TAOCP 1, section 1.2.2, exercise 25), and a
// straight line between two entries: the error is below 5e-8. No libm, whose last bits differ between systems.
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

constexpr int LOG_FRACTION = 48, LOG_STEPS = 11;

struct LogTable {
    u64 at[(1 << LOG_STEPS) + 1];

    LogTable() {
        for (u64 i = 0; i < 1u << LOG_STEPS; ++i) {
            u64 x = 1ull << 63 | i << (63 - LOG_STEPS), log = 0;         // x / 2^63 in [1, 2)
            for (int bit = 0; bit < LOG_FRACTION; ++bit) {
                u64 low = x, high = x;
                multiply(low, high);                                     // x squared, in [1, 4)
                const u64 two = high >> 63;
                x = two ? high : high << 1 | low >> 63;
                log = log << 1 | two;
            }
            at[i] = log;
        }
        at[1 << LOG_STEPS] = 1ull << LOG_FRACTION;
    }
};

static inline int leading_zeros(u64 x) {                                 // x is not 0
#if defined(_MSC_VER) && !defined(__clang__)
    unsigned long i; _BitScanReverse64(&i, x); return 63 - static_cast<int>(i);
#else
    return __builtin_clzll(x);
#endif
}

// log2(x) * 2^48, x > 0.
static inline u64 fixed_log2(const LogTable& t, u64 x) {
    const int zeros = leading_zeros(x);
    const u64 m = x << zeros;                                            // leading one, 11 bits of place, 24 bits between two places
    const u64 i = m >> (63 - LOG_STEPS) & ((1u << LOG_STEPS) - 1);
    const u64 f = m >> (63 - LOG_STEPS - 24) & 0xFFFFFF;
    const u64 low = t.at[i];
    return (static_cast<u64>(63 - zeros) << LOG_FRACTION) + low + ((t.at[i + 1] - low) * f >> 24);
}

static inline const LogTable& log_table() {
    static const LogTable t;
    return t;
}

}  // namespace dejalu::DEJALU_ISA
