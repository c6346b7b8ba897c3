// The module: array-to-array functions only. Each bind_*.cpp binds the kernels of one subject.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dispatch.hpp"

namespace nb = nanobind;

void bind_text(nb::module_&);
void bind_groups(nb::module_&);
void bind_grouping(nb::module_&);
void bind_formats(nb::module_&);
void bind_evaluate(nb::module_&);
void bind_guards(nb::module_&);
void bind_hamming(nb::module_&);
void bind_join(nb::module_&);
void bind_sketches(nb::module_&);

NB_MODULE(_native, m) {
    m.doc() = "dejalu's kernels; use dejalu.kernels, which documents them.";
    m.def("isa", [] { return std::string(dejalu::isa()); });
    m.def("available_isas", [] {
        std::vector<std::string> names;
        for (auto p = dejalu::available_isas(); *p; ++p) names.emplace_back(*p);
        return names;
    });
    dejalu::isa();                                             // a wrong DEJALU_ISA is an error at import
    bind_text(m);
    bind_groups(m);
    bind_grouping(m);
    bind_formats(m);
    bind_evaluate(m);
    bind_guards(m);
    bind_hamming(m);
    bind_join(m);
    bind_sketches(m);
}
