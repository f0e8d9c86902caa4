#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bindings.hpp"
#include "checks.hpp"
#include "qwo/family_search.hpp"
#include "qwo/noise_cost.hpp"
#include "qwo/noise_fit.hpp"

namespace qwo::bindings {

namespace {

void demand(bool holds, const char* message) {
    if (!holds)
        throw Refusal("ArgumentError", message);
}

std::shared_ptr<NoiseCost> make_cost(const MatrixIn& columns, const MatrixIn& gram,
                                     std::vector<int> ends, const std::vector<double>& weights,
                                     std::vector<int> sizes, const std::vector<bool>& numbers,
                                     double price) {
    NoiseData data;
    std::size_t width = 0;
    for (const int size : sizes) {
        demand(size >= 1, "each variable owns one column at least");
        width += size;
    }
    demand(columns.shape(0) == width && columns.shape(1) == weights.size() && !weights.empty(),
           "there must be a row of numbers for each column, one for each weight");
    demand(!ends.empty() && ends.back() == count_of(weights) &&
               std::is_sorted(ends.begin(), ends.end()),
           "blocks of rows must end one after the other, the last with the rows");
    demand(gram.shape(0) == width * ends.size() && gram.shape(1) == width,
           "the covariance must be that of the columns, in each block of rows");
    demand(numbers.size() == sizes.size(), "there must be one mark of numbers for each variable");
    data.columns.assign(columns.data(), columns.data() + columns.size());
    data.gram.assign(gram.data(), gram.data() + gram.size());
    data.ends = std::move(ends);
    data.weights = weights;
    data.sizes = std::move(sizes);
    data.is_number.assign(numbers.begin(), numbers.end());
    data.price = checked_number("price", price, 0.0);
    return std::make_shared<NoiseCost>(std::move(data));
}

std::pair<int, std::vector<int>> family(const NoiseCost& cost, Whole variable,
                                        std::vector<int> parents) {
    const int v = checked_index("variable", variable, cost.n());
    for (const int u : parents) {
        checked("parent", u, 0, cost.n() - 1LL);
        demand(u != v, "a variable is no parent of its own");
    }
    std::sort(parents.begin(), parents.end());
    return {v, std::move(parents)};
}

// A fit and the cost that it is made with.
class Fit {
  public:
    Fit(std::shared_ptr<NoiseCost> cost, std::vector<std::vector<int>> parents)
        : cost_(std::move(cost)), fit_(*cost_, families(*cost_, std::move(parents))) {}

    double lack(std::vector<int> families) {
        for (const int v : families)
            checked("variable", v, 0, cost_->n() - 1LL);
        std::sort(families.begin(), families.end());
        return fit_.lack(families);
    }

  private:
    static std::vector<std::vector<int>> families(const NoiseCost& cost,
                                                  std::vector<std::vector<int>> parents) {
        demand(count_of(parents) == cost.n(), "there must be parents of every variable");
        for (int v = 0; v < cost.n(); ++v)
            parents[v] = family(cost, Whole{v}, std::move(parents[v])).second;
        return parents;
    }

    std::shared_ptr<NoiseCost> cost_;
    NoiseFit fit_;
};

// An order search on the cost, which several searches share.
class NoiseSearch {
  public:
    NoiseSearch(std::shared_ptr<NoiseCost> cost, const OrderIn& order, const MaskIn& may_cause,
                const MaskIn& precedes, std::vector<std::vector<int>> required, int restarts,
                std::uint64_t seed)
        : cost_(std::move(cost)) {
        const int n = cost_->n();
        auto start = checked_variables("variable", order.data(), order.shape(0), n);
        demand(count_of(start) == n, "the order must have every variable");
        check_square("may_cause", may_cause, n);
        check_square("precedes", precedes, n);
        demand(count_of(required) == n, "required must have one list for each variable");
        for (auto& own : required) {
            for (const int u : own)
                checked("required parent", u, 0, n - 1LL);
            std::sort(own.begin(), own.end());
        }
        FamilyLimits limits;
        limits.may_cause = {may_cause.data(), may_cause.data() + may_cause.size()};
        limits.precedes = {precedes.data(), precedes.data() + precedes.size()};
        limits.required = std::move(required);
        search_ = std::make_unique<FamilySearch>(*cost_, std::move(start), std::move(limits),
                                                 restarts, seed);
    }

