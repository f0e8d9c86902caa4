#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "checks.hpp"
#include "qwo/build_info.hpp"
#include "qwo/kernels.hpp"

namespace qwo::bindings {

void bind_kernels(nb::module_& m) {
    m.def("available_kernels", &available_kernels,
          "Instruction sets that this build has and this processor can run, the fastest first.");
    m.def(
        "build_config",
        [] {
            nb::dict config;
            config["version"] = QWO_VERSION;
            config["compiler"] = QWO_COMPILER;
            config["flags"] = QWO_CXX_FLAGS;
            config["build_type"] = QWO_BUILD_TYPE;
            config["kernels"] = kernels().name;
            return config;
        },
        "How the compiled core was built, and which kernels it uses by default.");
}

void bind_refusals() {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Refusal& refusal) {
            const nb::object kind = nb::module_::import_("qwo.errors").attr(refusal.name);
            PyErr_SetString(kind.ptr(), refusal.what());
        }
    });
}

} // namespace qwo::bindings

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of qwo: order factor, exact BIC engine, insertion search.";
    qwo::bindings::bind_refusals();
    qwo::bindings::bind_kernels(m);
    qwo::bindings::bind_plain_rows(m);
    qwo::bindings::bind_edge_strengths(m);
    qwo::bindings::bind_order_factor(m);
    qwo::bindings::bind_parent_sets(m);
    qwo::bindings::bind_searches(m);
    qwo::bindings::bind_posterior(m);
    qwo::bindings::bind_hidden_causes(m);
    qwo::bindings::bind_noise(m);
    qwo::bindings::bind_regimes(m);
    qwo::bindings::bind_feedback(m);
}
