// Bindings of the other sketches: bottom-k and FracMinHash, document frequencies, weights, weighted sketches and sets.
#include "arrays.hpp"
#include "dispatch.hpp"
#include "feature_weights.hpp"
#include "fixed_log.hpp"
#include "frequencies.hpp"
#include "weighted_sets.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <new>

namespace nb = nanobind;
using namespace dejalu;
using nb::literals::operator""_a;

namespace {

namespace plain = dejalu::DEJALU_ISA;

void need(bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
}

void memory(bool ok) {
    if (!ok) throw std::bad_alloc();
}

template <class T>
std::unique_ptr<T[]> room(size_t n) { return std::unique_ptr<T[]>(new T[n]); }

// Takes over memory of malloc; an empty array has none.
template <class T>
Out<T> owned(T* p, size_t n) {
    nb::capsule owner(p ? static_cast<void*>(p) : std::malloc(1), [](void* q) noexcept { std::free(q); });
    return Out<T>(p, {n}, owner);
}

TextIn text_in(const In<uint8_t>& data, const In<int64_t>& offsets, int64_t shingle, int64_t unit, bool unspaced) {
    const Text t = text_of(data, offsets);
    if (shingle < 1) throw std::invalid_argument("shingle: must be at least 1, is " + std::to_string(shingle));
    if (unit != 0 && unit != 1) throw std::invalid_argument("unit: must be 0 (word) or 1 (char), is " + std::to_string(unit));
    return {t.data, t.offsets, t.n, static_cast<size_t>(shingle), unit == 1, unspaced};
}

int power_of_two(size_t n) {        // p of n = 2^p, or -1
    int p = 0;
    while (p < 63 && size_t{1} << p < n) ++p;
    return size_t{1} << p == n ? p : -1;
}

FeatureTable table_of(const In<uint64_t>& keys, const In<uint32_t>& weights, uint32_t unseen) {
    const int p = power_of_two(keys.shape(0));
    need(keys.shape(0) == weights.shape(0) && p >= 1, "keys, weights: need 2^p entries each, p >= 1, as weight_table gives");
    return {keys.data(), weights.data(), 64 - p, unseen};
}

// Offsets of n + 1 entries that stay inside `size` values.
int64_t documents_of(const In<int64_t>& offsets, size_t size) {
    need(offsets.shape(0) >= 1, "offsets: needs n + 1 entries, has none");
    const int64_t n = static_cast<int64_t>(offsets.shape(0)) - 1;
    for (int64_t i = 0; i < n; ++i) need(offsets.data()[i] <= offsets.data()[i + 1], "offsets: must not fall");
    need(offsets.data()[0] >= 0 && offsets.data()[n] <= static_cast<int64_t>(size), "offsets: beyond values");
    return n;
}

nb::tuple bottom_k(In<uint8_t> data, In<int64_t> offsets, int64_t shingle, int64_t unit, bool unspaced, int64_t k, uint64_t scaled) {
    const TextIn in = text_in(data, offsets, shingle, unit, unspaced);
    need(k >= 0 && (k > 0) != (scaled > 0), "k, scaled: one of them must be at least 1, the other 0");
    const size_t n = static_cast<size_t>(in.n);
    auto borders = room<int64_t>(n + 1), sizes = room<int64_t>(n);
    uint64_t* values = nullptr;
    {
        nb::gil_scoped_release release;
        memory(kernels().sketches.bottom_k(in, static_cast<size_t>(k), scaled ? ~0ull / scaled : ~0ull, borders.get(), sizes.get(), &values));
    }
    const size_t size = static_cast<size_t>(borders[n]);
    return nb::make_tuple(owned(values, size), to_numpy(std::move(borders), {n + 1}), to_numpy(std::move(sizes), {n}));
}

// Of pairs of ascending sets: members of both and of either, among the `most` smallest members of either.
nb::tuple shared_values(In<int64_t> a, In<int64_t> b, In<uint64_t> values, In<int64_t> offsets, In<uint64_t> other_values,
                        In<int64_t> other_offsets, int64_t most) {
    const int64_t n = documents_of(offsets, values.shape(0)), other_n = documents_of(other_offsets, other_values.shape(0));
    const size_t m = a.shape(0);
    need(b.shape(0) == m, "a and b: must have the same length");
    need(most >= 1, "most: must be at least 1");
    for (size_t i = 0; i < m; ++i)
        need(a.data()[i] >= 0 && a.data()[i] < n && b.data()[i] >= 0 && b.data()[i] < other_n, "a, b: no such sketch");
    auto both = room<int64_t>(m), either = room<int64_t>(m);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < m; ++i) {
            const uint64_t *x = values.data() + offsets.data()[a.data()[i]], *x_end = values.data() + offsets.data()[a.data()[i] + 1];
            const uint64_t *y = other_values.data() + other_offsets.data()[b.data()[i]];
            const uint64_t* const y_end = other_values.data() + other_offsets.data()[b.data()[i] + 1];
            int64_t shared = 0, seen = 0;
            for (; seen < most && x < x_end && y < y_end; ++seen) {
                const uint64_t v = *x, w = *y;
                shared += v == w;
                x += v <= w;
                y += w <= v;
            }
            both[i] = shared;
            either[i] = seen + std::min<int64_t>(most - seen, (x_end - x) + (y_end - y));
        }
    }
    return nb::make_tuple(to_numpy(std::move(both), {m}), to_numpy(std::move(either), {m}));
}

