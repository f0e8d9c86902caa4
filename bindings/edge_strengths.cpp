#include "qwo/edge_strengths.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "checks.hpp"
#include "problem.hpp"

namespace qwo::bindings {

namespace {

using VectorIn = nb::ndarray<const double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

std::pair<VectorOut, VectorOut> explained_in(const MatrixIn& correlation, const OrderIn& parents,
                                             const OrderIn& ends, const std::vector<int>& sizes,
                                             const std::vector<int>& leading) {
    check_square("the correlation matrix", correlation, correlation.shape(0));
    std::size_t width = 0;
    for (std::size_t v = 0; v < sizes.size(); ++v) {
        if (sizes[v] < 1 || v >= leading.size() || leading[v] < 1 || leading[v] > sizes[v])
            throw Refusal("ShapeError", "wanted columns of each variable, some of which lead");
        width += static_cast<std::size_t>(sizes[v]);
    }
    if (width != correlation.shape(0) || leading.size() != sizes.size())
        throw Refusal("ShapeError", "wanted as many columns as the matrix has");
    const auto given = checked_lists("parent", parents, ends, count_of(sizes));
    const Explained found = explained(correlation.data(), given, sizes, leading);
    return {to_numpy<double>(found.shares), to_numpy<double>(found.variances)};
}

VectorOut weights_of(const MatrixIn& kernels, const VectorIn& known, const VectorIn& visible,
                     int rounds) {
    const std::size_t m = kernels.shape(0), k = kernels.shape(1);
    if (known.shape(0) != m || visible.shape(0) != k)
        throw Refusal("ShapeError", "wanted one number for each row and each column of kernels");
    return to_numpy<double>(
        mixture_weights(m, k, kernels.data(), known.data(), visible.data(), rounds));
}

} // namespace

void bind_edge_strengths(nb::module_& m) {
    m.def("explained", &explained_in, nb::arg("correlation").noconvert(),
          nb::arg("parents").noconvert(), nb::arg("ends").noconvert(), nb::arg("sizes"),
          nb::arg("leading"),
          "r^2 of each edge given the other parents, by child, and the variances that are left.");
    m.def("mixture_weights", &weights_of, nb::arg("kernels").noconvert(),
          nb::arg("known").noconvert(), nb::arg("visible").noconvert(), nb::arg("rounds"),
          "Weights of kernels beside a known density, by expectation and maximisation.");
}

} // namespace qwo::bindings
