// SimHash (Charikar, STOC 2002; Manku, Jain, Das Sarma, WWW 2007, section 2): each feature votes on every bit of the
// fingerprint with its weight, for 1 where its own hash has a 1, else for 0; a bit is 1 if the sum of votes is above 0.
//
// A feature is its shingle hash. Word 2 of a fingerprint of 128 bits is made of avalanche(feature ^ SECOND) in the same way.
// Part of the format: tests/golden pins it.
//
// The votes for 1 are counted for all bits at once, in vertical counters: plane p holds bit p of all 64 counts (positional
// population count by carry-save adders; Warren, "Hacker's Delight", section 5-1). 8 lanes count side by side: without weights
// 8 features, with weights 8 bits of the weight of one feature. No sum can overflow: there are as many planes as it takes.
#pragma once
#include "distinct.hpp"
#include "feature_weights.hpp"
#include "simhash_table.hpp"
#include "text_kernels.hpp"

namespace dejalu::DEJALU_ISA {

constexpr u64 SECOND = 0xa0761d6478bd642full;

#if defined(DEJALU_AVX512)

struct Lanes { __m512i v; };
static inline Lanes lanes_at(const u64* p) { return {_mm512_loadu_si512(p)}; }
static inline Lanes no_lanes() { return {_mm512_setzero_si512()}; }
static inline void put_lanes(u64* p, const Lanes& x) { _mm512_storeu_si512(p, x.v); }
// The feature in the lanes where `bits` has a 1.
static inline Lanes spread_out(u64 feature, u32 bits) {
    return {_mm512_maskz_set1_epi64(static_cast<__mmask8>(bits), static_cast<long long>(feature))};
}
// low + a + b becomes low + 2 * the result
static inline Lanes add_three(Lanes& low, const Lanes& a, const Lanes& b) {
    const __m512i x = low.v;
    low.v = _mm512_ternarylogic_epi64(x, a.v, b.v, 0x96);
    return {_mm512_ternarylogic_epi64(x, a.v, b.v, 0xE8)};
}
// low + a becomes low + 2 * the result; false when that is 0
static inline bool add_two(u64* low, Lanes& a) {
    const __m512i x = _mm512_loadu_si512(low), both = _mm512_and_si512(x, a.v);
    _mm512_storeu_si512(low, _mm512_xor_si512(x, a.v));
    a.v = both;
    return _mm512_test_epi64_mask(both, both) != 0;
}

#else

struct Lanes { u64 at[8]; };
static inline Lanes lanes_at(const u64* p) { Lanes x; std::memcpy(x.at, p, sizeof x); return x; }
static inline Lanes no_lanes() { return {}; }
static inline void put_lanes(u64* p, const Lanes& x) { std::memcpy(p, x.at, sizeof x); }
static inline Lanes spread_out(u64 feature, u32 bits) {
    Lanes x;
    for (u32 l = 0; l < 8; ++l) x.at[l] = feature & (0 - static_cast<u64>(bits >> l & 1));
    return x;
}
static inline Lanes add_three(Lanes& low, const Lanes& a, const Lanes& b) {
    Lanes high;
    for (int l = 0; l < 8; ++l) {
        const u64 x = low.at[l], y = a.at[l], z = b.at[l], u = x ^ y;
        high.at[l] = (x & y) | (u & z);
        low.at[l] = u ^ z;
    }
    return high;
}
static inline bool add_two(u64* low, Lanes& a) {
    u64 any = 0;
    for (int l = 0; l < 8; ++l) {
        const u64 both = low[l] & a.at[l];
        low[l] ^= a.at[l];
        a.at[l] = both;
        any |= both;
    }
    return any != 0;
}

#endif

// Counts, per lane and bit, how many of the words that were added have a 1 there.
struct Counts64 {
    static constexpr int MOST = 40;                      // more than the bits of any number of features in memory
    u64 plane[MOST][8];
    int planes;

