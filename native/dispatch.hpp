// The table of kernels that differ by instruction set, and the choice made once at import.
//
// kernels_isa.cpp is compiled once per instruction set; each copy fills one Table. Every entry gives the same bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include "isa_table.hpp"

namespace dejalu {

const Table& kernels();             // the chosen table
const char* isa();                  // its name: "baseline", "avx2", "avx512"
const char* const* available_isas();// null-terminated; the names this machine can run, best last

}  // namespace dejalu
