// Bindings of the kernels between sketches and verdicts: band keys, buckets, settling, pairs.
#include "arrays.hpp"
#include "bands.hpp"
#include "gather.hpp"
#include "pairs.hpp"
#include "settle.hpp"
#include "settle_texts.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace dejalu;
using nb::literals::operator""_a;

namespace {

void need(bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
}

template <class T>
const T* or_null(const std::optional<In<T>>& a) { return a ? a->data() : nullptr; }

Sets sets_of(const In<uint64_t>& values, const In<int64_t>& offsets, int64_t n) {
    need(static_cast<int64_t>(offsets.shape(0)) == n + 1, "set_offsets: needs one entry more than there are documents");
    for (int64_t i = 0; i < n; ++i) need(offsets.data()[i] <= offsets.data()[i + 1], "set_offsets: must not fall");
    need(offsets.data()[0] >= 0 && offsets.data()[n] <= static_cast<int64_t>(values.shape(0)), "set_offsets: beyond values");
    return {values.data(), offsets.data()};
}

void in_range(const In<int64_t>& a, int64_t n, const char* what) {
    for (size_t i = 0; i < a.shape(0); ++i) need(a.data()[i] >= 0 && a.data()[i] < n, what);
}

std::vector<Text> texts_of(const std::vector<std::pair<In<uint8_t>, In<int64_t>>>& batches, const In<int64_t>& which, const In<int64_t>& rows) {
    std::vector<Text> texts;
    for (const auto& [data, offsets] : batches) texts.push_back(text_of(data, offsets));
    in_range(which, static_cast<int64_t>(texts.size()), "which: no such batch");
    for (size_t i = 0; i < which.shape(0); ++i)
        need(rows.data()[i] >= 0 && rows.data()[i] < texts[static_cast<size_t>(which.data()[i])].n, "rows: no such text");
    return texts;
}

Out<uint64_t> py_band_keys(In<uint32_t, 2> signatures, int64_t bands, int64_t rows) {
    const int64_t n = signatures.shape(0), slots = signatures.shape(1);
    need(bands >= 1 && rows >= 1 && bands * rows <= slots, "bands * rows must lie in 1..slots");
    auto keys = std::make_unique_for_overwrite<uint64_t[]>(static_cast<size_t>(n * bands));
    {
        nb::gil_scoped_release release;
        band_keys(signatures.data(), n, slots, bands, rows, keys.get(), n);
    }
    return to_numpy<uint64_t>(std::move(keys), {static_cast<size_t>(bands), static_cast<size_t>(n)});
}

nb::tuple py_repeated(In<uint64_t> key, std::optional<In<uint8_t>> skip) {
    const int64_t n = key.shape(0);
    need(!skip || static_cast<int64_t>(skip->shape(0)) == n, "skip: needs one entry per key");
    std::vector<int64_t> place, bucket;
    {
        nb::gil_scoped_release release;
        const auto rows = repeated(key.data(), n, or_null(skip));
        place.reserve(rows.size());
        bucket.push_back(0);
        each_bucket(rows, [&](const Bucketed* first, const Bucketed* last) {
            for (const Bucketed* x = first; x < last; ++x) place.push_back(x->place);
            bucket.push_back(static_cast<int64_t>(place.size()));
        });
    }
    return nb::make_tuple(to_numpy(std::move(place)), to_numpy(std::move(bucket)));
}

nb::tuple py_settle(In<int64_t> groups, In<uint64_t, 2> keys, In<uint8_t, 2> packed, In<uint64_t> set_values, In<int64_t> set_offsets,
                    double threshold, int32_t min_matches, int64_t cap, int64_t settled, int64_t small) {
    const int64_t m = keys.shape(0);
    need(groups.shape(0) >= 1 && groups.data()[0] == 0 && groups.data()[groups.shape(0) - 1] == m, "groups: must run from 0 to the number of documents");
    for (size_t i = 1; i < groups.shape(0); ++i) need(groups.data()[i - 1] <= groups.data()[i], "groups: must not fall");
    need(static_cast<int64_t>(packed.shape(0)) == m, "packed: needs one row per document");
    need(threshold > 0 && threshold <= 1, "threshold: must lie in (0, 1]");
    need(cap >= 1, "cap: must be at least 1");
    need(settled == 0 || (groups.shape(0) == 2 && settled <= m), "settled: only with a single group");
    const Sets sets = sets_of(set_values, set_offsets, m);
    auto twin = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(m));
    auto similarity = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(m));
    int64_t skipped;
    {
        nb::gil_scoped_release release;
        Settling s{keys.data(), static_cast<int64_t>(keys.shape(1)),
                   {packed.data(), static_cast<int64_t>(packed.shape(1)), min_matches}, sets, threshold, cap, small,
                   twin.get(), similarity.get()};
        for (size_t g = 1; g < groups.shape(0); ++g) s.settle({groups.data()[g - 1], groups.data()[g], settled});
        skipped = s.skipped;
    }
    return nb::make_tuple(to_numpy<int64_t>(std::move(twin), {static_cast<size_t>(m)}),
                          to_numpy<double>(std::move(similarity), {static_cast<size_t>(m)}), skipped);
}

