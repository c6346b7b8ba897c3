// Band keys from signatures, and the buckets of equal keys in one band.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "mix.hpp"

namespace dejalu {

// keys[b * stride + d] = hash of band b's `rows` slots of document d < n. Two slots are absorbed per mixing step.
inline void band_keys(const uint32_t* signatures, int64_t n, int64_t slots, int64_t bands, int64_t rows, uint64_t* keys, int64_t stride) {
    for (int64_t d = 0; d < n; ++d) {
        const uint32_t* s = signatures + d * slots;
        for (int64_t b = 0; b < bands; ++b, s += rows) {
            uint64_t h = mix64(static_cast<uint64_t>(b) + 0x9e3779b97f4a7c15ull);
            int64_t r = 0;
            for (; r + 1 < rows; r += 2) h = mix64(h ^ (s[r] | static_cast<uint64_t>(s[r + 1]) << 32));
            if (r < rows) h = mix64(h ^ s[r]);
            keys[b * stride + d] = h;
        }
    }
}

struct Bucketed {
    uint64_t key;
    int64_t place;
    bool operator<(const Bucketed& o) const { return key != o.key ? key < o.key : place < o.place; }
};

// Sorts rows whose keys are well mixed and whose places ascend: one scatter by the leading bits leaves runs of a few rows,
// which insertion puts in order; equal keys keep their order of places.
inline void sort_mixed(std::vector<Bucketed>& rows) {
    if (rows.size() < 64) {
        std::sort(rows.begin(), rows.end());
        return;
    }
    int bits = 1;
    while (bits < 24 && (size_t{1} << (bits + 1)) <= rows.size()) ++bits;
    std::vector<size_t> start((size_t{1} << bits) + 1);
    for (const Bucketed& r : rows) ++start[(r.key >> (64 - bits)) + 1];
    for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    std::vector<Bucketed> out(rows.size());
    for (const Bucketed& r : rows) out[start[r.key >> (64 - bits)]++] = r;    // start[b] becomes the end of run b
    size_t first = 0;
    for (size_t b = 0; b + 1 < start.size(); ++b) {
        const size_t last = start[b];
        if (last - first > 32) std::stable_sort(out.begin() + first, out.begin() + last, [](const Bucketed& x, const Bucketed& y) { return x.key < y.key; });
        else
            for (size_t i = first + 1; i < last; ++i) {
                const Bucketed r = out[i];
                size_t j = i;
                for (; j > first && out[j - 1].key > r.key; --j) out[j] = out[j - 1];
                out[j] = r;
            }
        first = last;
    }
    rows.swap(out);
}

// The places whose key occurs at least twice, sorted by (key, place). Most keys of a band are alone: two bitmaps filled in
// one pass drop nearly all of them, so that only a few are sorted.
inline std::vector<Bucketed> repeated(const uint64_t* key, int64_t n, const uint8_t* skip) {
    int shift = 64 - 6;
    while (shift > 0 && (int64_t{1} << (64 - shift)) < 8 * n) --shift;
    const uint64_t words = (uint64_t{1} << (64 - shift)) / 64;
    std::vector<uint64_t> once(words), twice(words);
    for (int64_t i = 0; i < n; ++i) {
        if (skip && skip[i]) continue;
        const uint64_t cell = key[i] >> shift, bit = uint64_t{1} << (cell & 63);
        twice[cell >> 6] |= once[cell >> 6] & bit;
        once[cell >> 6] |= bit;
    }
    std::vector<Bucketed> out;
    for (int64_t i = 0; i < n; ++i) {
        if (skip && skip[i]) continue;
        const uint64_t cell = key[i] >> shift;
        if (twice[cell >> 6] >> (cell & 63) & 1) out.push_back({key[i], i});
    }
    sort_mixed(out);
    size_t kept = 0;                                             // cells collide: drop keys that are alone after all
    for (size_t i = 0; i < out.size();) {
        size_t j = i + 1;
        while (j < out.size() && out[j].key == out[i].key) ++j;
        if (j - i > 1)
            for (size_t k = i; k < j; ++k) out[kept++] = out[k];
        i = j;
    }
    out.resize(kept);
    return out;
}

// Calls f(first, last) for every run of equal keys.
template <class F>
void each_bucket(const std::vector<Bucketed>& rows, F f) {
    for (size_t i = 0; i < rows.size();) {
        size_t j = i + 1;
        while (j < rows.size() && rows[j].key == rows[i].key) ++j;
        f(&rows[i], &rows[j]);
        i = j;
    }
}

}  // namespace dejalu
