// Weighted sketches: slots of two texts agree with probability J_w, the weight of the features of both divided by the
// weight of the features of either. A feature weighs the same in every text.
//
// Exponential clocks, first come, first served (Chum, Philbin, Zisserman, BMVC 2008, word weighting: the winner of a slot is the
// feature with the smallest -log(u) / w), drawn as in ProbMinHash1a (Ertl, "ProbMinHash", arXiv:1911.00675): each
// feature has ONE Poisson process of points at the rate of its weight; each point goes to a slot at random, and a slot keeps
// its first point. A Poisson process that is dealt out at random is one independent process per slot, so the slots are
// independent and each chooses feature x with probability w(x) / w(set): the same law as with one clock per feature and
// slot, after some n + slots * ln(slots) points instead of n * slots clocks. All features take a step in turn; one whose
// next point is later than the last slot's first is done.
//
// Point i of feature x: r = x for i = 0, else avalanche(x + i * GOLDEN), SplitMix64's sequence from x;
//     slot = floor(r * slots / 2^64), u = the fraction of it, 64 bits; time += -log2(u) / w; the slot's value = low half of r.
// log2 is an integer (fixed_log.hpp), times are doubles made with * and + alone: the same bits everywhere. Of points at the
// same time the earlier round wins, then the feature that comes first in the text.
#pragma once
#include "distinct.hpp"
#include "feature_weights.hpp"
#include "fixed_log.hpp"
#include "text_kernels.hpp"

namespace dejalu::DEJALU_ISA {

struct WeightedSketcher {
    static constexpr u64 NEVER = ~0ull;                  // times are kept as the bits of positive doubles, which have their order
    size_t slots;
    const LogTable& log = log_table();
    Buffer<u64> first;                                   // time of the first point per slot
    Buffer<u64> alive;                                   // features that may still win a slot
    Buffer<double> time, slow;                           // time of their last point; 1 / weight

    explicit WeightedSketcher(size_t k) : slots(k) {}

    // Sketches n distinct features with their weights; those of weight 0 do not count. False when memory ends.
    bool sketch(const u64* features, const u32* weights, size_t n, u32* signature) {
        if (!first.need(slots) || !alive.need(n) || !time.need(n) || !slow.need(n)) return false;
        std::memset(signature, 0xFF, slots * sizeof(u32));
        for (size_t j = 0; j < slots; ++j) first.at[j] = NEVER;
        size_t m = 0;
        for (size_t e = 0; e < n; ++e) {
            alive.at[m] = features[e];
            time.at[m] = 0.0;
            slow.at[m] = 1.0 / static_cast<double>(weights[e] ? weights[e] : 1);
            m += weights[e] != 0;
        }
        size_t open = slots;
        u64 limit = NEVER;
        for (u64 round = 0; m; ++round) {
            m = step(round, m, limit, open, signature);
            if (open == 0) limit = last();
        }
        return true;
    }

  private:
    // One step of the m features that are alive; returns how many stay so.
    size_t step(const u64 round, const size_t m, const u64 limit, size_t& open, u32* const signature) {
        u64 *const x = alive.at, *const f = first.at;
        double *const t = time.at, *const s = slow.at;
        const LogTable& table = log;
        const u64 k = slots, add = round * GOLDEN;
        size_t left = 0, filled = 0;
        for (size_t e = 0; e < m; ++e) {
            const u64 feature = x[e], r = round ? avalanche(feature + add) : feature;
            u64 fraction = r, slot = k;
            multiply(fraction, slot);
            const u64 clock = (64ull << LOG_FRACTION) - fixed_log2(table, fraction | 1);
            const double rate = s[e], now = t[e] + static_cast<double>(static_cast<int64_t>(clock)) * rate;
            u64 bits;
            std::memcpy(&bits, &now, 8);
            const u64 was = f[slot];                     // no branch: whether a point is the first cannot be guessed
            const u32 value = signature[slot];
            filled += static_cast<size_t>(was == NEVER);
            signature[slot] = bits < was ? static_cast<u32>(r) : value;
            f[slot] = bits < was ? bits : was;
            x[left] = feature;
            t[left] = now;
            s[left] = rate;
            left += static_cast<size_t>(bits < limit);
        }
        open -= filled;
        return left;
    }

    u64 last() const {
        u64 a = first.at[0];
        for (size_t j = 1; j < slots; ++j) a = first.at[j] > a ? first.at[j] : a;
        return a;
    }
};

static bool weighted_texts(const TextIn& text, size_t slots, const FeatureTable& table, u32* signatures, int64_t* tokens) {
    Hasher hasher(text.unspaced, text.by_char);
    FirstSeen once;
    WeightedSketcher sketcher(slots);
    const FeatureWeights weights{table};
    Buffer<u64> hashes, features;
    Buffer<u32> weight;
    for (int64_t i = 0; i < text.n; ++i) {
        if (!hasher.document(at(text, i), bytes(text, i))) return false;
        tokens[i] = static_cast<int64_t>(hasher.count);
        const size_t units = hasher.unit_count(), n = shingle_count(units, text.shingle);
        if (!hashes.need(n) || !features.need(n + 1) || !weight.need(n)) return false;
        shingles(hasher.units(), n, units < text.shingle ? units : text.shingle, hashes.at);
        const int64_t d = once(hashes.at, n, features.at);
        if (d < 0) return false;
        weights.look_up(features.at, static_cast<size_t>(d), weight.at);
        if (!sketcher.sketch(features.at, weight.at, static_cast<size_t>(d), signatures + static_cast<size_t>(i) * slots)) return false;
    }
    return true;
}

// values and counts: distinct shingle hashes, ascending within a text, and how often each occurs there.
static bool feature_counts(const TextIn& text, int64_t* offsets, u64** values, u32** counts) {
    Hasher hasher(text.unspaced, text.by_char);
    SetSorter sorter;
    Buffer<u64> hashes, out;
    Buffer<u32> times;
    size_t size = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < text.n; ++i) {
        if (!hasher.document(at(text, i), bytes(text, i))) return false;
        const size_t units = hasher.unit_count(), n = shingle_count(units, text.shingle);
        if (!hashes.need(n) || !out.need(size + n) || !times.need(size + n)) return false;
        shingles(hasher.units(), n, units < text.shingle ? units : text.shingle, hashes.at);
        if (n && !sorter.sort(hashes.at, n, out.at + size)) return false;
        size_t end = size;
        for (size_t e = 0; e < n;) {
            const u64 v = out.at[size + e];
            u32 c = 0;
            for (; e < n && out.at[size + e] == v; ++e) ++c;
            out.at[end] = v;
            times.at[end++] = c;
        }
        size = end;
        offsets[i + 1] = static_cast<int64_t>(size);
    }
    *values = out.release();
    *counts = times.release();
    return true;
}

}  // namespace dejalu::DEJALU_ISA
