#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "bindings.hpp"
#include "checks.hpp"
#include "qwo/mag_search.hpp"
#include "qwo/marked_graph.hpp"

namespace qwo::bindings {

namespace {

using MarksIn =
    nb::ndarray<const std::int8_t, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

MarkedGraph graph_of(const MarksIn& marks) {
    check_square("the marks", marks, marks.shape(0));
    for (std::size_t i = 0; i < marks.size(); ++i)
        checked("mark", marks.data()[i], no_edge, tail);
    return {static_cast<int>(marks.shape(0)), marks.data()};
}

auto array_of(const MarkedGraph& graph) {
    const std::size_t n = graph.size();
    return matrix_of(graph.marks(), n, n);
}

std::vector<char> flags_of(const MaskIn& mask, std::size_t n) {
    if (mask.size() == 0)
        return {};
    check_square("a mask", mask, n);
    return {mask.data(), mask.data() + mask.size()};
}

MarkLimits limits_of(const MaskIn& no_tail, const MaskIn& required, const MaskIn& clear,
                     std::size_t n) {
    return {flags_of(no_tail, n), flags_of(required, n), flags_of(clear, n)};
}

using Step = std::tuple<int, int, int, int, std::vector<int>, double, int>;

// The descent, and the correlation that it works on.
class HiddenCausesSearch {
  public:
    HiddenCausesSearch(const MatrixIn& correlation, const MarksIn& start, double samples,
                       double edge, double least_saving, const MaskIn& candidates,
                       const MaskIn& no_tail, const MaskIn& required, const MaskIn& clear,
                       const MaskIn& never, int most_sweeps)
        : n_(checked_correlation(correlation)),
          correlation_(correlation.data(), correlation.data() + correlation.size()),
          search_(correlation_.data(), start_of(start), MagPrices{samples, edge, least_saving},
                  flags_of(candidates, n_), limits_of(no_tail, required, clear, n_),
                  flags_of(never, n_), most_sweeps) {}

    bool run(double seconds) { return search_.run(seconds); }
    void doubt(const MaskIn& trusted, double price) {
        check_square("a mask", trusted, n_);
        search_.doubt(flags_of(trusted, n_), price);
    }
    double cost() const { return search_.cost(); }
    std::size_t districts() const { return search_.districts_fitted(); }
    auto marks() const { return array_of(search_.mag().marked()); }
    double change(Whole first, Whole second, int link) {
        const int i = checked_index("variable", first, static_cast<int>(n_));
        const int j = checked_index("variable", second, static_cast<int>(n_));
        checked("variable", i == j ? -1 : i, 0, static_cast<int>(n_) - 1LL);
        return search_.change(i, j, static_cast<Link>(checked("link", link, 0, 3)));
    }
    std::vector<Step> steps() const {
        std::vector<Step> told;
        for (const MagStep& step : search_.steps())
            told.emplace_back(step.first, step.second, static_cast<int>(step.before),
                              static_cast<int>(step.after), step.colliders, step.saving,
                              step.common);
        return told;
    }
    auto mark_worths(double most) { return matrix_of(search_.mark_worths(most), n_, n_); }
    auto coefficients() const {
        // Entry (i, j) belongs to i -> j.
        std::vector<double> turned(n_ * n_, 0.0);
        const auto& mag = search_.mag();
        for (std::size_t j = 0; j < n_; ++j) {
            for_each_bit(mag.parents().row(static_cast<int>(j)), mag.parents().words(), [&](int i) {
                turned[i * n_ + j] = search_.parameters().beta[j * n_ + i];
            });
        }
        return matrix_of(std::move(turned), n_, n_);
    }
    auto covariances() const {
        std::vector<double> kept(n_ * n_, 0.0);
        const auto& mag = search_.mag();
        for (std::size_t j = 0; j < n_; ++j) {
            kept[j * n_ + j] = search_.parameters().omega[j * n_ + j];
            for_each_bit(mag.spouses().row(static_cast<int>(j)), mag.spouses().words(),
                         [&](int i) { kept[i * n_ + j] = search_.parameters().omega[i * n_ + j]; });
        }
        return matrix_of(std::move(kept), n_, n_);
    }

  private:
    Mag start_of(const MarksIn& start) const {
        check_square("the marks", start, n_);
        const MarkedGraph graph = graph_of(start);
        if (!is_mag(graph))
            throw Refusal("GraphError", "the descent starts from a MAG");
        return Mag(graph);
    }

