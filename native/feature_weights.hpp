// Weights of features (shingle hashes), looked up in a hash table of two plain arrays that the caller holds.
//
// keys (2^p,) and weights (2^p,), p >= 1, at most half full, collisions go to the next slot; key 0 marks a free slot, so the
// feature 0 always has the weight `unseen`. Without keys every feature weighs `unseen`.
#pragma once
#include "feature_table.hpp"
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

struct FeatureWeights {
    FeatureTable table;

    // Features are random already; the multiplication protects against callers whose values are not.
    static u64 home(u64 feature, int shift) { return feature * 0x9E3779B97F4A7C15ull >> shift; }

    u32 operator()(u64 feature) const {
        if (!table.keys) return table.unseen;
        const u64 mask = ~0ull >> table.shift;
        for (u64 s = home(feature, table.shift), left = mask + 1; left; s = (s + 1) & mask, --left) {
            const u64 key = table.keys[s];
            if (key == 0) break;
            if (key == feature) return table.weights[s];
        }
        return table.unseen;
    }

    // The weights of n features. A table of a large corpus is in no cache: what is needed soon is asked for now.
    void look_up(const u64* features, size_t n, u32* out) const {
        constexpr size_t AHEAD = 24;
        if (!table.keys) {
            for (size_t i = 0; i < n; ++i) out[i] = table.unseen;
            return;
        }
        for (size_t i = 0; i < n && i < AHEAD; ++i) ask(features[i]);
        for (size_t i = 0; i < n; ++i) {
            if (i + AHEAD < n) ask(features[i + AHEAD]);
            out[i] = (*this)(features[i]);
        }
    }

    // Fills keys and weights (2^p,) with n distinct features; room for 2 n at least.
    static void build(const u64* features, const u32* weight, size_t n, int shift, u64* keys, u32* weights) {
        const u64 mask = ~0ull >> shift;
        for (u64 s = 0; s <= mask; ++s) keys[s] = weights[s] = 0;
        for (size_t i = 0; i < n; ++i) {
            if (features[i] == 0) continue;
            u64 s = home(features[i], shift);
            while (keys[s] != 0 && keys[s] != features[i]) s = (s + 1) & mask;
            keys[s] = features[i];
            weights[s] = weight[i];
        }
    }

  private:
    void ask(u64 feature) const {
#if defined(_MSC_VER) && !defined(__clang__)
#if defined(_M_X64)
        _mm_prefetch(reinterpret_cast<const char*>(table.keys + home(feature, table.shift)), _MM_HINT_T0);
        _mm_prefetch(reinterpret_cast<const char*>(table.weights + home(feature, table.shift)), _MM_HINT_T0);
#endif
#else
        __builtin_prefetch(table.keys + home(feature, table.shift));
        __builtin_prefetch(table.weights + home(feature, table.shift));
#endif
    }
};

}  // namespace dejalu::DEJALU_ISA
