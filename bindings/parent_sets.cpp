#include "qwo/parent_sets.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "qwo/insertion_search.hpp"

namespace qwo::bindings {

namespace {

std::vector<std::uint8_t> to_bytes(const MaskIn& mask) {
    return {mask.data(), mask.data() + mask.size()};
}

// The matrix as it is for fits over candidates; for fits over all variables they take whole rows of
// it, and want them aligned.
CorrelationRows correlation_rows(const MatrixIn& matrix, bool whole) {
    const int n = static_cast<int>(matrix.shape(0));
    if (whole) {
        auto copy = std::make_shared<const Matrix>(Matrix::copy_of(matrix.data(), n, n));
        return {copy, copy->row(0), n, copy->stride()};
    }
    std::shared_ptr<MatrixIn> owner(new MatrixIn(matrix), [](MatrixIn* array) {
        nb::gil_scoped_acquire acquired;
        delete array;
    });
    return {owner, matrix.data(), n, n};
}

// Lists one after the other; list v ends before ends[v].
using ListsIn = std::pair<OrderIn, OrderIn>;
std::vector<std::vector<std::int32_t>> to_lists(const OrderIn& items, const OrderIn& ends) {
    std::vector<std::vector<std::int32_t>> lists(ends.shape(0));
    const std::int64_t* next = items.data();
    for (std::size_t v = 0; v < lists.size(); ++v) {
        const std::int64_t* end = items.data() + ends.data()[v];
        lists[v].assign(next, end);
        next = end;
    }
    return lists;
}

// The reverse: the items, and where each list ends.
using ListsOut = std::pair<nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>,
                           nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>>;
ListsOut from_lists(const std::vector<std::vector<int>>& lists) {
    std::vector<int> items;
    std::vector<std::size_t> ends;
    for (const std::vector<int>& list : lists) {
        items.insert(items.end(), list.begin(), list.end());
        ends.push_back(items.size());
    }
    return {to_numpy<std::int64_t>(items), to_numpy<std::int64_t>(ends)};
}

ParentSets make_parent_sets(const MatrixIn& correlation, double n_samples, double penalty,
                            int max_parents, nb::object may_cause, nb::object precedes,
                            std::vector<std::vector<int>> required, const std::string& kernel,
                            const OrderIn& candidates, const OrderIn& ends, bool all_at_first) {
    auto problem = std::make_shared<BicProblem>();
    problem->correlation = correlation_rows(correlation, ends.shape(0) == 0);
    problem->n_samples = n_samples;
    problem->penalty = penalty;
    problem->max_parents = max_parents;
    if (!may_cause.is_none()) {
        problem->constraints.may_cause = to_bytes(nb::cast<MaskIn>(may_cause));
    }
    if (!precedes.is_none()) {
        problem->constraints.precedes = to_bytes(nb::cast<MaskIn>(precedes));
    }
    problem->constraints.required = std::move(required);
    return ParentSets(std::move(problem), kernels(kernel), to_lists(candidates, ends),
                      all_at_first);
}

std::vector<int> sorted_parents(const ParentSets& engine, int v) {
    std::vector<int> parents = engine.fit(v).parents();
    std::sort(parents.begin(), parents.end());
    return parents;
}

const char* phase_name(SearchPhase phase) {
    switch (phase) {
    case SearchPhase::descent:
        return "descent";
    case SearchPhase::tucks:
        return "tucks";
    case SearchPhase::sweep:
        return "sweep";
    case SearchPhase::renewal:
        return "renewal";
    case SearchPhase::done:
        break;
    }
    return "done";
}

nb::dict counts_of(const InsertionSearch& search) {
    const SearchCounts& counts = search.counts();
    nb::dict result;
    result["scans"] = counts.scans;
    result["moves"] = counts.moves;
    result["tucks"] = counts.tucks;
    result["improving_tucks"] = counts.improving_tucks;
    result["sweeps"] = counts.sweeps;
    result["renewed"] = counts.renewed;
    return result;
}

} // namespace

void bind_parent_sets(nb::module_& m) {
    using release_gil = nb::call_guard<nb::gil_scoped_release>;

    nb::class_<ParentSets>(m, "ParentSets", "Parent sets by grow-shrink for a moving order.")
        .def_static("create", &make_parent_sets, nb::arg("correlation").noconvert(),
                    nb::arg("n_samples"), nb::arg("penalty"), nb::arg("max_parents"),
                    nb::arg("may_cause").none(), nb::arg("precedes").none(), nb::arg("required"),
                    nb::arg("kernels"), nb::arg("candidates").noconvert(),
                    nb::arg("ends").noconvert(), nb::arg("all_at_first"),
                    "Candidates of variable v are candidates[ends[v - 1] : ends[v]]; all if there "
                    "are no ends, and until narrow() if all are at first.")
        .def("copy", [](const ParentSets& self) { return ParentSets(self); })
        .def(
            "reset",
            [](ParentSets& self, const OrderIn& order) {
                const std::vector<int> start = to_order(order);
                nb::gil_scoped_release release;
                self.reset(start);
            },
            nb::arg("order").noconvert())
        .def(
            "state",
            [](const ParentSets& self) {
                const ParentSetsState state = self.state();
                return std::make_tuple(to_numpy<std::int64_t>(state.order),
                                       from_lists(state.parents), from_lists(state.checked),
                                       state.cost);
            },
            "What load() takes: order, parents in fitting order, those that renew() has checked, "
            "and the cost.")
        .def(
            "load",
            [](ParentSets& self, const OrderIn& order, const ListsIn& parents,
               const ListsIn& checked, double cost) {
                const ParentSetsState state{to_order(order),
                                            to_lists(parents.first, parents.second),
                                            to_lists(checked.first, checked.second), cost};
                nb::gil_scoped_release release;
                self.load(state);
            },
            nb::arg("order").noconvert(), nb::arg("parents").noconvert(),
            nb::arg("checked").noconvert(), nb::arg("cost"),
            "Take up the state of a twin with the same candidates.")
        .def_prop_ro("n_variables", &ParentSets::n)
        .def_prop_ro("cost", &ParentSets::cost)
        .def("order", [](const ParentSets& self) { return to_numpy<std::int64_t>(self.order()); })
        .def("place", &ParentSets::place, nb::arg("variable"))
        .def(
            "parents",
            [](const ParentSets& self, int v) {
                return to_numpy<std::int64_t>(sorted_parents(self, v));
            },
            nb::arg("variable"))
        .def(
            "regression",
            [](const ParentSets& self, int v) {
                const ParentFit& fit = self.fit(v);
                return std::make_tuple(fit.parents(), fit.coefficients(), fit.residual_variance());
            },
            nb::arg("variable"),
            "Parents in fitting order, their coefficients, and the residual variance.")
        .def("move", &ParentSets::move, nb::arg("variable"), nb::arg("place"), release_gil())
        .def(
            "scan",
            [](ParentSets& self, int v) {
                std::vector<double> changes(static_cast<std::size_t>(self.n()));
                {
                    nb::gil_scoped_release release;
                    self.scan(v, changes.data());
                }
                return to_numpy<double>(changes);
            },
            nb::arg("variable"))
        .def("renew", &ParentSets::renew, nb::arg("variable"), release_gil(),
             "Take in candidates that have been missed; whether there were any.")
        .def("narrow", &ParentSets::narrow, release_gil(),
             "Leave each variable its list of candidates and its parents.")
        .def_prop_ro("has_narrowed", &ParentSets::has_narrowed)
        .def(
            "candidates",
            [](const ParentSets& self, int v) {
                const Columns& columns = self.candidates(v);
                std::vector<int> found;
                for (int i = 0; i < columns.size(); ++i) {
                    if (columns.variable(i) != v)
                        found.push_back(columns.variable(i));
                }
                return to_numpy<std::int64_t>(found);
            },
            nb::arg("variable"))
        .def("mark", &ParentSets::mark)
        .def("undo", &ParentSets::undo, nb::arg("mark"))
        .def("release", &ParentSets::release, nb::arg("mark"));

    nb::class_<InsertionSearch>(m, "InsertionSearch", "Insertion search in small steps.")
        .def(
            "__init__",
            [](InsertionSearch* self, ParentSets& engine, std::uint64_t seed, bool tucks,
               bool sweep, double give_up_descent, double give_up_repair, double give_up_tuck,
               bool settled) {
                SearchOptions options;
                options.tucks = tucks;
                options.sweep = sweep;
                options.give_up_descent = give_up_descent;
                options.give_up_repair = give_up_repair;
                options.give_up_tuck = give_up_tuck;
                new (self) InsertionSearch(engine, seed, options, settled);
            },
            nb::arg("engine"), nb::arg("seed"), nb::kw_only(), nb::arg("tucks") = true,
            nb::arg("sweep") = true, nb::arg("give_up_descent") = SearchOptions{}.give_up_descent,
            nb::arg("give_up_repair") = SearchOptions{}.give_up_repair,
            nb::arg("give_up_tuck") = SearchOptions{}.give_up_tuck, nb::arg("settled") = false,
            nb::keep_alive<1, 2>())
        .def("run", &InsertionSearch::run, nb::arg("seconds"), release_gil(),
             "Run until done or for so many seconds; True when done.")
        .def("begin_restart", &InsertionSearch::begin_restart, nb::arg("variables"),
             nb::arg("distance"), release_gil())
        .def("end_restart", &InsertionSearch::end_restart, release_gil())
        .def_prop_ro("phase", [](const InsertionSearch& s) { return phase_name(s.phase()); })
        .def_prop_ro("counts", &counts_of)
        .def_prop_ro("trace", &InsertionSearch::trace);
}

} // namespace qwo::bindings
