#include "qwo/order_gibbs.hpp"

#include <algorithm>
#include <cmath>

#include "qwo/index.hpp"

namespace qwo {

namespace {
constexpr double kFaint = -40.0;
}

OrderGibbs::OrderGibbs(const ScoreTables& tables)
    : tables_(tables), order_(tables.n()), place_(order_), predecessors_(order_.size()),
      weights_(order_.size()) {}

void OrderGibbs::set_order(const std::vector<int>& order) {
    order_ = order;
    for (int k = 0; k < count_of(order_); ++k)
        place_[order_[k]] = k;
    for (int v = 0; v < tables_.n(); ++v) {
        ParentMask mask = 0;
        for (int b = 0; b < tables_.lists().size(v); ++b) {
            if (place(tables_.lists().candidate(v, b)) < place(v))
                mask |= ParentMask{1} << b;
        }
        predecessors_[v] = mask;
    }
}

int OrderGibbs::weigh(int v, int step) {
    const ParentLists& lists = tables_.lists();
    const std::int8_t *in_v = lists.places(v), *of_v = lists.places_in(v);
    const double* own_sums = tables_.sums(v);
    ParentMask mask = predecessors(v);
    double own = own_sums[mask], passed = 0.0;
    const int n = tables_.n();
    int k = place(v) + step;
    for (; k >= 0 && k < n; k += step) {
        const int u = order_[k];
        if (step < 0 ? lists.must_precede(u, v) : lists.must_precede(v, u))
            break;
        if (in_v[u] >= 0) {
            mask ^= ParentMask{1} << in_v[u];
            own = own_sums[mask];
        }
        if (of_v[u] >= 0) {
            const double* sums = tables_.sums(u);
            const ParentMask before = predecessors(u);
            passed += sums[before ^ (ParentMask{1} << of_v[u])] - sums[before];
        }
        weights_[k] = own + passed;
    }
    return k;
}

int OrderGibbs::draw_place(int v, Random& random, double inverse_temperature) {
    const int here = place(v);
    weights_[here] = tables_.sum(v, predecessors(v));
    const int first = weigh(v, -1) + 1, end = weigh(v, 1);
    const double largest = *std::max_element(weights_.begin() + first, weights_.begin() + end);
    double sum = 0.0, last = 1.0, value = 0.0;
    for (int k = first; k < end; ++k) {
        double& weight = weights_[k];
        weight = inverse_temperature * (weight - largest);
        if (weight != last) { // most neighbours do not concern v, and its weight stays the same
            last = weight;
            value = weight > kFaint ? std::exp(weight) : 0.0;
        }
        weight = value;
        sum += value;
    }
    double rest = random.uniform() * sum;
    for (int k = first; k < end; ++k) {
        rest -= weights_[k];
        if (rest < 0.0)
            return k;
    }
    return here;
}

void OrderGibbs::shift(int from, int to) {
    const ParentLists& lists = tables_.lists();
    const int v = order_[from], step = from < to ? 1 : -1;
    const std::int8_t *in_v = lists.places(v), *of_v = lists.places_in(v);
    for (int k = from; k != to; k += step) {
        const int u = order_[k + step];
        order_[k] = u;
        place_[u] = k;
        if (in_v[u] >= 0)
            predecessors_[v] ^= ParentMask{1} << in_v[u];
        if (of_v[u] >= 0)
            predecessors_[u] ^= ParentMask{1} << of_v[u];
    }
    order_[to] = v;
    place_[v] = to;
}

void OrderGibbs::sweep(Random& random, double inverse_temperature) {
    for (int i = 0; i < tables_.n(); ++i) {
        const int v = random.below(tables_.n());
        shift(place(v), draw_place(v, random, inverse_temperature));
    }
}

double OrderGibbs::log_score() const {
    double sum = 0.0;
    for (int v = 0; v < tables_.n(); ++v)
        sum += tables_.best(v) + tables_.sum(v, predecessors(v));
    return sum;
}

} // namespace qwo
