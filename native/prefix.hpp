// Prefix filter for Jaccard joins (Bayardo, Ma, Srikant, WWW 2007, §3; Xiao, Wang, Lin, Yu, WWW 2008, §3).
//
// Under one order of the shingles, rarest first, two sets whose intersection is at least `o` share a member among the first
// |a| - o + 1 of a and the first |b| - o + 1 of b. Of two sets at or above threshold t the smaller one, of s members, meets
// the other in at least ceil(2t/(1+t) s) members, the larger one, of l members, in at least ceil(t l); so a document is indexed
// twice, with a short prefix for partners that are larger or equal and with a long one for smaller partners.
// Templates that differ in rare words then never meet: their short prefixes hold nothing but those words.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sets.hpp"

namespace dejalu {

class PrefixIndex {
   public:
    PrefixIndex(const Sets& sets, double threshold, int64_t first, int64_t last)
        : sets_(sets), threshold_(threshold), first_(first), stamp_(static_cast<size_t>(last - first), -1) {
        rank_members(last);
    }

    void add(int64_t d) {
        const std::vector<uint32_t>& m = rarest(d);
        const int64_t n = sets_.size(d);
        const int64_t brief = short_prefix(n), whole = long_prefix(n);
        for (int64_t i = 0; i < whole; ++i) {
            const uint32_t shingle = m[static_cast<size_t>(i)];
            if (shingle == 0) continue;
            if (i < brief) short_.push(shingle, begin_[shingle], d - first_);
            long_.push(shingle, begin_[shingle], d - first_);
        }
    }

    // Added documents that may reach the threshold with d, ascending.
    void candidates(int64_t d, std::vector<int64_t>& found) {
        found.clear();
        const std::vector<uint32_t>& m = rarest(d);
        const int64_t n = sets_.size(d);
        collect(short_, m, long_prefix(n), d, found, [&](int64_t other) { return sets_.size(other) <= n; });
        collect(long_, m, short_prefix(n), d, found, [&](int64_t other) { return sets_.size(other) > n; });
        std::sort(found.begin(), found.end());
    }

   private:
    int64_t short_prefix(int64_t n) const { return std::min(n, n - needed(n, n, threshold_) + 1); }

    int64_t long_prefix(int64_t n) const {                       // the partner may be as small as the threshold allows
        int64_t least = static_cast<int64_t>(threshold_ * static_cast<double>(n));
        while (least > 0 && static_cast<double>(least) / static_cast<double>(n) >= threshold_) --least;
        while (static_cast<double>(least) / static_cast<double>(n) < threshold_) ++least;
        return std::min(n, n - least + 1);
    }

    // Lists of documents, one for each shingle number, in one array: no list is longer than the shingle's document
    // frequency. That of number 0 stays empty.
    struct Lists {
        std::vector<uint32_t> size;
        std::unique_ptr<uint32_t[]> at;                          // not cleared: most of it is never used

        void push(uint32_t shingle, size_t begin, int64_t document) { at[begin + size[shingle]++] = static_cast<uint32_t>(document); }
    };

    template <class Fits>
    void collect(const Lists& lists, const std::vector<uint32_t>& m, int64_t prefix, int64_t d, std::vector<int64_t>& found, Fits fits) {
        for (int64_t i = 0; i < prefix; ++i) {
            const uint32_t shingle = m[static_cast<size_t>(i)];
            const uint32_t* const list = lists.at.get() + begin_[shingle];
            for (uint32_t j = 0; j < lists.size[shingle]; ++j) {
                const int64_t other = first_ + list[j];
                int64_t& seen = stamp_[list[j]];
                if (seen == d || !fits(other)) continue;
                seen = d;
                found.push_back(other);
            }
        }
    }

