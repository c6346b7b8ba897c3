// Settling straight from texts: a few groups at a time, so that their shingle sets stay in the cache; texts are read
// where they lie.
#pragma once
#include <cstdint>
#include <new>
#include <vector>

#include "arrays.hpp"
#include "settle.hpp"

namespace dejalu {

struct ChosenTexts {                // text d is row rows[d] of batch which[d]
    const std::vector<Text>& batches;
    const int64_t* which;
    const int64_t* rows;
    size_t shingle;
    bool by_char, unspaced;

    int64_t size(int64_t d) const {
        const int64_t* o = batches[static_cast<size_t>(which[d])].offsets + rows[d];
        return o[1] - o[0];
    }
    const uint8_t* start(int64_t d) const {
        const Text& t = batches[static_cast<size_t>(which[d])];
        return t.data + t.offsets[rows[d]];
    }
};

// Settles the groups borders[0..n]; whole groups are taken together while their texts stay within `chunk` bytes, a larger one
// alone. `s` has everything but the sets, which are made here.
inline void settle_texts(const ChosenTexts& texts, const int64_t* borders, int64_t n, int64_t chunk, const Settling& given, int64_t& skipped) {
    const Table& k = kernels();
    std::vector<const uint8_t*> starts;
    std::vector<int64_t> sizes, set_offsets;
    SetScratch scratch;
    for (int64_t g = 0; g < n;) {
        const int64_t first = borders[g];
        int64_t next = g, size = 0;
        while (next < n) {
            int64_t more = 0;
            for (int64_t d = borders[next]; d < borders[next + 1]; ++d) more += texts.size(d);
            if (next > g && size + more > chunk) break;
            size += more;
            ++next;
        }
        const int64_t m = borders[next] - first;
        starts.clear();
        sizes.clear();
        for (int64_t d = first; d < first + m; ++d) {
            starts.push_back(texts.start(d));
            sizes.push_back(texts.size(d));
        }
        set_offsets.resize(static_cast<size_t>(m) + 1);
        uint64_t* values = nullptr;
        if (!k.text.shingle_sets({nullptr, nullptr, m, texts.shingle, texts.by_char, texts.unspaced, starts.data(), sizes.data()}, set_offsets.data(), &values, &scratch))
            throw std::bad_alloc();
        Settling s = given.from(first, {values, set_offsets.data()});
        for (; g < next; ++g) s.settle({borders[g] - first, borders[g + 1] - first, 0});
        for (int64_t d = first; d < first + m; ++d)
            if (given.twin[d] >= 0) given.twin[d] += first;
        skipped += s.skipped;
    }
}

}  // namespace dejalu
