// Bindings of band grouping: keys to partitions in scratch memory, partitions to a forest of places, forest to labels.
#include "arrays.hpp"
#include "grouping.hpp"

namespace nb = nanobind;
using namespace dejalu;
using nb::literals::operator""_a;

namespace {

template <class T, int D = 1>
using InOut = nb::ndarray<T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;

void need(bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
}

template <class T>
const T* or_null(const std::optional<In<T>>& a) { return a ? a->data() : nullptr; }

Partitions partitions_of(const InOut<uint32_t, 3>& rows, const InOut<uint32_t>& chain, const InOut<uint32_t, 2>& parts) {
    const size_t blocks = rows.shape(0), block = rows.shape(1), count = parts.shape(1);
    need(rows.shape(2) == 3 || rows.shape(2) == 5, "rows: needs 3 or 5 words a row");
    need(block >= 2 && block <= (1u << 20) && (block & (block - 1)) == 0, "rows: rows of a block must be a power of two, 2 to 1,048,576");
    need(blocks >= 1 && blocks <= (uint64_t{1} << 32) / block - 1, "rows: must hold fewer than 2^32 rows");
    need(chain.shape(0) == blocks + 2, "chain: needs two entries more than there are blocks");
    need(parts.shape(0) == 4 && count >= 1 && count <= blocks, "parts: needs 4 rows, and no more partitions than there are blocks");
    uint32_t* p = parts.data();
    for (size_t i = 0; i < count; ++i)
        need(p[i] < blocks * block && p[count + i] < blocks && p[2 * count + i] >= 1 && p[2 * count + i] <= blocks, "parts: holds no such block");
    need(chain.data()[blocks + 1] <= blocks, "chain: counts more free blocks than there are");
    return {rows.data(), static_cast<uint32_t>(blocks), static_cast<uint32_t>(block), chain.data(), static_cast<uint32_t>(count),
            p, p + count, p + 2 * count, p + 3 * count};
}

Range range_of(uint64_t low, uint64_t span, uint32_t shift, uint32_t partitions) {
    need(shift < 64 && span >> shift < partitions, "span, shift: more partitions than parts has");
    need(low + span >= low, "low, span: beyond 64 bits");
    return {low, span, shift};
}

bool py_scatter_rows(In<uint64_t> key, std::optional<In<uint64_t>> high, std::optional<In<uint8_t>> skip, int64_t first, uint64_t low,
                     uint64_t span, uint32_t shift, InOut<uint32_t, 3> rows, InOut<uint32_t> chain, InOut<uint32_t, 2> parts,
                     InOut<uint32_t> parent, bool sketched, int64_t limit) {
    const size_t n = key.shape(0);
    const Partitions p = partitions_of(rows, chain, parts);
    const Range range = range_of(low, span, shift, p.count);
    need(parent.shape(0) < 0xffffffffu, "parent: needs fewer than 2^32 - 1 places");
    need(first >= 0 && static_cast<uint64_t>(first) + n <= parent.shape(0), "first: places must lie in parent");
    need(!high || high->shape(0) == n, "high: needs one entry per key");
    need(!skip || skip->shape(0) == n, "skip: needs one entry per key");
    need((rows.shape(2) == 5) == high.has_value(), "high: with rows of 5 words, and only then");
    need(limit >= 1, "limit: must be at least 1");
    nb::gil_scoped_release release;
    const Packed some{nullptr, 0, 0};                            // compacting never looks into sketches
    const Joining joining{{parent.data(), parent.shape(0)}, sketched ? &some : nullptr, static_cast<size_t>(limit)};
    const auto run = [&](auto grouping) {
        constexpr bool wide = std::is_same_v<decltype(grouping), Grouping<true>>;
        return scatter<wide>(key.data(), or_null(high), n, static_cast<uint32_t>(first), or_null(skip), range, p, grouping);
    };
    return high ? run(Grouping<true>(p, range, joining)) : run(Grouping<false>(p, range, joining));
}

void py_join_rows(uint64_t low, uint64_t span, uint32_t shift, InOut<uint32_t, 3> rows, InOut<uint32_t> chain, InOut<uint32_t, 2> parts,
                  InOut<uint32_t> parent, std::optional<In<uint8_t, 2>> packed, int32_t min_matches, int64_t limit) {
    const Partitions p = partitions_of(rows, chain, parts);
    const Range range = range_of(low, span, shift, p.count);
    need(!packed || packed->shape(0) == parent.shape(0), "packed: needs one row per place");
    need(limit >= 1, "limit: must be at least 1");
    nb::gil_scoped_release release;
    const Packed sketch = packed ? Packed{packed->data(), static_cast<int64_t>(packed->shape(1)), min_matches} : Packed{nullptr, 0, 0};
    const Joining joining{{parent.data(), parent.shape(0)}, packed ? &sketch : nullptr, static_cast<size_t>(limit)};
    const auto run = [&](auto grouping) {
        for (uint32_t i = 0; i < p.count; ++i) grouping.join(i);
    };
    if (rows.shape(2) == 5) run(Grouping<true>(p, range, joining));
    else run(Grouping<false>(p, range, joining));
}

void py_flatten(InOut<uint32_t> parent) {
    const size_t n = parent.shape(0);
    nb::gil_scoped_release release;
    for (size_t i = 0; i < n; ++i) need(parent.data()[i] <= i, "parent: no entry may be larger than its place");
    UnionFind{parent.data(), n}.flatten();
}

}  // namespace

void bind_grouping(nb::module_& m) {
    m.def("scatter_rows", &py_scatter_rows, "key"_a.noconvert(), "high"_a.none().noconvert(), "skip"_a.none().noconvert(), "first"_a, "low"_a,
          "span"_a, "shift"_a, "rows"_a.noconvert(), "chain"_a.noconvert(), "parts"_a.noconvert(), "parent"_a.noconvert(), "sketched"_a, "limit"_a);
    m.def("join_rows", &py_join_rows, "low"_a, "span"_a, "shift"_a, "rows"_a.noconvert(), "chain"_a.noconvert(), "parts"_a.noconvert(),
          "parent"_a.noconvert(), "packed"_a.none().noconvert(), "min_matches"_a, "limit"_a);
    m.def("flatten", &py_flatten, "parent"_a.noconvert());
}