nb::tuple py_settle_texts(std::vector<std::pair<In<uint8_t>, In<int64_t>>> batches, In<int64_t> which, In<int64_t> rows, In<int64_t> groups,
                          In<uint64_t, 2> keys, In<uint8_t, 2> packed, int64_t shingle, int64_t unit, bool unspaced, double threshold,
                          int32_t min_matches, int64_t cap, int64_t small, int64_t chunk) {
    const int64_t m = keys.shape(0);
    need(groups.shape(0) >= 1 && groups.data()[0] == 0 && groups.data()[groups.shape(0) - 1] == m, "groups: must run from 0 to the number of documents");
    for (size_t i = 1; i < groups.shape(0); ++i) need(groups.data()[i - 1] <= groups.data()[i], "groups: must not fall");
    need(static_cast<int64_t>(packed.shape(0)) == m, "packed: needs one row per document");
    need(static_cast<int64_t>(which.shape(0)) == m && static_cast<int64_t>(rows.shape(0)) == m, "which, rows: need one entry per document");
    need(threshold > 0 && threshold <= 1, "threshold: must lie in (0, 1]");
    need(cap >= 1, "cap: must be at least 1");
    need(shingle >= 1 && (unit == 0 || unit == 1), "shingle: must be at least 1; unit: 0 or 1");
    const std::vector<Text> texts = texts_of(batches, which, rows);
    auto twin = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(m));
    auto similarity = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(m));
    int64_t skipped = 0;
    {
        nb::gil_scoped_release release;
        const Settling s{keys.data(), static_cast<int64_t>(keys.shape(1)),
                         {packed.data(), static_cast<int64_t>(packed.shape(1)), min_matches}, {}, threshold, cap, small,
                         twin.get(), similarity.get()};
        const ChosenTexts chosen{texts, which.data(), rows.data(), static_cast<size_t>(shingle), unit == 1, unspaced};
        settle_texts(chosen, groups.data(), static_cast<int64_t>(groups.shape(0)) - 1, chunk, s, skipped);
    }
    return nb::make_tuple(to_numpy<int64_t>(std::move(twin), {static_cast<size_t>(m)}),
                          to_numpy<double>(std::move(similarity), {static_cast<size_t>(m)}), skipped);
}

Out<double> py_jaccard(In<int64_t> a, In<int64_t> b, In<uint64_t> set_values, In<int64_t> set_offsets) {
    need(a.shape(0) == b.shape(0), "a and b: must have the same length");
    need(set_offsets.shape(0) >= 1, "set_offsets: needs at least one entry");
    const int64_t n = static_cast<int64_t>(set_offsets.shape(0)) - 1, m = a.shape(0);
    in_range(a, n, "a: no such document");
    in_range(b, n, "b: no such document");
    const Sets sets = sets_of(set_values, set_offsets, n);
    auto out = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(m));
    {
        nb::gil_scoped_release release;
        const Table& k = kernels();
        for (int64_t i = 0; i < m; ++i) {
            const int64_t x = a.data()[i], y = b.data()[i], nx = sets.size(x), ny = sets.size(y);
            const int64_t c = k.common(sets.begin(x), nx, sets.begin(y), ny, 0);
            out[static_cast<size_t>(i)] = nx == 0 || ny == 0 ? 0.0 : static_cast<double>(c) / static_cast<double>(nx + ny - c);
        }
    }
    return to_numpy<double>(std::move(out), {static_cast<size_t>(m)});
}

