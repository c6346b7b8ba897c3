// Settling: inside one work group, in keep order, each document joins the earliest kept document at or above the threshold
// among those that share a band key with it and pass the sketch filter; else it is kept.
//
// Two ways to the same verdicts: small groups look at every kept document; large ones ask a prefix index first (prefix.hpp),
// which rules out nothing that could reach the threshold.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "pairs.hpp"
#include "prefix.hpp"

namespace dejalu {

struct Group {                      // documents of one work group in keep order, as rows of the arrays
    int64_t first, last;            // [first, last)
    int64_t settled;                // that many leading documents are known to be kept (from an earlier batch)
};

struct Settling {
    const uint64_t* keys;           // (m, bands)
    int64_t bands;
    Packed sketch;
    Sets sets;
    double threshold;
    int64_t cap;                    // kept documents tested per band key
    int64_t small;                  // groups up to this size look at every kept document
    int64_t* twin;                  // (m,) out: row of the kept twin, -1 where kept
    double* similarity;             // (m,) out
    int64_t skipped = 0;            // out: kept documents that the cap left untested, summed over documents and keys

    // The same for the rows from `first` on, with their own sets.
    Settling from(int64_t first, const Sets& own) const {
        return {keys + first * bands, bands, {sketch.data + first * sketch.width, sketch.width, sketch.min_matches}, own, threshold,
                cap, small, twin + first, similarity + first};
    }

    const uint64_t* key(int64_t d) const { return keys + d * bands; }

    bool joins(const Table& k, int64_t d, int64_t kept) {
        if (!sketch.pass(k, d, kept)) return false;
        const double j = sets.jaccard(k, d, kept, threshold);
        if (j < threshold) return false;
        twin[d] = kept;
        similarity[d] = j;
        return true;
    }

    void settle(const Group& g) {
        for (int64_t d = g.first; d < g.last; ++d) {
            twin[d] = -1;
            similarity[d] = 0.0;
        }
        if (g.last - g.first <= small && cap >= g.last - g.first) settle_small(g);
        else settle_large(g);
    }

    void settle_small(const Group& g) {
        const Table& k = kernels();
        std::vector<int64_t> kept;
        for (int64_t d = g.first; d < g.last; ++d) {
            bool joined = false;
            if (d >= g.first + g.settled)
                for (int64_t other : kept)
                    if (k.any_equal(key(d), key(other), static_cast<size_t>(bands)) && joins(k, d, other)) {
                        joined = true;
                        break;
                    }
            if (!joined) kept.push_back(d);
        }
    }

    // The first kept documents of a large group are tried before the index is asked: most copies of a hub join it.
    static constexpr size_t EARLY = 16;

    void settle_large(const Group& g) {
        const Table& k = kernels();
        PrefixIndex index(sets, threshold, g.first, g.last);
        std::unordered_map<uint64_t, int64_t> under;             // band key -> kept documents that carry it
        std::vector<uint8_t> visible(static_cast<size_t>((g.last - g.first) * bands));   // within the cap of that key
        std::vector<int64_t> found, kept;
        std::vector<uint64_t> bits(static_cast<size_t>(g.last - g.first) * 8);           // a bitmap of each set
        int64_t largest = 0;
        for (int64_t d = g.first; d < g.last; ++d) {
            k.bitmap(sets.begin(d), static_cast<size_t>(sets.size(d)), bits.data() + (d - g.first) * 8);
            largest = std::max(largest, sets.size(d));
        }
        std::vector<int64_t> apart(static_cast<size_t>(2 * largest) + 1, -1);            // by the sum of two sizes: members that
        const auto may = [&](int64_t d, int64_t other) {                                 // similar sets may differ in, at most
            const int64_t both = sets.size(d) + sets.size(other);
            int64_t& most = apart[static_cast<size_t>(both)];
            if (most < 0) most = std::max<int64_t>(0, both - 2 * needed_of_both(both, both / 2, threshold));
            return k.differing_bits(bits.data() + (d - g.first) * 8, bits.data() + (other - g.first) * 8) <= most;
        };
        bool crowded = false;                                    // some key has more than the cap allows
        for (int64_t d = g.first; d < g.last; ++d) {
            bool joined = false;
            if (d >= g.first + g.settled) {
                for (int64_t e = 0; crowded && e < bands; ++e) {
                    const auto it = under.find(key(d)[e]);
                    if (it != under.end() && it->second > cap) skipped += it->second - cap;
                }
                const size_t early = std::min(kept.size(), EARLY);
                for (size_t i = 0; i < early && !joined; ++i)
                    joined = may(d, kept[i]) && shares(g, d, kept[i], visible) && joins(k, d, kept[i]);
                if (!joined) index.candidates(d, found);
                for (int64_t other : found) {
                    if (joined) break;
                    if (early && other <= kept[early - 1]) continue;
                    if (may(d, other) && shares(g, d, other, visible) && joins(k, d, other)) {
                        joined = true;
                        break;
                    }
                }
            }
            found.clear();
            if (joined) continue;
            index.add(d);
            kept.push_back(d);
            for (int64_t e = 0; e < bands; ++e) {
                const bool within = ++under[key(d)[e]] <= cap;
                visible[static_cast<size_t>((d - g.first) * bands + e)] = within;
                crowded |= !within;
            }
        }
    }

    bool shares(const Group& g, int64_t d, int64_t other, const std::vector<uint8_t>& visible) const {
        const uint8_t* v = visible.data() + (other - g.first) * bands;
        for (int64_t e = 0; e < bands; ++e)
            if (v[e] && key(d)[e] == key(other)[e]) return true;
        return false;
    }
};

}  // namespace dejalu
