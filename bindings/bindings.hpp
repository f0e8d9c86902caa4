// What the binding files share. Only this folder knows of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "qwo/index.hpp"

namespace qwo::bindings {

namespace nb = nanobind;

// Arrays are checked and converted in Python; here a wrong dtype or layout is an error, not a copy.
using MatrixIn = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OrderIn =
    nb::ndarray<const std::int64_t, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MaskIn =
    nb::ndarray<const std::uint8_t, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A vector as a new NumPy array that owns its memory.
template <class To, class From>
nb::ndarray<nb::numpy, To, nb::ndim<1>> to_numpy(const std::vector<From>& values) {
    auto* data = new To[values.size()];
    for (std::size_t i = 0; i < values.size(); ++i)
        data[i] = static_cast<To>(values[i]);
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<To*>(p); });
    return nb::ndarray<nb::numpy, To, nb::ndim<1>>(data, {values.size()}, owner);
}

// A new NumPy matrix of zeros that owns its memory.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> zeros(std::size_t rows, std::size_t columns) {
    auto* data = new T[rows * columns]();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(data, {rows, columns}, owner);
}

// Values row by row as a NumPy matrix that owns them.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> matrix_of(std::vector<T> values, std::size_t rows,
                                                 std::size_t columns) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(owned->data(), {rows, columns}, owner);
}

// The adjacency matrix of a graph of n variables whose parents are parents_of(v).
template <class ParentsOf>
auto adjacency_of(int n, ParentsOf parents_of) {
    auto matrix = zeros<std::int8_t>(n, n);
    for (int v = 0; v < n; ++v) {
        for (const int u : parents_of(v))
            matrix.data()[Index{u} * n + v] = 1;
    }
    return matrix;
}

void bind_feedback(nb::module_& m);
void bind_noise(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_edge_strengths(nb::module_& m);
void bind_hidden_causes(nb::module_& m);
void bind_order_factor(nb::module_& m);
void bind_parent_sets(nb::module_& m);
void bind_plain_rows(nb::module_& m);
void bind_posterior(nb::module_& m);
void bind_regimes(nb::module_& m);
void bind_searches(nb::module_& m);

} // namespace qwo::bindings
