// Fast similarity sketching (Dahlgaard, Knudsen, Thorup, "Fast Similarity Sketching", FOCS 2017, section 2), with the
// rounds k..2k-1 of the paper begun early. docs/decisions/0001-sketch.md has the measurements behind it.
//
// k slots. In scatter round i = 0..R-1, R = ceil(k / 128), every shingle hash h goes to ONE slot:
//     g = h in round 0, else avalanche(h + i * GOLDEN);  slot = floor(floor(g / 2^32) * k / 2^32)
// and a slot that was empty before the round keeps its smallest g; what is stored are the low 32 bits of g, which took
// hardly any part in the choice. A slot that is empty after these rounds is filled directly, by every shingle:
//     y = ((low 32 bits of h) xor c[slot]) * a[slot] mod 2^32; the smallest y is stored as avalanche32(y).
// Each slot holds the smallest element of the set in one fixed order (round first), so P(slots agree) is the Jaccard
// similarity exactly as in MinHash; only that a set is scattered instead of being hashed k times.
#pragma once
#include "hash.hpp"

namespace dejalu::DEJALU_ISA {

constexpr u64 GOLDEN = 0x9e3779b97f4a7c15ull, SLOT_SEED = 0xd1b54a32d192ed03ull;
#if defined(DEJALU_AVX512)
constexpr int WIDE = 64;                                 // slots whose constants fill, with their minima, the registers
#else
constexpr int WIDE = 32;
#endif
constexpr u64 EMPTY = ~0ull;                             // a shingle hash of this value leaves its slot empty

struct Sketcher {
    size_t slots = 0;
    Buffer<u64> best;                                    // smallest hash per slot
    Buffer<u32> factor, offset;                          // a and c of the direct round, per slot
    Buffer<u32> open, open_factor, open_offset, lowest;  // the slots that are still empty
    Buffer<u32> low;                                     // low halves of the shingle hashes

    bool prepare(size_t k) {
        slots = k;
        if (!best.need(k) || !factor.need(k + WIDE) || !offset.need(k + WIDE) || !open.need(k + WIDE) || !open_factor.need(k + WIDE) ||
            !open_offset.need(k + WIDE) || !lowest.need(k + WIDE))
            return false;
        for (size_t j = 0; j < k; ++j) {
            const u64 r = avalanche(SLOT_SEED + (j + 1) * GOLDEN);
            factor.at[j] = static_cast<u32>(r) | 1;
            offset.at[j] = static_cast<u32>(r >> 32);
        }
        for (size_t j = k; j < k + WIDE; ++j) factor.at[j] = offset.at[j] = 0;
        return true;
    }

    void begin() {
        for (size_t j = 0; j < slots; ++j) best.at[j] = EMPTY;
    }

    // Round 0 of n more shingle hashes.
    void scatter(const u64* h, size_t n) {
        u64* const b = best.at;
        const u64 k = slots;
        for (size_t i = 0; i < n; ++i) {
            const u64 g = h[i];
            u64* const s = b + ((g >> 32) * k >> 32);
            const u64 old = *s;
            *s = g < old ? g : old;
        }
    }

    // Fills what round 0 left empty and writes the signature; h holds all n shingle hashes, n > 0.
    bool finish(const u64* h, size_t n, u32* signature) {
        size_t m = 0;
        for (size_t j = 0; j < slots; ++j) {
            signature[j] = static_cast<u32>(best.at[j]);
            m += best.at[j] == EMPTY;
        }
        if (m == 0) return true;
        const size_t rounds = (slots + 127) / 128;
        if (rounds == 1 && 2 * m >= slots) return direct_all(h, n, signature);
        m = 0;
        for (size_t j = 0; j < slots; ++j) {
            open.at[m] = static_cast<u32>(j);
            m += best.at[j] == EMPTY;
        }
        for (size_t i = 1; i < rounds && m; ++i) m = later_round(h, n, i, m, signature);
        return m == 0 || direct(h, n, m, signature);
    }

