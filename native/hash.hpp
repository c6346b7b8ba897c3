// Hashes of tokens, of token sequences and of bytes. They live on users' disks: tests/golden pins them.
//
// token_hash: wyhash's way (Wang Yi, 2019) of mixing 16 bytes with two 64x64->128 multiplications; a token of up to
// 16 bytes costs two masked loads. Tokens hold no NUL byte, so zero padding is unambiguous; the length goes in as well.
// avalanche: SplitMix64's finalizer (Steele, Lea, Flood, OOPSLA 2014, variant 13 of Stafford). XXH3 128: Yann Collet.
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

// Bytes 0xFF at ends that no UTF-8 text has there, so that no short token can make a factor zero.
constexpr u64 K0 = 0xffa0761d6478bd64ull, K1 = 0xffe7037ed1a0b428ull, K2 = 0x8ebc6af09c88c6e3ull, K3 = 0x589965cc75374cc3ull;

// Masks that keep the first n of 16 bytes, n = 0..16, as two little-endian halves. A table, since a branch on the length
// of a word is a guess that fails once in five words.
struct Masks { u64 low[17], high[17]; };
constexpr Masks MASKS = [] {
    Masks m{};
    for (int n = 0; n <= 16; ++n) {
        m.low[n] = n >= 8 ? ~0ull : (1ull << (8 * n)) - 1;
        m.high[n] = n <= 8 ? 0 : n == 16 ? ~0ull : (1ull << (8 * (n - 8))) - 1;
    }
    return m;
}();

// Multiplies twice; a and b hold the last 16 bytes, mixed into the state.
static inline u64 finish_token(u64 a, u64 b) {
    multiply(a, b);
    a ^= K2;
    b ^= K3;
    multiply(a, b);
    return a ^ b;
}

// A token of up to 16 bytes; 16 bytes from p must be readable (they may belong to anything).
static inline u64 short_token_hash(const u8* p, size_t length) {
    return finish_token(K0 ^ (load64(p) & MASKS.low[length]), K1 ^ length ^ (load64(p + 8) & MASKS.high[length]));
}

static DEJALU_NOINLINE u64 long_token_hash(const u8* p, size_t length) {
    u64 a = K0, b = K1 ^ length;
    size_t left = length;
    for (; left > 16; left -= 16, p += 16) {
        a ^= load64(p);
        b ^= load64(p + 8);
        multiply(a, b);
        a ^= K2;
        b ^= K3;
    }
    return finish_token(a ^ (load64(p) & MASKS.low[left]), b ^ (load64(p + 8) & MASKS.high[left]));
}

static inline u64 token_hash(const u8* p, size_t length) {
    return DEJALU_UNLIKELY(length > 16) ? long_token_hash(p, length) : short_token_hash(p, length);
}

static inline u64 avalanche(u64 x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static inline u32 avalanche32(u32 x) {                  // MurmurHash3's 32-bit finalizer
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

}  // namespace dejalu::DEJALU_ISA
