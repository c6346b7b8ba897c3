// Ranks of shingles: rarest first by the number of documents that have them, ties by hash. Shingles of one document alone
// get no rank: they match nothing.
//
// Most shingles of long texts are alone. Two bitmaps tell most of those apart, so that the table of counts holds little else
// than what repeats.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "crew.hpp"
#include "hash_numbers.hpp"

namespace dejalu {

struct Frequent {                   // a shingle of at least two documents
    uint64_t hash;
    uint32_t documents;
    bool operator<(const Frequent& o) const { return documents != o.documents ? documents < o.documents : hash < o.hash; }
};

// The shingles that occur at least twice among values[0 … m), by rank. Values are dealt to partitions by the leading bits of
// their spread hashes, a quarter of large inputs at a time; a partition is counted in the cache.
class FrequentShingles {
  public:
    FrequentShingles(const uint64_t* values, size_t m, Crew& crew) : values_(values), m_(m) {
        int quarter = 0;                                         // bits that choose the pass
        if (m > (size_t{1} << 26)) quarter = 2;
        while (bits_ < 11 && (m >> quarter >> bits_) > 32768) ++bits_;
        for (uint64_t pass = 0; pass < uint64_t{1} << quarter; ++pass) deal(quarter, pass, crew);
    }

    std::vector<Frequent> rows;     // in no order

  private:
    // Spread hash of a value without the bits that choose the pass; 0 bits must not shift by 64.
    static uint64_t within(uint64_t value, int bits) { return spread(value) << bits; }
    static uint64_t leading(uint64_t spread_hash, int bits) { return bits == 0 ? 0 : spread_hash >> (64 - bits); }

    void deal(int quarter, uint64_t pass, Crew& crew) {
        const size_t parts = size_t{1} << bits_, stretches = crew.size();
        std::vector<std::vector<size_t>> at(stretches);
        const auto each = [&](size_t s, auto f) {                // the values of this pass in a stretch, and their partitions
            for (size_t i = m_ * s / stretches; i < m_ * (s + 1) / stretches; ++i)
                if (leading(spread(values_[i]), quarter) == pass) f(values_[i], leading(within(values_[i], quarter), bits_));
        };
        crew.share(stretches, 1, [&](size_t, size_t first, size_t last) {
            for (size_t s = first; s < last; ++s) {
                at[s].assign(parts, 0);
                each(s, [&, counts = at[s].data()](uint64_t, uint64_t p) { ++counts[p]; });
            }
        });
        std::vector<size_t> start(parts + 1);
        size_t sum = 0;
        for (size_t p = 0; p < parts; ++p) {
            start[p] = sum;
            for (auto& counts : at) sum += std::exchange(counts[p], sum);
        }
        start[parts] = sum;
        const Held<uint64_t> dealt = hold<uint64_t>(sum);
        crew.share(stretches, 1, [&](size_t, size_t first, size_t last) {
            for (size_t s = first; s < last; ++s)
                each(s, [&, next = at[s].data(), to = dealt.get()](uint64_t value, uint64_t p) { to[next[p]++] = value; });
        });
        std::vector<std::vector<Frequent>> found(crew.size());
        crew.share(parts, 4, [&](size_t worker, size_t first, size_t last) {
            for (size_t p = first; p < last; ++p) count(dealt.get() + start[p], start[p + 1] - start[p], quarter + bits_, found[worker]);
        });
        for (const auto& f : found) rows.insert(rows.end(), f.begin(), f.end());
    }

    static void count(const uint64_t* values, size_t m, int shared, std::vector<Frequent>& found) {
        const int bits = CellMap::bits_for(8 * m);
        CellMap twice(bits);
        {
            CellMap once(bits);
            for (size_t i = 0; i < m; ++i)
                if (once.add(within(values[i], shared))) twice.add(within(values[i], shared));
        }
        for (size_t expected = twice.count() + twice.count() / 4 + 16;; expected *= 2) {
            HashNumbers table(expected);
            bool fits = true;
            for (size_t i = 0; fits && i < m; ++i) {
                const uint64_t s = within(values[i], shared);
                if (twice.has(s)) fits = table.count(values[i], s);
            }
            if (!fits) continue;
            table.each([&](uint64_t hash, uint32_t documents) {
                if (documents > 1) found.push_back({hash, documents});
            });
            return;
        }
    }