    bool run(double seconds) { return search_->run(seconds); }
    void take(const OrderIn& order, std::vector<std::vector<int>> parents) {
        const int n = cost_->n();
        auto own = checked_variables("variable", order.data(), order.shape(0), n);
        demand(count_of(own) == n && count_of(parents) == n,
               "there must be an order and parents of every variable");
        const std::vector<int> place = places_of(own);
        for (int v = 0; v < n; ++v) {
            for (const int u : parents[v]) {
                checked("parent", u, 0, n - 1LL);
                demand(place[u] < place[v], "parents must come before their children");
            }
            std::sort(parents[v].begin(), parents[v].end());
        }
        search_->take(std::move(own), std::move(parents));
    }
    void to_best_member() { search_->to_best_member(); }
    auto turned(Whole cause, Whole effect) {
        const int n = cost_->n();
        const int i = checked_index("cause", cause, n), j = checked_index("effect", effect, n);
        demand(i != j, "two variables make an arrow");
        return search_->turned(i, j);
    }
    // Gain, lack and z of each arrow, one after the other.
    auto strengths(const std::vector<std::pair<int, int>>& arrows) {
        for (const auto& [i, j] : arrows) {
            checked("cause", i, 0, cost_->n() - 1LL);
            checked("effect", j, 0, cost_->n() - 1LL);
            demand(i != j, "two variables make an arrow");
        }
        std::vector<double> told;
        {
            nb::gil_scoped_release released;
            for (const ArrowStrength& own : arrow_strengths(*cost_, *search_, arrows))
                told.insert(told.end(), {own.gain, own.lack, own.z});
        }
        return matrix_of(std::move(told), arrows.size(), 3);
    }
    double cost() const { return search_->cost(); }
    auto order() const { return to_numpy<std::int64_t>(search_->order()); }
    auto dag() const {
        return adjacency_of(cost_->n(), [&](int v) { return search_->parents(v); });
    }

  private:
    std::shared_ptr<NoiseCost> cost_;
    std::unique_ptr<FamilySearch> search_;
};

} // namespace

void bind_noise(nb::module_& m) {
    nb::class_<NoiseCost>(m, "NoiseCost", "Costs of families by the density of their residuals.")
        .def_static("create", &make_cost, nb::arg("columns").noconvert(),
                    nb::arg("gram").noconvert(), nb::arg("ends"), nb::arg("weights"),
                    nb::arg("sizes"), nb::arg("numbers"), nb::arg("price"),
                    "Columns: a row of numbers for each, of mean 0 and variance 1. Variables that "
                    "are no numbers have the cost of a Gaussian block.")
        .def(
            "cost",
            [](NoiseCost& self, Whole variable, std::vector<int> parents) {
                const auto [v, own] = family(self, variable, std::move(parents));
                return self.cost(v, own);
            },
            nb::arg("variable"), nb::arg("parents"))
        .def(
            "rows",
            [](NoiseCost& self, Whole variable, std::vector<int> parents) {
                const auto [v, own] = family(self, variable, std::move(parents));
                return to_numpy<double>(self.rows(v, own));
            },
            nb::arg("variable"), nb::arg("parents"), "-2 log density of each row.")
        .def(
            "left",
            [](NoiseCost& self, Whole variable, std::vector<int> parents) {
                const auto [v, own] = family(self, variable, std::move(parents));
                return to_numpy<double>(self.left(v, own));
            },
            nb::arg("variable"), nb::arg("parents"),
            "Residuals in units of their spread, of the first column of what is no number.");
    nb::class_<Fit>(m, "NoiseFit", "How well the families of a DAG fit under a model of noise.")
        .def(nb::init<std::shared_ptr<NoiseCost>, std::vector<std::vector<int>>>(), nb::arg("cost"),
             nb::arg("parents"))
        .def("lack", &Fit::lack, nb::arg("families"), nb::call_guard<nb::gil_scoped_release>(),
             "By how much twice the log-likelihood of some families could rise, were residuals to "
             "depend on causes and each other.");
    nb::class_<NoiseSearch>(m, "NoiseSearch", "An order search on the density of residuals.")
        .def(nb::init<std::shared_ptr<NoiseCost>, const OrderIn&, const MaskIn&, const MaskIn&,
                      std::vector<std::vector<int>>, int, std::uint64_t>(),
             nb::arg("cost"), nb::kw_only(), nb::arg("order").noconvert(),
             nb::arg("may_cause").noconvert(), nb::arg("precedes").noconvert(), nb::arg("required"),
             nb::arg("restarts"), nb::arg("seed"))
        .def("run", &NoiseSearch::run, nb::arg("seconds"), nb::call_guard<nb::gil_scoped_release>(),
             "Go on for about so many seconds; whether the search has ended.")
        .def("take", &NoiseSearch::take, nb::arg("order").noconvert(), nb::arg("parents"),
             "Go over to a DAG as it is.")
        .def("to_best_member", &NoiseSearch::to_best_member,
             nb::call_guard<nb::gil_scoped_release>(),
             "Go to the cheapest member of the Markov class that changes of the root lead to.")
        .def("turned", &NoiseSearch::turned, nb::arg("cause"), nb::arg("effect"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Parents in the cheapest graph near by in which the effect comes before the cause; "
             "none if that may not be.")
        .def("strengths", &NoiseSearch::strengths, nb::arg("arrows"),
             "Of each arrow what the best graph near by with the other direction costs more, what "
             "the model lacks there, and the excess in standard errors; NaN if there is none.")
        .def_prop_ro("cost", &NoiseSearch::cost)
        .def("order", &NoiseSearch::order)
        .def("dag", &NoiseSearch::dag);
}

} // namespace qwo::bindings