    // Numbers the shingles that occur in several documents of the group, from 1, by (document frequency, place in the table,
    // which goes by the leading bits of the hash). Those of one document alone come first and are never looked up: all of
    // them are 0. Two bitmaps tell most of those apart, so that the table holds little else than what repeats.
    void rank_members(int64_t last) {
        const uint64_t *const begin = sets_.begin(first_), *const end = sets_.begin(last);
        int bits = 6;
        while (bits < 40 && (int64_t{1} << bits) < 8 * (end - begin)) ++bits;
        cell_shift_ = 64 - bits;
        std::vector<uint64_t> once((size_t{1} << bits) / 64);
        twice_.resize(once.size());
        int64_t repeats = 0;
        for (const uint64_t* v = begin; v < end; ++v) {
            const uint64_t cell = *v >> cell_shift_, bit = uint64_t{1} << (cell & 63);
            repeats += (once[cell >> 6] & bit) != 0;
            twice_[cell >> 6] |= once[cell >> 6] & bit;
            once[cell >> 6] |= bit;
        }
        bits = 4;
        while (bits < 40 && (int64_t{1} << bits) < 4 * repeats) ++bits;      // at most `repeats` cells, few of them shared
        for (;; ++bits)
            if (fill(begin, end, bits)) break;
        std::vector<uint32_t> rank;                              // by document frequency; first how many have it
        for (const uint32_t number : number_)
            if (number > 1) {
                if (number >= rank.size()) rank.resize(number + 1);
                ++rank[number];
            }
        uint32_t shingles = 0;
        begin_.assign(1, 0);
        size_t documents = 0;
        for (size_t f = 2; f < rank.size(); ++f) {
            const uint32_t many = rank[f];
            rank[f] = shingles + 1;
            shingles += many;
            for (uint32_t i = 0; i < many; ++i, documents += f) begin_.push_back(documents);
        }
        for (uint32_t& number : number_) number = number > 1 ? rank[number]++ : number ? ALONE : 0;
        for (Lists* lists : {&short_, &long_}) {
            lists->size.assign(shingles + 1, 0);
            lists->at = std::make_unique_for_overwrite<uint32_t[]>(documents);
        }
    }

    // Counts the shingles of cells that several share; false when the table of 2^bits places is over half full.
    bool fill(const uint64_t* begin, const uint64_t* end, int bits) {
        shift_ = 64 - bits;
        key_.assign(size_t{1} << bits, 0);
        number_.assign(size_t{1} << bits, 0);                    // first the document frequency, then the rank
        size_t used = 0;
        for (const uint64_t* v = begin; v < end; ++v) {
            if (!repeats(*v)) continue;
            const size_t at = slot(*v);
            used += number_[at] == 0;
            if (2 * used > key_.size()) return false;
            key_[at] = *v;
            ++number_[at];
        }
        return true;
    }

    bool repeats(uint64_t shingle) const {
        const uint64_t cell = shingle >> cell_shift_;
        return twice_[cell >> 6] >> (cell & 63) & 1;
    }

    // Slot of a shingle in the table, or the free one where it would go. Shingle hashes are mixed: their leading bits choose.
    size_t slot(uint64_t shingle) const {
        size_t at = static_cast<size_t>(shingle >> shift_);
        while (number_[at] && key_[at] != shingle) at = (at + 1) & (key_.size() - 1);
        return at;
    }

    const std::vector<uint32_t>& rarest(int64_t d) {
        if (current_ == d) return members_;
        current_ = d;
        const int64_t n = sets_.size(d);
        members_.assign(static_cast<size_t>(n), 0);
        int64_t alone = 0, end = n;                              // those of one document first, the others from the end
        for (int64_t i = 0; i < n; ++i) {
            const uint64_t shingle = sets_.begin(d)[i];
            const uint32_t number = repeats(shingle) ? number_[slot(shingle)] : ALONE;
            if (number == ALONE) ++alone;
            else members_[static_cast<size_t>(--end)] = number;
        }
        if (const int64_t prefix = long_prefix(n); prefix > alone)           // it holds the short one
            std::partial_sort(members_.begin() + alone, members_.begin() + prefix, members_.end());
        return members_;
    }

    const Sets& sets_;
    double threshold_;
    int64_t first_;
    std::vector<int64_t> stamp_;
    static constexpr uint32_t ALONE = ~0u;                       // of one document only
    int cell_shift_ = 0, shift_ = 0;
    std::vector<uint64_t> twice_;                                // a bit for each cell of hashes that several members share
    std::vector<uint64_t> key_;                                  // open-addressed table: shingles, at most half full
    std::vector<uint32_t> number_;                               // and their ranks; 0: free
    std::vector<size_t> begin_;                                  // by shingle number: where its lists begin
    Lists short_, long_;                                         // documents, ascending, counted from first_
    std::vector<uint32_t> members_;
    int64_t current_ = -1;
};

}  // namespace dejalu
