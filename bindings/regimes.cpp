#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bindings.hpp"
#include "checks.hpp"
#include "qwo/family_search.hpp"
#include "qwo/regime_cost.hpp"

namespace qwo::bindings {

namespace {

using SumsIn = nb::ndarray<const double, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void demand(bool holds, const char* message) {
    if (!holds)
        throw Refusal("ArgumentError", message);
}

std::vector<char> flags(const MaskIn& mask, std::size_t rows, std::size_t columns,
                        const char* message) {
    demand(mask.shape(0) == rows && mask.shape(1) == columns, message);
    return {mask.data(), mask.data() + rows * columns};
}

// The search and the cost that it descends on.
class RegimeSearch {
  public:
    RegimeSearch(const SumsIn& sums, std::vector<int> sizes, std::vector<int> leading,
                 const MaskIn& known, const MaskIn& dropped, double edge, double target,
                 double slopes, const OrderIn& order, const MaskIn& may_cause,
                 const MaskIn& precedes, std::vector<std::vector<int>> required, int restarts,
                 std::uint64_t seed)
        : n_(sizes.size()), regimes_(sums.shape(0)) {
        std::size_t width = 1;
        for (const int size : sizes) {
            demand(size >= 1, "each variable owns one column at least");
            width += size;
        }
        demand(leading.size() == n_, "leading must have one number for each variable");
        for (std::size_t v = 0; v < n_; ++v)
            checked("leading columns", leading[v], 1, sizes[v]);
        demand(n_ >= 1 && regimes_ >= 1, "there must be a variable and a regime at least");
        demand(sums.shape(1) == width && sums.shape(2) == width,
               "sums must have one square of the columns and a leading 1 for each regime");
        demand(required.size() == n_, "required must have one list for each variable");
        const int n = static_cast<int>(n_);
        for (auto& own : required) {
            for (const int u : own)
                checked("required parent", u, 0, n - 1LL);
            std::sort(own.begin(), own.end());
        }
        auto start = checked_variables("variable", order.data(), order.shape(0), n);
        demand(start.size() == n_, "the order must have every variable");
        FamilyLimits limits;
        limits.may_cause = flags(may_cause, n_, n_, "may_cause must be square");
        limits.precedes = flags(precedes, n_, n_, "precedes must be square");
        limits.required = std::move(required);
        cost_ = std::make_unique<RegimeCost>(
            std::vector<double>(sums.data(), sums.data() + sums.size()), static_cast<int>(regimes_),
            std::move(sizes), std::move(leading),
            flags(known, regimes_, n_, "known must be regimes by variables"),
            flags(dropped, regimes_, n_, "dropped must be regimes by variables"),
            RegimePrices{edge, target, slopes});
        search_ = std::make_unique<FamilySearch>(*cost_, std::move(start), std::move(limits),
                                                 restarts, seed);
    }

    bool run(double seconds) { return search_->run(seconds); }
    double cost() const { return search_->cost(); }
    std::size_t families() const { return search_->families(); }
    auto order() const { return to_numpy<std::int64_t>(search_->order()); }

    auto dag() const {
        return adjacency_of(n_, [&](int v) { return search_->parents(v); });
    }

    // Which equations have left their base in the DAG found: regimes by variables.
    auto changed() const {
        auto matrix = zeros<std::int8_t>(regimes_, n_);
        for (std::size_t v = 0; v < n_; ++v) {
            const int own = static_cast<int>(v);
            for (const int r : cost_->changed(own, search_->parents(own)))
                matrix.data()[r * n_ + v] = 1;
        }
        return matrix;
    }

    double family_cost(Whole variable, std::vector<int> parents) const {
        const int n = static_cast<int>(n_);
        const int v = checked_index("variable", variable, n);
        for (const int u : parents)
            checked("parent", u, 0, n - 1LL);
        std::sort(parents.begin(), parents.end());
        return cost_->cost(v, parents);
    }

  private:
    std::size_t n_;
    std::size_t regimes_;
    std::unique_ptr<RegimeCost> cost_;
    std::unique_ptr<FamilySearch> search_;
};

} // namespace

void bind_regimes(nb::module_& m) {
    nb::class_<RegimeSearch>(m, "RegimeSearch",
                             "An order search on the cost of groups of rows per child.")
        .def(nb::init<const SumsIn&, std::vector<int>, std::vector<int>, const MaskIn&,
                      const MaskIn&, double, double, double, const OrderIn&, const MaskIn&,
                      const MaskIn&, std::vector<std::vector<int>>, int, std::uint64_t>(),
             nb::arg("sums").noconvert(), nb::arg("sizes"), nb::arg("leading"), nb::kw_only(),
             nb::arg("known").noconvert(), nb::arg("dropped").noconvert(), nb::arg("edge"),
             nb::arg("target"), nb::arg("slopes"), nb::arg("order").noconvert(),
             nb::arg("may_cause").noconvert(), nb::arg("precedes").noconvert(), nb::arg("required"),
             nb::arg("restarts"), nb::arg("seed"), nb::call_guard<nb::gil_scoped_release>())
        .def("run", &RegimeSearch::run, nb::arg("seconds"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Go on for about so many seconds; whether the search has ended.")
        .def_prop_ro("cost", &RegimeSearch::cost)
        .def_prop_ro("families", &RegimeSearch::families)
        .def("order", &RegimeSearch::order)
        .def("dag", &RegimeSearch::dag)
        .def("changed", &RegimeSearch::changed)
        .def("family_cost", &RegimeSearch::family_cost, nb::arg("variable"), nb::arg("parents"));
}

} // namespace qwo::bindings
