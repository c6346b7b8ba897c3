// What every binding needs: array argument types, checks, and results that own their memory.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace dejalu {

namespace nb = nanobind;

template <class T, int D = 1>
using In = nb::ndarray<const T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// A NumPy array that takes over the vector's memory; must be called with the GIL held.
template <class T>
Out<T> to_numpy(std::vector<T>&& v, std::vector<size_t> shape = {}) {
    auto* keep = new std::vector<T>(std::move(v));
    nb::capsule owner(keep, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (shape.empty()) shape = {keep->size()};
    return Out<T>(keep->data(), shape.size(), shape.data(), owner);
}

// The same for memory that is allocated without being cleared.
template <class T>
Out<T> to_numpy(std::unique_ptr<T[]>&& p, std::vector<size_t> shape) {
    T* data = p.release();
    nb::capsule owner(data, [](void* q) noexcept { delete[] static_cast<T*>(q); });
    return Out<T>(data, shape.size(), shape.data(), owner);
}

// Text as in an Arrow large_string array: bytes and n+1 offsets into them, which need not begin at 0.
struct Text {
    const uint8_t* data;
    const int64_t* offsets;
    int64_t n;
};

inline Text text_of(const In<uint8_t>& data, const In<int64_t>& offsets) {
    if (offsets.shape(0) == 0) throw std::invalid_argument("offsets: needs n + 1 entries, has none");
    const int64_t n = static_cast<int64_t>(offsets.shape(0)) - 1;
    const int64_t size = static_cast<int64_t>(data.shape(0));
    const int64_t* o = offsets.data();
    if (o[0] < 0 || o[n] > size)
        throw std::invalid_argument("offsets: must lie in 0.." + std::to_string(size) + " (the size of data)");
    for (int64_t i = 0; i < n; ++i)
        if (o[i] > o[i + 1]) throw std::invalid_argument("offsets: must not fall (entry " + std::to_string(i + 1) + ")");
    return {data.data(), o, n};
}

}  // namespace dejalu