nb::tuple weighted_sketch(In<uint8_t> data, In<int64_t> offsets, int64_t shingle, int64_t unit, bool unspaced, int64_t slots,
                          In<uint64_t> keys, In<uint32_t> weights, uint32_t unseen) {
    const TextIn in = text_in(data, offsets, shingle, unit, unspaced);
    if (slots < 1 || slots > 1 << 20) throw std::invalid_argument("slots: must be in 1..1048576, is " + std::to_string(slots));
    const FeatureTable table = table_of(keys, weights, unseen);
    const size_t n = static_cast<size_t>(in.n), k = static_cast<size_t>(slots);
    auto signatures = room<uint32_t>(n * k);
    auto tokens = room<int64_t>(n);
    {
        nb::gil_scoped_release release;
        memory(kernels().sketches.weighted(in, k, table, signatures.get(), tokens.get()));
    }
    return nb::make_tuple(to_numpy(std::move(signatures), {n, k}), to_numpy(std::move(tokens), {n}));
}

nb::tuple feature_counts(In<uint8_t> data, In<int64_t> offsets, int64_t shingle, int64_t unit, bool unspaced) {
    const TextIn in = text_in(data, offsets, shingle, unit, unspaced);
    const size_t n = static_cast<size_t>(in.n);
    auto borders = room<int64_t>(n + 1);
    uint64_t* values = nullptr;
    uint32_t* counts = nullptr;
    {
        nb::gil_scoped_release release;
        memory(kernels().sketches.counts(in, borders.get(), &values, &counts));
    }
    const size_t size = static_cast<size_t>(borders[n]);
    return nb::make_tuple(owned(values, size), owned(counts, size), to_numpy(std::move(borders), {n + 1}));
}

nb::tuple counted(Counts&& c) { return nb::make_tuple(to_numpy(std::move(c.features)), to_numpy(std::move(c.documents))); }

nb::tuple py_count_features(In<uint64_t> values, In<int64_t> offsets) {
    const int64_t n = documents_of(offsets, values.shape(0));
    Counts found;
    {
        nb::gil_scoped_release release;
        found = dejalu::count_features(values.data() + offsets.data()[0], static_cast<size_t>(offsets.data()[n] - offsets.data()[0]));
    }
    return counted(std::move(found));
}

