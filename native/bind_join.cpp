// Bindings of the set-similarity join: ranks, settling, pairs, components, short and long texts together.
#include <nanobind/nanobind.h>

#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "join_mixed.hpp"
#include "join_pairs.hpp"
#include "join_rank.hpp"
#include "join_settle.hpp"

namespace nb = nanobind;
using namespace dejalu;
using nb::literals::operator""_a;

namespace {

template <class T>
using MaybeIn = std::optional<In<T>>;

void need(bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
}

int64_t thread_count(int64_t threads) {
    if (threads < 1) throw std::invalid_argument("threads: must be at least 1, is " + std::to_string(threads));
    return threads;
}

void check_threshold(double t) {
    if (!(t > 0 && t <= 1)) throw std::invalid_argument("threshold: must lie in (0, 1], is " + std::to_string(t));
}

int64_t ragged(const In<int64_t>& offsets, size_t size) {
    need(offsets.shape(0) >= 1, "offsets: needs n + 1 entries, has none");
    const int64_t n = static_cast<int64_t>(offsets.shape(0)) - 1;
    const int64_t* o = offsets.data();
    for (int64_t i = 0; i < n; ++i) need(o[i] <= o[i + 1], "offsets: must not fall");
    need(o[0] >= 0 && o[n] <= static_cast<int64_t>(size), "offsets: beyond values");
    need(n < 0xfffffffell, "offsets: more than 2^32 - 2 documents");
    for (int64_t i = 0; i < n; ++i) need(o[i + 1] - o[i] < 0xffffffffll, "offsets: a document of more than 2^32 - 2 elements");
    return n;
}

template <class T>
nb::object held(Held<T>&& h, size_t n) {
    if (!h) return nb::none();
    T* data = h.release();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nb::cast(Out<T>(data, {n}, owner));
}

nb::tuple sets_out(RankedSets&& s, size_t n) {
    const size_t m = s.left;
    return nb::make_tuple(held(std::move(s.ranks), m), held(std::move(s.offsets), n + 1), held(std::move(s.sizes), n),
                          held(std::move(s.weights), m), held(std::move(s.totals), n), held(std::move(s.squares), n));
}

nb::tuple frequent(In<uint64_t> values, int64_t threads) {
    thread_count(threads);
    std::vector<uint64_t> hashes;
    std::vector<uint32_t> documents;
    {
        nb::gil_scoped_release release;
        Crew crew(threads);
        FrequentShingles found(values.data(), values.shape(0), crew);
        sort_by_rank(found.rows, crew);
        hashes.reserve(found.rows.size());
        documents.reserve(found.rows.size());
        for (const Frequent& f : found.rows) hashes.push_back(f.hash), documents.push_back(f.documents);
    }
    return nb::make_tuple(to_numpy(std::move(hashes)), to_numpy(std::move(documents)));
}

nb::tuple rank_order(In<uint64_t> hashes, In<int64_t> documents, int64_t threads) {
    thread_count(threads);
    need(hashes.shape(0) == documents.shape(0), "documents: needs one entry for each of hashes");
    std::vector<uint64_t> order;
    std::vector<uint32_t> counts;
    {
        nb::gil_scoped_release release;
        Crew crew(threads);
        std::vector<Frequent> rows;
        for (size_t i = 0; i < hashes.shape(0); ++i) {
            const int64_t n = documents.data()[i];
            need(n >= 0 && n <= 0xffffffffll, "documents: must lie in 0..2^32 - 1");
            if (n > 1) rows.push_back({hashes.data()[i], static_cast<uint32_t>(n)});
        }
        sort_by_rank(rows, crew);
        for (const Frequent& f : rows) order.push_back(f.hash), counts.push_back(f.documents);
    }
    return nb::make_tuple(to_numpy(std::move(order)), to_numpy(std::move(counts)));
}

nb::tuple rank_by(In<uint64_t> values, In<int64_t> offsets, In<uint64_t> hashes, MaybeIn<uint32_t> weights, int64_t threads) {
    const int64_t n = ragged(offsets, values.shape(0));
    thread_count(threads);
    need(!weights || weights->shape(0) == values.shape(0), "weights: needs one entry for each of values");
    RankedSets out;
    {
        nb::gil_scoped_release release;
        Crew crew(threads);
        const RankTable table(hashes.data(), hashes.shape(0));
        out = table.rank(values.data(), weights ? weights->data() : nullptr, offsets.data(), n, crew);
    }
    return sets_out(std::move(out), static_cast<size_t>(n));
}

nb::tuple take_ranked(In<uint32_t> ranks, MaybeIn<uint32_t> weights, In<int64_t> offsets, In<int64_t> rows) {
    const int64_t n = ragged(offsets, ranks.shape(0));
    need(!weights || weights->shape(0) == ranks.shape(0), "weights: needs one entry for each of ranks");
    const size_t k = rows.shape(0);
    RankedSets out;
    {
        nb::gil_scoped_release release;
        out.offsets = hold<int64_t>(k + 1);
        out.offsets[0] = 0;
        const int64_t *const o = offsets.data(), *const row = rows.data();
        for (size_t i = 0; i < k; ++i) {
            need(row[i] >= -1 && row[i] < n, "rows: no such document");
            out.offsets[i + 1] = out.offsets[i] + (row[i] < 0 ? 0 : o[row[i] + 1] - o[row[i]]);
        }
        out.left = static_cast<size_t>(out.offsets[k]);
        out.ranks = hold<uint32_t>(out.left);
        if (weights) out.weights = hold<uint32_t>(out.left);
        for (size_t i = 0; i < k; ++i) {
            if (row[i] < 0) continue;
            std::copy(ranks.data() + o[row[i]], ranks.data() + o[row[i] + 1], out.ranks.get() + out.offsets[i]);
            if (weights) std::copy(weights->data() + o[row[i]], weights->data() + o[row[i] + 1], out.weights.get() + out.offsets[i]);
        }
    }
    const size_t m = out.left;
    return nb::make_tuple(held(std::move(out.ranks), m), held(std::move(out.offsets), k + 1), held(std::move(out.weights), m));
}

// What Python hands over, checked: a damaged set must be an error, never a wild read.
struct Handed {
    In<uint32_t> ranks;
    In<int64_t> offsets, sizes;
    MaybeIn<uint32_t> weights;
    MaybeIn<uint64_t> totals;
    uint64_t r;

