// Measures of sets whose elements have weights: weighted Jaccard similarity and cosine, by integers throughout.
//
// What the decision rests on are one division (and one square root) of float64 numbers made of exact integers; bounds are
// loosened by far more than their rounding, so that they never lose a pair. A mark is a float: which share of the document
// (of its weight, of the sum of squares) is left from the element on, rounded up.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "join_sets.hpp"

namespace dejalu {

class Weighed {
  public:
    static constexpr bool DIRECTED = false;
    static uint64_t size(const JoinInput& in, uint32_t position) { return in.totals[position]; }

    std::vector<uint64_t> signatures;                            // none: members say little
    uint32_t apart(uint32_t, uint32_t) const { return 64; }
    uint32_t mark(uint32_t d, uint32_t i) const { return std::bit_cast<uint32_t>(left_[first(d) + i]); }

  protected:
    static constexpr double LOOSE = 1e-5;                        // shares are rounded to 24 bits
    template <class Amount>
    Weighed(const JoinDocs& d, double t, Amount amount) : docs(d), threshold(t) {
        left_.resize(static_cast<size_t>(d.in.offsets[d.in.n] - d.in.offsets[0]));
        ranked_.resize(d.n());
        for (uint32_t p = 0; p < d.n(); ++p) {
            const uint32_t* const w = d.weights(p);
            uint64_t sum = 0;
            for (uint32_t i = d.docs[p].length; i-- > 0;) {
                sum += amount(w[i]);
                left_[first(p) + i] = static_cast<float>(static_cast<double>(sum) / static_cast<double>(d.total(p)));
            }
            ranked_[p] = sum;
        }
    }
    size_t first(uint32_t d) const { return static_cast<size_t>(docs.docs[d].ranks - docs.in.ranks - docs.in.offsets[0]); }
    double share(uint32_t d, uint32_t i) const { return double{left_[first(d) + i]} * (1 + LOOSE); }
    static double share(uint32_t mark) { return double{std::bit_cast<float>(mark)} * (1 + LOOSE); }
    uint32_t prefix(uint32_t d, double least) const {            // shares fall
        uint32_t i = 0;
        while (i < docs.docs[d].length && share(d, i) >= least) ++i;
        return i;
    }

    // Goes through two documents; both(wa, wb) for common elements, stop(left_a, left_b) now and then.
    template <class Amount, class Both, class Stop>
    bool meet(uint32_t p, uint32_t q, Amount amount, Both both, Stop stop) const {
        const JoinDocs::Doc &a = docs.docs[p], &b = docs.docs[q];
        const uint32_t *const wa = docs.weights(p), *const wb = docs.weights(q);
        uint64_t left_a = ranked_[p], left_b = ranked_[q];
        uint32_t i = 0, j = 0;
        while (i < a.length && j < b.length) {
            if (stop(left_a, left_b)) return false;
            const uint32_t steps = std::min<uint32_t>(16, std::min(a.length - i, b.length - j));
            for (uint32_t s = 0; s < steps; ++s) {
                const uint32_t x = a.ranks[i], y = b.ranks[j];
                if (x == y) both(wa[i], wb[j]);
                left_a -= x <= y ? amount(wa[i]) : 0;
                left_b -= y <= x ? amount(wb[j]) : 0;
                i += x <= y;
                j += y <= x;
            }
        }
        return true;
    }
    const JoinDocs& docs;
    double threshold;
    std::vector<float> left_;
    std::vector<uint64_t> ranked_;  // weight (or squares) of the elements with a rank
};

// Sum of the smaller weights by sum of the larger ones: with one weight for each element, weight of both by weight of either.
class WeightedMeasure : public Weighed {
    static uint64_t amount(uint32_t w) { return w; }

  public:
    WeightedMeasure(const JoinDocs& d, double t) : Weighed(d, t, amount) {}
    uint32_t up(uint32_t d) const { return prefix(d, 2 * threshold / (1 + threshold)); }
    uint32_t down(uint32_t d) const { return prefix(d, threshold); }
    uint32_t listed_up(uint32_t d) const { return down(d); }
    uint32_t listed_down(uint32_t d) const { return up(d); }
    uint32_t lowest(uint32_t d) const {
        const double least = threshold * static_cast<double>(docs.total(d)) * (1 - LOOSE);
        return docs.beyond(0, [&](uint64_t s) { return static_cast<double>(s) < least; });
    }
    uint32_t highest(uint32_t d) const {
        const double own = static_cast<double>(docs.total(d)) * (1 + LOOSE);
        return docs.beyond(d, [&](uint64_t s) { return threshold * static_cast<double>(s) <= own; });
    }
    bool may(uint32_t, uint32_t, uint32_t) const { return true; }
    double similarity(uint32_t p, uint32_t, uint32_t q, uint32_t) const {
        const uint64_t all = docs.total(p) + docs.total(q);
        const double need = threshold / (1 + threshold) * static_cast<double>(all) * (1 - LOOSE);
        uint64_t c = 0;
        if (!meet(p, q, amount, [&](uint32_t a, uint32_t b) { c += std::min(a, b); },
                  [&](uint64_t a, uint64_t b) { return static_cast<double>(c + std::min(a, b)) < need; }))
            return -1.0;
        const double s = static_cast<double>(c) / static_cast<double>(all - c);
        return c != 0 && s >= threshold ? s : -1.0;
    }
};

// Cosine of vectors of weights; totals are sums of squares, below 2^63.
class CosineMeasure : public Weighed {
    static uint64_t amount(uint32_t w) { return uint64_t{w} * w; }

  public:
    CosineMeasure(const JoinDocs& d, double t) : Weighed(d, t, amount) {}
    static uint64_t size(const JoinInput&, uint32_t) { return 0; }           // no length says anything
    uint32_t up(uint32_t d) const { return prefix(d, threshold * threshold); }
    uint32_t down(uint32_t d) const { return up(d); }
    uint32_t listed_up(uint32_t d) const { return up(d); }
    uint32_t listed_down(uint32_t d) const { return up(d); }
    uint32_t lowest(uint32_t) const { return 0; }
    uint32_t highest(uint32_t) const { return docs.n(); }
    bool may(uint32_t p, uint32_t i, uint32_t mark) const { return share(p, i) * share(mark) >= threshold * threshold; }
    double similarity(uint32_t p, uint32_t, uint32_t q, uint32_t) const {
        const double na = static_cast<double>(docs.total(p)), nb = static_cast<double>(docs.total(q)), norms = std::sqrt(na * nb);
        const double need = threshold * norms * (1 - LOOSE);
        uint64_t dot = 0;
        if (!meet(p, q, amount, [&](uint32_t a, uint32_t b) { dot += uint64_t{a} * b; },
                  [&](uint64_t a, uint64_t b) {
                      return static_cast<double>(dot) + std::sqrt(static_cast<double>(a) * static_cast<double>(b)) < need;
                  }))
            return -1.0;
        const double s = std::min(1.0, static_cast<double>(dot) / norms);
        return dot != 0 && s >= threshold ? s : -1.0;
    }
};

}  // namespace dejalu
