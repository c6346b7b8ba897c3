// One document of a join asks the lists for its partners.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "crew.hpp"
#include "dispatch.hpp"
#include "join_measures.hpp"
#include "join_sets.hpp"
#include "join_weighted.hpp"

namespace dejalu {

// Documents, measure and lists of a join. With `both_ways` partners of lower number are found, too.
template <class Measure>
struct Join {
    JoinDocs docs;
    Measure measure;
    JoinLists up;
    std::optional<JoinLists> down;

    Join(const JoinInput& in, double threshold, bool both_ways)
        : docs(in, [&](uint32_t position) { return Measure::size(in, position); }),
          measure(docs, threshold),
          up(docs, [&](uint32_t d) { return measure.listed_up(d); }, [&](uint32_t d, uint32_t i) { return measure.mark(d, i); },
             measure.signatures) {
        if (both_ways && !Measure::DIRECTED) look_down();
    }
    void look_down() {
        down.emplace(docs, [&](uint32_t d) { return measure.listed_down(d); }, [&](uint32_t d, uint32_t i) { return measure.mark(d, i); },
                     measure.signatures);
    }
    JoinLists& lists(bool downwards) { return downwards ? *down : up; }
    // Drops the documents from all lists that `live` does not want any more.
    template <class Live>
    void compact(Crew& crew, Live live) {
        crew.share(docs.in.r, 4096, [&](size_t, size_t first, size_t last) {
            for (size_t r = first; r < last; ++r) {
                up.compact(static_cast<uint32_t>(r), live);
                if (down) down->compact(static_cast<uint32_t>(r), live);
            }
        });
    }
};

struct StaleList {                  // most of its documents are not wanted any more
    uint32_t rank;
    bool downwards;
};

// What one thread needs to probe. Its documents are seen once per probe.
template <class Measure>
class Prober {
  public:
    explicit Prober(Join<Measure>& join) : join_(join), seen_(join.docs.n()) {}

    std::vector<StaleList> stale;   // found since it was last cleared

    // Calls emit(q, similarity) for the partners q of p that wanted(q) admits; it is asked before q is looked at, and again
    // before it is compared.
    template <class Wanted, class Emit>
    void probe(uint32_t p, Wanted wanted, Emit emit) {
        const Measure& m = join_.measure;
        if (++stamp_ == 0) {
            std::fill(seen_.begin(), seen_.end(), 0u);
            stamp_ = 1;
        }
        found_.clear();
        const uint32_t up = m.up(p), down = join_.down ? m.down(p) : 0;
        if (up != 0) scan(p, up, false, Measure::DIRECTED ? 0 : p + 1, m.highest(p), wanted);
        if (down != 0) scan(p, down, true, m.lowest(p), p, wanted);
        compare(p, wanted, emit);
    }

  private:
    struct Found {
        uint32_t q, i, mark;
    };

    template <class Wanted>
    void scan(uint32_t p, uint32_t prefix, bool downwards, uint32_t low, uint32_t high, Wanted wanted) {
        if (low >= high) return;
        constexpr uint32_t ahead = 8, few = 32;
        const Measure& m = join_.measure;
        const uint64_t own = m.signatures.empty() ? 0 : m.signatures[p];
        JoinLists& lists = join_.lists(downwards);
        const uint32_t* const ranks = join_.docs.docs[p].ranks;
        for (uint32_t i = 0; i < prefix; ++i) {
            if (i + ahead < prefix) lists.ask(ranks[i + ahead]);
            const JoinLists::List l = lists.list(ranks[i]);
            const size_t from = static_cast<size_t>(std::lower_bound(l.number, l.number + l.size, low) - l.number);
            const size_t to = static_cast<size_t>(std::lower_bound(l.number + from, l.number + l.size, high) - l.number);
            size_t refused = 0, asked = 0;
            for (size_t first = from, last; first < to; first = last) {
                if constexpr (requires { wanted.joined(0u); }) {         // what is in one component is passed over
                    last = JoinLists::run_end(l, first, to, [&](uint32_t q) { return wanted.joined(q); });
                    if (last != first) continue;
                }
                last = std::min(first + BLOCK, to);
                const uint32_t apart = m.apart(p, l.mark[last - 1]);     // sizes ascend
                if (apart >= 64) {
                    asked += last - first;
                    for (size_t x = first; x < last; ++x) refused += !admit(p, i, l.number[x], l.mark[x], wanted);
                    continue;
                }
                const size_t near = kernels_.near_signatures(l.signature + first, last - first, own, apart, near_);
                asked += near;
                for (size_t x = 0; x < near; ++x) refused += !admit(p, i, l.number[first + near_[x]], l.mark[first + near_[x]], wanted);
            }
            if (refused > few && refused > asked / 2) stale.push_back({ranks[i], downwards});
        }
    }

    // Whether q is wanted at all.
    template <class Wanted>
    bool admit(uint32_t p, uint32_t i, uint32_t q, uint32_t mark, Wanted wanted) {
        if (!wanted(q)) return false;
        if (seen_[q] == stamp_ || !join_.measure.may(p, i, mark)) return true;
        seen_[q] = stamp_;
        if (q != p) found_.push_back({q, i, mark});
        return true;
    }

    template <class Wanted, class Emit>
    void compare(uint32_t p, Wanted wanted, Emit emit) {
        constexpr size_t ahead = 8;
        const JoinDocs::Doc* const docs = join_.docs.docs.data();
        for (size_t k = 0; k < found_.size(); ++k) {
            if (k + 2 * ahead < found_.size()) fetch(docs + found_[k + 2 * ahead].q);
            if (k + ahead < found_.size()) fetch(docs[found_[k + ahead].q].ranks + found_[k + ahead].i);
            const Found& f = found_[k];
            if (!wanted(f.q)) continue;
            const double s = join_.measure.similarity(p, f.i, f.q, f.mark);
            if (s >= 0) emit(f.q, s);
        }
    }

    static constexpr size_t BLOCK = 256;
    Join<Measure>& join_;
    const Table& kernels_ = kernels();
    uint32_t near_[BLOCK + 1];      // places of a block
    std::vector<uint32_t> seen_;    // by document: the probe that saw it last
    uint32_t stamp_ = 0;
    std::vector<Found> found_;
};

}  // namespace dejalu
