// Tables of fingerprints that find all within k bits of one (Manku, Jain, Das Sarma, "Detecting near-duplicates for web
// crawling", WWW 2007, section 3.1).
//
// The bits are cut into blocks, more than k; two fingerprints within k bits agree in all blocks but k. There is a table for
// each choice of the blocks that agree, and its mask names their bits: whoever is sought shares the masked bits in one table.
// A table holds the fingerprints bucket by bucket, by a hash of the masked bits, in the order of their places; a bucket is
// searched by popcount alone. One table with an empty mask is a scan.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "crew.hpp"
#include "dispatch.hpp"
#include "radix.hpp"

namespace dejalu {

template <size_t W>
struct Prints {                     // n fingerprints of W words
    const uint64_t* at;
    size_t n;
    const uint64_t* operator[](size_t i) const { return at + i * W; }
};

template <size_t W>
inline uint32_t apart(const uint64_t* a, const uint64_t* b) {
    uint32_t bits = static_cast<uint32_t>(std::popcount(a[0] ^ b[0]));
    if constexpr (W == 2) bits += static_cast<uint32_t>(std::popcount(a[1] ^ b[1]));
    return bits;
}

template <size_t W>
struct TablePlan {
    const uint64_t* masks;          // (tables, W)
    size_t tables;
    int bits;                       // 2^bits buckets, at most 31
    uint32_t k;

    size_t buckets() const { return size_t{1} << bits; }
    bool scans() const { return tables == 1 && bits == 0; }

    // `only` keeps fingerprints apart that must not meet; 0 where there is none.
    size_t bucket(const uint64_t* x, uint64_t only, size_t t) const {
        if (bits == 0) return 0;
        uint64_t v = x[0] & masks[t * W];
        if constexpr (W == 1) v = std::rotl(v, std::countl_zero(masks[t]));      // bits in a row then have a bucket for each value
        else v = spread(v) ^ (x[1] & masks[t * W + 1]);
        return static_cast<size_t>((v ^ only) * 0x9e3779b97f4a7c15ull >> (64 - bits));
    }
    bool agree(const uint64_t* a, const uint64_t* b, size_t t) const {
        uint64_t d = (a[0] ^ b[0]) & masks[t * W];
        if constexpr (W == 2) d |= (a[1] ^ b[1]) & masks[t * W + 1];
        return d == 0;
    }
    // Whether t is the first table in which the two agree: so every pair counts once.
    bool meet_first(const uint64_t* a, const uint64_t* b, size_t t) const {
        if (!agree(a, b, t)) return false;
        for (size_t u = 0; u < t; ++u)
            if (agree(a, b, u)) return false;
        return true;
    }
};

struct Apart {                      // (n,) or null
    const uint64_t* only = nullptr; // fingerprints of different values are not compared
    const uint8_t* skip = nullptr;  // these take no part
    uint64_t of(size_t i) const { return only ? only[i] : 0; }
    bool out(size_t i) const { return skip && skip[i]; }
    bool differ(size_t i, size_t j) const { return only && only[i] != only[j]; }
};

// Calls hit(e) for the entries e in first … last - 1 that are within k bits, ascending; ends when it returns false.
template <size_t W, class Hit>
bool scan(const uint64_t* prints, size_t first, size_t last, const uint64_t* own, uint32_t k, Hit hit) {
    constexpr size_t BLOCK = 512;
    uint32_t found[BLOCK + 8];
    const auto leaf = W == 1 ? kernels().hamming.near_64 : kernels().hamming.near_128;
    for (size_t from = first; from < last; from += BLOCK) {
        const size_t m = leaf(prints + from * W, std::min(BLOCK, last - from), own, k, found);
        for (size_t i = 0; i < m; ++i)
            if (!hit(from + found[i])) return false;
    }
    return true;
}

// One table, in memory of its own or of the caller.
template <size_t W>
struct TableView {
    const uint32_t* starts;         // (buckets + 1,) entry at which each bucket begins
    const uint64_t* prints;         // (entries, W)
    const uint32_t* places;         // (entries,)
};

// Fills starts (buckets + 1,), prints and places (room for n entries) with table t; returns the number of entries.
template <size_t W>
size_t build(const Prints<W>& all, const Apart& apart, const TablePlan<W>& plan, size_t t, Crew& crew, uint32_t* starts,
             uint64_t* prints, uint32_t* places) {
    const size_t parts = std::clamp<size_t>(all.n >> 16, 1, std::min<size_t>(crew.size(), 16)), buckets = plan.buckets();
    std::vector<uint32_t> next(parts * buckets);                 // by part and bucket: first a count, then where to write
    const auto each = [&](auto f) {
        crew.share(parts, 1, [&](size_t, size_t first, size_t last) {
            for (size_t part = first; part < last; ++part)
                for (size_t i = all.n * part / parts, end = all.n * (part + 1) / parts; i < end; ++i)
                    if (!apart.out(i)) f(next.data() + part * buckets + plan.bucket(all[i], apart.of(i), t), i);
        });
    };
    each([](uint32_t* at, size_t) { ++*at; });
    uint32_t sum = 0;
    for (size_t b = 0; b < buckets; ++b) {
        starts[b] = sum;
        for (size_t part = 0; part < parts; ++part) sum += std::exchange(next[part * buckets + b], sum);
    }
    starts[buckets] = sum;
    each([&](uint32_t* at, size_t i) {
        const size_t e = (*at)++;
        std::copy_n(all[i], W, prints + e * W);
        places[e] = static_cast<uint32_t>(i);
    });
    return sum;
}

// A table that is built, used and built again for the next mask.
template <size_t W>
class OneTable {
  public:
    OneTable(const Prints<W>& all, const Apart& apart, const TablePlan<W>& plan)
        : all_(all), apart_(apart), plan_(plan), starts_(plan.buckets() + 1), prints_(new uint64_t[all.n * W]), places_(new uint32_t[all.n]) {}

    void build(size_t t, Crew& crew) {
        size_ = dejalu::build(all_, apart_, plan_, t, crew, starts_.data(), prints_.get(), places_.get());
    }
    size_t size() const { return size_; }
    TableView<W> view() const { return {starts_.data(), prints_.get(), places_.get()}; }

    // Calls f(entry, first, last) for the entries from … to - 1, with the bounds of their buckets, while it returns true.
    template <class F>
    void each(size_t from, size_t to, F f) const {
        size_t b = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), static_cast<uint32_t>(from)) - starts_.begin()) - 1;
        for (size_t e = from; e < to; ++e) {
            while (starts_[b + 1] <= e) ++b;
            if (!f(e, size_t{starts_[b]}, size_t{starts_[b + 1]})) return;
        }
    }

  private:
    const Prints<W> all_;
    const Apart apart_;
    const TablePlan<W> plan_;
    size_t size_ = 0;
    std::vector<uint32_t> starts_;
    std::unique_ptr<uint64_t[]> prints_;
    std::unique_ptr<uint32_t[]> places_;
};

}  // namespace dejalu