    const uint64_t* values_;
    size_t m_;
    int bits_ = 0;                  // that choose the partition
};

// Sorts by rank. Most shingles have few documents: a scatter by (few documents, leading bits of the hash) leaves small runs.
inline void sort_by_rank(std::vector<Frequent>& rows, Crew& crew) {
    constexpr uint32_t classes = 64;
    int bits = 0;
    while (bits < 14 && (rows.size() >> bits) > 512) ++bits;
    const auto bucket = [=](const Frequent& f) -> size_t {
        const size_t c = std::min(f.documents, classes - 1);
        return c << bits | (c + 1 < classes && bits > 0 ? f.hash >> (64 - bits) : 0);
    };
    std::vector<size_t> start((size_t{classes} << bits) + 1);
    for (const Frequent& f : rows) ++start[bucket(f) + 1];
    for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    std::vector<Frequent> out(rows.size());
    for (const Frequent& f : rows) out[start[bucket(f)]++] = f;              // start[b] becomes the end of bucket b
    crew.share(start.size() - 1, size_t{1} << (bits / 2), [&](size_t, size_t first, size_t last) {
        for (size_t b = first; b < last; ++b)
            std::sort(out.begin() + static_cast<ptrdiff_t>(b ? start[b - 1] : 0), out.begin() + static_cast<ptrdiff_t>(start[b]));
    });
    rows.swap(out);
}

struct RankedSets {
    Held<uint32_t> ranks, weights;  // weights: of each rank that is left, when elements have weights
    Held<int64_t> offsets, sizes;
    Held<uint64_t> totals, squares; // sum of the weights of all elements, of their squares; 2^64 - 1 for anything more
    size_t left = 0;
};

// Replaces the hashes of n documents by their ranks, ascending; hashes that are not in `order` are dropped.
class RankTable {
  public:
    RankTable(const uint64_t* order, size_t r) : map_(CellMap::bits_for(8 * r)), table_(r) {
        if (r >= 0xffffffffull) throw std::invalid_argument("hashes: more than 2^32 - 2 shingles repeat");
        constexpr size_t ahead = 16;
        for (size_t i = 0; i < r; ++i) {
            if (i + ahead < r) table_.ask(spread(order[i + ahead]));
            map_.add(spread(order[i]));
            table_.insert(order[i], spread(order[i]), static_cast<uint32_t>(i + 1));
        }
    }

    RankedSets rank(const uint64_t* values, const uint32_t* weights, const int64_t* offsets, int64_t n, Crew& crew) const {
        const size_t docs = static_cast<size_t>(n), m = static_cast<size_t>(offsets[n] - offsets[0]);
        RankedSets out{hold<uint32_t>(m), weights ? hold<uint32_t>(m) : nullptr, hold<int64_t>(docs + 1), hold<int64_t>(docs),
                       weights ? hold<uint64_t>(docs) : nullptr, weights ? hold<uint64_t>(docs) : nullptr};
        int64_t* const left = out.offsets.get() + 1;
        crew.share(docs, 64, [&](size_t, size_t first, size_t last) {
            std::vector<uint64_t> both;
            for (size_t d = first; d < last; ++d) {
                const size_t from = static_cast<size_t>(offsets[d] - offsets[0]), size = static_cast<size_t>(offsets[d + 1] - offsets[d]);
                out.sizes[d] = static_cast<int64_t>(size);
                const uint64_t* const v = values + offsets[d];
                if (!weights) {
                    left[d] = static_cast<int64_t>(unweighted(v, size, out.ranks.get() + from));
                    continue;
                }
                const uint32_t* const w = weights + offsets[d];
                sums(w, size, out.totals[d], out.squares[d]);
                both.clear();
                for (size_t i = 0; i < size; ++i)
                    if (const uint32_t number = find(v[i])) both.push_back(uint64_t{number - 1} << 32 | w[i]);
                std::sort(both.begin(), both.end());
                left[d] = static_cast<int64_t>(both.size());
                for (size_t i = 0; i < both.size(); ++i) {
                    out.ranks[from + i] = static_cast<uint32_t>(both[i] >> 32);
                    out.weights[from + i] = static_cast<uint32_t>(both[i]);
                }
            }
        });
        out.offsets[0] = 0;
        for (size_t d = 0; d < docs; ++d) {                      // close the gaps
            const size_t from = static_cast<size_t>(offsets[d] - offsets[0]), size = static_cast<size_t>(left[d]);
            std::copy_n(out.ranks.get() + from, size, out.ranks.get() + out.left);
            if (weights) std::copy_n(out.weights.get() + from, size, out.weights.get() + out.left);
            out.left += size;
            left[d] = static_cast<int64_t>(out.left);
        }
        shrink(out.ranks, out.left);
        if (weights) shrink(out.weights, out.left);
        return out;
    }

  private:
    uint32_t find(uint64_t hash) const {
        const uint64_t s = spread(hash);
        return map_.has(s) ? table_.find(hash, s) : 0;
    }

    // Hashes without a rank are dropped without a branch, and what the table has of the others is asked for in advance.
    size_t unweighted(const uint64_t* v, size_t size, uint32_t* out) const {
        constexpr size_t batch = 256;
        uint64_t busy[batch + 1];
        size_t k = 0;
        for (size_t from = 0; from < size; from += batch) {
            const size_t here = std::min(batch, size - from);
            size_t b = 0;
            for (size_t i = from; i < from + here; ++i) map_.ask(spread(v[i]));
            for (size_t i = from; i < from + here; ++i) {
                busy[b] = v[i];
                b += map_.has(spread(v[i]));
            }
            for (size_t i = 0; i < b; ++i) table_.ask(spread(busy[i]));
            for (size_t i = 0; i < b; ++i) {
                const uint32_t number = table_.find(busy[i], spread(busy[i]));
                out[k] = number - 1;
                k += number != 0;
            }
        }
        std::sort(out, out + k);
        return k;
    }

    static void sums(const uint32_t* w, size_t n, uint64_t& total, uint64_t& squares) {
        constexpr uint64_t most = ~uint64_t{0};
        total = squares = 0;
        for (size_t i = 0; i < n; ++i) {
            const uint64_t x = w[i], square = x * x;
            total = total > most - x ? most : total + x;
            squares = squares > most - square ? most : squares + square;
        }
    }

    CellMap map_;
    HashNumbers table_;
};

}  // namespace dejalu
