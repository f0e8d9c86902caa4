#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "checks.hpp"
#include "qwo/cyclic_cost.hpp"
#include "qwo/cyclic_search.hpp"
#include "qwo/rotations.hpp"
#include "qwo/row_draws.hpp"

namespace qwo::bindings {

namespace {

std::vector<char> square_mask(const char* what, const MaskIn& mask, std::size_t n) {
    check_square(what, mask, n);
    return {mask.data(), mask.data() + n * n};
}

ParentSetsOf parents_in(const MaskIn& graph, std::size_t n) {
    check_square("the graph", graph, n);
    ParentSetsOf parents(n);
    for (std::size_t u = 0; u < n; ++u) {
        for (std::size_t v = 0; v < n; ++v) {
            if (graph.data()[u * n + v] && u != v)
                parents[v].push_back(static_cast<int>(u));
        }
    }
    return parents;
}

// The cost of graphs with cycles, and the descent on it.
class CyclicGraphs {
  public:
    CyclicGraphs(const MatrixIn& covariance, double samples, double price, const MaskIn& may,
                 const MaskIn& must)
        : n_(checked_correlation(covariance)),
          cost_({covariance.data(), covariance.data() + covariance.size()}, static_cast<int>(n_),
                checked_number("samples", samples, 1.0), checked_number("price", price, 0.0)),
          search_(cost_, square_mask("may", may, n_), square_mask("must", must, n_)) {}

    double cost(const MaskIn& graph) { return cost_.cost(parents_in(graph, n_)); }

    auto coefficients(const MaskIn& graph) {
        std::vector<double> values(n_ * n_);
        cost_.coefficients(parents_in(graph, n_), values.data());
        return matrix_of(std::move(values), n_, n_);
    }

    void start(const MaskIn& graph) { search_.start(parents_in(graph, n_)); }
    bool descend(double seconds) { return search_.descend(seconds); }
    double found_cost() const { return search_.cost(); }

    auto found() const {
        return adjacency_of(n_, [&](int v) { return search_.parents()[v]; });
    }

  private:
    std::size_t n_;
    CyclicCost cost_;
    CyclicSearch search_;
};

class RowRotations {
  public:
    RowRotations(const MatrixIn& rows, const std::vector<double>& weights, double samples,
                 double price, std::uint64_t seed)
        : n_(weights.size()),
          rotations_({rows.data(), rows.data() + rows.size()}, checked_weights(rows, weights),
                     checked_number("samples", samples, 1.0), checked_number("price", price, 1e-9),
                     seed) {}

    bool anneal(long long steps, double temperature, double seconds) {
        return rotations_.anneal(steps, checked_number("temperature", temperature, 0.0), seconds);
    }
    double cost() const { return rotations_.cost(); }
    auto rows() const {
        const std::vector<double>& found = rotations_.rows();
        return matrix_of(std::vector<double>(found), found.size() / n_, n_);
    }

  private:
    static std::vector<double> checked_weights(const MatrixIn& rows,
                                               const std::vector<double>& weights) {
        if (weights.empty() || rows.shape(1) != weights.size())
            throw Refusal("ShapeError", "there must be a weight for each column");
        return weights;
    }

    std::size_t n_;
    Rotations rotations_;
};

class Draws {
  public:
    Draws(const MatrixIn& rows, const std::vector<bool>& turned, double samples, double price)
        : n_(turned.size()), draws_(checked_rows(rows, n_), {turned.begin(), turned.end()},
                                    checked_costs(samples, price)) {}

    // None if time ran out, false if there is nothing new.
    std::optional<bool> draw(std::uint64_t seed, double samples, double price, long long steps,
                             double temperature, double seconds) {
        const RowDraws::Drawn drawn =
            draws_.draw(seed, checked_costs(samples, price), steps,
                        checked_number("temperature", temperature, 0.0), seconds);
        if (drawn == RowDraws::Drawn::late)
            return std::nullopt;
        return drawn == RowDraws::Drawn::graph;
    }

    auto graph() const {
        auto matrix = zeros<std::int8_t>(n_, n_);
        std::copy(draws_.graph().begin(), draws_.graph().end(), matrix.data());
        return matrix;
    }

  private:
    static std::vector<double> checked_rows(const MatrixIn& rows, std::size_t n) {
        check_square("rows", rows, n);
        return {rows.data(), rows.data() + rows.size()};
    }
    static EntryCosts checked_costs(double samples, double price) {
        return {checked_number("samples", samples, 1.0), checked_number("price", price, 1e-9)};
    }

    std::size_t n_;
    RowDraws draws_;
};

} // namespace

void bind_feedback(nb::module_& m) {
    using Released = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<CyclicGraphs>(m, "CyclicGraphs",
                             "The likelihood of directed graphs with cycles, and a descent on it.")
        .def(nb::init<const MatrixIn&, double, double, const MaskIn&, const MaskIn&>(),
             nb::arg("covariance").noconvert(), nb::kw_only(), nb::arg("samples"), nb::arg("price"),
             nb::arg("may").noconvert(), nb::arg("must").noconvert())
        .def("cost", &CyclicGraphs::cost, nb::arg("graph").noconvert())
        .def("coefficients", &CyclicGraphs::coefficients, nb::arg("graph").noconvert())
        .def("start", &CyclicGraphs::start, nb::arg("graph").noconvert())
        .def("descend", &CyclicGraphs::descend, nb::arg("seconds"), Released())
        .def_prop_ro("found_cost", &CyclicGraphs::found_cost)
        .def("found", &CyclicGraphs::found);
    nb::class_<RowRotations>(m, "RowRotations", "Annealed rotations of rows towards few non-zeros.")
        .def(nb::init<const MatrixIn&, const std::vector<double>&, double, double, std::uint64_t>(),
             nb::arg("rows").noconvert(), nb::arg("weights"), nb::kw_only(), nb::arg("samples"),
             nb::arg("price"), nb::arg("seed"))
        .def("anneal", &RowRotations::anneal, nb::arg("steps"), nb::arg("temperature"),
             nb::arg("seconds"), Released())
        .def_prop_ro("cost", &RowRotations::cost)
        .def("rows", &RowRotations::rows);
    nb::class_<Draws>(m, "RowDraws", "Graphs of rows that are rotated, each once.")
        .def(nb::init<const MatrixIn&, const std::vector<bool>&, double, double>(),
             nb::arg("rows").noconvert(), nb::arg("turned"), nb::kw_only(), nb::arg("samples"),
             nb::arg("price"))
        .def("draw", &Draws::draw, nb::arg("seed"), nb::arg("samples"), nb::arg("price"),
             nb::arg("steps"), nb::arg("temperature"), nb::arg("seconds"), Released())
        .def("graph", &Draws::graph);
}

} // namespace qwo::bindings
