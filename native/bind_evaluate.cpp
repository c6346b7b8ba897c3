// Bindings of the kernels that measure a run: the exact overlap join behind --audit.
#include <nanobind/nanobind.h>

#include <bit>

#include "arrays.hpp"
#include "overlap.hpp"

namespace nb = nanobind;
using namespace dejalu;

namespace {

void check_ragged(const In<uint64_t>& values, const In<int64_t>& offsets) {
    if (offsets.shape(0) == 0) throw std::invalid_argument("offsets: needs n + 1 entries, has none");
    const size_t n = offsets.shape(0) - 1;
    const int64_t* o = offsets.data();
    if (o[0] < 0 || o[n] > static_cast<int64_t>(values.shape(0)))
        throw std::invalid_argument("offsets: must lie in 0.." + std::to_string(values.shape(0)) + " (the number of values)");
    for (size_t i = 0; i < n; ++i)
        if (o[i] > o[i + 1]) throw std::invalid_argument("offsets: must not fall (entry " + std::to_string(i + 1) + ")");
}

// The table comes back from Python: a damaged one must be an error, never a wild read.
void check_table(const In<uint64_t>& slot_key, const In<uint32_t>& slot_ref, const In<int64_t>& starts,
                 const In<uint32_t>& posting, size_t samples) {
    const auto fail = [](const char* what) { throw std::invalid_argument(std::string("table: ") + what); };
    if (starts.shape(0) == 0) fail("starts has no entry");
    const size_t capacity = slot_ref.shape(0), shingles = starts.shape(0) - 1;
    if (!std::has_single_bit(capacity) || slot_key.shape(0) != capacity) fail("slots must be a power of two, keys as many");
    size_t used = 0;
    for (size_t i = 0; i < capacity; ++i) {
        used += slot_ref.data()[i] != 0;
        if (slot_ref.data()[i] > shingles) fail("a slot points past the shingles");
    }
    if (used == capacity) fail("no slot is free");
    if (starts.data()[0] != 0 || starts.data()[shingles] != static_cast<int64_t>(posting.shape(0)))
        fail("starts must run from 0 to the number of postings");
    for (size_t i = 0; i < shingles; ++i)
        if (starts.data()[i] > starts.data()[i + 1]) fail("starts must not fall");
    for (size_t i = 0; i < posting.shape(0); ++i)
        if (posting.data()[i] >= samples) fail("a posting names a sample that is not there");
}

}  // namespace

void bind_evaluate(nb::module_& m) {
    m.def(
        "overlap_table",
        [](In<uint64_t> values, In<int64_t> offsets) {
            check_ragged(values, offsets);
            OverlapTable t;
            {
                nb::gil_scoped_release release;
                t = overlap_build(values.data(), offsets.data(), static_cast<int64_t>(offsets.shape(0)) - 1);
            }
            return nb::make_tuple(to_numpy(std::move(t.slot_key)), to_numpy(std::move(t.slot_ref)),
                                  to_numpy(std::move(t.starts)), to_numpy(std::move(t.posting)));
        },
        nb::arg("values").noconvert(), nb::arg("offsets").noconvert());

    m.def(
        "overlap_join",
        [](In<uint64_t> slot_key, In<uint32_t> slot_ref, In<int64_t> starts, In<uint32_t> posting,
           In<uint64_t> sample_values, In<int64_t> sample_offsets, In<uint64_t> values, In<int64_t> offsets,
           double threshold) {
            check_ragged(sample_values, sample_offsets);
            check_ragged(values, offsets);
            const size_t samples = sample_offsets.shape(0) - 1;
            check_table(slot_key, slot_ref, starts, posting, samples);
            if (!(threshold > 0 && threshold <= 1))
                throw std::invalid_argument("threshold: must lie in (0, 1], is " + std::to_string(threshold));
            std::vector<int64_t> doc, sample;
            std::vector<double> similarity;
            {
                nb::gil_scoped_release release;
                const OverlapView view{slot_key.data(),      slot_ref.data(),       slot_ref.shape(0), starts.data(), posting.data(),
                                       sample_values.data(), sample_offsets.data(), samples};
                overlap_join(view, values.data(), offsets.data(), offsets.shape(0) - 1, threshold,
                             [&](size_t d, uint32_t s, double j) {
                                 doc.push_back(static_cast<int64_t>(d));
                                 sample.push_back(static_cast<int64_t>(s));
                                 similarity.push_back(j);
                             });
            }
            return nb::make_tuple(to_numpy(std::move(doc)), to_numpy(std::move(sample)), to_numpy(std::move(similarity)));
        },
        nb::arg("slot_key").noconvert(), nb::arg("slot_ref").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("posting").noconvert(), nb::arg("sample_values").noconvert(), nb::arg("sample_offsets").noconvert(),
        nb::arg("values").noconvert(), nb::arg("offsets").noconvert(), nb::arg("threshold"));
}
