// All pairs of fingerprints within k bits, and the answers of tables to queries: sorted, each pair once.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "hamming_table.hpp"

namespace dejalu {

// Pairs as they are found, by worker: a in the upper half, b in the lower one. No more than `most` in all, or a little.
class FoundPairs {
  public:
    FoundPairs(size_t workers, int64_t most) : rows(workers), told_(workers), most_(most) {}

    std::vector<std::vector<uint64_t>> rows;

    void add(size_t worker, size_t a, size_t b) { rows[worker].push_back(static_cast<uint64_t>(a) << 32 | static_cast<uint64_t>(b)); }
    // Whether to go on; asked after each search.
    bool go_on(size_t worker) {
        const size_t n = rows[worker].size();
        if (n != told_[worker].n) {
            total_.fetch_add(static_cast<int64_t>(n - told_[worker].n), std::memory_order_relaxed);
            told_[worker].n = n;
        }
        return complete();
    }
    bool complete() const { return total_.load(std::memory_order_relaxed) <= most_; }

  private:
    struct alignas(64) Told { size_t n = 0; };
    std::vector<Told> told_;        // of the rows of each worker, how many are counted in the total
    std::atomic<int64_t> total_{0};
    const int64_t most_;
};

struct PairColumns {
    size_t n = 0;
    std::unique_ptr<int64_t[]> a, b;
    std::unique_ptr<int32_t[]> distance;
};

// Sorts by a, then b: counted by a, filled in, and each a's own sorted.
template <size_t W>
PairColumns in_order(FoundPairs& found, const Prints<W>& left, const Prints<W>& right, Crew& crew) {
    std::vector<uint64_t> ends(left.n + 1);
    for (const auto& rows : found.rows)
        for (const uint64_t r : rows) ++ends[r >> 32];
    uint64_t sum = 0;
    for (uint64_t& e : ends) sum += std::exchange(e, sum);
    PairColumns out{static_cast<size_t>(sum), std::unique_ptr<int64_t[]>(new int64_t[sum]), std::unique_ptr<int64_t[]>(new int64_t[sum]),
                    std::unique_ptr<int32_t[]>(new int32_t[sum])};
    for (auto& rows : found.rows) {
        for (const uint64_t r : rows) out.b[ends[r >> 32]++] = static_cast<int64_t>(r & 0xffffffffu);
        rows = {};
    }
    crew.share(left.n, 1 << 12, [&](size_t, size_t first, size_t last) {
        for (size_t a = first; a < last; ++a) {
            const size_t from = a ? ends[a - 1] : 0, to = ends[a];
            std::sort(out.b.get() + from, out.b.get() + to);
            for (size_t i = from; i < to; ++i) {
                out.a[i] = static_cast<int64_t>(a);
                out.distance[i] = static_cast<int32_t>(apart<W>(left[a], right[static_cast<size_t>(out.b[i])]));
            }
        }
    });
    return out;
}

// Table after table, each built when its turn comes. What is found of more than the most is not complete.
template <size_t W>
void hamming_pairs(const Prints<W>& all, const Apart& apart, const TablePlan<W>& plan, Crew& crew, FoundPairs& found) {
    OneTable<W> table(all, apart, plan);
    for (size_t t = 0; t < plan.tables && found.complete(); ++t) {
        table.build(t, crew);
        const TableView<W> v = table.view();
        crew.share(table.size(), 1024, [&](size_t worker, size_t from, size_t to) {
            if (!found.complete()) return;
            table.each(from, to, [&](size_t e, size_t, size_t end) {
                const uint64_t* const own = v.prints + e * W;
                const size_t place = v.places[e];
                scan<W>(v.prints, e + 1, end, own, plan.k, [&](size_t f) {
                    if (plan.meet_first(own, v.prints + f * W, t) && !apart.differ(place, v.places[f])) found.add(worker, place, v.places[f]);
                    return true;
                });
                return found.go_on(worker);
            });
        });
    }
}

// Tables as `build` fills them, one after another.
template <size_t W>
struct TableSet {
    TablePlan<W> plan;
    const uint32_t* starts;         // (tables, buckets + 1)
    const uint64_t* prints;         // (tables, n, W)
    const uint32_t* places;         // (tables, n)
    size_t n;

    TableView<W> table(size_t t) const { return {starts + t * (plan.buckets() + 1), prints + t * n * W, places + t * n}; }
};

// The scan of one table: queries by blocks, entries by stretches, so that both come from the cache.
template <size_t W>
void query_by_scan(const TableSet<W>& set, const Prints<W>& queries, Crew& crew, FoundPairs& found) {
    constexpr size_t ENTRIES = 1 << 16, CACHED = 2048, QUERIES = 64;
    const TableView<W> v = set.table(0);
    const size_t across = (set.n + ENTRIES - 1) / ENTRIES, down = (queries.n + QUERIES - 1) / QUERIES;
    crew.share(across * down, 1, [&](size_t worker, size_t first, size_t last) {
        for (size_t item = first; item < last; ++item) {
            const size_t from = item % across * ENTRIES, to = std::min(set.n, from + ENTRIES);
            const size_t q_from = item / across * QUERIES, q_to = std::min(queries.n, q_from + QUERIES);
            for (size_t e = from; e < to; e += CACHED)
                for (size_t q = q_from; q < q_to; ++q) {
                    scan<W>(v.prints, e, std::min(to, e + CACHED), queries[q], set.plan.k, [&](size_t f) {
                        found.add(worker, q, v.places[f]);
                        return true;
                    });
                    if (!found.go_on(worker)) return;
                }
        }
    });
}

template <size_t W>
void hamming_query(const TableSet<W>& set, const Prints<W>& queries, Crew& crew, FoundPairs& found) {
    const TablePlan<W>& plan = set.plan;
    if (plan.scans()) return query_by_scan(set, queries, crew, found);
    constexpr size_t TOGETHER = 16;                              // queries whose memory is asked for at the same time
    struct Span { uint32_t first, last; };
    std::vector<std::vector<Span>> spans(crew.size(), std::vector<Span>(TOGETHER * plan.tables));
    crew.share(queries.n, 256, [&](size_t worker, size_t from, size_t to) {
        Span* const span = spans[worker].data();
        for (size_t q = from; q < to; q += TOGETHER) {
            const size_t here = std::min(TOGETHER, to - q);
            for (size_t i = 0; i < here; ++i)
                for (size_t t = 0; t < plan.tables; ++t) {
                    const size_t b = plan.bucket(queries[q + i], 0, t);
                    span[i * plan.tables + t].first = static_cast<uint32_t>(b);
                    fetch(set.table(t).starts + b);
                }
            for (size_t i = 0; i < here; ++i)
                for (size_t t = 0; t < plan.tables; ++t) {
                    Span& s = span[i * plan.tables + t];
                    const TableView<W> v = set.table(t);
                    s = {v.starts[s.first], v.starts[s.first + 1]};
                    for (size_t e = s.first; e < s.last && e < s.first + 32; e += 8 / W) fetch(v.prints + e * W);
                }
            for (size_t i = 0; i < here; ++i) {
                const uint64_t* const own = queries[q + i];
                for (size_t t = 0; t < plan.tables; ++t) {
                    const Span s = span[i * plan.tables + t];
                    const TableView<W> v = set.table(t);
                    scan<W>(v.prints, s.first, s.last, own, plan.k, [&](size_t e) {
                        if (plan.meet_first(own, v.prints + e * W, t)) found.add(worker, q + i, v.places[e]);
                        return true;
                    });
                }
                if (!found.go_on(worker)) return;
            }
        }
    });
}

}  // namespace dejalu
