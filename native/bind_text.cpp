// Bindings of the text kernels. Arrays in, arrays out; every size is checked here, the GIL is released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdlib>
#include <new>

#include "arrays.hpp"
#include "bands.hpp"
#include "dispatch.hpp"
#include "unicode_table.hpp"

namespace dejalu::unicode {
#include "unicode_table.inc"
}

namespace {

using namespace dejalu;
using namespace nb::literals;
using Bytes = In<uint8_t>;
using Offsets = In<int64_t>;

void require(bool ok) {
    if (!ok) throw std::bad_alloc();
}

TextIn checked(const Bytes& data, const Offsets& offsets, int64_t shingle, int64_t unit, bool unspaced) {
    const Text t = text_of(data, offsets);
    if (shingle < 1) throw std::invalid_argument("shingle: must be at least 1, is " + std::to_string(shingle));
    if (unit != 0 && unit != 1) throw std::invalid_argument("unit: must be 0 (word) or 1 (char), is " + std::to_string(unit));
    return {t.data, t.offsets, t.n, static_cast<size_t>(shingle), unit == 1, unspaced};
}

// Takes over memory of malloc; an empty array has none.
template <class T>
Out<T> owned(T* p, size_t n) {
    nb::capsule owner(p ? static_cast<void*>(p) : std::malloc(1), [](void* q) noexcept { std::free(q); });
    return Out<T>(p, {n}, owner);
}

template <class T>
std::unique_ptr<T[]> room(size_t n) { return std::unique_ptr<T[]>(new T[n]); }

nb::tuple sketch(Bytes data, Offsets offsets, int64_t shingle, int64_t unit, bool unspaced, int64_t slots) {
    const TextIn in = checked(data, offsets, shingle, unit, unspaced);
    if (slots < 0 || slots > 1 << 20) throw std::invalid_argument("slots: must be in 0..1048576, is " + std::to_string(slots));
    const size_t n = static_cast<size_t>(in.n), k = static_cast<size_t>(slots);
    auto signatures = room<uint32_t>(n * k);
    auto token_hash = room<uint64_t>(n * 2);
    auto tokens = room<int64_t>(n);
    auto flags = room<uint8_t>(n);
    auto long_tokens = room<uint32_t>(n);
    {
        nb::gil_scoped_release release;
        require(kernels().text.sketch(in, {k, signatures.get(), token_hash.get(), tokens.get(), flags.get(), long_tokens.get()}));
    }
    return nb::make_tuple(to_numpy(std::move(signatures), {n, k}), to_numpy(std::move(token_hash), {n, 2}),
                          to_numpy(std::move(tokens), {n}), to_numpy(std::move(flags), {n}),
                          to_numpy(std::move(long_tokens), {n}));
}

// Takes band keys and compact sketches from a few documents' signatures at a time, which never leave the cache.
struct BandsOf {
    uint32_t* signatures;
    int64_t n, slots, bands, rows;
    uint64_t* keys;
    uint8_t* packed;
    static void take(void* self, int64_t first, int64_t m) {
        const BandsOf& o = *static_cast<const BandsOf*>(self);
        band_keys(o.signatures, m, o.slots, o.bands, o.rows, o.keys + first, o.n);
        kernels().text.pack(o.signatures, m, static_cast<size_t>(o.slots), 8, o.packed + first * o.slots);
    }
};

nb::tuple sketch_bands(Bytes data, Offsets offsets, int64_t shingle, int64_t unit, bool unspaced, int64_t slots, int64_t bands, int64_t rows) {
    const TextIn in = checked(data, offsets, shingle, unit, unspaced);
    if (slots < 1 || slots > 1 << 20) throw std::invalid_argument("slots: must be in 1..1048576, is " + std::to_string(slots));
    if (bands < 1 || rows < 1 || bands * rows > slots) throw std::invalid_argument("bands * rows must lie in 1..slots");
    constexpr int64_t STEP = 128;
    const size_t n = static_cast<size_t>(in.n), k = static_cast<size_t>(slots);
    auto signatures = room<uint32_t>(STEP * k);
    auto keys = room<uint64_t>(n * static_cast<size_t>(bands));
    auto packed = room<uint8_t>(n * k);
    auto token_hash = room<uint64_t>(n * 2);
    auto tokens = room<int64_t>(n);
    auto flags = room<uint8_t>(n);
    auto long_tokens = room<uint32_t>(n);
    {
        nb::gil_scoped_release release;
        BandsOf taken{signatures.get(), in.n, slots, bands, rows, keys.get(), packed.get()};
        require(kernels().text.sketch(in, {k, signatures.get(), token_hash.get(), tokens.get(), flags.get(), long_tokens.get(),
                                           STEP, &BandsOf::take, &taken}));
    }
    return nb::make_tuple(to_numpy(std::move(keys), {static_cast<size_t>(bands), n}), to_numpy(std::move(packed), {n, k}),
                          to_numpy(std::move(token_hash), {n, 2}), to_numpy(std::move(tokens), {n}), to_numpy(std::move(flags), {n}),
                          to_numpy(std::move(long_tokens), {n}));
}

nb::tuple shingle_sets(Bytes data, Offsets offsets, int64_t shingle, int64_t unit, bool unspaced) {
    const TextIn in = checked(data, offsets, shingle, unit, unspaced);
    const size_t n = static_cast<size_t>(in.n);
    auto borders = room<int64_t>(n + 1);
    uint64_t* values = nullptr;
    {
        nb::gil_scoped_release release;
        require(kernels().text.shingle_sets(in, borders.get(), &values, nullptr));
    }
    const size_t size = static_cast<size_t>(borders[n]);
    return nb::make_tuple(owned(values, size), to_numpy(std::move(borders), {n + 1}));
}

nb::tuple tokens(Bytes data, Offsets offsets, bool unspaced) {
    const TextIn in = checked(data, offsets, 1, 0, unspaced);
    const size_t n = static_cast<size_t>(in.n);
    auto docs = room<int64_t>(n + 1);
    uint8_t* folded = nullptr;
    int64_t* borders = nullptr;
    {
        nb::gil_scoped_release release;
        require(kernels().text.folded(in, docs.get(), &folded, &borders));
    }
    const size_t count = static_cast<size_t>(docs[n]), size = static_cast<size_t>(borders[count]);
    return nb::make_tuple(owned(folded, size), owned(borders, count + 1), to_numpy(std::move(docs), {n + 1}));
}

nb::tuple fold(Bytes data, Offsets offsets) {
    const TextIn in = checked(data, offsets, 1, 0, true);
    const size_t n = static_cast<size_t>(in.n);
    auto docs = room<int64_t>(n + 1);
    uint8_t* folded = nullptr;
    {
        nb::gil_scoped_release release;
        require(kernels().text.folded(in, docs.get(), &folded, nullptr));
    }
    const size_t size = static_cast<size_t>(docs[n]);
    return nb::make_tuple(owned(folded, size), to_numpy(std::move(docs), {n + 1}));
}

Out<uint64_t> bytes_hash(Bytes data, Offsets offsets) {
    const TextIn in = checked(data, offsets, 1, 0, true);
    const size_t n = static_cast<size_t>(in.n);
    auto out = room<uint64_t>(n * 2);
    {
        nb::gil_scoped_release release;
        kernels().text.bytes_hash(in, out.get());
    }
    return to_numpy(std::move(out), {n, 2});
}

void check_bits(int64_t bits) {
    if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16)
        throw std::invalid_argument("bits: must be 1, 2, 4, 8 or 16, is " + std::to_string(bits));
}

