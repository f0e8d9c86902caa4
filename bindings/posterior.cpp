#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "checks.hpp"
#include "qwo/beyond_lists.hpp"
#include "qwo/graph_chain.hpp"
#include "qwo/index.hpp"

namespace qwo::bindings {

namespace {

using Lists = ParentLists::Lists;
using VectorIn = nb::ndarray<const double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MasksIn =
    nb::ndarray<const std::uint32_t, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatsOut = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using MasksOut = nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<2>>;

constexpr std::size_t kMostCandidates = 24;

void demand(bool holds, const std::string& message) {
    if (!holds)
        throw Refusal("ArgumentError", message);
}

void check_variable(int v, int n) {
    checked("variable", v, 0, n - 1LL);
}

// Every list names other variables, each once.
void check_lists(const Lists& lists, std::size_t n, const std::string& name) {
    demand(lists.size() == n, name + ": wanted one list for each of " + std::to_string(n) +
                                  " variables, got " + std::to_string(lists.size()));
    for (std::size_t v = 0; v < n; ++v) {
        std::vector<std::uint8_t> seen(n, 0);
        seen[v] = 1;
        for (const int u : lists[v]) {
            check_variable(u, static_cast<int>(n));
            demand(!seen[u], name + ": variable " + std::to_string(u) + " is in the list of " +
                                 std::to_string(v) + " twice, or is the variable itself");
            seen[u] = 1;
        }
    }
}

ParentLists make_lists(const Lists& candidates, const Lists& core, const Lists& earlier) {
    const std::size_t n = candidates.size();
    check_lists(candidates, n, "candidates");
    check_lists(core, n, "core");
    check_lists(earlier, n, "earlier");
    for (std::size_t v = 0; v < n; ++v) {
        demand(candidates[v].size() <= kMostCandidates,
               "variable " + std::to_string(v) + " has " + std::to_string(candidates[v].size()) +
                   " candidates; at most " + std::to_string(kMostCandidates) + " fit a table");
        for (const int u : core[v])
            demand(std::find(candidates[v].begin(), candidates[v].end(), u) == candidates[v].end(),
                   "variable " + std::to_string(u) + " is both candidate and core parent of " +
                       std::to_string(v));
    }
    return {candidates, core, earlier};
}

std::vector<double> finite_numbers(const double* data, std::size_t count, const char* name) {
    std::vector<double> values(data, data + count);
    demand(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }),
           std::string(name) + " has values that are not finite");
    return values;
}

void construct_tables(ScoreTables* tables, const MatrixIn& matrix, const VectorIn& constants,
                      const VectorIn& exponents, double determinant, const Lists& candidates,
                      const Lists& core, const Lists& earlier, int threads,
                      const std::optional<VectorIn>& given) {
    const std::size_t n = matrix.shape(0);
    demand(n > 0 && matrix.shape(1) == n && candidates.size() == n,
           "the matrix must be square, with one row for each list of candidates");
    demand(exponents.shape(0) == constants.shape(0), "constants and exponents differ in length");
    demand(std::isfinite(determinant), "the weight of the determinant is not finite");
    ParentLists lists = make_lists(candidates, core, earlier);
    for (std::size_t v = 0; v < n; ++v)
        demand(candidates[v].size() + core[v].size() < constants.shape(0),
               "variable " + std::to_string(v) + " may have more parents than there are constants");
    FamilyScore score{static_cast<int>(n), finite_numbers(matrix.data(), n * n, "the matrix"),
                      finite_numbers(constants.data(), constants.shape(0), "constants"),
                      finite_numbers(exponents.data(), exponents.shape(0), "exponents"),
                      determinant};
    std::size_t sets = 0;
    for (const auto& listed : candidates)
        sets += std::size_t{1} << listed.size();
    demand(!given || given->shape(0) == sets,
           "there must be a score for each set of candidates, or none");
    std::vector<double> known;
    if (given)
        known = finite_numbers(given->data(), sets, "scores");
    nb::gil_scoped_release release;
    new (tables) ScoreTables(std::move(score), std::move(lists), threads, std::move(known));
}

ParentMask check_mask(const ParentLists& lists, int v, std::uint64_t mask) {
    check_variable(v, lists.n());
    demand((mask >> lists.size(v)) == 0, "mask " + std::to_string(mask) + " of variable " +
                                             std::to_string(v) + " exceeds its list");
    return static_cast<ParentMask>(mask);
}

void check_place(ParentMask allowed, int place) {
    demand(place >= 0 && place < static_cast<int>(kMostCandidates) && ((allowed >> place) & 1u),
           "place " + std::to_string(place) + " is not allowed");
}

