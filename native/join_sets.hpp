// Ranked sets as a join takes them, numbered by size, and lists of the documents that have a rank in their prefix.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "radix.hpp"
#include "union_find.hpp"

namespace dejalu {

struct JoinInput {                  // documents by position: in the order in which they are settled
    const uint32_t* ranks;          // (m,) ascending within a document
    const uint32_t* weights;        // (m,) or null
    const int64_t* offsets;         // (n + 1,)
    const int64_t* sizes;           // (n,) elements, those without a rank too
    const uint64_t* totals;         // (n,) weight of all elements or the sum of their squares, or null
    uint32_t n;
    uint32_t r;                     // ranks are below r
};

// Documents numbered by ascending size, so that all partners of fitting size lie together.
struct JoinDocs {
    struct Doc {
        const uint32_t* ranks;
        uint32_t length;            // ranks
        uint32_t alone;             // elements without a rank: the rarest ones, before all ranks
        uint32_t size() const { return length + alone; }
    };
    std::vector<Doc> docs;
    std::vector<uint32_t> position; // by number
    std::vector<uint32_t> number;   // by position
    std::vector<uint64_t> sizes;    // by number, ascending; 0 where the order is not by size
    const JoinInput& in;

    // size(position) -> uint64_t
    template <class Size>
    JoinDocs(const JoinInput& input, Size size) : docs(input.n), position(input.n), number(input.n), sizes(input.n), in(input) {
        std::iota(position.begin(), position.end(), 0u);
        for (uint32_t d = 0; d < in.n; ++d) sizes[d] = size(d);
        std::stable_sort(position.begin(), position.end(), [&](uint32_t a, uint32_t b) { return sizes[a] < sizes[b]; });
        for (uint32_t i = 0; i < in.n; ++i) {
            const uint32_t p = position[i];
            number[p] = i;
            const int64_t length = in.offsets[p + 1] - in.offsets[p];
            docs[i] = {in.ranks + in.offsets[p], static_cast<uint32_t>(length), static_cast<uint32_t>(in.sizes[p] - length)};
        }
        std::sort(sizes.begin(), sizes.end());
    }
    uint32_t n() const { return in.n; }
    const uint32_t* weights(uint32_t d) const { return in.weights + (docs[d].ranks - in.ranks); }
    uint64_t total(uint32_t d) const { return in.totals[position[d]]; }

    // First number, from `first` on, whose size does not pass the test; sizes that pass come before those that do not.
    template <class Pass>
    uint32_t beyond(uint32_t first, Pass pass) const {
        return static_cast<uint32_t>(std::partition_point(sizes.begin() + first, sizes.end(), pass) - sizes.begin());
    }
};

// By rank, the numbers of documents, ascending, each with a mark of the measure's own and, for some measures, a signature.
class JoinLists {
  public:
    struct List {
        uint32_t* number;
        uint32_t* mark;
        uint64_t* signature;        // null for measures without
        uint32_t* run;              // null unless runs are tracked
        uint32_t size;
    };

    // prefix(d) -> how many ranks of document d are listed; mark(d, i) of its i-th rank; signatures by number, or none.
    template <class Prefix, class Mark>
    JoinLists(const JoinDocs& docs, Prefix prefix, Mark mark, const std::vector<uint64_t>& signatures) : start_(size_t{docs.in.r} + 1), size_(docs.in.r) {
        std::vector<uint32_t> length(docs.n());
        size_t total = 0;
        for (uint32_t d = 0; d < docs.n(); ++d) {
            length[d] = prefix(d);
            total += length[d];
            for (uint32_t i = 0; i < length[d]; ++i) ++size_[docs.docs[d].ranks[i]];
        }
        if (total > 0xffffffffull) throw std::length_error("ranked: more than 2^32 - 1 entries in an index; join fewer documents at once");
        for (size_t r = 0; r < size_.size(); ++r) {
            start_[r + 1] = start_[r] + size_[r];
            size_[r] = 0;
        }
        number_.resize(total);
        mark_.resize(total);
        signature_.resize(signatures.empty() ? 0 : total);
        for (uint32_t d = 0; d < docs.n(); ++d)
            for (uint32_t i = 0; i < length[d]; ++i) {
                const uint32_t r = docs.docs[d].ranks[i], at = start_[r] + size_[r]++;
                number_[at] = d;
                mark_[at] = mark(d, i);
                if (!signatures.empty()) signature_[at] = signatures[d];
            }
    }

    void ask(uint32_t r) const { fetch(start_.data() + r), fetch(size_.data() + r); }
    List list(uint32_t r) {
        const size_t at = start_[r];
        return {number_.data() + at, mark_.data() + at, signature_.empty() ? nullptr : signature_.data() + at,
                run_.empty() ? nullptr : run_.data() + at, size_[r]};
    }

    // For each place, how many documents from there on are known to belong together. Shared by threads.
    void track_runs() { run_.assign(number_.size(), 1); }

    // Where the run ends that begins at `first`, of documents that `joined` says belong to one component; at most `last`.
    // What was gone through is remembered, so that a list of one component costs one look from then on.
    template <class Joined>
    static size_t run_end(const List& l, size_t first, size_t last, Joined joined) {
        size_t end = first;
        while (end < last && joined(l.number[end])) end += load(l.run + end);
        for (size_t x = first; x < end;) {
            const uint32_t step = load(l.run + x);
            store(l.run + x, static_cast<uint32_t>(end - x));
            x += step;
        }
        return std::min(end, last);
    }

    // Drops the documents of a list that `live` does not want any more.
    template <class Live>
    void compact(uint32_t r, Live live) {
        const List l = list(r);
        uint32_t left = 0;
        for (uint32_t i = 0; i < l.size; ++i)
            if (live(l.number[i])) {
                l.number[left] = l.number[i];
                l.mark[left] = l.mark[i];
                if (l.signature) l.signature[left] = l.signature[i];
                ++left;
            }
        size_[r] = left;
    }

  private:
    std::vector<uint32_t> start_, size_, number_, mark_, run_;
    std::vector<uint64_t> signature_;
};

}  // namespace dejalu
