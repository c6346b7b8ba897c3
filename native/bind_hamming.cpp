// Bindings of SimHash fingerprints and of the complete search by Hamming distance.
#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "hamming_pairs.hpp"
#include "hamming_settle.hpp"
#include "hamming_table.hpp"

#include <new>

namespace nb = nanobind;
using namespace dejalu;
using nb::literals::operator""_a;

namespace {

template <class T>
using MaybeIn = std::optional<In<T>>;
using Words = In<uint64_t, 2>;      // fingerprints or masks, one row each

void need(bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
}

template <class T>
std::unique_ptr<T[]> room(size_t n) { return std::unique_ptr<T[]>(new T[n]); }

nb::tuple simhash(In<uint8_t> data, In<int64_t> offsets, int64_t shingle, int64_t unit, bool unspaced, int64_t bits, bool distinct,
                  MaybeIn<uint64_t> keys, MaybeIn<uint32_t> weights, uint32_t unseen) {
    const Text t = text_of(data, offsets);
    if (shingle < 1) throw std::invalid_argument("shingle: must be at least 1, is " + std::to_string(shingle));
    need(unit == 0 || unit == 1, "unit: must be 0 (word) or 1 (char)");
    need(bits == 64 || bits == 128, "bits: must be 64 or 128");
    need(keys.has_value() == weights.has_value(), "keys, weights: need each other, as weight_table gives them");
    FeatureTable table;
    if (keys) {
        const size_t size = keys->shape(0);
        need(size >= 2 && std::has_single_bit(size) && weights->shape(0) == size, "keys, weights: need 2^p entries each, p >= 1, as weight_table gives");
        table = {keys->data(), weights->data(), 64 - std::countr_zero(size), unseen};
    }
    const size_t n = static_cast<size_t>(t.n), words = static_cast<size_t>(bits) / 64;
    auto prints = room<uint64_t>(n * words);
    auto tokens = room<int64_t>(n);
    {
        nb::gil_scoped_release release;
        const TextIn in{t.data, t.offsets, t.n, static_cast<size_t>(shingle), unit == 1, unspaced};
        if (!kernels().simhash.texts(in, distinct, table, words, prints.get(), tokens.get())) throw std::bad_alloc();
    }
    return nb::make_tuple(to_numpy(std::move(prints), {n, words}), to_numpy(std::move(tokens), {n}));
}

Out<uint64_t> simhash_features(In<uint64_t> values, In<int64_t> weights, In<int64_t> offsets, int64_t bits) {
    need(bits == 64 || bits == 128, "bits: must be 64 or 128");
    need(weights.shape(0) == values.shape(0), "weights: needs one entry for each of values");
    need(offsets.shape(0) >= 1, "offsets: needs n + 1 entries, has none");
    const size_t n = offsets.shape(0) - 1, words = static_cast<size_t>(bits) / 64;
    const int64_t* const o = offsets.data();
    for (size_t i = 0; i < n; ++i) need(o[i] <= o[i + 1], "offsets: must not fall");
    need(o[0] >= 0 && o[n] <= static_cast<int64_t>(values.shape(0)), "offsets: beyond values");
    for (size_t i = 0; i < n; ++i) {
        uint64_t sum = 0;
        for (int64_t j = o[i]; j < o[i + 1]; ++j) {
            const int64_t w = weights.data()[j];
            const uint64_t size = w < 0 ? 0 - static_cast<uint64_t>(w) : static_cast<uint64_t>(w);
            need(size <= INT64_MAX - sum, "weights: those of one text sum to 2^63 or more; scale them down");
            sum += size;
        }
    }
    auto prints = room<uint64_t>(n * words);
    {
        nb::gil_scoped_release release;
        kernels().simhash.features(values.data(), weights.data(), o, static_cast<int64_t>(n), words, prints.get());
    }
    return to_numpy(std::move(prints), {n, words});
}

// Calls f(std::integral_constant<size_t, W>) for fingerprints of W words.
template <class F>
auto by_words(const Words& prints, F f) {
    need(prints.shape(1) == 1 || prints.shape(1) == 2, "fingerprints: need one or two words each");
    need(prints.shape(0) < 0xffffffffull, "fingerprints: more than 2^32 - 2");
    return prints.shape(1) == 1 ? f(std::integral_constant<size_t, 1>{}) : f(std::integral_constant<size_t, 2>{});
}

template <size_t W>
Prints<W> prints_of(const Words& p) { return {p.data(), p.shape(0)}; }

template <size_t W>
TablePlan<W> plan_of(const Words& masks, int64_t bits, int64_t k) {
    need(masks.shape(1) == W && masks.shape(0) >= 1, "masks: need a row for each table, as wide as a fingerprint");
    need(bits >= 0 && bits <= 28, "bits: must be in 0..28");
    need(k >= 0 && k <= 128, "k: must be in 0..128");
    return {masks.data(), masks.shape(0), static_cast<int>(bits), static_cast<uint32_t>(k)};
}

Apart apart_of(const MaybeIn<uint64_t>& only, const MaybeIn<uint8_t>& skip, size_t n) {
    need(!only || only->shape(0) == n, "only: needs one entry for each fingerprint");
    need(!skip || skip->shape(0) == n, "skip: needs one entry for each fingerprint");
    return {only ? only->data() : nullptr, skip ? skip->data() : nullptr};
}

int64_t thread_count(int64_t threads) {
    if (threads < 1) throw std::invalid_argument("threads: must be at least 1, is " + std::to_string(threads));
    return threads;
}

nb::tuple columns(PairColumns&& c, bool complete) {
    return nb::make_tuple(to_numpy(std::move(c.a), {c.n}), to_numpy(std::move(c.b), {c.n}), to_numpy(std::move(c.distance), {c.n}), complete);
}

// Pairs in order, or none where there are more than the most.
template <size_t W>
nb::tuple finished(FoundPairs& found, const Prints<W>& left, const Prints<W>& right, Crew& crew) {
    PairColumns out;
    {
        nb::gil_scoped_release release;
        if (!found.complete()) found.rows.clear();
        out = in_order<W>(found, left, right, crew);
    }
    return columns(std::move(out), found.complete());
}

nb::tuple pairs(Words prints, int64_t k, Words masks, int64_t bits, MaybeIn<uint64_t> only, int64_t most, int64_t threads) {
    thread_count(threads);
    return by_words(prints, [&](auto w) {
        constexpr size_t W = decltype(w)::value;
        const auto plan = plan_of<W>(masks, bits, k);
        const Prints<W> all = prints_of<W>(prints);
        const Apart apart = apart_of(only, std::nullopt, all.n);
        Crew crew(threads);
        FoundPairs found(crew.size(), most);
        {
            nb::gil_scoped_release release;
            hamming_pairs<W>(all, apart, plan, crew, found);
        }
        return finished<W>(found, all, all, crew);
    });
}

nb::tuple tables(Words prints, Words masks, int64_t bits, int64_t threads) {
    thread_count(threads);
    return by_words(prints, [&](auto w) {
        constexpr size_t W = decltype(w)::value;
        const auto plan = plan_of<W>(masks, bits, 0);
        const Prints<W> all = prints_of<W>(prints);
        const size_t count = plan.tables, n = all.n, ends = plan.buckets() + 1;
        auto starts = room<uint32_t>(count * ends), places = room<uint32_t>(count * n);
        auto held = room<uint64_t>(count * n * W);
        {
            nb::gil_scoped_release release;
            Crew crew(threads);
            for (size_t t = 0; t < count; ++t)
                build<W>(all, {}, plan, t, crew, starts.get() + t * ends, held.get() + t * n * W, places.get() + t * n);
        }
        return nb::make_tuple(to_numpy(std::move(starts), {count, ends}), to_numpy(std::move(held), {count, n, W}),
                              to_numpy(std::move(places), {count, n}));
    });
}

nb::tuple query(In<uint32_t, 2> starts, In<uint64_t, 3> held, In<uint32_t, 2> places, Words masks, int64_t bits, Words prints, Words queries, int64_t k,
                int64_t most, int64_t threads) {
    thread_count(threads);
    return by_words(queries, [&](auto w) {
        constexpr size_t W = decltype(w)::value;
        const auto plan = plan_of<W>(masks, bits, k);
        const size_t count = plan.tables, n = held.shape(1), ends = plan.buckets() + 1;
        need(prints.shape(0) == n && prints.shape(1) == W, "fingerprints: are not those of the tables");
        need(starts.shape(0) == count && starts.shape(1) == ends && held.shape(0) == count && held.shape(2) == W &&
                 places.shape(0) == count && places.shape(1) == n, "tables: shapes do not fit the masks and bits");
        for (size_t t = 0; t < count; ++t) {                     // a damaged table must be an error, never a wild read
            const uint32_t* const s = starts.data() + t * ends;
            uint32_t falls = s[ends - 1] > n;
            for (size_t b = 0; b + 1 < ends; ++b) falls |= s[b] > s[b + 1];
            need(!falls, "tables: starts must not fall or pass the entries");
        }
        const TableSet<W> set{plan, starts.data(), held.data(), places.data(), n};
        const Prints<W> asked = prints_of<W>(queries), all = prints_of<W>(prints);
        Crew crew(threads);
        FoundPairs found(crew.size(), most);
        {
            nb::gil_scoped_release release;
            hamming_query<W>(set, asked, crew, found);
            for (const auto& rows : found.rows)
                for (const uint64_t r : rows) need((r & 0xffffffffu) < n, "tables: a place that no fingerprint has");
        }
        return finished<W>(found, asked, all, crew);
    });
}

Out<uint8_t> busy(Words prints, int64_t k, Words masks, int64_t bits, MaybeIn<uint64_t> only, MaybeIn<uint8_t> skip, int64_t threads) {
    thread_count(threads);
    auto marks = room<uint8_t>(prints.shape(0));
    by_words(prints, [&](auto w) {
        constexpr size_t W = decltype(w)::value;
        const auto plan = plan_of<W>(masks, bits, k);
        const Prints<W> all = prints_of<W>(prints);
        const Apart apart = apart_of(only, skip, all.n);
        nb::gil_scoped_release release;
        Crew crew(threads);
        hamming_busy<W>(all, apart, plan, crew, marks.get());
    });
    return to_numpy(std::move(marks), {prints.shape(0)});
}

nb::tuple settle(Words prints, int64_t k, Words masks, int64_t bits, MaybeIn<uint64_t> only, MaybeIn<uint8_t> skip, MaybeIn<uint64_t> values,
                 MaybeIn<int64_t> offsets, double threshold, int64_t threads) {
    thread_count(threads);
    const size_t n = prints.shape(0);
    need(values.has_value() == offsets.has_value(), "values, offsets: need each other");
    std::optional<Sets> sets;
    if (values) {
        need(threshold > 0 && threshold <= 1, "threshold: must lie in (0, 1]");
        need(offsets->shape(0) == n + 1, "offsets: needs n + 1 entries");
        const int64_t* const o = offsets->data();
        for (size_t i = 0; i < n; ++i) need(o[i] <= o[i + 1], "offsets: must not fall");
        need(o[0] >= 0 && o[n] <= static_cast<int64_t>(values->shape(0)), "offsets: beyond values");
        sets = Sets{values->data(), o};
    }
    std::vector<int64_t> twin;
    std::vector<int32_t> distance;
    std::vector<double> similarity;
    by_words(prints, [&](auto w) {
        constexpr size_t W = decltype(w)::value;
        const auto plan = plan_of<W>(masks, bits, k);
        const Prints<W> all = prints_of<W>(prints);
        const Apart apart = apart_of(only, skip, n);
        nb::gil_scoped_release release;
        twin.assign(n, -1);
        distance.assign(n, -1);
        similarity.assign(n, 0.0);
        Crew crew(threads);
        hamming_settle<W>(all, apart, plan, sets, threshold, crew, {twin.data(), distance.data(), similarity.data()});
    });
    return nb::make_tuple(to_numpy(std::move(twin)), to_numpy(std::move(distance)), to_numpy(std::move(similarity)));
}

}  // namespace

