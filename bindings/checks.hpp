// What comes from Python is checked here: a wrong number is an error there, never a crash here.
//
// TypeError for what is no integer, an error of `qwo.errors` for everything else: all of them are
// ValueErrors, and one for a number that is out of range is an IndexError, too. A number costs O(1)
// to check, an order or a list O(its length).
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "qwo/kernels.hpp"

namespace qwo::bindings {

// To be raised in Python as an error of `qwo.errors`, by its name.
struct Refusal : std::runtime_error {
    Refusal(const char* name, const std::string& message)
        : std::runtime_error(message), name(name) {}
    const char* name;
};

void bind_refusals();

// An integer of any size and kind. One that 64 bits cannot hold is as far out of range as can be.
struct Whole {
    long long value = 0;
};

// A number from `first` to `last`.
inline long long checked(const char* what, long long given, long long first, long long last) {
    if (given < first || given > last) {
        throw Refusal("IndexRangeError", std::string(what) + " " + std::to_string(given) +
                                             " is out of range: wanted " + std::to_string(first) +
                                             " to " + std::to_string(last));
    }
    return given;
}

// The number of one of `count` things.
inline int checked_index(const char* what, Whole given, int count) {
    return static_cast<int>(checked(what, given.value, 0, count - 1LL));
}

inline std::size_t checked_mark(Whole given, std::size_t marks) {
    if (given.value < 0 || static_cast<unsigned long long>(given.value) >= marks) {
        throw Refusal("EngineError", "mark " + std::to_string(given.value) +
                                         " has ended or never was; " + std::to_string(marks) +
                                         " are outstanding");
    }
    return given.value;
}

// Some of n variables, each once at most.
template <class Value>
std::vector<int> checked_variables(const char* what, const Value* first, std::size_t size, int n) {
    std::vector<int> result(size);
    std::vector<char> seen(n, 0);
    for (std::size_t i = 0; i < size; ++i) {
        result[i] = static_cast<int>(checked(what, first[i], 0, n - 1LL));
        char& met = seen[result[i]];
        if (met)
            throw Refusal("OrderError",
                          std::string(what) + " " + std::to_string(result[i]) + " is listed twice");
        met = 1;
    }
    return result;
}

// All of n variables, each once.
inline std::vector<int> checked_order(const OrderIn& order, int n) {
    if (std::cmp_not_equal(order.shape(0), n)) {
        throw Refusal("OrderError", "an order lists each of the " + std::to_string(n) +
                                        " variables once; got " + std::to_string(order.shape(0)));
    }
    return checked_variables("variable", order.data(), order.shape(0), n);
}

// A matrix with as many rows and columns as there are variables.
template <class Matrix>
void check_square(const char* what, const Matrix& matrix, std::size_t n) {
    if (matrix.shape(0) != n || matrix.shape(1) != n) {
        throw Refusal("ShapeError", std::string(what) + " must be " + std::to_string(n) + " x " +
                                        std::to_string(n) + "; got " +
                                        std::to_string(matrix.shape(0)) + " x " +
                                        std::to_string(matrix.shape(1)));
    }
}

// A square matrix of finite numbers, and its size.
inline int checked_correlation(const MatrixIn& matrix) {
    check_square("the correlation matrix", matrix, matrix.shape(0));
    if (matrix.shape(0) < 1 || matrix.shape(0) > INT_MAX / 2)
        throw Refusal("ShapeError", "the correlation matrix must have 1 row at least");
    // x - x is not 0 where x is not finite. Several sums do not wait for each other.
    std::array<double, 8> none{};
    const std::size_t size = matrix.size();
    for (std::size_t i = 0; i < size; ++i)
        none[i % none.size()] += matrix.data()[i] - matrix.data()[i];
    if (std::any_of(none.begin(), none.end(), [](double sum) { return sum != 0.0; }))
        throw Refusal("CovarianceError",
                      "the correlation matrix holds a number that is not finite");
    return static_cast<int>(matrix.shape(0));
}

inline const Kernels& checked_kernels(const std::string& name) {
    try {
        return kernels(name);
    } catch (const std::invalid_argument& unknown) {
        throw Refusal("ArgumentError", unknown.what());
    }
}

inline double checked_number(const char* what, double given, double least) {
    if (!(std::isfinite(given) && given >= least)) {
        throw Refusal("ArgumentError", std::string(what) + " must be a number from " +
                                           std::to_string(least) + "; got " +
                                           std::to_string(given));
    }
    return given;
}

} // namespace qwo::bindings

namespace nanobind::detail {

template <>
struct type_caster<qwo::bindings::Whole> {
    NB_TYPE_CASTER(qwo::bindings::Whole, const_name("int"))

    bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
        if (!PyIndex_Check(source.ptr()))
            return false;
        PyObject* whole = PyNumber_Index(source.ptr());
        if (whole == nullptr) {
            PyErr_Clear();
            return false;
        }
        int overflow = 0;
        value.value = PyLong_AsLongLongAndOverflow(whole, &overflow);
        Py_DECREF(whole);
        if (overflow != 0)
            value.value = overflow > 0 ? LLONG_MAX : LLONG_MIN;
        return true;
    }
};

} // namespace nanobind::detail
