// The b-bit form of signatures: the lowest b bits of each slot, slot after slot in a little-endian stream of bits, every
// row beginning on a byte. (Li, König, "b-Bit Minwise Hashing", WWW 2010.)
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

// One row; bits is 1, 2, 4, 8 or 16. Writes ceil(slots * bits / 8) bytes.
static inline void pack_row(const u32* signature, size_t slots, u32 bits, u8* out) {
    if (bits == 8) {
        for (size_t j = 0; j < slots; ++j) out[j] = static_cast<u8>(signature[j]);
    } else if (bits == 16) {
        for (size_t j = 0; j < slots; ++j) {
            out[2 * j] = static_cast<u8>(signature[j]);
            out[2 * j + 1] = static_cast<u8>(signature[j] >> 8);
        }
    } else {
        const u32 mask = (1u << bits) - 1, per = 8 / bits;
        for (size_t j = 0; j < slots; j += per) {
            u32 byte = 0;
            for (u32 i = 0; i < per && j + i < slots; ++i) byte |= (signature[j + i] & mask) << (i * bits);
            out[j / per] = static_cast<u8>(byte);
        }
    }
}

// Number of equal slots of two packed rows (bits up to 16) or of two signatures (bits 32).
static inline u32 equal_slots(const u8* a, const u8* b, size_t slots, u32 bits) {
    u32 equal = 0;
    if (bits == 8) {
        for (size_t j = 0; j < slots; ++j) equal += a[j] == b[j];
    } else if (bits == 16) {
        for (size_t j = 0; j < slots; ++j) equal += a[2 * j] == b[2 * j] && a[2 * j + 1] == b[2 * j + 1];
    } else if (bits == 32) {
        for (size_t j = 0; j < slots; ++j) equal += load32(a + 4 * j) == load32(b + 4 * j);
    } else {
        const u32 mask = (1u << bits) - 1, per = 8 / bits;
        for (size_t j = 0; j < slots; ++j) {
            const u32 difference = static_cast<u32>(a[j / per] ^ b[j / per]) >> (j % per * bits) & mask;
            equal += difference == 0;
        }
    }
    return equal;
}

}  // namespace dejalu::DEJALU_ISA
