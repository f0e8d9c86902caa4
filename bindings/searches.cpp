#include "qwo/search_run.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "checks.hpp"
#include "problem.hpp"
#include "qwo/index.hpp"

namespace qwo::bindings {

namespace {

// Refuses a search whose engine someone else has marked or reset in the meantime.
void check_search(const InsertionSearch& search, bool restarting) {
    if (search.is_restarting() != restarting)
        throw Refusal("EngineError", restarting ? "no restart has begun" : "a restart has begun");
    if (search.engine().marks() != (restarting ? 1u : 0u))
        throw Refusal("EngineError", "the marks of the engine are not those of its search");
}

const char* phase_name(SearchPhase phase) {
    switch (phase) {
    case SearchPhase::descent:
        return "descent";
    case SearchPhase::tucks:
        return "tucks";
    case SearchPhase::turns:
        return "turns";
    case SearchPhase::sweep:
        return "sweep";
    case SearchPhase::renewal:
        return "renewal";
    case SearchPhase::done:
        break;
    }
    return "done";
}

nb::dict counts_of(const SearchCounts& counts) {
    nb::dict result;
    for (const auto& [name, count] : all_counts)
        result[name] = counts.*count;
    return result;
}

// A NumPy bit generator as its capsule holds it (numpy/random/bitgen.h).
struct BitGenerator {
    void* state;
    std::uint64_t (*next_uint64)(void*);
    std::uint32_t (*next_uint32)(void*);
    double (*next_double)(void*);
    std::uint64_t (*next_raw)(void*);
};

// The numbers that `Generator.integers(2**63)` and `Generator.integers(bound)` would have given:
// with 32 bits for a bound.
Draws draws_from(const nb::object& generator) {
    const nb::object capsule = nb::getattr(generator, "capsule", nb::none());
    if (!PyCapsule_IsValid(capsule.ptr(), "BitGenerator"))
        throw nb::type_error("wanted a bit generator of NumPy");
    auto* bits = static_cast<BitGenerator*>(PyCapsule_GetPointer(capsule.ptr(), "BitGenerator"));
    const auto below = [bits](int bound) {
        return below_by_lemire(bound, [bits] { return bits->next_uint32(bits->state); });
    };
    return {[bits] { return bits->next_uint64(bits->state) >> 1; }, below};
}

int at_least_0(const char* what, Whole given) {
    if (given.value < 0)
        throw Refusal("ArgumentError", std::string(what) + " must be at least 0; got " +
                                           std::to_string(given.value));
    return checked_index(what, given, INT_MAX);
}

void construct_run(SearchRun* self, ParentSets& engine, const nb::object& bits, Whole restarts,
                   std::optional<Whole> starts, std::optional<Whole> tries, bool tucks, bool nearby,
                   int jobs, int threads, const std::optional<MatrixIn>& association) {
    check_unmarked(engine);
    RunOptions options;
    options.restarts = at_least_0("restarts", restarts);
    if (starts)
        options.starts = at_least_0("starts", *starts);
    if (tries)
        options.tries = at_least_0("tries", *tries);
    options.tucks = tucks;
    options.nearby = nearby;
    options.jobs = jobs;
    options.threads = threads;
    if (association) {
        check_square("the association", *association, engine.n());
        options.association.assign(association->data(), association->data() + association->size());
    } else if (!engine.problem().blocks.empty()) {
        throw Refusal("ArgumentError", "variables with blocks of columns need an association");
    }
    new (self) SearchRun(engine, draws_from(bits), std::move(options));
}

// Refuses a run whose engine someone else has marked in the meantime.
void check_run(const SearchRun& run) {
    if (run.engine().marks() != (run.is_restarting() ? 1u : 0u))
        throw Refusal("EngineError", "the marks of the engine are not those of its search");
}

std::vector<int> order_from(const MatrixIn& association, Whole root) {
    const int n = checked_correlation(association);
    return tree_order(spanning_tree(association.data(), n, n), checked_index("root", root, n));
}

} // namespace

void bind_searches(nb::module_& m) {
    nb::class_<InsertionSearch>(m, "InsertionSearch", "Insertion search in small steps.")
        .def(
            "__init__",
            [](InsertionSearch* self, ParentSets& engine, std::uint64_t seed, bool tucks,
               bool sweep, bool hasty, bool nearby, const ParentSets* known, bool at_optimum,
               int threads) {
                check_unmarked(engine);
                SearchOptions options = search_options(engine.n(), hasty);
                options.tucks = tucks;
                options.sweep = sweep;
                options.nearby = nearby;
                options.threads = threads;
                if (known != nullptr)
                    options.known = known->dag();
                new (self) InsertionSearch(engine, seed, options, at_optimum);
            },
            nb::arg("engine"), nb::arg("seed"), nb::kw_only(), nb::arg("tucks") = true,
            nb::arg("sweep") = true, nb::arg("hasty") = false, nb::arg("nearby") = false,
            nb::arg("known").none() = nb::none(), nb::arg("at_optimum") = false,
            nb::arg("threads") = 1, nb::keep_alive<1, 2>())
        .def(
            "run",
            [](InsertionSearch& self, double seconds) {
                check_search(self, self.is_restarting());
                nb::gil_scoped_release release;
                return self.run(seconds);
            },
            nb::arg("seconds"), "Run until done or for so many seconds; True when done.")
        .def(
            "begin_restart",
            [](InsertionSearch& self, Whole centre, Whole size) {
                const int v = checked_variable(self.engine(), centre);
                if (self.engine().is_given(v))
                    throw Refusal("ArgumentError",
                                  "variable " + std::to_string(v) + " is given and never moves");
                const int count = checked_index("size", size, INT_MAX);
                check_search(self, false);
                nb::gil_scoped_release release;
                self.begin_restart(v, count);
            },
            nb::arg("centre"), nb::arg("size"))
        .def("end_restart",
             [](InsertionSearch& self) {
                 check_search(self, true);
                 nb::gil_scoped_release release;
                 return self.end_restart();
             })
        .def_prop_ro("phase", [](const InsertionSearch& s) { return phase_name(s.phase()); })
        .def_prop_ro("counts", [](const InsertionSearch& s) { return counts_of(s.counts()); })
        .def_prop_ro("trace", &InsertionSearch::trace);

    nb::class_<Shuffles>(m, "Shuffles", "Restarts one after the other, in small steps.")
        .def(
            "__init__",
            [](Shuffles* self, ParentSets& engine, std::uint64_t seed, Whole length, Whole tries,
               const OrderIn& centres) {
                check_unmarked(engine);
                const int count = checked_index("length", length, INT_MAX);
                const int most = checked_index("tries", tries, INT_MAX);
                new (self) Shuffles(
                    engine, seed, count, most,
                    checked_variables("centre", centres.data(), centres.shape(0), engine.n()));
            },
            nb::arg("engine"), nb::arg("seed"), nb::kw_only(), nb::arg("length"), nb::arg("tries"),
            nb::arg("centres"), nb::keep_alive<1, 2>())
        .def(
            "run",
            [](Shuffles& self, double seconds) {
                check_search(self.search(), self.search().is_restarting());
                nb::gil_scoped_release release;
                return self.run(seconds);
            },
            nb::arg("seconds"), "Run until done or for so many seconds; True when done.")
        .def(
            "end",
            [](Shuffles& self) {
                check_search(self.search(), self.search().is_restarting());
                nb::gil_scoped_release release;
                self.end();
            },
            "End the restart under way, if there is one.")
        .def_prop_ro("n_made", &Shuffles::made)
        .def_prop_ro("n_near", &Shuffles::near)
        .def_prop_ro("n_improved", &Shuffles::improved);

    nb::class_<SearchRun>(m, "SearchRun", "A whole search: descents, starts and restarts.")
        .def("__init__", &construct_run, nb::arg("engine"), nb::arg("bits"), nb::kw_only(),
             nb::arg("restarts"), nb::arg("starts").none() = nb::none(),
             nb::arg("tries").none() = nb::none(), nb::arg("tucks") = true,
             nb::arg("nearby") = false, nb::arg("jobs") = 1, nb::arg("threads") = 1,
             nb::arg("association").none() = nb::none(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>())
        .def(
            "run",
            [](SearchRun& self, double seconds) {
                check_run(self);
                nb::gil_scoped_release release;
                return self.run(seconds);
            },
            nb::arg("seconds"), "Run until done or for so many seconds; True when done.")
        .def(
            "stop",
            [](SearchRun& self) {
                check_run(self);
                nb::gil_scoped_release release;
                self.stop();
            },
            "End what is under way, and leave the engine at the best found.")
        .def_prop_ro("counts", [](const SearchRun& self) { return counts_of(self.counts()); })
        .def_prop_ro("is_proved", &SearchRun::is_proved)
        .def_prop_ro("trace", &SearchRun::trace)
        .def_prop_ro(
            "steps",
            [](const SearchRun& self) {
                nb::list steps;
                for (const auto& [step, number] : self.steps())
                    steps.append(nb::make_tuple(step, number));
                return steps;
            },
            "What has been done: names and numbers.");

    m.def("tree_order", &order_from, nb::arg("association").noconvert(), nb::arg("root"),
          "The variables breadth first through the maximum spanning tree of |association|.");
    m.def("starts_for", &policy::starts_for, nb::arg("n_variables"),
          "The most further starts, by the number of variables.");
    m.def("tries_for", &policy::tries_for, nb::arg("n_variables"), nb::arg("is_thin"),
          "Restarts around each doubtful variable, by their number and whether the graph is thin.");
    m.def(
        "search_policy",
        [] {
            nb::dict policy;
            for (const PolicyRow& row : search_policy)
                policy[row.name] = nb::make_tuple(row.value, row.reason, row.benchmark);
            return policy;
        },
        "The numbers that the search was given: name to value, reason, and benchmark.");
}

} // namespace qwo::bindings