void bind_hamming(nb::module_& m) {
    m.def("simhash", &simhash, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "shingle"_a, "unit"_a, "unspaced"_a, "bits"_a,
          "distinct"_a, "keys"_a.noconvert().none(), "weights"_a.noconvert().none(), "unseen"_a);
    m.def("simhash_features", &simhash_features, "values"_a.noconvert(), "weights"_a.noconvert(), "offsets"_a.noconvert(), "bits"_a);
    m.def("hamming_pairs", &pairs, "prints"_a.noconvert(), "k"_a, "masks"_a.noconvert(), "bits"_a, nb::kw_only(), "only"_a.noconvert().none(),
          "most"_a, "threads"_a);
    m.def("hamming_tables", &tables, "prints"_a.noconvert(), "masks"_a.noconvert(), "bits"_a, nb::kw_only(), "threads"_a);
    m.def("hamming_query", &query, "starts"_a.noconvert(), "held"_a.noconvert(), "places"_a.noconvert(), "masks"_a.noconvert(), "bits"_a,
          "prints"_a.noconvert(), "queries"_a.noconvert(), "k"_a, nb::kw_only(), "most"_a, "threads"_a);
    m.def("hamming_busy", &busy, "prints"_a.noconvert(), "k"_a, "masks"_a.noconvert(), "bits"_a, nb::kw_only(), "only"_a.noconvert().none(),
          "skip"_a.noconvert().none(), "threads"_a);
    m.def("hamming_settle", &settle, "prints"_a.noconvert(), "k"_a, "masks"_a.noconvert(), "bits"_a, nb::kw_only(), "only"_a.noconvert().none(),
          "skip"_a.noconvert().none(), "values"_a.noconvert().none(), "offsets"_a.noconvert().none(), "threshold"_a, "threads"_a);
}