    JoinInput checked(bool weighed, uint64_t most_total) const {
        const int64_t n = ragged(offsets, ranks.shape(0));
        need(static_cast<int64_t>(sizes.shape(0)) == n, "sizes: needs one entry for each document");
        need(r < 0xffffffffull, "hashes: more than 2^32 - 2 shingles repeat");
        const int64_t* o = offsets.data();
        for (int64_t d = 0; d < n; ++d) {
            need(sizes.data()[d] >= o[d + 1] - o[d] && sizes.data()[d] < 0xffffffffll, "sizes: fewer elements than ranks, or too many");
            for (int64_t i = o[d]; i < o[d + 1]; ++i)
                need(ranks.data()[i] < r && (i == o[d] || ranks.data()[i - 1] < ranks.data()[i]), "ranks: must ascend within a document, below the number of hashes");
        }
        if (weighed) {
            need(weights && totals, "weights: this measure needs them (rank_sets)");
            need(weights->shape(0) == ranks.shape(0) && static_cast<int64_t>(totals->shape(0)) == n, "weights: need one entry for each rank, totals for each document");
            for (int64_t d = 0; d < n; ++d) need(totals->data()[d] <= most_total, "weights: too large, their sum (of squares) passes 2^62");
        }
        return {ranks.data(), weighed ? weights->data() : nullptr, o, sizes.data(), weighed ? totals->data() : nullptr,
                static_cast<uint32_t>(n), static_cast<uint32_t>(r)};
    }
};

// Calls f(tag of the measure, input) for the measure of this name.
template <class M>
struct Tag {
    using Measure = M;
};
template <class F>
void by_measure(const std::string& name, const Handed& h, F f) {
    constexpr uint64_t most = uint64_t{1} << 62;
    if (name == "jaccard") f(Tag<JaccardMeasure>{}, h.checked(false, most));
    else if (name == "containment") f(Tag<ContainmentMeasure>{}, h.checked(false, most));
    else if (name == "weighted") f(Tag<WeightedMeasure>{}, h.checked(true, most));
    else if (name == "cosine") f(Tag<CosineMeasure>{}, h.checked(true, most));
    else throw std::invalid_argument("measure: must be jaccard, containment, weighted or cosine, is " + name);
}

using Ints = In<int64_t>;
using Ranks = In<uint32_t>;

nb::tuple settle(Ranks ranks, Ints offsets, Ints sizes, MaybeIn<uint32_t> weights, MaybeIn<uint64_t> totals, uint64_t r,
                 const std::string& measure, double threshold, int64_t threads) {
    check_threshold(threshold);
    thread_count(threads);
    std::vector<int64_t> twin;
    std::vector<double> similarity;
    {
        nb::gil_scoped_release release;
        twin.assign(sizes.shape(0), -1);
        similarity.assign(sizes.shape(0), 0.0);
        by_measure(measure, {ranks, offsets, sizes, weights, totals, r}, [&](auto tag, const JoinInput& in) {
            join_settle<typename decltype(tag)::Measure>(in, threshold, threads, twin.data(), similarity.data());
        });
    }
    return nb::make_tuple(to_numpy(std::move(twin)), to_numpy(std::move(similarity)));
}

nb::tuple pairs(Ranks ranks, Ints offsets, Ints sizes, MaybeIn<uint32_t> weights, MaybeIn<uint64_t> totals, uint64_t r,
                const std::string& measure, double threshold, int64_t most, int64_t threads) {
    check_threshold(threshold);
    thread_count(threads);
    bool complete = false;
    std::vector<int64_t> a, b;
    std::vector<double> similarity;
    {
        nb::gil_scoped_release release;
        std::vector<JoinPair> found;
        by_measure(measure, {ranks, offsets, sizes, weights, totals, r}, [&](auto tag, const JoinInput& in) {
            complete = join_pairs<typename decltype(tag)::Measure>(in, threshold, most, threads, found);
        });
        a.reserve(found.size()), b.reserve(found.size()), similarity.reserve(found.size());
        for (const JoinPair& p : found) a.push_back(p.a), b.push_back(p.b), similarity.push_back(p.similarity);
    }
    return nb::make_tuple(to_numpy(std::move(a)), to_numpy(std::move(b)), to_numpy(std::move(similarity)), complete);
}

Out<uint32_t> components(Ranks ranks, Ints offsets, Ints sizes, MaybeIn<uint32_t> weights, MaybeIn<uint64_t> totals, uint64_t r,
                         const std::string& measure, double threshold, MaybeIn<uint8_t> eligible, int64_t threads) {
    check_threshold(threshold);
    thread_count(threads);
    need(!eligible || eligible->shape(0) == sizes.shape(0), "eligible: needs one entry for each document");
    std::vector<uint32_t> parent(sizes.shape(0));
    {
        nb::gil_scoped_release release;
        std::iota(parent.begin(), parent.end(), 0u);
        by_measure(measure, {ranks, offsets, sizes, weights, totals, r}, [&](auto tag, const JoinInput& in) {
            join_components<typename decltype(tag)::Measure>(in, threshold, eligible ? eligible->data() : nullptr, threads, parent.data());
        });
    }
    return to_numpy(std::move(parent));
}

nb::tuple mixed(Ranks ranks, Ints offsets, Ints sizes, uint64_t r, In<uint8_t> is_short, In<uint64_t, 2> keys, In<uint8_t, 2> packed,
                In<uint64_t> set_values, Ints set_offsets, double threshold, int64_t min_matches, int64_t threads) {
    check_threshold(threshold);
    thread_count(threads);
    const size_t n = sizes.shape(0);
    need(is_short.shape(0) == n && keys.shape(0) == n && packed.shape(0) == n && set_offsets.shape(0) == n + 1,
         "short, keys, packed, set_offsets: need one row for each document");
    need(min_matches >= 0 && min_matches <= static_cast<int64_t>(packed.shape(1)), "min_matches: must lie in 0..width of packed");
    ragged(set_offsets, set_values.shape(0));
    std::vector<int64_t> twin;
    std::vector<double> similarity;
    std::vector<uint8_t> by_short;
    {
        nb::gil_scoped_release release;
        twin.assign(n, -1);
        similarity.assign(n, 0.0);
        by_short.assign(n, 0);
        const JoinInput in = Handed{ranks, offsets, sizes, std::nullopt, std::nullopt, r}.checked(false, 0);
        const LongTexts texts{keys.data(), static_cast<int64_t>(keys.shape(1)),
                              {packed.data(), static_cast<int64_t>(packed.shape(1)), static_cast<int32_t>(min_matches)},
                              {set_values.data(), set_offsets.data()}};
        settle_mixed(in, is_short.data(), texts, threshold, threads, twin.data(), similarity.data(), by_short.data());
    }
    return nb::make_tuple(to_numpy(std::move(twin)), to_numpy(std::move(similarity)), to_numpy(std::move(by_short)));
}

}  // namespace

