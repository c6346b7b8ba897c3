// The generated Unicode tables (unicode_table.inc, made by scripts/unicode_table.py): layout and look-up.
//
// fast: one 32-bit entry per code point, in blocks of 64. What a code point folds to if nothing that follows joins it:
//   bits 0-20  payload: the folded code point (SINGLE); length << 16 | place in pool (POOL); combining class (INERT)
//   bits 21-23 class of the folded code point
//   BOUNDARY   nothing before this code point can change what it folds to, nor be changed by it
//   SOLID      nothing after it can
//   STEADY     marks whose entry is INERT may follow in rising combining class without changing it
//   INERT      a mark that folds to itself, composes with nothing, and only has to stand in order
//   DROPPED    folds to nothing and has combining class 0
// slow: what the general path needs: combining class, canonical decomposition, and the NFD of NFKC_Casefold.
#pragma once
#include <cstddef>
#include <cstdint>

namespace dejalu::unicode {

enum Class : uint32_t { SEPARATOR, WORD, MARK, UNSPACED, PICTOGRAPH };
enum Kind : uint32_t { IDENTITY, SINGLE, POOL };
inline constexpr uint32_t BOUNDARY = 1u << 24, SOLID = 1u << 25, STEADY = 1u << 28, INERT = 1u << 29, DROPPED = 1u << 30;

struct Slow {
    uint8_t ccc;
    uint8_t decomposed;         // length of the canonical decomposition, 0: itself
    uint8_t mapped;             // length of the mapping of a code point that is its own decomposition, 255: itself
    uint16_t decomposed_at;     // places in pool
    uint16_t mapped_at;
};

extern const uint16_t fast_index[];
extern const uint32_t fast_blocks[];
extern const uint16_t slow_index[];
extern const uint16_t slow_blocks[];
extern const uint32_t pool[];
extern const uint64_t compose_keys[];      // first << 21 | second; open addressing in 4096 places, 0 = free
extern const uint32_t compose_made[];
extern const Slow slow_records[];

}  // namespace dejalu::unicode
