// Line formats: jsonl and csv blocks to records and text columns; the check of UTF-8.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "formats.hpp"

namespace dejalu {
namespace {

using Places = std::optional<In<int64_t>>;

Part part_of(const In<uint8_t>& block, bool final, const Places& wanted) {
    static const int64_t none = 0;                             // an empty array's data may be null, which means all
    const int64_t n = wanted ? static_cast<int64_t>(wanted->shape(0)) : 0;
    return {block.data(), static_cast<int64_t>(block.shape(0)), final, !wanted ? nullptr : n ? wanted->data() : &none, n};
}

Out<uint8_t> own(Bytes&& bytes) {
    const size_t size = static_cast<size_t>(bytes.size());
    uint8_t* data = bytes.release();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return Out<uint8_t>(data, 1, &size, owner);
}

nb::list columns(std::vector<StringColumn>& text) {
    nb::list list;
    for (auto& c : text) list.append(nb::make_tuple(own(std::move(c.data)), to_numpy(std::move(c.offsets))));
    return list;
}

nb::list flags(std::vector<std::vector<uint8_t>>& all) {
    nb::list list;
    for (auto& v : all) list.append(to_numpy(std::move(v)));
    return list;
}

nb::tuple jsonl_extract(const In<uint8_t>& block, const std::vector<std::string>& fields, bool final, const Places& wanted) {
    jsonl::Records r;
    {
        nb::gil_scoped_release free;
        r = jsonl::extract(part_of(block, final, wanted), fields);
    }
    return nb::make_tuple(r.rows, r.lines, r.consumed, to_numpy(std::move(r.row)), to_numpy(std::move(r.start)),
                          to_numpy(std::move(r.end)), to_numpy(std::move(r.line)), to_numpy(std::move(r.where)),
                          to_numpy(std::move(r.status)), columns(r.text), flags(r.kind), flags(r.replaced));
}

nb::tuple csv_extract(const In<uint8_t>& block, int delimiter, const In<int64_t>& places, int64_t expected, bool final,
                      const Places& wanted) {
    if (delimiter < 0 || delimiter > 0x7F || delimiter == '"' || delimiter == '\n' || delimiter == '\r')
        throw std::invalid_argument("delimiter: needs an ASCII character that is no quote and no line end");
    for (size_t i = 0; i < places.shape(0); ++i)
        if (places.data()[i] < 0 || places.data()[i] > (1 << 20))
            throw std::invalid_argument("columns: places must lie in 0..2^20");
    for (size_t i = 0; i < places.shape(0); ++i)
        for (size_t j = 0; j < i; ++j)
            if (places.data()[i] == places.data()[j]) throw std::invalid_argument("columns: a place occurs twice");
    csv::Records r;
    {
        nb::gil_scoped_release free;
        r = csv::extract(part_of(block, final, wanted), static_cast<uint8_t>(delimiter), places.data(),
                         static_cast<int64_t>(places.shape(0)), expected);
    }
    return nb::make_tuple(r.rows, r.lines, r.consumed, to_numpy(std::move(r.row)), to_numpy(std::move(r.start)),
                          to_numpy(std::move(r.end)), to_numpy(std::move(r.line)), to_numpy(std::move(r.fields)),
                          to_numpy(std::move(r.status)), columns(r.text));
}

int64_t utf8_first_invalid(const In<uint8_t>& data) {
    nb::gil_scoped_release free;
    return utf8_invalid(data.data(), static_cast<int64_t>(data.shape(0)));
}

}  // namespace
}  // namespace dejalu

namespace nb = nanobind;

void bind_formats(nb::module_& m) {
    using namespace nb::literals;
    m.def("jsonl_extract", &dejalu::jsonl_extract, "block"_a.noconvert(), "fields"_a, "final"_a,
          "wanted"_a.noconvert().none());
    m.def("csv_extract", &dejalu::csv_extract, "block"_a.noconvert(), "delimiter"_a, "columns"_a.noconvert(), "expected"_a,
          "final"_a, "wanted"_a.noconvert().none());
    m.def("utf8_invalid", &dejalu::utf8_first_invalid, "data"_a.noconvert());
}