Out<uint8_t> pack(In<uint32_t, 2> signatures, int64_t bits) {
    check_bits(bits);
    const size_t n = signatures.shape(0), k = signatures.shape(1), width = (k * static_cast<size_t>(bits) + 7) / 8;
    auto out = room<uint8_t>(n * width);
    {
        nb::gil_scoped_release release;
        kernels().text.pack(signatures.data(), static_cast<int64_t>(n), k, static_cast<uint32_t>(bits), out.get());
    }
    return to_numpy(std::move(out), {n, width});
}

// (m - C) / (1 - C) with C = 2^-b (Li, König, WWW 2010, for sets that are small against the hash range).
Out<double> estimated(const uint8_t* a, const uint8_t* b, size_t n, size_t k, uint32_t bits) {
    auto equal = room<uint32_t>(n);
    auto out = room<double>(n);
    {
        nb::gil_scoped_release release;
        kernels().text.equal_slots(a, b, static_cast<int64_t>(n), k, bits, equal.get());
        const double c = bits == 32 ? 0.0 : 1.0 / static_cast<double>(1u << bits);
        for (size_t i = 0; i < n; ++i)
            out[i] = (static_cast<double>(equal[i]) / static_cast<double>(k) - c) / (1.0 - c);
    }
    return to_numpy(std::move(out), {n});
}