    void begin() {
        planes = 3;
        std::memset(plane, 0, 3 * sizeof plane[0]);
    }

    // Adds word(0) … word(7) of every lane.
    template <class Word>
    void add(Word word) {
        Lanes ones = lanes_at(plane[0]), twos = lanes_at(plane[1]), fours = lanes_at(plane[2]);
        Lanes a = add_three(ones, word(0), word(1)), b = add_three(ones, word(2), word(3));
        const Lanes c = add_three(twos, a, b);
        a = add_three(ones, word(4), word(5)), b = add_three(ones, word(6), word(7));
        const Lanes d = add_three(twos, a, b);
        Lanes eights = add_three(fours, c, d);
        put_lanes(plane[0], ones), put_lanes(plane[1], twos), put_lanes(plane[2], fours);
        for (int p = 3; p < planes; ++p)
            if (!add_two(plane[p], eights)) return;
        put_lanes(plane[planes++], eights);
    }
};

// The sums of one word of the fingerprint.
struct Votes {
    Counts64 counts[4];                                  // 8 bits of a weight each; without weights the first alone
    bool used[4];

    void begin() { used[0] = used[1] = used[2] = used[3] = false; }

    // n features of weight 1; n is a multiple of 64 in every call but the last.
    void add(const u64* features, size_t n) {
        Counts64& c = counter(0);
        size_t i = 0;
        for (; i + 64 <= n; i += 64) c.add([&](size_t j) { return lanes_at(features + i + 8 * j); });
        if (i == n) return;
        u64 last[64] = {};
        std::memcpy(last, features + i, (n - i) * sizeof(u64));
        c.add([&](size_t j) { return lanes_at(last + 8 * j); });
    }

    void add(const u64* features, const u32* weights, size_t n) {
        u32 bits = 0;
        for (size_t i = 0; i < n; ++i) bits |= weights[i];
        for (int g = 0; g < 4; ++g) {
            if ((bits >> 8 * g & 0xFF) == 0) continue;
            Counts64& c = counter(g);
            const auto word = [&](size_t i) { return spread_out(features[i], weights[i] >> 8 * g & 0xFF); };
            size_t i = 0;
            for (; i + 8 <= n; i += 8) c.add([&](size_t j) { return word(i + j); });
            if (i < n) c.add([&](size_t j) { return i + j < n ? word(i + j) : no_lanes(); });
        }
    }

    // The fingerprint: bits whose votes for 1 are more than half of `total`. Lanes count 2^shift(group, lane) each.
    u64 decide(u64 total, bool weighted) const {
        u64 sum[64] = {};
        for (int g = 0; g < 4; ++g)
            if (used[g])
                for (int l = 0; l < 8; ++l) add_up(counts[g], l, weighted ? 8 * g + l : 0, sum);
        const u64 half = total / 2;
        u64 above = 0, equal = ~0ull;
        for (int p = 63; p >= 0; --p) {
            if (half >> p & 1) equal &= sum[p];
            else { above |= equal & sum[p]; equal &= ~sum[p]; }
        }
        return above;
    }

  private:
    Counts64& counter(int g) {
        if (!used[g]) counts[g].begin();
        used[g] = true;
        return counts[g];
    }

    static void add_up(const Counts64& c, int lane, int shift, u64* sum) {
        u64 carry = 0;
        for (int p = 0; p < c.planes || carry; ++p) {
            if (p + shift >= 64) return;                 // never with counts and weights that fit
            const u64 a = sum[p + shift], b = p < c.planes ? c.plane[p][lane] : 0, u = a ^ b;
            sum[p + shift] = u ^ carry;
            carry = (a & b) | (u & carry);
        }
    }
};

struct Simhasher {
    Votes votes[2];
    FirstSeen once;
    Buffer<u64> hashes, second, features;
    Buffer<u32> weight;
    const FeatureWeights weights;
    const size_t words;