nb::tuple merge_counts(std::vector<std::pair<In<uint64_t>, In<int64_t>>> parts) {
    std::vector<CountsView> views;
    for (const auto& [features, documents] : parts) {
        need(features.shape(0) == documents.shape(0), "features, documents: need the same length");
        views.push_back({features.data(), documents.data(), features.shape(0)});
    }
    Counts merged;
    {
        nb::gil_scoped_release release;
        for (const CountsView& v : views)
            for (size_t i = 1; i < v.size; ++i) need(v.features[i - 1] < v.features[i], "features: must ascend without repetitions");
        merged = merge_all(views);
    }
    return counted(std::move(merged));
}

// ln((1 + n) / (1 + documents)) + 1 with 10 fractional bits, rounded.
Out<uint32_t> idf(In<int64_t> documents, int64_t n) {
    const size_t m = documents.shape(0);
    for (size_t i = 0; i < m; ++i) need(documents.data()[i] >= 0 && documents.data()[i] <= n, "documents: must lie in 0..n");
    auto out = room<uint32_t>(m);
    {
        nb::gil_scoped_release release;
        const plain::LogTable& log = plain::log_table();
        constexpr uint64_t LN2 = 0xB17217F8;                                           // ln 2 * 2^32, rounded
        const uint64_t all = plain::fixed_log2(log, static_cast<uint64_t>(n) + 1);
        for (size_t i = 0; i < m; ++i) {
            const uint64_t apart = all - plain::fixed_log2(log, static_cast<uint64_t>(documents.data()[i]) + 1);
            out[i] = static_cast<uint32_t>(1024 + ((apart >> 24) * LN2 + (1ull << 45) >> 46));
        }
    }
    return to_numpy(std::move(out), {m});
}

nb::tuple weight_table(In<uint64_t> features, In<uint32_t> weights) {
    const size_t n = features.shape(0);
    need(weights.shape(0) == n, "features, weights: need the same length");
    int p = 1;
    while ((size_t{1} << p) < 2 * n) ++p;
    const size_t size = size_t{1} << p;
    auto keys = room<uint64_t>(size);
    auto values = room<uint32_t>(size);
    {
        nb::gil_scoped_release release;
        plain::FeatureWeights::build(features.data(), weights.data(), n, 64 - p, keys.get(), values.get());
    }
    return nb::make_tuple(to_numpy(std::move(keys), {size}), to_numpy(std::move(values), {size}));
}

Out<uint32_t> feature_weights(In<uint64_t> values, In<uint64_t> keys, In<uint32_t> weights, uint32_t unseen) {
    const size_t m = values.shape(0);
    const plain::FeatureWeights look{table_of(keys, weights, unseen)};
    auto out = room<uint32_t>(m);
    {
        nb::gil_scoped_release release;
        look.look_up(values.data(), m, out.get());
    }
    return to_numpy(std::move(out), {m});
}

Out<double> weighted_jaccard(In<int64_t> a, In<int64_t> b, In<uint64_t> set_values, In<int64_t> set_offsets, In<uint64_t> keys,
                             In<uint32_t> weights, uint32_t unseen) {
    const int64_t n = documents_of(set_offsets, set_values.shape(0));
    const size_t m = a.shape(0);
    need(b.shape(0) == m, "a and b: must have the same length");
    for (size_t i = 0; i < m; ++i)
        need(a.data()[i] >= 0 && a.data()[i] < n && b.data()[i] >= 0 && b.data()[i] < n, "a, b: no such document");
    const plain::FeatureWeights look{table_of(keys, weights, unseen)};
    auto out = room<double>(m);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < m; ++i) {
            const int64_t* const o = set_offsets.data();
            const uint64_t *x = set_values.data() + o[a.data()[i]], *x_end = set_values.data() + o[a.data()[i] + 1];
            const uint64_t *y = set_values.data() + o[b.data()[i]], *y_end = set_values.data() + o[b.data()[i] + 1];
            uint64_t both = 0, either = 0;
            while (x < x_end || y < y_end) {
                const bool left = y == y_end || (x < x_end && *x <= *y), right = x == x_end || (y < y_end && *y <= *x);
                const uint64_t w = look(left ? *x : *y);
                both += left && right ? w : 0;
                either += w;
                x += left;
                y += right;
            }
            out[i] = either ? static_cast<double>(both) / static_cast<double>(either) : 0.0;
        }
    }
    return to_numpy(std::move(out), {m});
}

