// Equal keys inside a partition, and what is done about them: documents that share a key are united.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "pairs.hpp"
#include "radix.hpp"
#include "union_find.hpp"

namespace dejalu {

// Which documents of a bucket (documents of one key) are united: all of them, as a star around the first, where there is no
// sketch or the bucket has more than `limit`; else the pairs that pass the sketch.
struct Joining {
    UnionFind sets;
    const Packed* sketch;                                        // may be null
    size_t limit;
    bool whole(size_t documents) const { return !sketch || documents > limit; }
    size_t kept() const { return sketch ? limit + 1 : 1; }       // rows of a bucket that tell as much as all of them
};

template <bool Wide>
class Grouping {
public:
    Grouping(const Partitions& parts, const Range& range, const Joining& joining) : parts_(parts), range_(range), joining_(joining) {}

    // Unites what partition p holds.
    void join(uint32_t p) {
        find(p, parts_.size(p));
        const Table& k = kernels();
        each([&](const Found* first, const Found* last) {
            if (joining_.whole(static_cast<size_t>(last - first))) return star(first, last);
            for (const Found* x = first; x < last; ++x)
                for (const Found* y = x + 1; y < last; ++y)      // most pairs were united by an earlier band: no test
                    if (!joining_.sets.same(x->place, y->place) && joining_.sketch->pass(k, x->place, y->place))
                        joining_.sets.unite(x->place, y->place);
        });
    }

    // Unites the buckets of partition p that are joined whole, and drops their rows beyond what tells that they are.
    size_t compact(uint32_t p, size_t m) {
        find(p, m);
        drop_.assign(m / 64 + 1, 0);
        size_t drops = 0;
        each([&](const Found* first, const Found* last) {
            if (!joining_.whole(static_cast<size_t>(last - first))) return;
            star(first, last);
            for (const Found* x = first + joining_.kept(); x < last; ++x) drop_[x->row >> 6] |= uint64_t{1} << (x->row & 63), ++drops;
        });
        if (drops == 0) return m;
        size_t at = 0, left = 0;
        uint32_t to = parts_.head[p];
        parts_.template each<words>(p, m, [&](const uint32_t* row) {
            const bool drop = drop_[at >> 6] >> (at & 63) & 1;
            ++at;
            if (drop) return;
            if (left != 0 && left % parts_.block == 0) to = parts_.after(to);
            uint32_t* target = parts_.rows + (static_cast<size_t>(to) * parts_.block + left % parts_.block) * words;
            std::memmove(target, row, words * sizeof(uint32_t));
            ++left;
        });
        return left;
    }
    size_t operator()(uint32_t p, size_t m) { return compact(p, m); }

private:
    static constexpr size_t words = Row<Wide>::words, ahead = 16;
    struct Narrow {
        uint64_t key;                                            // leading bits tell keys of the partition apart
        uint32_t place, row;                                     // row of the partition
        uint64_t high() const { return 0; }
        void set(uint64_t) {}
    };
    struct Broad {
        uint64_t key;
        uint32_t place, row;
        uint64_t half;
        uint64_t high() const { return half; }
        void set(uint64_t h) { half = h; }
    };
    using Found = std::conditional_t<Wide, Broad, Narrow>;
    struct Cells {
        uint64_t once, twice;
    };

    // The rows whose key occurs at least twice (and a few more), in found_, sorted by (key, place). Most keys are alone: two
    // bitmaps in the cache drop nearly all of them, so that only a few are sorted.
    void find(uint32_t p, size_t m) {
        int bits = 6;
        while (bits < 30 && (size_t{1} << bits) < 12 * m) ++bits;
        const int down = 64 - bits;
        cells_.assign(size_t{1} << (bits - 6), Cells{0, 0});
        if (found_.size() < m + 1) found_.resize(m + 1), sorted_.resize(m + 1);
        const Range range = range_;                              // locals: what is written below might else change them
        Cells* const cells = cells_.data();
        parts_.template each<words>(p, m, [=](const uint32_t* row) {
            const uint64_t cell = range.within(Row<Wide>::key(row)) >> down, bit = uint64_t{1} << (cell & 63);
            Cells& c = cells[cell >> 6];
            const uint64_t once = c.once;
            c.twice |= once & bit;
            c.once = once | bit;
        });
        Found* f = found_.data();
        uint32_t at = 0;
        parts_.template each<words>(p, m, [&f, &at, range, cells, down](const uint32_t* row) {
            const uint64_t key = range.within(Row<Wide>::key(row)), cell = key >> down;
            f->key = key;
            f->place = Row<Wide>::place(row);
            f->row = at++;
            f->set(Row<Wide>::high(row));
            f += cells[cell >> 6].twice >> (cell & 63) & 1;
        });
        const size_t k = static_cast<size_t>(f - found_.data());
        size_ = k;
        for (size_t i = 0; i < k; ++i)
            if (found_[i].place >= joining_.sets.n) throw std::invalid_argument("scratch: holds a place beyond parent");
        sort();
    }

