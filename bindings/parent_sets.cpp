#include "qwo/parent_sets.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "checks.hpp"
#include "problem.hpp"
#include "qwo/arrow_turns.hpp"
#include "qwo/best_dag.hpp"
#include "qwo/class_step.hpp"
#include "qwo/equivalence.hpp"
#include "qwo/family_table.hpp"
#include "qwo/index.hpp"
#include "qwo/insertion_search.hpp"
#include "qwo/shuffles.hpp"
#include "qwo/sink_search.hpp"

namespace qwo::bindings {

namespace {

using SetsIn = nb::ndarray<const WideSet, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumbersIn = nb::ndarray<const double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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

using Ints = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

using TurnsOut =
    std::tuple<Ints, Ints, Ints, Ints, Doubles, Ints, ListsOut, Ints, Ints, Ints, int, int>;

TurnsOut turns_out(const ArrowTurns& found) {
    std::vector<int> from, to, compelled, edges, more, centres, ones, others;
    std::vector<double> lost;
    std::vector<std::vector<int>> gone;
    for (const ClassEdge& edge : found.edges) {
        from.push_back(edge.from);
        to.push_back(edge.to);
        compelled.push_back(edge.compelled);
    }
    for (const ArrowTurn& turn : found.turns) {
        edges.push_back(turn.edge);
        lost.push_back(turn.lost);
        more.push_back(turn.more);
        gone.push_back(turn.gone);
    }
    for (const OpenTriple& triple : found.open) {
        centres.push_back(triple.centre);
        ones.push_back(triple.one);
        others.push_back(triple.other);
    }
    return {to_numpy<std::int64_t>(from),
            to_numpy<std::int64_t>(to),
            to_numpy<std::int64_t>(compelled),
            to_numpy<std::int64_t>(edges),
            to_numpy<double>(lost),
            to_numpy<std::int64_t>(more),
            from_lists(gone),
            to_numpy<std::int64_t>(centres),
            to_numpy<std::int64_t>(ones),
            to_numpy<std::int64_t>(others),
            found.met,
            found.closed};
}

// An order that the constraints allow.
std::vector<int> allowed_order(const ParentSets& self, const OrderIn& given) {
    std::vector<int> order = checked_order(given, self.n());
    for (int k = 0; k < self.problem().n_given; ++k) {
        if (!self.is_given(order[k])) {
            throw Refusal("OrderError", "the given variables must come first; variable " +
                                            std::to_string(order[k]) + " is none");
        }
    }
    const Constraints& constraints = self.problem().constraints;
    if (constraints.precedes.empty())
        return order;
    for (std::size_t k = 0; k < order.size(); ++k) {
        for (std::size_t j = 0; j < k; ++j) {
            if (constraints.must_precede(order[k], order[j], self.n())) {
                throw Refusal("KnowledgeError", "variable " + std::to_string(order[k]) +
                                                    " must stand before " +
                                                    std::to_string(order[j]));
            }
        }
    }
    return order;
}

void reset(ParentSets& self, const OrderIn& order, int threads) {
    const std::vector<int> start = allowed_order(self, order);
    nb::gil_scoped_release release;
    self.reset(start, threads);
}

void move(ParentSets& self, Whole variable, Whole place) {
    const int v = checked_variable(self, variable);
    const int target = checked_index("place", place, self.n());
    const auto [lowest, highest] = self.permitted(v);
    if (target != self.place(v) && (target < lowest || target > highest)) {
        throw Refusal("KnowledgeError", "variable " + std::to_string(v) +
                                            " may stand at the places " + std::to_string(lowest) +
                                            " to " + std::to_string(highest) + "; got " +
                                            std::to_string(target));
    }
    nb::gil_scoped_release release;
    self.move(v, target);
}

// Parents that load() can take: candidates that stand before their child, required ones first.
void check_parents(const ParentSets& self, const ParentSetsState& state) {
    const std::vector<int> place = places_of(state.order);
    const Lists& required = self.problem().constraints.required;
    for (int v = 0; v < self.n(); ++v) {
        const std::vector<int>& parents = state.parents[v];
        checked_variables("parent", parents.data(), parents.size(), self.n());
        const std::vector<int>* first = required.empty() ? nullptr : &required[v];
        bool fits = first == nullptr || (first->size() <= parents.size() &&
                                         std::equal(first->begin(), first->end(), parents.begin()));
        for (int p : parents)
            fits = fits && place[p] < place[v] && self.may_list(v, p);
        if (!fits) {
            throw Refusal("EngineError", "the parents of variable " + std::to_string(v) +
                                             " do not fit this engine's order and candidates");
        }
    }
}

void load(ParentSets& self, const OrderIn& order, const ListsIn& parents, const ListsIn& checked,
          double cost, int threads) {
    const ParentSetsState state{allowed_order(self, order),
                                checked_lists("parent", parents.first, parents.second, self.n()),
                                to_lists(checked.first, checked.second), cost};
    if (count_of(state.checked) != self.n())
        throw Refusal("ShapeError", "checked must have one list for each of the variables");
    check_parents(self, state);
    nb::gil_scoped_release release;
    self.load(state, threads);
}

auto table_of(const MatrixIn& correlation, Whole variable, const OrderIn& candidates,
              const OrderIn& required, double samples, double price, int most_parents,
              std::int64_t most_nodes) {
    const int n = static_cast<int>(checked_correlation(correlation));
    if (n > 64)
        throw Refusal("ShapeError", "there are more than 64 variables");
    const int v = checked_index("variable", variable, n);
    const auto may = checked_variables("candidate", candidates.data(), candidates.shape(0), n);
    const auto must = checked_variables("parent", required.data(), required.shape(0), n);
    FamilyTable table;
    {
        nb::gil_scoped_release release;
        table = family_table({correlation.data(), correlation.data() + correlation.size()}, n, v,
                             may, must, samples, price, {most_parents, most_nodes});
    }
    return std::make_tuple(table.is_complete, to_numpy<std::uint64_t>(table.sets),
                           to_numpy<double>(table.costs));
}

SinkSearch sink_search_of(const MatrixIn& correlation, const OrderIn& part,
                          const std::vector<std::pair<SetsIn, NumbersIn>>& tables, double samples,
                          double price, double best_known, double tolerance) {
    const int n = static_cast<int>(checked_correlation(correlation));
    const auto own = checked_variables("variable", part.data(), part.shape(0), n);
    if (n > 64 || own.empty() || tables.size() != own.size())
        throw Refusal("ShapeError", "a part has up to 64 variables, each with its parent sets");
    std::vector<FamilyTable> families;
    for (const auto& [sets, costs] : tables) {
        if (sets.shape(0) == 0 || sets.shape(0) != costs.shape(0))
            throw Refusal("ShapeError", "there must be a cost for each parent set");
        families.push_back({{sets.data(), sets.data() + sets.size()},
                            {costs.data(), costs.data() + costs.size()}});
    }
    return {{correlation.data(), correlation.data() + correlation.size()},
            n,
            own,
            families,
            checked_number("samples", samples, 1.0),
            checked_number("price", price, 0.0),
            best_known,
            tolerance};
}

std::vector<int> sorted_parents(const ParentSets& engine, int v) {
    std::vector<int> parents = engine.fit(v).parents();
    std::sort(parents.begin(), parents.end());
    return parents;
}

} // namespace

void bind_parent_sets(nb::module_& m) {
    m.def("family_table", &table_of, nb::arg("correlation").noconvert(), nb::arg("variable"),
          nb::arg("candidates").noconvert(), nb::arg("required").noconvert(), nb::kw_only(),
          nb::arg("samples"), nb::arg("price"), nb::arg("most_parents"), nb::arg("most_nodes"),
          "All parent sets that no subset of theirs beats: whether they are all, the sets by bits, "
          "and what they cost.");
    nb::class_<SinkSearch>(m, "SinkSearch", "The best DAG of a part, by branch and bound.")
        .def_static("create", &sink_search_of, nb::arg("correlation").noconvert(),
                    nb::arg("part").noconvert(), nb::arg("tables").noconvert(), nb::kw_only(),
                    nb::arg("samples"), nb::arg("price"), nb::arg("best_known"),
                    nb::arg("tolerance"),
                    "Of each variable of the part its parent sets, as bits, and their costs.")
        .def(
            "run",
            [](SinkSearch& self, std::size_t most, const nb::callable& look) {
                return self.run(most, [&] {
                    look();
                    return true;
                });
            },
            nb::arg("most"), nb::arg("look"),
            "Go on until the end, or until a layer has more states than the most. What is looked "
            "at every few milliseconds may raise.")
        .def_prop_ro("is_proved", &SinkSearch::is_proved)
        .def_prop_ro("bound", &SinkSearch::bound, "No DAG costs less, up to the tolerance.")
        .def_prop_ro("states", &SinkSearch::states)
        .def(
            "chosen", [](const SinkSearch& self) { return to_numpy<std::uint64_t>(self.chosen()); },
            "The parent sets of a better DAG than the best known; none if there is none.");
    nb::class_<ParentSets>(m, "ParentSets", "Parent sets by grow-shrink for a moving order.")
        .def_static(
            "create", &make_parent_sets, nb::arg("moments").noconvert(),
            nb::arg("which").noconvert(), nb::arg("may_cause").none().noconvert(),
            nb::arg("precedes").none().noconvert(), nb::arg("required"), nb::arg("kernels"),
            nb::arg("candidates").noconvert(), nb::arg("ends").noconvert(), nb::arg("all_at_first"),
            nb::arg("blocks"), nb::arg("given").noconvert(),
            "Moments: tuples of correlation matrix, N, price of an edge, most parents; which "
            "of them each variable has, the first if it is empty. "
            "Candidates of variable v are candidates[ends[v - 1] : ends[v]]; all if there "
            "are no ends, and until narrow() if all are at first. Blocks: how many columns each "
            "variable has, one if that is empty; how many of them lead, in which it is "
            "explained; the price of an edge with so many parameters; and the most columns of "
            "parents, with all but one of the child. Given variables stand "
            "before all others and have no parents.")
        .def("copy", [](const ParentSets& self) { return ParentSets(self); })
        .def(
            "kept_apart",
            [](const ParentSets& self, const std::vector<std::pair<Whole, Whole>>& given) {
                check_ready(self);
                if (self.has_lists())
                    throw Refusal("EngineError", "there must be no lists of candidates");
                std::vector<std::pair<int, int>> pairs;
                for (const auto& [a, b] : given)
                    pairs.emplace_back(checked_variable(self, a), checked_variable(self, b));
                nb::gil_scoped_release release;
                ParentSets apart(self, pairs);
                SearchOptions options = search_options(self.n(), false);
                options.known = self.dag();
                InsertionSearch search(apart, 0, std::move(options), true);
                search.resume();
                search.run(policy::never);
                return apart;
            },
            nb::arg("pairs"),
            "The engine that repairs near by what leaving out all edges between some pairs of "
            "variables has touched.")
        .def("reset", &reset, nb::arg("order").noconvert(), nb::arg("threads") = 1)
        .def(
            "cost_of",
            [](const ParentSets& self, const OrderIn& order, int threads) {
                const std::vector<int> start = allowed_order(self, order);
                nb::gil_scoped_release release;
                return self.cost_of(start, threads);
            },
            nb::arg("order").noconvert(), nb::arg("threads") = 1,
            "What reset() to an order would cost.")
        .def(
            "state",
            [](const ParentSets& self) {
                check_ready(self);
                const ParentSetsState state = self.state();
                return std::make_tuple(to_numpy<std::int64_t>(state.order),
                                       from_lists(state.parents), from_lists(state.checked),
                                       state.cost);
            },
            "What load() takes: order, parents in fitting order, those that renew() has checked, "
            "and the cost.")
        .def("load", &load, nb::arg("order").noconvert(), nb::arg("parents").noconvert(),
             nb::arg("checked").noconvert(), nb::arg("cost"), nb::arg("threads") = 1,
             "Take up the state of a twin with the same candidates.")
        .def_prop_ro("n_variables", &ParentSets::n)
        .def_prop_ro("cost", &ParentSets::cost)
        .def_prop_ro(
            "noise", [](const ParentSets& self) { return self.problem().noise(); },
            "The difference of costs up to which two are equal.")
        .def("order", [](const ParentSets& self) { return to_numpy<std::int64_t>(self.order()); })
        .def(
            "take_best",
            [](ParentSets& self, int most) {
                check_unmarked(self);
                nb::gil_scoped_release release;
                return take_best(self, most);
            },
            nb::arg("most") = policy::proved_up_to,
            "Go over to the best DAG of all, if there are no more than so many variables; "
            "whether the present one is the best then.")
        .def(
            "dag",
            [](const ParentSets& self) {
                check_ready(self);
                std::vector<std::int8_t> dag(Index{self.n()} * self.n(), 0);
                for (int v = 0; v < self.n(); ++v) {
                    for (int u : self.fit(v).parents())
                        dag[Index{u} * self.n() + v] = 1;
                }
                return matrix_of(std::move(dag), self.n(), self.n());
            },
            "The DAG: 1 for i -> j.")
        .def(
            "cpdag",
            [](const ParentSets& self) {
                check_ready(self);
                return matrix_of(class_matrix(self.dag()), self.n(), self.n());
            },
            "The class of the DAG: 1 for i -> j, 2 for an undirected edge.")
        .def_prop_ro("n_marks", &ParentSets::marks)
        .def(
            "place",
            [](const ParentSets& self, Whole v) { return self.place(checked_variable(self, v)); },
            nb::arg("variable"))
        .def(
            "exchange",
            [](ParentSets& self, Whole v, double least_gain) {
                return self.exchange(checked_variable(self, v), least_gain);
            },
            nb::arg("variable"), nb::arg("least_gain"))
        .def(
            "parents",
            [](const ParentSets& self, Whole v) {
                return to_numpy<std::int64_t>(sorted_parents(self, checked_variable(self, v)));
            },
            nb::arg("variable"))
        .def(
            "regression",
            [](const ParentSets& self, Whole v) {
                const ParentFit& fit = self.fit(checked_variable(self, v));
                return std::make_tuple(fit.parents(), fit.coefficients(),
                                       fit.residual_covariances());
            },
            nb::arg("variable"),
            "Parents in fitting order, the coefficients of their columns for each column of the "
            "variable, and the residual covariances of those, row by row.")
        .def("move", &move, nb::arg("variable"), nb::arg("place"))
        .def(
            "scan",
            [](ParentSets& self, Whole variable) {
                const int v = checked_variable(self, variable);
                std::vector<double> changes(self.n());
                {
                    nb::gil_scoped_release release;
                    self.scan(v, changes.data());
                }
                return to_numpy<double>(changes);
            },
            nb::arg("variable"))
        .def(
            "reroot",
            [](ParentSets& self, Whole variable) {
                const int v = checked_variable(self, variable);
                nb::gil_scoped_release release;
                return reroot(self, v);
            },
            nb::arg("variable"),
            "Go to the member of the class in which a variable is the root of its piece; whether "
            "that was allowed.")
        .def(
            "turn_arrows",
            [](ParentSets& self, double limit, int most) {
                check_unmarked(self);
                ArrowTurns found;
                {
                    nb::gil_scoped_release release;
                    found = turn_arrows(self, limit, most);
                }
                return turns_out(found);
            },
            nb::arg("limit"), nb::arg("most"),
            "The edges of the class (from, to, compelled); then, for each arrow that was turned, "
            "which edge it is, what is lost, how many edges there are more, and the arrows of "
            "the class that are lines there or turned, unless more than the limit is lost. Then "
            "the "
            "triples whose ends are not joined, as centre and two edges, and how many there are in "
            "all, and closed.")
        .def(
            "cross",
            [](ParentSets& self, const ParentSets& other, double least_gain) {
                check_ready(self);
                check_ready(other);
                if (self.n() != other.n())
                    throw Refusal("EngineError", "the engines have different variables");
                nb::gil_scoped_release release;
                return cross(self, other.dag(), least_gain);
            },
            nb::arg("other"), nb::arg("least_gain"),
            "Take over the better pieces of another engine's DAG; whether there were any.")
        .def(
            "rivals",
            [](ParentSets& self) {
                check_unmarked(self);
                const BicProblem& problem = self.problem();
                if (problem.sets.size() > 1 || !problem.blocks.empty())
                    return to_numpy<double>(std::vector<double>{});
                return to_numpy<double>(self.rivals());
            },
            "For each edge, by child and then by parent, the odds that another takes its place; "
            "none for blocks of columns and several sets of moments.")
        .def(
            "doubtful",
            [](ParentSets& self) {
                check_ready(self);
                return doubtful(self);
            },
            "Variables of triangles and squares, and ends of weak edges.")
        .def(
            "differing",
            [](const ParentSets& self, const ParentSets& other) {
                check_ready(self);
                check_ready(other);
                if (self.n() != other.n())
                    throw Refusal("EngineError", "the engines have different variables");
                std::vector<int> found;
                const std::vector<char> differs = differing_variables(self.dag(), other.dag());
                for (int v = 0; v < self.n(); ++v) {
                    if (differs[v])
                        found.push_back(v);
                }
                return found;
            },
            nb::arg("other"), "Variables whose neighbours or colliders are not the same.")
        .def(
            "cost_with",
            [](ParentSets& self, Whole variable, const OrderIn& parents) {
                const int v = checked_variable(self, variable);
                const std::vector<int> chosen =
                    checked_variables("parent", parents.data(), parents.shape(0), self.n());
                if (std::find(chosen.begin(), chosen.end(), v) != chosen.end())
                    throw Refusal("OrderError",
                                  "variable " + std::to_string(v) + " can be no parent of its own");
                nb::gil_scoped_release release;
                return self.cost_with(v, chosen);
            },
            nb::arg("variable"), nb::arg("parents").noconvert(),
            "What a variable would cost with other parents; infinite if one may be none.")
        .def(
            "renew",
            [](ParentSets& self, Whole variable) {
                const int v = checked_variable(self, variable);
                check_unmarked(self);
                nb::gil_scoped_release release;
                return self.renew(v);
            },
            nb::arg("variable"),
            "Take in candidates that have been missed; whether there were any.")
        .def(
            "narrow",
            [](ParentSets& self) {
                check_unmarked(self);
                nb::gil_scoped_release release;
                self.narrow();
            },
            "Leave each variable its list of candidates and its parents.")
        .def_prop_ro("has_narrowed", &ParentSets::has_narrowed)
        .def(
            "candidates",
            [](const ParentSets& self, Whole variable) {
                const int v = checked_index("variable", variable, self.n());
                const Columns& columns = self.candidates(v);
                std::vector<int> found;
                for (int i = 0; i < columns.size(); ++i) {
                    if (columns.variable(i) != v)
                        found.push_back(columns.variable(i));
                }
                return to_numpy<std::int64_t>(found);
            },
            nb::arg("variable"))
        .def("mark",
             [](ParentSets& self) {
                 check_ready(self);
                 return self.mark();
             })
        .def(
            "undo",
            [](ParentSets& self, Whole mark) { self.undo(checked_mark(mark, self.marks())); },
            nb::arg("mark"))
        .def(
            "release",
            [](ParentSets& self, Whole mark) { self.release(checked_mark(mark, self.marks())); },
            nb::arg("mark"));
}

} // namespace qwo::bindings