template <class A>
void check_pair(const A& a, const A& b, size_t width, int64_t slots) {
    if (slots < 1) throw std::invalid_argument("slots: must be at least 1, is " + std::to_string(slots));
    if (a.shape(0) != b.shape(0) || a.shape(1) != width || b.shape(1) != width)
        throw std::invalid_argument("a, b: need equal numbers of rows and " + std::to_string(width) + " columns, have (" +
                                    std::to_string(a.shape(0)) + ", " + std::to_string(a.shape(1)) + ") and (" +
                                    std::to_string(b.shape(0)) + ", " + std::to_string(b.shape(1)) + ")");
}

Out<double> estimate_packed(In<uint8_t, 2> a, In<uint8_t, 2> b, int64_t bits, int64_t slots) {
    check_bits(bits);
    check_pair(a, b, static_cast<size_t>((slots * bits + 7) / 8), slots);
    return estimated(a.data(), b.data(), a.shape(0), static_cast<size_t>(slots), static_cast<uint32_t>(bits));
}

Out<double> estimate_full(In<uint32_t, 2> a, In<uint32_t, 2> b, int64_t bits, int64_t slots) {
    if (bits != 32) throw std::invalid_argument("bits: must be 32 for uint32 signatures, is " + std::to_string(bits));
    check_pair(a, b, static_cast<size_t>(slots < 0 ? 0 : slots), slots);
    return estimated(reinterpret_cast<const uint8_t*>(a.data()), reinterpret_cast<const uint8_t*>(b.data()), a.shape(0),
                     static_cast<size_t>(slots), 32);
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def("sketch", &sketch, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "shingle"_a, "unit"_a, "unspaced"_a, "slots"_a);
    m.def("sketch_bands", &sketch_bands, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "shingle"_a, "unit"_a, "unspaced"_a,
          "slots"_a, "bands"_a, "rows"_a);
    m.def("shingle_sets", &shingle_sets, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "shingle"_a, "unit"_a, "unspaced"_a);
    m.def("tokens", &tokens, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "unspaced"_a);
    m.def("fold", &fold, "data"_a.noconvert(), "offsets"_a.noconvert());
    m.def("bytes_hash", &bytes_hash, "data"_a.noconvert(), "offsets"_a.noconvert());
    m.def("pack", &pack, "signatures"_a.noconvert(), "bits"_a);
    m.def("estimate", &estimate_packed, "a"_a.noconvert(), "b"_a.noconvert(), nb::kw_only(), "bits"_a, "slots"_a);
    m.def("estimate", &estimate_full, "a"_a.noconvert(), "b"_a.noconvert(), nb::kw_only(), "bits"_a, "slots"_a);
}
