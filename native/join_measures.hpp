// What a join has to know of a measure: how long prefixes are, which sizes fit, whether a first common element leaves room for
// the threshold, and the exact similarity.
//
// A prefix is a run of the rarest elements. Two documents at or above the threshold have their first common element (the
// rarest one) in the prefixes of both: behind a prefix there is not enough left.
// Bayardo, Ma and Srikant, WWW 2007, section 3 (prefixes); Xiao, Wang, Lin and Yu, WWW 2008, section 4 (positions);
// Anastasiu and Karypis, ICDE 2014, section 3 (cosine: norms of what is left).
//
// A signature (join_leaves.hpp) rules out most documents that share no more than one common element by chance.
//
// `up` lists are looked at for partners of higher number (as large or larger), `down` lists for those of lower number.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "join_sets.hpp"
#include "sets.hpp"

namespace dejalu {

// Smallest share of n members that reaches the threshold: share / n >= threshold in float64.
inline int64_t least_share(int64_t n, double threshold) {
    int64_t least = static_cast<int64_t>(threshold * static_cast<double>(n));
    while (least > 0 && static_cast<double>(least) / static_cast<double>(n) >= threshold) --least;
    while (static_cast<double>(least) / static_cast<double>(n) < threshold) ++least;
    return least;
}

// Common ranks of two ascending runs, or -1 as soon as they cannot be `need`.
inline int64_t common_ranks(const uint32_t* a, int64_t na, const uint32_t* b, int64_t nb, int64_t need) {
    if (na > nb) std::swap(a, b), std::swap(na, nb);
    if (nb > 32 * na) {                                          // much longer: leap through it
        int64_t c = 0, from = 0;
        for (int64_t i = 0; i < na; ++i) {
            if (c + na - i < need) return -1;
            int64_t step = 1;
            while (from + step < nb && b[from + step] < a[i]) step *= 2;
            from = std::lower_bound(b + from + step / 2, b + std::min(from + step + 1, nb), a[i]) - b;
            if (from == nb) break;
            c += b[from] == a[i];
        }
        return c < need ? -1 : c;
    }
    int64_t i = 0, j = 0, c = 0;
    while (i < na && j < nb) {
        const int64_t left = std::min(na - i, nb - j);           // no bound check within: neither side can run out
        if (c + left < need) return -1;
        const int64_t steps = std::min<int64_t>(left, 16);
        for (int64_t s = 0; s < steps; ++s) {
            const uint32_t x = a[i], y = b[j];
            c += x == y;
            i += x <= y;
            j += y <= x;
        }
    }
    return c < need ? -1 : c;
}

// Measures that count members. A mark is the place of the element and the size of the document, 16 bits each; all ones in
// the size when either does not fit.
class Counted {
  public:
    Counted(const JoinDocs& d, double t) : docs(d), threshold(t) {}
    static uint64_t size(const JoinInput& in, uint32_t position) { return static_cast<uint64_t>(in.sizes[position]); }
    uint32_t mark(uint32_t d, uint32_t i) const {
        const JoinDocs::Doc& doc = docs.docs[d];
        return doc.size() < WIDE ? doc.size() << 16 | (doc.alone + i) : WIDE << 16;
    }

