// Exact weighted Jaccard similarity of sets whose elements weigh the same wherever they occur, and settling by it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "pairs.hpp"

namespace dejalu {

struct WeightedSets {               // ascending distinct features per document, each with its weight
    const uint64_t* values;
    const uint32_t* weights;
    const int64_t* offsets;
    std::vector<uint64_t> total;    // (n,) weight of each document

    WeightedSets(const uint64_t* v, const uint32_t* w, const int64_t* o, int64_t n) : values(v), weights(w), offsets(o) {
        total.reserve(static_cast<size_t>(n));
        for (int64_t d = 0; d < n; ++d) {
            uint64_t sum = 0;
            for (int64_t i = o[d]; i < o[d + 1]; ++i) sum += w[i];
            total.push_back(sum);
        }
    }

    // Weight of both / weight of either when it is at or above the threshold, else -1: most pairs are given up early.
    // Sums are integers; the decision is one division and comparison of doubles. A document of no weight is like none.
    double jaccard(int64_t a, int64_t b, double threshold) const {
        const uint64_t ta = total[static_cast<size_t>(a)], tb = total[static_cast<size_t>(b)], all = ta + tb;
        if (ta == 0 || tb == 0) return -1.0;
        // A little less than what is needed, so that no rounding can lose a pair.
        const double need = threshold / (1.0 + threshold) * static_cast<double>(all) * (1.0 - 1e-9);
        uint64_t left_a = ta, left_b = tb, both = 0;
        int64_t i = offsets[a], j = offsets[b];
        const int64_t end_a = offsets[a + 1], end_b = offsets[b + 1];
        while (i < end_a && j < end_b) {
            if (static_cast<double>(both + std::min(left_a, left_b)) < need) return -1.0;
            const int64_t steps = std::min<int64_t>(16, std::min(end_a - i, end_b - j));
            for (int64_t s = 0; s < steps; ++s) {
                const uint64_t x = values[i], y = values[j], wx = weights[i], wy = weights[j];
                both += x == y ? wx : 0;
                left_a -= x <= y ? wx : 0;
                left_b -= y <= x ? wy : 0;
                i += x <= y;
                j += y <= x;
            }
        }
        const double similarity = static_cast<double>(both) / static_cast<double>(all - both);
        return similarity >= threshold ? similarity : -1.0;
    }
};

// In keep order, each document of a group joins the earliest kept document at or above the threshold among those that share
// a band key with it and pass the sketch filter; else it is kept.
struct WeightedSettling {
    const uint64_t* keys;           // (m, bands)
    int64_t bands;
    Packed sketch;
    const WeightedSets& sets;
    double threshold;
    int64_t small;                  // groups up to this size look at every kept document
    int64_t* twin;                  // (m,) out: row of the kept twin, -1 where kept
    double* similarity;             // (m,) out

    void settle(int64_t first, int64_t last) const {
        std::vector<int64_t> kept, found;
        const bool large = last - first > small;
        KeptByKey by_key(large ? keys + first * bands : nullptr, large ? last - first : 0, bands);
        for (int64_t d = first; d < last; ++d) {
            twin[d] = -1;
            similarity[d] = 0.0;
            const bool few = large && by_key.find(d - first, kept.size(), found);
            if (few) {
                for (int64_t& f : found) f += first;
                join_first(d, found);
            } else {
                join_first(d, kept);
            }
            if (twin[d] >= 0) continue;
            kept.push_back(d);
            if (large) by_key.add(d - first);
        }
    }

  private:
    void join_first(int64_t d, const std::vector<int64_t>& candidates) const {
        const Table& k = kernels();
        for (const int64_t other : candidates) {
            if (!k.any_equal(keys + d * bands, keys + other * bands, static_cast<size_t>(bands)) || !sketch.pass(k, d, other)) continue;
            const double j = sets.jaccard(d, other, threshold);
            if (j < threshold) continue;
            twin[d] = other;
            similarity[d] = j;
            return;
        }
    }

    // The kept documents of a group under each of their band keys, ascending.
    struct KeptByKey {
        int64_t bands;
        std::vector<int64_t> start;         // (n * bands,) of each document and band: where its list begins
        std::vector<int32_t> held;          // at a list's beginning: its length
        std::vector<int32_t> lists;

        KeptByKey(const uint64_t* keys, int64_t n, int64_t b) : bands(b) {
            const size_t size = static_cast<size_t>(n * b);
            std::vector<Bucketed> rows(size);
            for (size_t i = 0; i < size; ++i) rows[i] = {mix64(keys[i] + i % static_cast<size_t>(b)), static_cast<int64_t>(i)};
            sort_mixed(rows);
            start.resize(size);
            held.resize(size);
            lists.resize(size);
            int64_t begin = 0;
            for (size_t i = 0; i < size; ++i) {
                if (rows[i].key != rows[static_cast<size_t>(begin)].key) begin = static_cast<int64_t>(i);
                start[static_cast<size_t>(rows[i].place)] = begin;
            }
        }

        const int64_t* starts(int64_t d) const { return start.data() + d * bands; }

        void add(int64_t d) {
            for (int64_t e = 0; e < bands; ++e) {
                const int64_t s = starts(d)[e];
                lists[static_cast<size_t>(s + held[static_cast<size_t>(s)]++)] = static_cast<int32_t>(d);
            }
        }

        // Finds the kept documents that share a key with d, ascending; false when that is more work than looking at `most`.
        bool find(int64_t d, size_t most, std::vector<int64_t>& found) const {
            size_t sum = 0;
            for (int64_t e = 0; e < bands; ++e) sum += static_cast<size_t>(held[static_cast<size_t>(starts(d)[e])]);
            if (sum >= most) return false;
            found.clear();
            for (int64_t e = 0; e < bands; ++e) {
                const int64_t s = starts(d)[e];
                found.insert(found.end(), lists.begin() + s, lists.begin() + s + held[static_cast<size_t>(s)]);
            }
            std::sort(found.begin(), found.end());
            found.erase(std::unique(found.begin(), found.end()), found.end());
            return true;
        }
    };
};

}  // namespace dejalu