    std::size_t n_;
    std::vector<double> correlation_;
    MagSearch search_;
};

} // namespace

void bind_hidden_causes(nb::module_& m) {
    m.def(
        "mag_of_dag",
        [](const MarksIn& dag, Whole observed) {
            const MarkedGraph graph = graph_of(dag);
            checked("observed", observed.value, 0, graph.size());
            return array_of(mag_of_dag(graph, static_cast<int>(observed.value)));
        },
        nb::arg("dag").noconvert(), nb::arg("observed"),
        "The MAG over the first vertices of a DAG, given by its marks.");
    m.def(
        "is_mag", [](const MarksIn& marks) { return is_mag(graph_of(marks)); },
        nb::arg("marks").noconvert());
    m.def(
        "is_pag", [](const MarksIn& marks) { return is_pag(graph_of(marks)); },
        nb::arg("marks").noconvert());
    m.def(
        "mag_of_pag", [](const MarksIn& marks) { return array_of(mag_of_pag(graph_of(marks))); },
        nb::arg("marks").noconvert());
    m.def(
        "pag_of_mag",
        [](const MarksIn& marks, const MaskIn& no_tail, const MaskIn& required,
           const MaskIn& clear) {
            const MarkedGraph graph = graph_of(marks);
            return array_of(pag_of_mag(graph, limits_of(no_tail, required, clear, graph.size())));
        },
        nb::arg("marks").noconvert(), nb::arg("no_tail").noconvert(),
        nb::arg("required").noconvert(), nb::arg("clear").noconvert(),
        "The marks of the class of a MAG; empty masks for none.");
    m.def(
        "orient_by_sets",
        [](const MarksIn& marks, const nb::ndarray<const std::uint8_t, nb::numpy, nb::ndim<3>,
                                                   nb::c_contig, nb::device::cpu>& separating) {
            MarkedGraph graph = graph_of(marks);
            const std::size_t n = graph.size();
            if (separating.shape(0) != n || separating.shape(1) != n || separating.shape(2) != n)
                throw Refusal("ShapeError", "separating sets are n x n x n");
            orient(graph, [&](int l, int, int k, int j) {
                return separating.data()[(l * n + j) * n + k] == 0;
            });
            return array_of(graph);
        },
        nb::arg("marks").noconvert(), nb::arg("separating").noconvert(),
        "Zhang's rules; [l, j, k] says whether k is in the set that separates l and j.");
    nb::class_<HiddenCausesSearch>(m, "HiddenCausesSearch",
                                   "A descent over MAGs by their penalised likelihood.")
        .def(nb::init<const MatrixIn&, const MarksIn&, double, double, double, const MaskIn&,
                      const MaskIn&, const MaskIn&, const MaskIn&, const MaskIn&, int>(),
             nb::arg("correlation").noconvert(), nb::arg("start").noconvert(), nb::kw_only(),
             nb::arg("samples"), nb::arg("edge"), nb::arg("least_saving"),
             nb::arg("candidates").noconvert(), nb::arg("no_tail").noconvert(),
             nb::arg("required").noconvert(), nb::arg("clear").noconvert(),
             nb::arg("never").noconvert(), nb::arg("most_sweeps"))
        .def("run", &HiddenCausesSearch::run, nb::arg("seconds"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Go on for about so many seconds; whether the descent has ended.")
        .def("doubt", &HiddenCausesSearch::doubt, nb::arg("trusted").noconvert(), nb::arg("price"),
             "From now on each doubtful collider costs so much, and must become fewer: of two\n"
             "vertices without an edge, not both of whose arrowheads are trusted.")
        .def_prop_ro("cost", &HiddenCausesSearch::cost)
        .def_prop_ro("districts", &HiddenCausesSearch::districts)
        .def("marks", &HiddenCausesSearch::marks)
        .def("steps", &HiddenCausesSearch::steps)
        .def("change", &HiddenCausesSearch::change, nb::arg("first"), nb::arg("second"),
             nb::arg("link"))
        .def("mark_worths", &HiddenCausesSearch::mark_worths, nb::arg("most"))
        .def("coefficients", &HiddenCausesSearch::coefficients)
        .def("covariances", &HiddenCausesSearch::covariances);
}

} // namespace qwo::bindings