  private:
    // Scatter round i into the m open slots; returns how many stay open.
    size_t later_round(const u64* h, size_t n, size_t i, size_t m, u32* signature) {
        scatter_again(h, n, i);
        size_t left = 0;
        for (size_t j = 0; j < m; ++j) {
            const u32 s = open.at[j];
            const u64 g = best.at[s];
            signature[s] = static_cast<u32>(g);
            open.at[left] = s;
            left += g == EMPTY;
        }
        return left;
    }

    DEJALU_NOINLINE void scatter_again(const u64* h, size_t n, size_t i) {
        for (size_t j = 0; j < slots; ++j) best.at[j] = EMPTY;        // closed slots are not read again
        for (size_t e = 0; e < n; ++e) {
            const u64 g = avalanche(h[e] + i * GOLDEN);
            u64* const s = best.at + ((g >> 32) * slots >> 32);
            if (g < *s) *s = g;
        }
    }

    bool direct(const u64* h, size_t n, size_t m, u32* signature) {
        if (!low.need(n)) return false;
        for (size_t e = 0; e < n; ++e) low.at[e] = static_cast<u32>(h[e]);
        if (n > 4 * m) {                                              // few slots, many shingles: one slot at a time
            for (size_t j = 0; j < m; ++j) {
                const u32 s = open.at[j];
                signature[s] = avalanche32(smallest(low.at, n, factor.at[s], offset.at[s]));
            }
            return true;
        }
        for (size_t j = 0; j < m; ++j) {
            open_factor.at[j] = factor.at[open.at[j]];
            open_offset.at[j] = offset.at[open.at[j]];
        }
        for (size_t j = m; j < m + WIDE; ++j) open_factor.at[j] = open_offset.at[j] = 0;
        for (size_t j = 0; j < m;) {                                   // as few slots too many as the register blocks allow
            const size_t left = m - j;
            const u32 *a = open_factor.at + j, *c = open_offset.at + j;
            if (left > WIDE / 2) together<WIDE>(low.at, n, a, c, lowest.at + j), j += WIDE;
            else if (left > WIDE / 4) together<WIDE / 2>(low.at, n, a, c, lowest.at + j), j += WIDE / 2;
            else together<WIDE / 4>(low.at, n, a, c, lowest.at + j), j += WIDE / 4;
        }
        for (size_t j = 0; j < m; ++j) signature[open.at[j]] = avalanche32(lowest.at[j]);
        return true;
    }

    // Few shingles: all slots at once, and then only the empty ones take the result.
    bool direct_all(const u64* h, size_t n, u32* signature) {
        if (!low.need(n)) return false;
        for (size_t e = 0; e < n; ++e) low.at[e] = static_cast<u32>(h[e]);
        for (size_t j = 0; j < slots; j += WIDE) together<WIDE>(low.at, n, factor.at + j, offset.at + j, lowest.at + j);
        for (size_t j = 0; j < slots; ++j) {
            const u32 y = avalanche32(lowest.at[j]);
            signature[j] = best.at[j] == EMPTY ? y : signature[j];
        }
        return true;
    }

    static u32 smallest(const u32* x, size_t n, u32 a, u32 c) {
        u32 best = ~0u;
        for (size_t e = 0; e < n; ++e) {
            const u32 y = (x[e] ^ c) * a;
            best = y < best ? y : best;
        }
        return best;
    }

    // The same for N slots at once; the compiler keeps a, c and best in registers.
    template <int N>
    static void together(const u32* x, size_t n, const u32* a, const u32* c, u32* out) {
        u32 best[N], factor[N], offset[N];
        for (int j = 0; j < N; ++j) { best[j] = ~0u; factor[j] = a[j]; offset[j] = c[j]; }
        for (size_t e = 0; e < n; ++e) {
            const u32 v = x[e];
            for (int j = 0; j < N; ++j) {
                const u32 y = (v ^ offset[j]) * factor[j];
                best[j] = y < best[j] ? y : best[j];
            }
        }
        for (int j = 0; j < N; ++j) out[j] = best[j];
    }
};

}  // namespace dejalu::DEJALU_ISA