// Masks of draws, one row each: within the lists and without cycles.
const ParentMask* check_draws(const ParentLists& lists, const MasksIn& masks) {
    const std::size_t n = lists.n();
    demand(masks.shape(1) == n, "masks must have one column for each variable");
    for (std::size_t i = 0; i < masks.size(); ++i)
        check_mask(lists, i % n, masks.data()[i]);
    const int draws = masks.shape(0), cyclic = lists.first_cyclic(masks.data(), draws);
    demand(cyclic == draws, "draw " + std::to_string(cyclic) + " has a cycle");
    return masks.data();
}

void construct_chain(GraphChain* chain, const ScoreTables& tables, const OrderIn& order,
                     std::uint64_t seed) {
    const std::vector<int> start = checked_order(order, tables.n());
    const std::vector<int> places = places_of(start);
    for (int v = 0; v < tables.n(); ++v) {
        for (const int u : tables.lists().earlier(v))
            demand(places[u] < places[v],
                   "variable " + std::to_string(u) + " must come before " + std::to_string(v));
    }
    new (chain) GraphChain(tables, start, seed);
}

std::pair<MasksOut, nb::ndarray<nb::numpy, double, nb::ndim<1>>>
run_chain(GraphChain& chain, int draws, int thin, double joint, double reversals, double paths,
          double parents) {
    demand(draws >= 0 && thin >= 1, "wanted draws >= 0 and thin >= 1");
    for (const double share : {joint, reversals, paths, parents})
        demand(share >= 0.0 && share <= 1000.0, "moves per variable must be between 0 and 1000");
    const std::size_t n = chain.tables().n();
    const std::size_t count = draws;
    std::vector<ParentMask> masks(count * n);
    std::vector<double> log_scores(count);
    {
        nb::gil_scoped_release release;
        chain.run(draws, thin, {joint, reversals, paths, parents}, masks.data(), log_scores.data());
    }
    return {matrix_of(std::move(masks), count, n), to_numpy<double>(log_scores)};
}

std::pair<FloatsOut, FloatsOut> outside(const ScoreTables& tables, const MasksIn& masks,
                                        const MaskIn& possible) {
    const std::size_t n = tables.n();
    demand(possible.shape(0) == n && possible.shape(1) == n, "`possible` must be n by n");
    demand(masks.shape(0) > 0, "no draws");
    const ParentMask* draws = check_draws(tables.lists(), masks);
    PairValues ratios, near;
    {
        nb::gil_scoped_release release;
        ratios_outside(tables, draws, masks.shape(0), possible.data(), ratios, near);
    }
    return {matrix_of(std::move(ratios), n, n), matrix_of(std::move(near), n, n)};
}

FloatsOut of_core(const ScoreTables& tables, const MasksIn& masks) {
    const std::size_t n = tables.n();
    demand(masks.shape(0) > 0, "no draws");
    const ParentMask* draws = check_draws(tables.lists(), masks);
    PairValues ratios;
    {
        nb::gil_scoped_release release;
        ratios_of_core(tables, draws, masks.shape(0), ratios);
    }
    return matrix_of(std::move(ratios), n, n);
}

using Counting = void (*)(const ParentLists&, const ParentMask*, std::size_t, PairValues&,
                          PairValues&);

// What a function counts over draws, twice for each pair.
template <Counting count>
std::pair<FloatsOut, FloatsOut> counted(const Lists& candidates, const Lists& core,
                                        const MasksIn& masks) {
    const ParentLists lists = make_lists(candidates, core, Lists(candidates.size()));
    const std::size_t n = lists.n();
    const ParentMask* draws = check_draws(lists, masks);
    PairValues first, second;
    {
        nb::gil_scoped_release release;
        count(lists, draws, masks.shape(0), first, second);
    }
    return {matrix_of(std::move(first), n, n), matrix_of(std::move(second), n, n)};
}

