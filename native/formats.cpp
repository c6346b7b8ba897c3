#include "formats.hpp"

#include "csv.hpp"
#include "jsonl.hpp"
#include "utf8_check.hpp"

namespace dejalu {

jsonl::Records jsonl::extract(const Part& part, const std::vector<std::string>& fields) {
    return Extractor(fields).part(part);
}

csv::Records csv::extract(const Part& part, uint8_t delimiter, const int64_t* columns, int64_t n_columns, int64_t expected) {
    return Extractor(delimiter, columns, n_columns, expected).part(part);
}

int64_t utf8_invalid(const uint8_t* data, int64_t size) {
    const uint8_t* const at = utf8::first_invalid(data, data + size);
    return at == data + size ? -1 : at - data;
}

}  // namespace dejalu
