// What the format kernels take and give; formats.cpp is compiled apart from the bindings, at full optimisation.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace dejalu {

// A run of bytes of a file, and which of its records are wanted (null: all; else ascending places, from its first record).
struct Part {
    const uint8_t* data;
    int64_t size;
    bool final;                                                // the file ends here
    const int64_t* wanted;
    int64_t n_wanted;
};

// What is said of a part: whole records only, unless it is final.
struct Records {
    int64_t rows = 0, lines = 0, consumed = 0;                 // records, physical lines and bytes gone through
    std::vector<int64_t> row, start, end, line;                // of each record given; line end included
    std::vector<uint8_t> status;
    std::vector<StringColumn> text;                            // per field or column

    void open(const Part& part, size_t columns) {
        text.resize(columns);
        if (columns) text[0].data.reserve(part.size + 64);
    }
};

namespace jsonl {
enum Status : uint8_t { kGood, kNotObject, kBroken, kTrailing };
struct Records : dejalu::Records {
    std::vector<int64_t> where;                                // byte of the record where damage was found
    std::vector<std::vector<uint8_t>> kind, replaced;          // per field
};
Records extract(const Part& part, const std::vector<std::string>& fields);
}  // namespace jsonl

namespace csv {
enum Status : uint8_t { kGood, kWrongCount, kUnclosed };
struct Records : dejalu::Records {
    std::vector<int64_t> fields;                               // number of fields of each record
};
Records extract(const Part& part, uint8_t delimiter, const int64_t* columns, int64_t n_columns, int64_t expected);
}  // namespace csv

int64_t utf8_invalid(const uint8_t* data, int64_t size);       // place of the first ill-formed part; -1 where there is none

}  // namespace dejalu