  protected:
    static constexpr uint32_t WIDE = 0xffff;
    // Common members at or above `need`, given that the i-th rank of p is the first common one; else -1.
    int64_t common(uint32_t p, uint32_t i, uint32_t q, uint32_t mark, int64_t need) const {
        const JoinDocs::Doc &a = docs.docs[p], &b = docs.docs[q];
        if (mark >> 16 == WIDE) return common_ranks(a.ranks, a.length, b.ranks, b.length, need);
        const uint32_t j = (mark & 0xffff) - b.alone;
        const int64_t more = common_ranks(a.ranks + i + 1, a.length - i - 1, b.ranks + j + 1, b.length - j - 1, need - 1);
        return more < 0 ? -1 : more + 1;
    }
    // Members from the first common one on, at most.
    bool room(uint32_t p, uint32_t i, uint32_t mark, int64_t need) const {
        const JoinDocs::Doc& a = docs.docs[p];
        const int64_t rest = int64_t{a.size()} - a.alone - i;
        return rest >= need && int64_t{mark >> 16} - (mark & 0xffff) >= need;
    }
    uint32_t prefix(uint32_t d, int64_t least) const {           // ranks among the rarest size - least + 1
        const JoinDocs::Doc& doc = docs.docs[d];
        return static_cast<uint32_t>(std::clamp<int64_t>(int64_t{doc.size()} - least + 1 - doc.alone, 0, doc.length));
    }
    const JoinDocs& docs;
    double threshold;
};

class JaccardMeasure : public Counted {
  public:
    static constexpr bool DIRECTED = false;
    JaccardMeasure(const JoinDocs& d, double t) : Counted(d, t), signatures(d.n()) {
        for (uint32_t i = 0; i < d.n(); ++i)
            for (uint32_t k = 0; k < d.docs[i].length; ++k) signatures[i] ^= uint64_t{1} << (d.docs[i].ranks[k] * 0x9e3779b1u >> 26);
        const uint64_t most = d.n() ? std::min<uint64_t>(2 * d.sizes.back(), 2 * WIDE) : 0;
        for (uint64_t both = 0; both <= most; ++both)
            needs_.push_back(static_cast<uint32_t>(needed_of_both(static_cast<int64_t>(both), static_cast<int64_t>(both / 2), t)));
    }
    uint32_t up(uint32_t d) const { return prefix(d, need(2 * uint64_t{docs.docs[d].size()})); }
    uint32_t down(uint32_t d) const { return prefix(d, least_share(docs.docs[d].size(), threshold)); }
    uint32_t listed_up(uint32_t d) const { return down(d); }     // found from below: it is the larger one
    uint32_t listed_down(uint32_t d) const { return up(d); }
    uint32_t lowest(uint32_t d) const {
        const double n = docs.docs[d].size();
        return docs.beyond(0, [&](uint64_t s) { return static_cast<double>(s) / n < threshold; });
    }
    uint32_t highest(uint32_t d) const {
        const double n = docs.docs[d].size();
        return docs.beyond(d, [&](uint64_t s) { return n / static_cast<double>(s) >= threshold; });
    }
    std::vector<uint64_t> signatures;
    // In how many bits the signatures of p and of partners up to the size of this mark may differ.
    uint32_t apart(uint32_t p, uint32_t mark) const {
        if (mark >> 16 == WIDE) return 64;
        const double both = docs.docs[p].size() + (mark >> 16), most = both * (1 - threshold) / (1 + threshold) + 1e-6;
        return static_cast<uint32_t>(std::clamp<int64_t>(static_cast<int64_t>(most) - docs.docs[p].alone, 0, 64));
    }
    bool may(uint32_t p, uint32_t i, uint32_t mark) const {
        return mark >> 16 == WIDE || room(p, i, mark, need(uint64_t{docs.docs[p].size()} + (mark >> 16)));
    }
    double similarity(uint32_t p, uint32_t i, uint32_t q, uint32_t mark) const {
        const JoinDocs::Doc &a = docs.docs[p], &b = docs.docs[q];
        const int64_t both = int64_t{a.size()} + b.size(), least = need(static_cast<uint64_t>(both));
        if (std::popcount(signatures[p] ^ signatures[q]) > both - 2 * least - a.alone - b.alone) return -1.0;
        const int64_t c = common(p, i, q, mark, least);
        return c < 0 ? -1.0 : static_cast<double>(c) / static_cast<double>(both - c);
    }

  private:
    int64_t need(uint64_t both) const {
        return both < needs_.size() ? int64_t{needs_[both]}
                                    : needed_of_both(static_cast<int64_t>(both), static_cast<int64_t>(both / 2), threshold);
    }
    std::vector<uint32_t> needs_;   // by the sum of two sizes
};

// Share of q, the contained one, that is in p, the container. Containers ask with all they have.
class ContainmentMeasure : public Counted {
  public:
    static constexpr bool DIRECTED = true;
    using Counted::Counted;
    std::vector<uint64_t> signatures;                            // none: they cannot tell what is inside what
    uint32_t apart(uint32_t, uint32_t) const { return 64; }
    uint32_t up(uint32_t d) const { return docs.docs[d].length; }
    uint32_t down(uint32_t) const { return 0; }
    uint32_t listed_up(uint32_t d) const { return docs.docs[d].size() ? prefix(d, least_share(docs.docs[d].size(), threshold)) : 0; }
    uint32_t listed_down(uint32_t) const { return 0; }
    uint32_t lowest(uint32_t) const { return 0; }
    uint32_t highest(uint32_t d) const {
        const double n = docs.docs[d].size();
        return docs.beyond(0, [&](uint64_t s) { return n / static_cast<double>(s) >= threshold; });
    }
    bool may(uint32_t p, uint32_t i, uint32_t mark) const {
        return mark >> 16 == WIDE || room(p, i, mark, least_share(mark >> 16, threshold));
    }
    double similarity(uint32_t p, uint32_t i, uint32_t q, uint32_t mark) const {
        const int64_t n = docs.docs[q].size(), c = common(p, i, q, mark, least_share(n, threshold));
        return c < 0 ? -1.0 : static_cast<double>(c) / static_cast<double>(n);
    }
};

}  // namespace dejalu
