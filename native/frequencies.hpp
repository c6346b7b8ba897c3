// Document frequencies: in how many texts each feature occurs, counted from sets of features and merged from counts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "radix.hpp"

namespace dejalu {

struct Counts {                     // features ascending, documents with each
    std::vector<uint64_t> features;
    std::vector<int64_t> documents;
    size_t size() const { return features.size(); }
};

// Sorts rows whose keys are random: one scatter by the leading bits, then small sorts. The source is cleared.
template <class Row, class Key>
std::vector<Row> sorted_rows(std::vector<Row>&& rows, Key key) {
    int bits = 1;
    while (bits < 20 && (size_t{2} << bits) < rows.size()) ++bits;
    std::vector<size_t> end((size_t{1} << bits) + 1);
    for (const Row& r : rows) ++end[(key(r) >> (64 - bits)) + 1];
    for (size_t b = 1; b < end.size(); ++b) end[b] += end[b - 1];
    std::vector<Row> out(rows.size());
    for (const Row& r : rows) out[end[key(r) >> (64 - bits)]++] = r;
    rows = {};
    size_t from = 0;
    for (size_t b = 0; b + 1 < end.size(); from = end[b++]) {
        if (end[b] - from > 24) {
            std::sort(out.begin() + static_cast<ptrdiff_t>(from), out.begin() + static_cast<ptrdiff_t>(end[b]),
                      [&](const Row& x, const Row& y) { return key(x) < key(y); });
            continue;
        }
        for (size_t i = from + 1; i < end[b]; ++i) {
            const Row r = out[i];
            size_t j = i;
            for (; j > from && key(out[j - 1]) > key(r); --j) out[j] = out[j - 1];
            out[j] = r;
        }
    }
    return out;
}

// Counts in a hash table: right where most values were seen before, as words are; only what is distinct gets sorted.
class FeatureCounter {
  public:
    FeatureCounter() { resize(12); }

    void add(const uint64_t* values, size_t n) {
        constexpr size_t ahead = 16;
        for (size_t i = 0; i < n; ++i) {
            if (i + ahead < n) fetch(keys_.data() + home(values[i + ahead]));
            add(values[i]);
        }
    }

    size_t distinct() const { return used_ + (zeros_ != 0); }

    Counts sorted() const {
        struct Row {
            uint64_t key;
            uint32_t count;
        };
        std::vector<Row> rows;
        rows.reserve(distinct());
        if (zeros_) rows.push_back({0, zeros_});
        for (size_t s = 0; s < keys_.size(); ++s)
            if (keys_[s]) rows.push_back({keys_[s], counts_[s]});
        rows = sorted_rows(std::move(rows), [](const Row& r) { return r.key; });
        Counts out;
        out.features.reserve(rows.size());
        out.documents.reserve(rows.size());
        for (const Row& r : rows) {
            out.features.push_back(r.key);
            out.documents.push_back(r.count);
        }
        return out;
    }

  private:
    std::vector<uint64_t> keys_;    // 0 marks a free slot, so the feature 0 is counted apart
    std::vector<uint32_t> counts_;
    size_t used_ = 0;
    uint32_t zeros_ = 0;
    int shift_ = 0;

    size_t home(uint64_t v) const { return static_cast<size_t>(v * 0x9e3779b97f4a7c15ull >> shift_); }

    size_t slot(uint64_t v) const {
        size_t s = home(v);
        while (keys_[s] != 0 && keys_[s] != v) s = (s + 1) & (keys_.size() - 1);
        return s;
    }

    void add(uint64_t v) {
        if (v == 0) {
            ++zeros_;
            return;
        }
        const size_t s = slot(v);
        used_ += keys_[s] == 0;
        keys_[s] = v;
        ++counts_[s];
        if (2 * used_ > keys_.size()) resize(64 - shift_ + 1);
    }

    void resize(int bits) {
        std::vector<uint64_t> keys(size_t{1} << bits);
        std::vector<uint32_t> counts(size_t{1} << bits);
        keys.swap(keys_);
        counts.swap(counts_);
        shift_ = 64 - bits;
        for (size_t i = 0; i < keys.size(); ++i)
            if (keys[i]) {
                const size_t s = slot(keys[i]);
                keys_[s] = keys[i];
                counts_[s] = counts[i];
            }
    }
};

// Counts n values: in a hash table, or, where a sample says that most occur once, by sorting them all.
inline Counts count_features(const uint64_t* values, size_t n) {
    constexpr size_t sample = 1 << 14;
    FeatureCounter counter;
    counter.add(values, std::min(n, sample));
    if (n <= sample || 2 * counter.distinct() < sample) {
        if (n > sample) counter.add(values + sample, n - sample);
        return counter.sorted();
    }
    Counts out;
    const auto sorted = sorted_rows(std::vector<uint64_t>(values, values + n), [](uint64_t v) { return v; });
    out.features.reserve(n);
    out.documents.reserve(n);
    for (size_t i = 0; i < n;) {
        size_t j = i;
        while (j < n && sorted[j] == sorted[i]) ++j;
        out.features.push_back(sorted[i]);
        out.documents.push_back(static_cast<int64_t>(j - i));
        i = j;
    }
    return out;
}

struct CountsView {
    const uint64_t* features;
    const int64_t* documents;
    size_t size;
};

// Both ascending; documents of features that are in both are added.
inline Counts merge_two(const CountsView& a, const CountsView& b) {
    Counts out;
    out.features.resize(a.size + b.size);
    out.documents.resize(a.size + b.size);
    size_t i = 0, j = 0, k = 0;
    while (i < a.size && j < b.size) {
        const uint64_t x = a.features[i], y = b.features[j];
        const bool left = x <= y, right = y <= x;
        out.features[k] = left ? x : y;
        out.documents[k++] = (left ? a.documents[i] : 0) + (right ? b.documents[j] : 0);
        i += left;
        j += right;
    }
    for (; i < a.size; ++i, ++k) out.features[k] = a.features[i], out.documents[k] = a.documents[i];
    for (; j < b.size; ++j, ++k) out.features[k] = b.features[j], out.documents[k] = b.documents[j];
    out.features.resize(k);
    out.documents.resize(k);
    return out;
}

// Merges ascending counts, neighbours first, so that each feature is copied log2(parts) times.
inline Counts merge_all(const std::vector<CountsView>& parts) {
    if (parts.empty()) return {};
    std::vector<Counts> made;
    std::vector<CountsView> views = parts;
    const auto view = [](const Counts& c) { return CountsView{c.features.data(), c.documents.data(), c.size()}; };
    do {
        std::vector<Counts> next;
        for (size_t i = 0; i + 1 < views.size(); i += 2) next.push_back(merge_two(views[i], views[i + 1]));
        if (views.size() % 2) next.push_back(merge_two(views.back(), {nullptr, nullptr, 0}));
        made = std::move(next);
        views.clear();
        for (const Counts& c : made) views.push_back(view(c));
    } while (views.size() > 1);
    return std::move(made[0]);
}

}  // namespace dejalu