void bind_join(nb::module_& m) {
    m.def("frequent_shingles", &frequent, "values"_a.noconvert(), nb::kw_only(), "threads"_a);
    m.def("rank_order", &rank_order, "hashes"_a.noconvert(), "documents"_a.noconvert(), nb::kw_only(), "threads"_a);
    m.def("rank_by", &rank_by, "values"_a.noconvert(), "offsets"_a.noconvert(), "hashes"_a.noconvert(),
          "weights"_a.noconvert().none(), nb::kw_only(), "threads"_a);
    m.def("take_ranked", &take_ranked, "ranks"_a.noconvert(), "weights"_a.noconvert().none(), "offsets"_a.noconvert(),
          "rows"_a.noconvert());
    m.def("join_settle", &settle, "ranks"_a.noconvert(), "offsets"_a.noconvert(), "sizes"_a.noconvert(),
          "weights"_a.noconvert().none(), "totals"_a.noconvert().none(), "r"_a, nb::kw_only(), "measure"_a, "threshold"_a, "threads"_a);
    m.def("join_pairs", &pairs, "ranks"_a.noconvert(), "offsets"_a.noconvert(), "sizes"_a.noconvert(),
          "weights"_a.noconvert().none(), "totals"_a.noconvert().none(), "r"_a, nb::kw_only(), "measure"_a, "threshold"_a, "most"_a, "threads"_a);
    m.def("join_components", &components, "ranks"_a.noconvert(), "offsets"_a.noconvert(), "sizes"_a.noconvert(),
          "weights"_a.noconvert().none(), "totals"_a.noconvert().none(), "r"_a, nb::kw_only(), "measure"_a, "threshold"_a,
          "eligible"_a.noconvert().none(), "threads"_a);
    m.def("settle_mixed", &mixed, "ranks"_a.noconvert(), "offsets"_a.noconvert(), "sizes"_a.noconvert(), "r"_a,
          "is_short"_a.noconvert(), "keys"_a.noconvert(), "packed"_a.noconvert(), "set_values"_a.noconvert(),
          "set_offsets"_a.noconvert(), nb::kw_only(), "threshold"_a, "min_matches"_a, "threads"_a);
}