nb::tuple settle_weighted(In<int64_t> groups, In<uint64_t, 2> keys, In<uint8_t, 2> packed, In<uint64_t> set_values, In<int64_t> set_offsets,
                          In<uint32_t> element_weights, double threshold, int32_t min_matches, int64_t small) {
    const int64_t m = static_cast<int64_t>(keys.shape(0));
    need(groups.shape(0) >= 1 && groups.data()[0] == 0 && groups.data()[groups.shape(0) - 1] == m,
         "groups: must run from 0 to the number of documents");
    for (size_t i = 1; i < groups.shape(0); ++i) need(groups.data()[i - 1] <= groups.data()[i], "groups: must not fall");
    need(static_cast<int64_t>(packed.shape(0)) == m, "packed: needs one row per document");
    need(threshold > 0 && threshold <= 1, "threshold: must lie in (0, 1]");
    need(documents_of(set_offsets, set_values.shape(0)) == m, "set_offsets: needs one entry more than there are documents");
    need(element_weights.shape(0) == set_values.shape(0), "element_weights: needs one entry per value");
    auto twin = room<int64_t>(static_cast<size_t>(m));
    auto similarity = room<double>(static_cast<size_t>(m));
    {
        nb::gil_scoped_release release;
        const WeightedSets sets(set_values.data(), element_weights.data(), set_offsets.data(), m);
        const WeightedSettling s{keys.data(), static_cast<int64_t>(keys.shape(1)),
                                 {packed.data(), static_cast<int64_t>(packed.shape(1)), min_matches}, sets, threshold, small,
                                 twin.get(), similarity.get()};
        for (size_t g = 1; g < groups.shape(0); ++g) s.settle(groups.data()[g - 1], groups.data()[g]);
    }
    return nb::make_tuple(to_numpy(std::move(twin), {static_cast<size_t>(m)}), to_numpy(std::move(similarity), {static_cast<size_t>(m)}));
}

}  // namespace

void bind_sketches(nb::module_& m) {
    m.def("bottom_k", &bottom_k, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "shingle"_a, "unit"_a, "unspaced"_a, "k"_a, "scaled"_a);
    m.def("shared_values", &shared_values, "a"_a.noconvert(), "b"_a.noconvert(), "values"_a.noconvert(), "offsets"_a.noconvert(),
          "other_values"_a.noconvert(), "other_offsets"_a.noconvert(), "most"_a);
    m.def("weighted_sketch", &weighted_sketch, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "shingle"_a, "unit"_a, "unspaced"_a,
          "slots"_a, "keys"_a.noconvert(), "weights"_a.noconvert(), "unseen"_a);
    m.def("feature_counts", &feature_counts, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "shingle"_a, "unit"_a, "unspaced"_a);
    m.def("count_features", &py_count_features, "values"_a.noconvert(), "offsets"_a.noconvert());
    m.def("merge_counts", &merge_counts, "parts"_a);
    m.def("idf", &idf, "documents"_a.noconvert(), "n"_a);
    m.def("weight_table", &weight_table, "features"_a.noconvert(), "weights"_a.noconvert());
    m.def("feature_weights", &feature_weights, "values"_a.noconvert(), "keys"_a.noconvert(), "weights"_a.noconvert(), "unseen"_a);
    m.def("weighted_jaccard", &weighted_jaccard, "a"_a.noconvert(), "b"_a.noconvert(), "set_values"_a.noconvert(), "set_offsets"_a.noconvert(),
          "keys"_a.noconvert(), "weights"_a.noconvert(), "unseen"_a);
    m.def("settle_weighted", &settle_weighted, "groups"_a.noconvert(), "keys"_a.noconvert(), "packed"_a.noconvert(), "set_values"_a.noconvert(),
          "set_offsets"_a.noconvert(), "element_weights"_a.noconvert(), nb::kw_only(), "threshold"_a, "min_matches"_a, "small"_a);
}