    static bool before(const Found& a, const Found& b) {         // the order of places is there already
        if constexpr (Wide)
            if (a.key == b.key) return a.high() < b.high();
        return a.key < b.key;
    }

    // One scatter by the leading bits leaves runs of a few rows, which insertion puts in order.
    void sort() {
        int bits = 1;
        while (bits < 24 && (size_t{1} << bits) < size_) ++bits;
        starts_.assign((size_t{1} << bits) + 1, 0);
        for (size_t i = 0; i < size_; ++i) ++starts_[(found_[i].key >> (64 - bits)) + 1];
        for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
        for (size_t i = 0; i < size_; ++i) sorted_[starts_[found_[i].key >> (64 - bits)]++] = found_[i];     // now ends of runs
        size_t first = 0;
        for (size_t b = 0; b + 1 < starts_.size(); ++b) {
            const size_t last = starts_[b];
            if (last - first > 1) sort_run(first, last, 64);
            first = last;
        }
    }

    // Stable. A long run is mostly one hot key: it falls apart into less, equal and greater, and equal is done.
    void sort_run(size_t first, size_t last, int depth) {
        Found* const s = sorted_.data();
        while (last - first > 32) {
            if (std::is_sorted(s + first, s + last, before)) return;
            if (depth-- == 0) return std::stable_sort(s + first, s + last, before);
            const Found pivot = s[first + (last - first) / 2];
            size_t less = first, greater = 0;
            for (size_t i = first; i < last; ++i) less += before(s[i], pivot), greater += before(pivot, s[i]);
            const size_t beyond = last - greater;
            std::copy(s + first, s + last, found_.begin() + static_cast<ptrdiff_t>(first));          // not needed any more
            size_t to[3] = {first, less, beyond};
            for (size_t i = first; i < last; ++i) {
                const Found& f = found_[i];
                s[to[before(f, pivot) ? 0 : before(pivot, f) ? 2 : 1]++] = f;
            }
            sort_run(first, less, depth);
            first = beyond;
        }
        for (size_t i = first + 1; i < last; ++i) {
            const Found f = s[i];
            size_t j = i;
            for (; j > first && before(f, s[j - 1]); --j) s[j] = s[j - 1];
            s[j] = f;
        }
    }

    // Calls f(first, last) for every bucket of at least two documents; the parents needed soon are on their way.
    template <class F>
    void each(F f) {
        const Found* s = sorted_.data();
        for (size_t i = 0; i < size_;) {
            size_t j = i + 1;
            while (j < size_ && s[j].key == s[i].key && s[j].high() == s[i].high()) ++j;
            for (size_t a = i + ahead; a < std::min(j + ahead, size_); ++a) fetch(joining_.sets.parent + s[a].place);
            if (j - i > 1) f(s + i, s + j);
            i = j;
        }
    }

    void star(const Found* first, const Found* last) const {
        const uint32_t root = joining_.sets.root(first->place);
        for (const Found* x = first + 1; x < last; ++x) joining_.sets.unite(root, x->place);
    }

    Partitions parts_;
    Range range_;
    Joining joining_;
    std::vector<Cells> cells_;
    std::vector<Found> found_, sorted_;                          // found_[0 … size_) as met, sorted_ in order
    std::vector<uint32_t> starts_;
    std::vector<uint64_t> drop_;                                 // a bit for each row of a partition
    size_t size_ = 0;
};

}  // namespace dejalu
