// What the text kernels take and give; part of the table of isa_table.hpp. Plain pointers and sizes only.
#pragma once
#include <cstddef>
#include <cstdint>

namespace dejalu {

struct TextIn {                 // bytes and n + 1 offsets, as in an Arrow large_string array
    const uint8_t* data;
    const int64_t* offsets;
    int64_t n;
    size_t shingle;             // units per shingle
    bool by_char;               // unit: code points instead of tokens
    bool unspaced;              // scripts without spaces are split letter by letter
    // With `starts`, text i is `sizes[i]` bytes from starts[i], wherever that is; data and offsets are not used.
    const uint8_t* const* starts = nullptr;
    const int64_t* sizes = nullptr;
};

struct SketchOut {
    size_t slots;
    uint32_t* signatures;       // (n, slots), or (step, slots) where `full` is given
    uint64_t* token_hash;       // (n, 2): high, low half
    int64_t* tokens;            // (n,)
    uint8_t* flags;             // (n,)
    uint32_t* long_tokens;      // (n,)
    // With `full`, signatures hold `step` documents at a time: it is called with the first document and their number
    // before they are written over.
    int64_t step = 0;
    void (*full)(void* self, int64_t first, int64_t n) = nullptr;
    void* self = nullptr;
};

// Memory of `shingle_sets` that its next call uses again, on the same instruction set and with the same units.
struct SetScratch {
    void* state = nullptr;
    void (*free)(void*) = nullptr;
    SetScratch() = default;
    SetScratch(const SetScratch&) = delete;
    SetScratch& operator=(const SetScratch&) = delete;
    ~SetScratch() { if (free) free(state); }
};

// Functions that return bool give false when memory ends (or a token passes 3.75 GiB).
struct TextTable {
    bool (*sketch)(const TextIn&, const SketchOut&);
    bool (*shingle_sets)(const TextIn&, int64_t* offsets, uint64_t** values, SetScratch* scratch);
    bool (*folded)(const TextIn&, int64_t* doc_offsets, uint8_t** data, int64_t** token_offsets);
    void (*bytes_hash)(const TextIn&, uint64_t* out);
    void (*pack)(const uint32_t* signatures, int64_t n, size_t slots, uint32_t bits, uint8_t* out);
    void (*equal_slots)(const uint8_t* a, const uint8_t* b, int64_t n, size_t slots, uint32_t bits, uint32_t* out);
};

}  // namespace dejalu
