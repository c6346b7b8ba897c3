// What every kernel compiled per instruction set needs: feature macros, loads, wide multiplication, growing memory.
//
// No std:: templates here: their weak symbols, compiled with AVX-512, could replace the plain ones of the module.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#ifndef DEJALU_ISA
#define DEJALU_ISA baseline
#endif

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#if defined(__AVX512VBMI2__) || (defined(_MSC_VER) && defined(__AVX512BW__))   // MSVC has no macro for VBMI2
#define DEJALU_AVX512 1
#elif defined(__AVX2__)
#define DEJALU_AVX2 1
#else
#define DEJALU_SSE2 1
#endif
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define DEJALU_NOINLINE __declspec(noinline)
#define DEJALU_UNLIKELY(x) (x)
#else
#define DEJALU_NOINLINE __attribute__((noinline))
#define DEJALU_UNLIKELY(x) __builtin_expect(!!(x), 0)
#endif

namespace dejalu::DEJALU_ISA {

static_assert(std::endian::native == std::endian::little, "hashes are defined on little-endian loads");

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

static inline u64 load64(const u8* p) { u64 v; std::memcpy(&v, p, 8); return v; }
static inline u32 load32(const u8* p) { u32 v; std::memcpy(&v, p, 4); return v; }

static inline int lowest_bit(u64 v) {            // v is not 0
#if defined(_MSC_VER) && !defined(__clang__)
    unsigned long i; _BitScanForward64(&i, v); return static_cast<int>(i);
#else
    return __builtin_ctzll(v);
#endif
}

static inline size_t count_bits(u64 v) {
#if defined(DEJALU_AVX512) || defined(DEJALU_AVX2)
    return static_cast<size_t>(_mm_popcnt_u64(v));
#else
    v -= v >> 1 & 0x5555555555555555ull;
    v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
    return ((v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Full) * 0x0101010101010101ull >> 56;
#endif
}

// 64 x 64 -> 128 bits: the product replaces the factors, low half in a, high half in b.
static inline void multiply(u64& a, u64& b) {
#if defined(_MSC_VER) && !defined(__clang__) && defined(_M_X64)
    u64 high; a = _umul128(a, b, &high); b = high;
#elif defined(_MSC_VER) && !defined(__clang__) && defined(_M_ARM64)
    const u64 high = __umulh(a, b); a *= b; b = high;
#else
    const unsigned __int128 r = static_cast<unsigned __int128>(a) * b;
    a = static_cast<u64>(r); b = static_cast<u64>(r >> 64);
#endif
}

// A growing array of plain values. Memory is not cleared. `failed` is set when the system has none left; the
// array then keeps its old size, and the kernel stops at the next check.
template <class T>
struct Buffer {
    T* at = nullptr;
    size_t room = 0;
    ~Buffer() { std::free(at); }
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    // Makes room for at least n values; contents are kept.
    bool need(size_t n) { return n <= room || grow(n); }
    DEJALU_NOINLINE bool grow(size_t n) {
        size_t want = room + room / 2;
        if (want < n) want = n;
        if (want < 64) want = 64;
        if (want > static_cast<size_t>(-1) / sizeof(T)) return false;
        void* p = std::realloc(at, want * sizeof(T));
        if (!p) return false;
        at = static_cast<T*>(p);
        room = want;
        return true;
    }
    T* release() { T* p = at; at = nullptr; room = 0; return p; }
};

}  // namespace dejalu::DEJALU_ISA
