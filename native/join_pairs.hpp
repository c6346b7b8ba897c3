// All pairs of a join, and the components of the graph they make.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "crew.hpp"
#include "join_probe.hpp"
#include "union_find.hpp"

namespace dejalu {

struct JoinPair {
    uint32_t a, b;
    double similarity;
};

// Pairs sorted by (a, b): a < b, or for a directed measure a in b. Empty, and false, when there are more than `most`.
template <class Measure>
bool join_pairs(const JoinInput& in, double threshold, int64_t most, int64_t threads, std::vector<JoinPair>& pairs) {
    Crew crew(threads);
    Join<Measure> join(in, threshold, false);
    std::vector<std::unique_ptr<Prober<Measure>>> probers;
    for (size_t w = 0; w < crew.size(); ++w) probers.push_back(std::make_unique<Prober<Measure>>(join));
    std::vector<std::vector<JoinPair>> found(crew.size());
    std::atomic<int64_t> count{0};
    const std::vector<uint32_t>& position = join.docs.position;
    crew.share(join.docs.n(), 16, [&](size_t worker, size_t first, size_t last) {
        for (size_t d = first; d < last && count.load(std::memory_order_relaxed) <= most; ++d) {
            const uint32_t p = static_cast<uint32_t>(d), own = position[p];
            const size_t before = found[worker].size();
            probers[worker]->probe(p, [](uint32_t) { return true; }, [&](uint32_t q, double s) {
                const uint32_t other = position[q];
                if (Measure::DIRECTED) found[worker].push_back({other, own, s});
                else found[worker].push_back({std::min(own, other), std::max(own, other), s});
            });
            count += static_cast<int64_t>(found[worker].size() - before);
        }
    });
    if (count > most) return false;
    std::vector<size_t> start(size_t{in.n} + 1);                 // one scatter by a, then small sorts
    for (const auto& f : found)
        for (const JoinPair& p : f) ++start[p.a + 1];
    for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    pairs.resize(start.back());
    for (auto& f : found) {
        for (const JoinPair& p : f) pairs[start[p.a]++] = p;
        std::vector<JoinPair>().swap(f);
    }
    crew.share(in.n, 1024, [&](size_t, size_t first, size_t last) {
        for (size_t a = first; a < last; ++a)
            std::sort(pairs.begin() + static_cast<ptrdiff_t>(a ? start[a - 1] : 0), pairs.begin() + static_cast<ptrdiff_t>(start[a]),
                      [](const JoinPair& x, const JoinPair& y) { return x.b < y.b; });
    });
    return true;
}

// Partners that a document of a component still wants: those of other components, one of the two eligible.
struct OtherComponents {
    const UnionFind& sets;
    const std::vector<uint32_t>& position;
    const uint8_t* eligible;
    uint32_t own;
    bool joined(uint32_t q) const { return sets.same(own, position[q]); }
    bool operator()(uint32_t q) const {
        return (!eligible || eligible[own] || eligible[position[q]]) && !joined(q);
    }
};

// The root that most of parent's entries have, and how many.
inline std::pair<uint32_t, uint32_t> largest_component(const UnionFind& sets) {
    std::vector<uint32_t> size(sets.n);
    for (uint32_t x = 0; x < sets.n; ++x) ++size[sets.root(x)];
    const auto most = std::max_element(size.begin(), size.end());
    return {static_cast<uint32_t>(most - size.begin()), *most};
}

// parent (n,) by position, each its own to begin with: afterwards the smallest position of each component. Only pairs count
// of which at least one document is eligible (null: all are). What is in one component already is not compared.
//
// A few documents ask first. When that joins a large part of all (texts of one template), a few more do so as long as they
// bring many others in. Then those of the large component need not ask any more: the others do, in both directions, and so find
// every pair that could still join anything.
template <class Measure>
void join_components(const JoinInput& in, double threshold, const uint8_t* eligible, int64_t threads, uint32_t* parent) {
    Crew crew(threads);
    Join<Measure> join(in, threshold, false);
    join.up.track_runs();
    std::vector<std::unique_ptr<Prober<Measure>>> probers;
    for (size_t w = 0; w < crew.size(); ++w) probers.push_back(std::make_unique<Prober<Measure>>(join));
    const UnionFind sets{parent, in.n};
    const std::vector<uint32_t>& position = join.docs.position;
    const auto ask = [&](size_t worker, uint32_t p) {
        const uint32_t own = position[p];
        probers[worker]->probe(p, OtherComponents{sets, position, eligible, own}, [&](uint32_t q, double) { sets.unite(own, position[q]); });
        probers[worker]->stale.clear();
    };
    constexpr uint32_t few = 256;
    bool one_is_large = false;
    uint32_t large = 0;
    if (!Measure::DIRECTED && in.n >= 16 * few) {
        const uint32_t step = in.n / few;
        for (uint32_t round = 0, before = 0; round < step; ++round) {
            crew.share(few, 1, [&](size_t worker, size_t first, size_t last) {
                for (size_t i = first; i < last; ++i) ask(worker, static_cast<uint32_t>(i) * step + round);
            });
            const auto [root, size] = largest_component(sets);
            if (size < in.n / 8 || size < before + 4 * few) break;
            if (!one_is_large) {
                join.look_down();
                join.down->track_runs();
            }
            one_is_large = true;
            large = root, before = size;
        }
    }
    crew.share(join.docs.n(), 16, [&](size_t worker, size_t first, size_t last) {
        for (size_t d = first; d < last; ++d)
            if (!one_is_large || !sets.same(position[d], large)) ask(worker, static_cast<uint32_t>(d));
    });
    sets.flatten();
}

}  // namespace dejalu
