// Settling by Hamming distance: in order, each document joins the earliest kept document within k bits, else it is kept.
//
// A document that is still kept when its turn comes asks for all later documents within its reach and takes them out: only
// kept documents cost. A window of documents asks at the same time; the answers are used in order, and those of a document
// that was taken out meanwhile are thrown away, so the result is that of one after another.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hamming_pairs.hpp"
#include "sets.hpp"

namespace dejalu {

// Marks (n,) the documents that have another within k bits. Tables are built one after another.
template <size_t W>
void hamming_busy(const Prints<W>& all, const Apart& apart, const TablePlan<W>& plan, Crew& crew, uint8_t* marks) {
    const std::unique_ptr<std::atomic<uint8_t>[]> busy(new std::atomic<uint8_t>[all.n]());
    constexpr auto relaxed = std::memory_order_relaxed;          // a mark is only ever set, and only where it is true
    OneTable<W> table(all, apart, plan);
    for (size_t t = 0; t < plan.tables; ++t) {
        table.build(t, crew);
        const TableView<W> v = table.view();
        crew.share(table.size(), 1024, [&](size_t, size_t from, size_t to) {
            table.each(from, to, [&](size_t e, size_t first, size_t last) {
                const size_t place = v.places[e];
                if (busy[place].load(relaxed)) return true;
                scan<W>(v.prints, first, last, v.prints + e * W, plan.k, [&](size_t f) {
                    if (f == e || apart.differ(place, v.places[f])) return true;
                    busy[place].store(1, relaxed);
                    busy[v.places[f]].store(1, relaxed);
                    return false;
                });
                return true;
            });
        });
    }
    for (size_t i = 0; i < all.n; ++i) marks[i] = busy[i].load(relaxed);
}

struct Settled {                    // (n,) each; come as -1, -1 and 0
    int64_t* twin;
    int32_t* distance;
    double* similarity;
};

template <size_t W>
class HammingSettler {
  public:
    // `sets` and `threshold`: only documents of that Jaccard similarity are twins.
    HammingSettler(const Prints<W>& all, const Apart& apart, const TablePlan<W>& plan, const std::optional<Sets>& sets, double threshold, Crew& crew)
        : all_(all), apart_(apart), set_{plan, nullptr, nullptr, nullptr, 0}, sets_(sets), threshold_(threshold), crew_(crew), out_(all.n),
          answers_(crew.size()) {
        size_t n = 0;
        for (size_t i = 0; i < all.n; ++i) n += !(out_[i] = apart.out(i));
        starts_.reset(new uint32_t[plan.tables * (plan.buckets() + 1)]);
        prints_.reset(new uint64_t[plan.tables * n * W]);
        places_.reset(new uint32_t[plan.tables * n]);
        for (size_t t = 0; t < plan.tables; ++t)
            build(all, apart, plan, t, crew, starts_.get() + t * (plan.buckets() + 1), prints_.get() + t * n * W, places_.get() + t * n);
        set_ = {plan, starts_.get(), prints_.get(), places_.get(), n};
    }

    // Calls joined(document, twin, distance, similarity) once for each document that is taken out.
    template <class Joined>
    void settle(Joined joined) {
        constexpr size_t most = 1 << 14, room = 1 << 22;         // documents of a window; answers that it may hold, about
        std::vector<Asked> asked;
        size_t window = 1;
        for (size_t next = 0; next < all_.n;) {
            asked.clear();
            for (size_t i = next; i < all_.n && asked.size() < window; ++i)
                if (!out_[i]) asked.push_back({i, 0, 0, 0, false});
            if (asked.empty()) return;
            for (auto& a : answers_) a.clear();
            std::atomic<size_t> held{0};
            crew_.share(asked.size(), std::clamp<size_t>(asked.size() / 64, 1, 16), [&](size_t worker, size_t first, size_t last) {
                for (size_t i = first; i < last; ++i) {
                    Asked& a = asked[i];
                    if (i != 0 && held.load(std::memory_order_relaxed) > room) continue;
                    a.worker = worker;
                    a.first = answers_[worker].size();
                    ask(a.place, answers_[worker]);
                    a.last = answers_[worker].size();
                    a.done = true;
                    held.fetch_add(a.last - a.first, std::memory_order_relaxed);
                }
            });
            size_t wasted = 0;
            for (const Asked& a : asked) {
                next = a.place;
                if (!a.done && !out_[a.place]) break;            // there was no room for its answers: it asks again
                next = a.place + 1;
                if (out_[a.place]) {
                    wasted += a.done;
                    continue;
                }
                for (size_t i = a.first; i < a.last; ++i) {
                    const Answer& found = answers_[a.worker][i];
                    if (out_[found.place]) continue;
                    out_[found.place] = 1;
                    joined(size_t{found.place}, a.place, found.distance, found.similarity);
                }
            }
            if (crew_.size() == 1) continue;                     // one after the other: nothing is ever wasted
            if (8 * wasted > window) window = std::max<size_t>(1, window / 2);
            else if (32 * wasted <= window) window = std::min(most, 2 * window);
        }
    }

  private:
    struct Answer {
        uint32_t place, distance;
        double similarity;
    };
    struct Asked {
        size_t place, worker, first, last;                       // its answers
        bool done;
    };

    // The later documents, still there, that this one is a twin of.
    void ask(size_t place, std::vector<Answer>& answers) const {
        const TablePlan<W>& plan = set_.plan;
        const uint64_t* const own = all_[place];
        for (size_t t = 0; t < plan.tables; ++t) {
            const TableView<W> v = set_.table(t);
            const size_t b = plan.bucket(own, apart_.of(place), t);
            const uint32_t *const first = v.places + v.starts[b], *const last = v.places + v.starts[b + 1];
            const size_t from = static_cast<size_t>(std::upper_bound(first, last, static_cast<uint32_t>(place)) - v.places);
            scan<W>(v.prints, from, v.starts[b + 1], own, plan.k, [&](size_t e) {
                const uint32_t other = v.places[e];
                if (out_[other] || apart_.differ(place, other) || !plan.meet_first(own, v.prints + e * W, t)) return true;
                double similarity = 0;
                if (sets_) {
                    similarity = sets_->jaccard(kernels_, static_cast<int64_t>(place), other, threshold_);
                    if (similarity < threshold_) return true;
                }
                answers.push_back({other, apart<W>(own, v.prints + e * W), similarity});
                return true;
            });
        }
    }

    const Prints<W> all_;
    const Apart apart_;
    TableSet<W> set_;
    const std::optional<Sets> sets_;
    const double threshold_;
    Crew& crew_;
    const Table& kernels_ = kernels();
    std::unique_ptr<uint32_t[]> starts_;
    std::unique_ptr<uint64_t[]> prints_;
    std::unique_ptr<uint32_t[]> places_;
    std::vector<uint8_t> out_;      // taken out, or takes no part; changed only while nobody asks
    std::vector<std::vector<Answer>> answers_;
};

template <size_t W>
void hamming_settle(const Prints<W>& all, const Apart& apart, const TablePlan<W>& plan, const std::optional<Sets>& sets, double threshold, Crew& crew,
                    const Settled& out) {
    HammingSettler<W> settler(all, apart, plan, sets, threshold, crew);
    settler.settle([&](size_t document, size_t twin, uint32_t distance, double similarity) {
        out.twin[document] = static_cast<int64_t>(twin);
        out.distance[document] = static_cast<int32_t>(distance);
        out.similarity[document] = similarity;
    });
}

}  // namespace dejalu
