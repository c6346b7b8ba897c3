// Settling of short and long texts as one: a pair with a short text by the join of their sets of short shingles, a pair of long
// texts by a shared band key, the compact sketches, and the true similarity of their shingle sets.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "bands.hpp"
#include "join_settle.hpp"
#include "pairs.hpp"

namespace dejalu {

struct LongTexts {
    const uint64_t* keys;           // (n, bands)
    int64_t bands;
    Packed sketch;
    Sets sets;
};

// For each band, the documents of every key that several have.
class BandLists {
  public:
    BandLists(const JoinDocs& docs, const LongTexts& texts, const uint8_t* skip, Crew& crew)
        : bands_(static_cast<size_t>(texts.bands)), of_(size_t{docs.n()} * bands_, NONE) {
        const size_t n = docs.n();
        std::vector<std::vector<uint32_t>> members(bands_), borders(bands_);
        crew.share(bands_, 1, [&](size_t, size_t first, size_t last) {
            std::vector<uint64_t> key(n);
            for (size_t b = first; b < last; ++b) {
                for (size_t d = 0; d < n; ++d) key[d] = texts.keys[d * bands_ + b];
                const std::vector<Bucketed> rows = repeated(key.data(), static_cast<int64_t>(n), skip);
                each_bucket(rows, [&](const Bucketed* x, const Bucketed* end) {
                    for (; x < end; ++x) {
                        of_[static_cast<size_t>(x->place) * bands_ + b] = static_cast<uint32_t>(borders[b].size());
                        members[b].push_back(docs.number[static_cast<size_t>(x->place)]);
                    }
                    borders[b].push_back(static_cast<uint32_t>(members[b].size()));
                });
            }
        });
        lists_.resize(bands_);
        for (size_t b = 0; b < bands_; ++b) {
            lists_[b].reserve(borders[b].size());
            uint32_t from = 0;
            for (const uint32_t to : borders[b]) {
                lists_[b].emplace_back(members[b].begin() + from, members[b].begin() + to);
                from = to;
            }
        }
    }
    static constexpr uint32_t NONE = ~0u;
    uint32_t list_of(uint32_t position, size_t band) const { return of_[position * bands_ + band]; }
    std::vector<uint32_t>& list(size_t band, uint32_t which) { return lists_[band][which]; }

  private:
    size_t bands_;
    std::vector<uint32_t> of_;
    std::vector<std::vector<std::vector<uint32_t>>> lists_;
};

class MixedAsker {
  public:
    MixedAsker(Join<JaccardMeasure>& join, BandLists& lists, const LongTexts& texts, const uint8_t* is_short, double threshold)
        : join_(join), lists_(lists), texts_(texts), short_(is_short), threshold_(threshold), prober_(join), seen_(join.docs.n()) {}

    bool asks(uint32_t number) const {
        return join_.docs.docs[number].length != 0 || !short_[join_.docs.position[number]];
    }
    void ask(uint32_t number, uint32_t turn, const Turns& turns, std::vector<Match>& answers) {
        const std::vector<uint32_t>& position = join_.docs.position;
        const uint32_t own = position[number];
        const bool any = short_[own] != 0;
        prober_.probe(number, [&, turn](uint32_t q) { return turns[q] > turn && (any || short_[position[q]]); },
                      [&](uint32_t q, double s) { answers.push_back({q, false, s}); });
        if (any) return;
        const Table& k = kernels();
        for (size_t b = 0; b < static_cast<size_t>(texts_.bands); ++b) {
            const uint32_t which = lists_.list_of(own, b);
            if (which == BandLists::NONE) continue;
            const std::vector<uint32_t>& list = lists_.list(b, which);
            size_t refused = 0;
            for (const uint32_t q : list) {
                if (turns[q] <= turn) {
                    ++refused;
                    continue;
                }
                if (seen_[q] == turn) continue;                  // turns are different for all who ask
                seen_[q] = turn;
                if (!texts_.sketch.pass(k, own, position[q])) continue;
                const double s = texts_.sets.jaccard(k, own, position[q], threshold_);
                if (s >= threshold_) answers.push_back({q, true, s});
            }
            if (refused > 16 && refused > list.size() / 2) stale_.push_back({b, which});
        }
    }
    void tidy(const Turns& turns, uint32_t done) {
        for (const StaleList& s : prober_.stale) join_.lists(s.downwards).compact(s.rank, [&](uint32_t q) { return turns[q] > done; });
        for (const auto& [b, which] : stale_) std::erase_if(lists_.list(b, which), [&](uint32_t q) { return turns[q] <= done; });
        prober_.stale.clear();
        stale_.clear();
    }
    void tidy_all(const Turns& turns, uint32_t done, Crew& crew) {
        join_.compact(crew, [&](uint32_t q) { return turns[q] > done; });
    }

  private:
    Join<JaccardMeasure>& join_;
    BandLists& lists_;
    const LongTexts& texts_;
    const uint8_t* short_;
    double threshold_;
    Prober<JaccardMeasure> prober_;
    std::vector<uint32_t> seen_;
    std::vector<std::pair<size_t, uint32_t>> stale_;
};

// twin, similarity, by_short (n,) come as -1, 0 and 0; `is_short` (n,) marks the short texts.
inline void settle_mixed(const JoinInput& in, const uint8_t* is_short, const LongTexts& texts, double threshold, int64_t threads,
                         int64_t* twin, double* similarity, uint8_t* by_short) {
    Crew crew(threads);
    Join<JaccardMeasure> join(in, threshold, true);
    BandLists lists(join.docs, texts, is_short, crew);
    std::vector<std::unique_ptr<MixedAsker>> askers;
    for (size_t w = 0; w < crew.size(); ++w) askers.push_back(std::make_unique<MixedAsker>(join, lists, texts, is_short, threshold));
    settle_in_order(join.docs, askers, crew, [&](uint32_t document, uint32_t kept, const Match& m) {
        twin[document] = kept;
        similarity[document] = m.similarity;
        by_short[document] = !m.aside;
    });
}

}  // namespace dejalu