void bind_tables(nb::module_& m) {
    nb::class_<ScoreTables>(m, "ScoreTables",
                            "Scores of all sets of candidate parents, and their sums.")
        .def("__init__", &construct_tables, nb::arg("matrix").noconvert(),
             nb::arg("constants").noconvert(), nb::arg("exponents").noconvert(),
             nb::arg("determinant"), nb::arg("candidates"), nb::arg("core"), nb::arg("earlier"),
             nb::arg("threads") = 1, nb::arg("given") = nb::none(),
             "log s(v, P) = constants[p] - exponents[p] log c - determinant log det R_PP.")
        .def_prop_ro("n_variables", &ScoreTables::n)
        .def_prop_ro("n_bytes", &ScoreTables::bytes)
        .def(
            "score",
            [](const ScoreTables& self, int v, std::uint32_t mask) {
                const ParentMask parents = check_mask(self.lists(), v, mask);
                return self.best(v) + self.score(v, parents);
            },
            nb::arg("variable"), nb::arg("parents"))
        .def(
            "sum",
            [](const ScoreTables& self, int v, std::uint32_t mask) {
                const ParentMask allowed = check_mask(self.lists(), v, mask);
                return self.best(v) + self.sum(v, allowed);
            },
            nb::arg("variable"), nb::arg("allowed"))
        .def(
            "sum_with",
            [](const ScoreTables& self, int v, std::uint32_t mask, int place) {
                const ParentMask allowed = check_mask(self.lists(), v, mask);
                check_place(allowed, place);
                return self.best(v) + self.sum_with(v, allowed, place);
            },
            nb::arg("variable"), nb::arg("allowed"), nb::arg("place"))
        .def(
            "draws",
            [](const ScoreTables& self, int v, std::uint32_t mask, int count, std::uint64_t seed,
               int place) {
                const ParentMask allowed = check_mask(self.lists(), v, mask);
                demand(count >= 0, "wanted a number of draws");
                if (place >= 0)
                    check_place(allowed, place);
                Random random(seed);
                std::vector<ParentMask> found(count);
                for (ParentMask& drawn : found)
                    drawn = place < 0 ? self.draw(v, allowed, random)
                                      : self.draw_with(v, allowed, place,
                                                       self.sum_with(v, allowed, place), random);
                return to_numpy<std::uint32_t>(found);
            },
            nb::arg("variable"), nb::arg("allowed"), nb::arg("count"), nb::arg("seed"),
            nb::arg("place") = -1,
            "Sets drawn from the subsets of the allowed one; those with a place if it is given.")
        .def("ratios_outside", &outside, nb::arg("masks").noconvert(),
             nb::arg("possible").noconvert(),
             "Means of p(G + edge) / p(G) for edges outside the lists, and how near they are.")
        .def("ratios_of_core", &of_core, nb::arg("masks").noconvert(),
             "Means of p(G without a core edge, or with it turned round) / p(G).");
}

} // namespace

void bind_posterior(nb::module_& m) {
    using release_gil = nb::call_guard<nb::gil_scoped_release>;

    bind_tables(m);
    nb::class_<GraphChain>(m, "GraphChain", "A Markov chain on orders and DAGs.")
        .def("__init__", &construct_chain, nb::arg("tables"), nb::arg("order").noconvert(),
             nb::arg("seed"), nb::keep_alive<1, 2>())
        .def(
            "burn_in",
            [](GraphChain& self, int sweeps, int annealed) {
                demand(sweeps >= 0 && annealed >= 0, "wanted a number of sweeps");
                nb::gil_scoped_release release;
                self.burn_in(annealed, sweeps);
            },
            nb::arg("sweeps"), nb::arg("annealed") = 0,
            "Sweeps of order MCMC, after some at falling temperatures, then a DAG given the order.")
        .def("run", &run_chain, nb::arg("draws"), nb::arg("thin") = 1, nb::arg("joint") = 0.1,
             nb::arg("reversals") = 3.0, nb::arg("paths") = 1.0, nb::arg("parents") = 1.0,
             "Parent masks, a row for each draw, and log scores.")
        .def(
            "edge_means",
            [](const GraphChain& self) {
                const std::size_t n = self.tables().n();
                return matrix_of(self.edge_means(), n, n);
            },
            "Means of the conditional probabilities of the edges since they were forgotten.")
        .def("forget_sums", &GraphChain::forget_sums, release_gil())
        .def("order", [](const GraphChain& self) { return to_numpy<std::int64_t>(self.order()); })
        .def_prop_ro("order_log_score", &GraphChain::order_log_score)
        .def_prop_ro("counts", [](const GraphChain& self) {
            const MoveCounts& counts = self.counts();
            return std::make_tuple(counts.joint_tried, counts.joint_taken, counts.reversals_tried,
                                   counts.reversals_taken, counts.paths_tried, counts.paths_taken);
        });
    m.def("count_classes", &counted<count_classes>, nb::arg("candidates"), nb::arg("core"),
          nb::arg("masks").noconvert(),
          "How many draws have a class with i -> j, and with an undirected edge.");
    m.def("count_relations", &counted<count_relations>, nb::arg("candidates"), nb::arg("core"),
          nb::arg("masks").noconvert(),
          "How many draws have a path from i to j, and j in the Markov blanket of i.");
}

} // namespace qwo::bindings