nb::tuple py_band_pairs(In<uint64_t, 2> keys, int64_t band, std::optional<In<uint8_t>> skip, In<uint8_t, 2> packed, In<uint64_t> set_values,
                        In<int64_t> set_offsets, In<int64_t> weight, double threshold, int32_t min_matches, int64_t most) {
    const int64_t n = keys.shape(1);
    need(band >= 0 && band < static_cast<int64_t>(keys.shape(0)), "band: no such band");
    need(static_cast<int64_t>(packed.shape(0)) == n && static_cast<int64_t>(weight.shape(0)) == n, "packed, weight: need one row per document");
    need(!skip || static_cast<int64_t>(skip->shape(0)) == n, "skip: needs one entry per document");
    const Sets sets = sets_of(set_values, set_offsets, n);
    std::vector<int64_t> a, b;
    std::vector<double> similarity;
    bool fits;
    {
        nb::gil_scoped_release release;
        const Packed sketch{packed.data(), static_cast<int64_t>(packed.shape(1)), min_matches};
        fits = band_pairs(repeated(keys.data() + band * n, n, or_null(skip)), keys.data(), n, band, sketch, sets, weight.data(), threshold,
                          most, a, b, similarity);
    }
    return nb::make_tuple(to_numpy(std::move(a)), to_numpy(std::move(b)), to_numpy(std::move(similarity)), fits);
}

nb::tuple py_gather(std::vector<std::pair<In<uint8_t>, In<int64_t>>> batches, In<int64_t> which, In<int64_t> rows) {
    const int64_t m = which.shape(0);
    need(static_cast<int64_t>(rows.shape(0)) == m, "which and rows: must have the same length");
    const std::vector<Text> texts = texts_of(batches, which, rows);
    auto offsets = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(m) + 1);
    gather_offsets(texts, which.data(), rows.data(), m, offsets.get());
    const size_t size = static_cast<size_t>(offsets[static_cast<size_t>(m)]);
    auto data = std::make_unique_for_overwrite<uint8_t[]>(size);
    {
        nb::gil_scoped_release release;
        gather_bytes(texts, which.data(), rows.data(), m, offsets.get(), data.get());
    }
    return nb::make_tuple(to_numpy<uint8_t>(std::move(data), {size}), to_numpy<int64_t>(std::move(offsets), {static_cast<size_t>(m) + 1}));
}

Out<uint64_t> py_mix(In<uint64_t> values) {
    const size_t n = values.shape(0);
    auto out = std::make_unique_for_overwrite<uint64_t[]>(n);
    for (size_t i = 0; i < n; ++i) out[i] = mix64(values.data()[i]);
    return to_numpy<uint64_t>(std::move(out), {n});
}

}  // namespace

void bind_groups(nb::module_& m) {
    m.def("band_keys", &py_band_keys, "signatures"_a.noconvert(), "bands"_a, "rows"_a);
    m.def("repeated", &py_repeated, "key"_a.noconvert(), "skip"_a.none().noconvert());
    m.def("settle", &py_settle, "groups"_a.noconvert(), "keys"_a.noconvert(), "packed"_a.noconvert(), "set_values"_a.noconvert(),
          "set_offsets"_a.noconvert(), "threshold"_a, "min_matches"_a, "cap"_a, "settled"_a, "small"_a);
    m.def("settle_texts", &py_settle_texts, "batches"_a, "which"_a.noconvert(), "rows"_a.noconvert(), "groups"_a.noconvert(), "keys"_a.noconvert(),
          "packed"_a.noconvert(), nb::kw_only(), "shingle"_a, "unit"_a, "unspaced"_a, "threshold"_a, "min_matches"_a, "cap"_a, "small"_a,
          "chunk"_a);
    m.def("jaccard", &py_jaccard, "a"_a.noconvert(), "b"_a.noconvert(), "set_values"_a.noconvert(), "set_offsets"_a.noconvert());
    m.def("band_pairs", &py_band_pairs, "keys"_a.noconvert(), "band"_a, "skip"_a.none().noconvert(), "packed"_a.noconvert(),
          "set_values"_a.noconvert(), "set_offsets"_a.noconvert(), "weight"_a.noconvert(), "threshold"_a, "min_matches"_a, "most"_a);
    m.def("gather", &py_gather, "batches"_a, "which"_a.noconvert(), "rows"_a.noconvert());
    m.def("mix64", &py_mix, "values"_a.noconvert());
}
