#include "qwo/order_factor.hpp"
#include "qwo/index.hpp"

#include <nanobind/stl/string.h>

#include <new>
#include <string>

#include "bindings.hpp"
#include "checks.hpp"
#include "qwo/insertion_scan.hpp"

namespace qwo::bindings {

namespace {

using FloatMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using ByteMatrix = nb::ndarray<nb::numpy, std::int8_t, nb::ndim<2>>;

void construct(OrderFactor* self, const MatrixIn& correlation, double tau, bool count_edges,
               double weight, const std::string& kernels_name) {
    const int n = checked_correlation(correlation);
    const PairCost cost{checked_number("tau", tau, 0.0), count_edges};
    new (self) OrderFactor(correlation.data(), n, cost, checked_number("weight", weight, 0.0),
                           checked_kernels(kernels_name));
}

// Refuses a factor that nothing has been loaded into.
void check_loaded(const OrderFactor& factor) {
    if (factor.width(0) == 0)
        throw Refusal("EngineError", "the factor has no order yet: load() comes first");
}

int checked_variable(const OrderFactor& factor, Whole given) {
    check_loaded(factor);
    return checked_index("variable", given, factor.n());
}

int checked_place(const OrderFactor& factor, Whole given) {
    check_loaded(factor);
    return checked_index("place", given, factor.n());
}

// Applies a change of the order without the GIL and returns the new cost.
template <class Change>
double changed(OrderFactor& factor, Change change) {
    nb::gil_scoped_release released;
    change();
    return factor.cost();
}

double load(OrderFactor& factor, const OrderIn& order, const MatrixIn& inverse_cholesky) {
    const auto places = checked_order(order, factor.n());
    check_square("the inverse Cholesky factor", inverse_cholesky, places.size());
    return changed(factor, [&] { factor.load(places, inverse_cholesky.data()); });
}

double permute(OrderFactor& factor, Whole first, const OrderIn& block) {
    check_loaded(factor);
    const auto variables = checked_variables("variable", block.data(), block.shape(0), factor.n());
    const int size = count_of(variables);
    const int start = checked_index("place", first, factor.n() - size + 1);
    for (const int v : variables) {
        if (factor.place(v) < start || factor.place(v) >= start + size) {
            throw Refusal("OrderError", "a block lists the variables that stand from place " +
                                            std::to_string(start) + " on; variable " +
                                            std::to_string(v) + " stands at place " +
                                            std::to_string(factor.place(v)));
        }
    }
    return changed(factor, [&] { factor.permute(start, variables); });
}

FloatMatrix scan(OrderFactor& factor, const OrderIn& variables, int threads) {
    check_loaded(factor);
    std::vector<int> movers(variables.shape(0));
    for (std::size_t i = 0; i < movers.size(); ++i)
        movers[i] = checked_variable(factor, Whole{variables.data()[i]});
    auto changes = zeros<double>(movers.size(), factor.n());
    nb::gil_scoped_release released;
    scan_insertions(factor, movers, changes.data(), threads);
    return changes;
}

// Rows by place, with their columns in the order of the variables.
template <class Row>
FloatMatrix copy_rows(const OrderFactor& factor, Row row) {
    const std::size_t n = factor.n();
    auto matrix = zeros<double>(n, n);
    double* out = matrix.data();
    for (int k = 0; k < factor.n(); ++k) {
        for (int v = 0; v < factor.n(); ++v)
            *out++ = row(k)[factor.column(v)];
    }
    return matrix;
}

ByteMatrix dag(const OrderFactor& factor) {
    return adjacency_of(factor.n(), [&](int v) { return factor.parents(v); });
}

} // namespace

void bind_order_factor(nb::module_& m) {
    nb::class_<OrderFactor> factor(
        m, "OrderFactor", "The inverse Cholesky factor of a correlation matrix in a given order.");
    factor.def("__init__", &construct, nb::arg("correlation").noconvert(), nb::arg("tau"),
               nb::arg("count_edges"), nb::arg("weight"), nb::arg("kernels") = "",
               "Cost: weight times the sum over pairs of [r^2 > tau], or of h(min(r^2, tau)).");
    factor.def("load", &load, nb::arg("order").noconvert(), nb::arg("inverse_cholesky").noconvert(),
               "Start anew from an order and the lower triangular factor in it.");

    factor.def_prop_ro("n_variables", &OrderFactor::n);
    factor.def_prop_ro("cost", &OrderFactor::cost);
    factor.def_prop_ro("tau", [](const OrderFactor& f) { return f.pair_cost().tau; });
    factor.def_prop_ro("kernels", [](const OrderFactor& f) { return f.kernels().name; });
    factor.def(
        "order", [](const OrderFactor& f) { return to_numpy<std::int64_t>(f.order()); },
        "The variable at each place.");
    factor.def_prop_ro("n_edges", &OrderFactor::count_edges);
    factor.def_prop_ro("n_marks", &OrderFactor::marks);
    factor.def_prop_ro("exchanges", &OrderFactor::exchanges, "Exchanges since the last load.");

    factor.def(
        "move",
        [](OrderFactor& f, Whole variable, Whole place) {
            const int v = checked_variable(f, variable), target = checked_place(f, place);
            return changed(f, [&] { f.move(v, target); });
        },
        nb::arg("variable"), nb::arg("place"));
    factor.def(
        "swap_cost",
        [](OrderFactor& f, Whole first, Whole second) {
            const int a = checked_place(f, first), b = checked_place(f, second);
            const std::size_t mark = f.mark();
            f.swap(a, b);
            const double cost = f.cost();
            f.undo(mark);
            return cost;
        },
        nb::arg("first"), nb::arg("second"), "The cost after a swap that is taken back.");
    factor.def(
        "swap",
        [](OrderFactor& f, Whole first, Whole second) {
            const int a = checked_place(f, first), b = checked_place(f, second);
            return changed(f, [&] { f.swap(a, b); });
        },
        nb::arg("first"), nb::arg("second"));
    factor.def("permute", &permute, nb::arg("start"), nb::arg("block").noconvert());
    factor.def(
        "tuck",
        [](OrderFactor& f, Whole x, Whole y) {
            const int a = checked_variable(f, x), b = checked_variable(f, y);
            return changed(f, [&] { f.tuck(a, b); });
        },
        nb::arg("x"), nb::arg("y"));
    factor.def("scan", &scan, nb::arg("variables").noconvert(), nb::arg("threads") = 1,
               "Changes of the cost: one row per variable, one column per place.");

    factor.def(
        "parents",
        [](const OrderFactor& f, Whole v) {
            return to_numpy<std::int64_t>(f.parents(checked_variable(f, v)));
        },
        nb::arg("variable"));
    factor.def("dag", &dag, "Entry (i, j) is 1 for i -> j.");
    factor.def(
        "rows", [](const OrderFactor& f) { return copy_rows(f, [&](int k) { return f.row(k); }); },
        "L: rows by place, columns by variable.");
    factor.def(
        "precisions",
        [](const OrderFactor& f) { return copy_rows(f, [&](int k) { return f.precisions(k); }); },
        "D: rows by place, columns by variable.");

    factor.def("mark", [](OrderFactor& f) {
        check_loaded(f);
        return f.mark();
    });
    factor.def(
        "undo",
        [](OrderFactor& f, Whole mark) {
            const std::size_t m = checked_mark(mark, f.marks());
            return changed(f, [&] { f.undo(m); });
        },
        nb::arg("mark"));
    factor.def(
        "release", [](OrderFactor& f, Whole mark) { f.release(checked_mark(mark, f.marks())); },
        nb::arg("mark"));
}

} // namespace qwo::bindings
