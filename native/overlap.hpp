// Exact set overlap of a few sampled documents with every document of a stream: the heart of `--audit`.
//
// A table maps each shingle of the samples to the samples that hold it. It is four plain arrays, so that the caller
// can build it once and share it between threads:
//   slot_key  (capacity,)   shingle in this slot; meaningful only where slot_ref is not 0
//   slot_ref  (capacity,)   1 + place of the shingle in `starts`; 0 marks a free slot
//   starts    (shingles+1,) where each shingle's samples begin in `posting`
//   posting   (entries,)    samples, ascending within a shingle
// beside the samples' own shingles (ascending within a sample).
// The capacity is a power of two and at most half full; collisions go to the next slot.
#pragma once
#include <algorithm>
#include <cmath>
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
    const uint64_t* values;      // the samples' shingles, ascending within a sample
    const int64_t* offsets;
    size_t samples;
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

inline int64_t overlap_count(const uint64_t* a, const uint64_t* a_end, const uint64_t* b, const uint64_t* b_end) {
    int64_t both = 0;
    while (a < a_end && b < b_end) {
        const uint64_t x = *a, y = *b;
        both += x == y;
        a += x <= y;
        b += y <= x;
    }
    return both;
}

// Calls emit(document, sample, similarity) for each pair whose Jaccard similarity reaches the threshold: the same float64
// division and comparison as the verdicts use. Documents as `values` and `offsets`, ascending within a document.
//
// Exact, with a prefix filter (Bayardo, Ma and Srikant, WWW 2007, section 3): a sample that is similar enough shares at
// least t n of the document's n shingles, so it holds one of any n - ceil(t n) + 1 of them. The rarest are looked at:
// first those that no sample has, which for most documents are enough to be done.
template <class Emit>
void overlap_join(const OverlapView& t, const uint64_t* values, const int64_t* offsets, size_t docs, double threshold,
                  Emit emit) {
    std::vector<uint8_t> seen(t.samples, 0);
    std::vector<uint32_t> candidates, refs;
    const auto length = [&](uint32_t ref) { return t.starts[ref] - t.starts[ref - 1]; };
    for (size_t d = 0; d < docs; ++d) {
        const uint64_t *begin = values + offsets[d], *end = values + offsets[d + 1];
        const int64_t n = end - begin;
        // A little less than t n, so that no rounding can lose a pair; the test below is the exact one.
        const int64_t least = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(threshold * static_cast<double>(n) - 1e-6)));
        const int64_t enough = n - least + 1;
        int64_t absent = 0;
        refs.clear();
        for (const uint64_t* v = begin; v < end && absent < enough; ++v) {
            const uint32_t ref = overlap_find(t, *v);
            if (ref == 0) ++absent;
            else refs.push_back(ref);
        }
        if (absent >= enough) continue;
        const size_t look = static_cast<size_t>(enough - absent);
        if (look < refs.size())
            std::nth_element(refs.begin(), refs.begin() + static_cast<ptrdiff_t>(look), refs.end(),
                             [&](uint32_t a, uint32_t b) { return length(a) < length(b); });
        candidates.clear();
        for (size_t i = 0; i < look && i < refs.size(); ++i)
            for (int64_t p = t.starts[refs[i] - 1]; p < t.starts[refs[i]]; ++p)
                if (const uint32_t s = t.posting[p]; !seen[s]) seen[s] = 1, candidates.push_back(s);
        std::sort(candidates.begin(), candidates.end());
        for (const uint32_t s : candidates) {
            seen[s] = 0;
            const uint64_t *sample = t.values + t.offsets[s], *sample_end = t.values + t.offsets[s + 1];
            const int64_t size = sample_end - sample;
            if (static_cast<double>(std::min(n, size)) < threshold * static_cast<double>(std::max(n, size)) - 1e-6) continue;
            const int64_t both = overlap_count(begin, end, sample, sample_end);
            const double similarity = static_cast<double>(both) / static_cast<double>(n + size - both);
            if (similarity >= threshold) emit(d, s, similarity);
        }
    }
}

}  // namespace dejalu
