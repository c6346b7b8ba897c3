// Exact set overlap of a few sampled documents with every document of a stream: the heart of `--audit`.
//
// A table maps each shingle of the samples to the samples that hold it. It is four plain arrays, so that the caller
// can build it once and share it between threads:
//   slot_key  (capacity,)   shingle in this slot; meaningful only where slot_ref is not 0
//   slot_ref  (capacity,)   1 + place of the shingle in `starts`; 0 marks a free slot
//   starts    (shingles+1,) where each shingle's samples begin in `posting`
//   posting   (entries,)    samples, ascending within a shingle
// The capacity is a power of two and at most half full; collisions go to the next slot.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace dejalu {

struct OverlapTable {
    std::vector<uint64_t> slot_key;
    std::vector<uint32_t> slot_ref;
    std::vector<int64_t> starts;
    std::vector<uint32_t> posting;
};

struct OverlapView {
    const uint64_t* slot_key;
    const uint32_t* slot_ref;
    size_t capacity;
    const int64_t* starts;
    const uint32_t* posting;
};

// Shingle hashes are mixed already; one multiplication protects against callers whose values are not.
inline size_t overlap_slot(uint64_t key, size_t capacity) {
    return static_cast<size_t>((key * 0x9E3779B97F4A7C15ull) >> 32) & (capacity - 1);
}

inline uint32_t overlap_find(const OverlapView& t, uint64_t key) {
    for (size_t s = overlap_slot(key, t.capacity);; s = (s + 1) & (t.capacity - 1)) {
        if (t.slot_ref[s] == 0) return 0;
        if (t.slot_key[s] == key) return t.slot_ref[s];
    }
}

// values: the samples' distinct shingles, one run per sample, offsets as in Arrow.
inline OverlapTable overlap_build(const uint64_t* values, const int64_t* offsets, int64_t samples) {
    struct Entry {
        uint64_t key;
        uint32_t sample;
    };
    std::vector<Entry> entries;
    entries.reserve(static_cast<size_t>(offsets[samples] - offsets[0]));
    for (int64_t s = 0; s < samples; ++s)
        for (int64_t i = offsets[s]; i < offsets[s + 1]; ++i) entries.push_back({values[i], static_cast<uint32_t>(s)});
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.sample < b.sample; });

    OverlapTable t;
    t.posting.reserve(entries.size());
    std::vector<uint64_t> keys;
    for (const Entry& e : entries) {
        if (keys.empty() || keys.back() != e.key) {
            keys.push_back(e.key);
            t.starts.push_back(static_cast<int64_t>(t.posting.size()));
        }
        t.posting.push_back(e.sample);
    }
    t.starts.push_back(static_cast<int64_t>(t.posting.size()));

    size_t capacity = 16;
    while (capacity < 2 * keys.size()) capacity *= 2;
    t.slot_key.assign(capacity, 0);
    t.slot_ref.assign(capacity, 0);
    for (size_t k = 0; k < keys.size(); ++k) {
        size_t s = overlap_slot(keys[k], capacity);
        while (t.slot_ref[s] != 0) s = (s + 1) & (capacity - 1);
        t.slot_key[s] = keys[k];
        t.slot_ref[s] = static_cast<uint32_t>(k + 1);
    }
    return t;
}

// Calls emit(document, sample, similarity) for each pair whose Jaccard similarity reaches the threshold: the same float64
// division and comparison as the verdicts use. `sizes` holds the size of each sample's set.
template <class Emit>
void overlap_join(const OverlapView& t, const int64_t* sizes, size_t samples, const uint64_t* values,
                  const int64_t* offsets, size_t docs, double threshold, Emit emit) {
    std::vector<int64_t> common(samples, 0);
    std::vector<uint32_t> touched;
    for (size_t d = 0; d < docs; ++d) {
        touched.clear();
        for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i) {
            const uint32_t ref = overlap_find(t, values[i]);
            if (ref == 0) continue;
            for (int64_t p = t.starts[ref - 1]; p < t.starts[ref]; ++p) {
                const uint32_t s = t.posting[p];
                if (common[s]++ == 0) touched.push_back(s);
            }
        }
        std::sort(touched.begin(), touched.end());
        for (const uint32_t s : touched) {
            const int64_t both = common[s];
            common[s] = 0;
            const int64_t either = sizes[s] + (offsets[d + 1] - offsets[d]) - both;
            const double similarity = static_cast<double>(both) / static_cast<double>(either);
            if (similarity >= threshold) emit(d, s, similarity);
        }
    }
}

}  // namespace dejalu
