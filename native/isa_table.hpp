// One entry per kernel that is compiled for several instruction sets. Plain pointers and sizes only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "formats_table.hpp"
#include "simhash_table.hpp"
#include "sketches_table.hpp"
#include "text_table.hpp"

namespace dejalu {

struct Table {
    const char* name;
    TextTable text;             // fold, tokens, hashes, shingles, sketches (text_kernels.hpp)
    // groups: equal bytes of two packed sketches; common members of two sets (sorted_sets.hpp); a shared band key
    int32_t (*equal_bytes)(const uint8_t* a, const uint8_t* b, size_t n);
    int64_t (*common)(const uint64_t* a, int64_t na, const uint64_t* b, int64_t nb, int64_t need);
    bool (*any_equal)(const uint64_t* a, const uint64_t* b, size_t n);
    // bitmaps of 8 words (bitmap.hpp)
    void (*bitmap)(const uint64_t* set, size_t n, uint64_t* out);
    int64_t (*differing_bits)(const uint64_t* a, const uint64_t* b);
    FormatsTable formats;       // the inside of JSON strings; UTF-8 that is surely well-formed
    SketchesTable sketches;     // bottom-k, weighted sketches, feature counts
    // join: places of the signatures that differ from one in few bits (join_leaves.hpp)
    size_t (*near_signatures)(const uint64_t* signatures, size_t n, uint64_t own, uint32_t most, uint32_t* out);
    SimhashTable simhash;       // SimHash fingerprints (simhash.hpp)
    HammingTable hamming;       // fingerprints that differ from one in few bits (hamming_scan.hpp)
};

}  // namespace dejalu
