// Bindings of the guards: texts in, one hash each out.
#include <algorithm>
#include <new>

#include "arrays.hpp"
#include "dispatch.hpp"
#include "guards.hpp"

namespace {

using namespace dejalu;
using namespace nb::literals;

constexpr int64_t CHUNK = 1 << 20;                                  // bytes of text folded at a time

Out<uint64_t> guards(In<uint8_t> data, In<int64_t> offsets, bool numbers, bool negation, bool urls) {
    const Text t = text_of(data, offsets);
    auto out = std::unique_ptr<uint64_t[]>(new uint64_t[static_cast<size_t>(t.n)]);
    {
        nb::gil_scoped_release release;
        guarding::Scanner scan(numbers, negation, urls);
        std::vector<int64_t> borders;
        for (int64_t i = 0; i < t.n;) {
            int64_t j = i + 1;
            while (j < t.n && t.offsets[j + 1] - t.offsets[i] <= CHUNK) ++j;
            borders.resize(static_cast<size_t>(j - i) + 1);
            uint8_t* folded = nullptr;
            if (!kernels().text.folded({t.data, t.offsets + i, j - i, 1, false, true}, borders.data(), &folded, nullptr)) throw std::bad_alloc();
            const std::unique_ptr<uint8_t, void (*)(void*)> owner(folded, std::free);
            for (int64_t d = i; d < j; ++d) out[d] = scan(folded + borders[d - i], folded + borders[d - i + 1], folded + borders[j - i]);
            i = j;
        }
    }
    return to_numpy(std::move(out), {static_cast<size_t>(t.n)});
}

}  // namespace

void bind_guards(nb::module_& m) {
    m.def("guards", &guards, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "numbers"_a, "negation"_a, "urls"_a);
}
