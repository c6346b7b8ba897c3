// Settling by a join: in order, each document joins the earliest kept document at or above the threshold, else it is kept.
//
// A document that is still kept when its turn comes asks for all later documents that it is a twin of, and takes them out.
// So only kept documents cost: 100,000 near copies of one text cost 100,000 comparisons. A window of documents asks at the same
// time, those of like size after another, which look at the same parts of the lists; the answers are used in order, and those
// of a document that was taken out meanwhile are thrown away.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "crew.hpp"
#include "join_probe.hpp"

namespace dejalu {

struct Match {
    uint32_t number;                // of the later document
    bool aside;                     // found by the second of two ways (join_mixed.hpp)
    double similarity;
};

// Documents whose turn is still to come, by number: position + 1; 0 when taken out.
using Turns = std::vector<uint32_t>;

// Asker.ask(number, turn, turns, answers): appends to `answers` the later documents still there that are twins of this one.
// asks(number): whether it may have any. tidy(turns, done): drops what is taken out or has had its turn from the lists that it
// found stale; called by one thread alone, as is tidy_all, for all lists.
// joined(document, twin, match) is called once for each document taken out; positions.
template <class Asker, class Joined>
void settle_in_order(const JoinDocs& docs, std::vector<std::unique_ptr<Asker>>& askers, Crew& crew, Joined joined) {
    struct Asked {
        uint32_t position, worker;
        size_t first, last;         // its answers
    };
    constexpr size_t most = 1 << 14;
    const uint32_t n = docs.n();
    Turns turns(n);
    for (uint32_t p = 0; p < n; ++p) turns[docs.number[p]] = p + 1;
    std::vector<std::vector<Match>> answers(askers.size());
    std::vector<Asked> asked;
    size_t window = 1, there = n, left = n;                      // documents: in the lists, and still to come
    for (uint32_t next = 0; next < n;) {
        asked.clear();
        for (; next < n && asked.size() < window; ++next) {
            const uint32_t d = docs.number[next];
            if (turns[d] != 0 && askers[0]->asks(d)) asked.push_back({next, 0, 0, 0});
            else left -= turns[d] != 0;
        }
        for (auto& a : answers) a.clear();
        std::sort(asked.begin(), asked.end(), [&](const Asked& a, const Asked& b) { return docs.number[a.position] < docs.number[b.position]; });
        crew.share(asked.size(), std::clamp<size_t>(asked.size() / 64, 1, 16), [&](size_t worker, size_t first, size_t last) {
            for (size_t i = first; i < last; ++i) {
                Asked& a = asked[i];
                a.worker = static_cast<uint32_t>(worker);
                a.first = answers[worker].size();
                askers[worker]->ask(docs.number[a.position], a.position + 1, turns, answers[worker]);
                a.last = answers[worker].size();
            }
        });
        std::sort(asked.begin(), asked.end(), [](const Asked& a, const Asked& b) { return a.position < b.position; });
        size_t wasted = 0;
        for (const Asked& a : asked) {
            if (turns[docs.number[a.position]] == 0) {
                ++wasted;
                continue;
            }
            --left;
            for (size_t i = a.first; i < a.last; ++i) {
                const Match& m = answers[a.worker][i];
                uint32_t& turn = turns[m.number];
                if (turn == 0) continue;
                joined(turn - 1, a.position, m);
                turn = 0;
                --left;
            }
        }
        for (auto& a : askers) a->tidy(turns, next);
        if (left < there / 2) {
            askers[0]->tidy_all(turns, next, crew);
            there = left;
        }
        if (8 * wasted > window) window = std::max<size_t>(1, window / 2);
        else if (32 * wasted <= window) window = std::min(most, 2 * window);
    }
}

template <class Measure>
class JoinAsker {
  public:
    explicit JoinAsker(Join<Measure>& join) : join_(join), prober_(join) {}

    bool asks(uint32_t number) const { return join_.docs.docs[number].length != 0; }
    void ask(uint32_t number, uint32_t turn, const Turns& turns, std::vector<Match>& answers) {
        prober_.probe(number, [&, turn](uint32_t q) { return turns[q] > turn; },
                      [&](uint32_t q, double s) { answers.push_back({q, false, s}); });
    }
    void tidy(const Turns& turns, uint32_t done) {
        for (const StaleList& s : prober_.stale) join_.lists(s.downwards).compact(s.rank, [&](uint32_t q) { return turns[q] > done; });
        prober_.stale.clear();
    }
    void tidy_all(const Turns& turns, uint32_t done, Crew& crew) {
        join_.compact(crew, [&](uint32_t q) { return turns[q] > done; });
    }

  private:
    Join<Measure>& join_;
    Prober<Measure> prober_;
};

// twin (n,) and similarity (n,) come as -1 and 0.
template <class Measure>
void join_settle(const JoinInput& in, double threshold, int64_t threads, int64_t* twin, double* similarity) {
    Crew crew(threads);
    Join<Measure> join(in, threshold, true);
    std::vector<std::unique_ptr<JoinAsker<Measure>>> askers;
    for (size_t w = 0; w < crew.size(); ++w) askers.push_back(std::make_unique<JoinAsker<Measure>>(join));
    settle_in_order(join.docs, askers, crew, [&](uint32_t document, uint32_t kept, const Match& m) {
        twin[document] = kept;
        similarity[document] = m.similarity;
    });
}

}  // namespace dejalu
