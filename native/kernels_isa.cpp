// Compiled once per instruction set with -DDEJALU_ISA=<name>; every header below puts its code into that namespace,
// so that no inline function of one instruction set is ever linked into another's path.
#include "isa_table.hpp"
#include "bitmap.hpp"
#include "bottom_k.hpp"
#include "equal_bytes.hpp"
#include "hamming_scan.hpp"
#include "join_leaves.hpp"
#include "json_string.hpp"
#include "simhash.hpp"
#include "sorted_sets.hpp"
#include "text_kernels.hpp"
#include "utf8_sure.hpp"
#include "weighted_sketch.hpp"

#define DEJALU_STRING_(x) #x
#define DEJALU_STRING(x) DEJALU_STRING_(x)

namespace dejalu::DEJALU_ISA {

const Table& table() {
    static const Table t = {
        DEJALU_STRING(DEJALU_ISA),
        {&sketch_texts, &shingle_sets, &folded_texts, &bytes_hashes, &pack_rows, &equal_rows},
        &equal_bytes,
        &common,
        &any_equal,
        &bitmap,
        &differing_bits,
        {&json_skip, &json_copy, &utf8_sure},
        {&bottom_k_texts, &weighted_texts, &feature_counts},
        &near_signatures,
        {&simhash_texts, &simhash_features},
        {&near_64, &near_128},
    };
    return t;
}

}  // namespace dejalu::DEJALU_ISA