    Simhasher(const FeatureTable& table, size_t w) : weights{table}, words(w) {}

    // The fingerprint of the n shingles of a text whose unit hashes begin at t. False when memory ends.
    bool print(const u64* t, size_t n, size_t width, bool distinct, u64* out) {
        const bool weighted = weights.table.keys != nullptr;
        constexpr size_t STEP = 512;                     // hashes are counted while they are in the L1 cache
        u64 total = 0;
        for (size_t w = 0; w < words; ++w) votes[w].begin();
        if (!distinct) {
            if (!hashes.need(STEP)) return false;
            for (size_t from = 0; from < n; from += STEP) {
                const size_t m = n - from < STEP ? n - from : STEP;
                shingles(t + from, m, width, hashes.at);
                if (!vote(hashes.at, m, weighted, total)) return false;
            }
        } else {
            if (!hashes.need(n) || !features.need(n + 1)) return false;
            shingles(t, n, width, hashes.at);
            const int64_t d = once(hashes.at, n, features.at);
            if (d < 0) return false;
            bool zero = false;                           // the one value that FirstSeen leaves out
            for (size_t i = 0; i < n; ++i) zero |= hashes.at[i] == 0;
            const size_t all = static_cast<size_t>(d) + zero;
            if (zero) features.at[all - 1] = 0;
            for (size_t from = 0; from < all; from += STEP)
                if (!vote(features.at + from, all - from < STEP ? all - from : STEP, weighted, total)) return false;
        }
        for (size_t w = 0; w < words; ++w) out[w] = votes[w].decide(total, weighted);
        return true;
    }

  private:
    bool vote(const u64* x, size_t n, bool weighted, u64& total) {
        if (words == 2) {
            if (!second.need(n)) return false;
            for (size_t i = 0; i < n; ++i) second.at[i] = avalanche(x[i] ^ SECOND);
        }
        if (!weighted) {
            total += n;
            votes[0].add(x, n);
            if (words == 2) votes[1].add(second.at, n);
            return true;
        }
        if (!weight.need(n)) return false;
        weights.look_up(x, n, weight.at);
        for (size_t i = 0; i < n; ++i) total += weight.at[i];
        votes[0].add(x, weight.at, n);
        if (words == 2) votes[1].add(second.at, weight.at, n);
        return true;
    }
};

static bool simhash_texts(const TextIn& text, bool distinct, const FeatureTable& table, size_t words, u64* fingerprints, int64_t* tokens) {
    Hasher hasher(text.unspaced, text.by_char);
    Simhasher simhasher(table, words);
    for (int64_t i = 0; i < text.n; ++i) {
        if (!hasher.document(at(text, i), bytes(text, i))) return false;
        tokens[i] = static_cast<int64_t>(hasher.count);
        const size_t units = hasher.unit_count(), n = shingle_count(units, text.shingle);
        const size_t width = units < text.shingle ? units : text.shingle;
        if (!simhasher.print(hasher.units(), n, width, distinct, fingerprints + static_cast<size_t>(i) * words)) return false;
    }
    return true;
}

static void simhash_features(const u64* values, const int64_t* weights, const int64_t* offsets, int64_t n, size_t words, u64* fingerprints) {
    for (int64_t d = 0; d < n; ++d)
        for (size_t w = 0; w < words; ++w) {
            int64_t sum[64] = {};
            for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i) {
                const u64 x = w ? avalanche(values[i] ^ SECOND) : values[i];
                for (int j = 0; j < 64; ++j) sum[j] += (x >> j & 1) ? weights[i] : -weights[i];
            }
            u64 print = 0;
            for (int j = 0; j < 64; ++j) print |= static_cast<u64>(sum[j] > 0) << j;
            fingerprints[static_cast<size_t>(d) * words + w] = print;
        }
}

}  // namespace dejalu::DEJALU_ISA
