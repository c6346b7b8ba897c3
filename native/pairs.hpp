// Candidate pairs of one band: tested by the compact sketch, then by their true similarity.
#pragma once
#include <cstdint>
#include <vector>

#include "bands.hpp"
#include "dispatch.hpp"
#include "sets.hpp"

namespace dejalu {

struct Packed {                     // compact sketches: (n, width) bytes, one slot each
    const uint8_t* data;
    int64_t width;
    int32_t min_matches;
    bool pass(const Table& k, int64_t a, int64_t b) const {
        return k.equal_bytes(data + a * width, data + b * width, static_cast<size_t>(width)) >= min_matches;
    }
};

// All true pairs whose first shared band is `band`. Returns false when the weighted count passes `most`.
inline bool band_pairs(const std::vector<Bucketed>& rows, const uint64_t* keys, int64_t n, int64_t band, const Packed& sketch,
                       const Sets& sets, const int64_t* weight, double threshold, int64_t most,
                       std::vector<int64_t>& a, std::vector<int64_t>& b, std::vector<double>& similarity) {
    const Table& k = kernels();
    int64_t count = 0;
    bool fits = true;
    each_bucket(rows, [&](const Bucketed* first, const Bucketed* last) {
        for (const Bucketed* x = first; fits && x < last; ++x)
            for (const Bucketed* y = x + 1; fits && y < last; ++y) {
                bool seen = false;
                for (int64_t e = 0; e < band && !seen; ++e) seen = keys[e * n + x->place] == keys[e * n + y->place];
                if (seen || !sketch.pass(k, x->place, y->place)) continue;
                const double j = sets.jaccard(k, x->place, y->place, threshold);
                if (j < threshold) continue;
                a.push_back(x->place);
                b.push_back(y->place);
                similarity.push_back(j);
                count += weight[x->place] * weight[y->place];
                fits = count <= most;
            }
    });
    return fits;
}

}  // namespace dejalu
