// Leaves of the format kernels, one copy per instruction set; part of the table of isa_table.hpp. Plain pointers only.
#pragma once
#include <cstdint>

namespace dejalu {

// What was found inside a JSON string: bits of `found`.
enum JsonFound : uint32_t {
    kClosed = 1,                // its closing quote; without this bit there is damage
    kEscaped = 2,               // a backslash
    kHigh = 4,                  // a byte above 0x7F
    kLone = 8,                  // a lone surrogate, written as U+FFFD
};

struct FormatsTable {
    // From behind the opening quote at p to the closing quote or to damage. 64 bytes can be read up to `safe`, whatever
    // they are. json_copy writes the text to `to`, which has room for end - p + 64 bytes, and leaves `to` at its end.
    const uint8_t* (*json_skip)(const uint8_t* p, const uint8_t* end, const uint8_t* safe, uint32_t& found);
    const uint8_t* (*json_copy)(const uint8_t* p, const uint8_t* end, const uint8_t* safe, uint8_t*& to, uint32_t& found);
    // Some place up to which [p, end) is certainly well-formed UTF-8, between code points; end where all of it is.
    const uint8_t* (*utf8_sure)(const uint8_t* p, const uint8_t* end);
};

}  // namespace dejalu
