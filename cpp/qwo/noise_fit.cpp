#include "qwo/noise_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace qwo {

namespace {

constexpr int kClasses = 12;    // of a cause, within which the mean of residuals is taken out
constexpr int kDegree = 4;      // of the polynomials of ranks that are correlated
constexpr double kChance = 1.5; // standard deviations beyond its mean from which a statistic counts
constexpr double kDetermined = 1e-5; // a polynomial of less variance given others is one of them

// What a statistic with so many degrees of freedom has more than its mean, if not by chance.
double beyond_chance(double statistic, int free) {
    const double beyond = statistic - free;
    return beyond > kChance * std::sqrt(2.0 * free) ? beyond : 0.0;
}

// Takes the weighted mean off; the variance is returned.
double centre(const NoiseCost& cost, const std::vector<double>& ones, std::vector<double>& x) {
    const double mean = cost.weighted(x.data(), ones.data()) / cost.total();
    for (double& value : x)
        value -= mean;
    return cost.weighted(x.data(), x.data()) / cost.total();
}

} // namespace

double NoiseFit::lack(const std::vector<int>& families) {
    double sum = 0.0;
    const auto add = [&](int v, int u, bool is_parent) {
        const auto [place, is_new] = known_.try_emplace({v, u, is_parent}, 0.0);
        if (is_new)
            place->second = dependence(v, u, is_parent);
        sum += place->second;
    };
    for (std::size_t k = 0; k < families.size(); ++k) {
        for (const int u : parents_[families[k]])
            add(families[k], u, true);
        for (std::size_t j = k + 1; j < families.size(); ++j)
            add(families[k], families[j], false);
    }
    return sum;
}

double NoiseFit::dependence(int v, int u, bool is_parent) {
    const Polynomials &own = of_residuals(v), &other = is_parent ? of_cause(u) : of_residuals(u);
    const std::size_t rows = cost_.n_rows();
    double squares = 0.0;
    for (std::size_t a = 0; a < own.size(); a += rows) {
        for (std::size_t b = 0; b < other.size(); b += rows) {
            const double sum = kernels().dot(cost_.n_rows(), own.data() + a, other.data() + b);
            squares += sum * sum;
        }
    }
    const int free = static_cast<int>(own.size() / rows * (other.size() / rows));
    return beyond_chance(squares / cost_.total(), free);
}

// The share of rows below each value, ties and itself by half: between 0 and 1.
const std::vector<double>& NoiseFit::ranks(int u) {
    std::vector<double>& found = ranks_[u];
    if (!found.empty())
        return found;
    const double* values = cost_.values(u);
    const std::vector<double>& weights = cost_.weights();
    std::vector<std::pair<double, int>> ordered(weights.size());
    for (std::size_t i = 0; i < ordered.size(); ++i)
        ordered[i] = {values[i], static_cast<int>(i)};
    std::sort(ordered.begin(), ordered.end());
    found.resize(ordered.size());
    double below = 0.0;
    for (std::size_t first = 0, last = 0; first < ordered.size(); first = last) {
        double own = 0.0;
        for (; last < ordered.size() && ordered[last].first == ordered[first].first; ++last)
            own += weights[ordered[last].second];
        for (std::size_t i = first; i < last; ++i)
            found[ordered[i].second] = (below + 0.5 * own) / cost_.total();
        below += own;
    }
    return found;
}

const NoiseFit::Polynomials& NoiseFit::of_cause(int u) {
    const auto [place, is_new] = causes_.try_emplace(u);
    if (is_new)
        place->second = polynomials(ranks(u));
    return place->second;
}

// Of residuals less their means in classes of each parent, as of jumps.
const NoiseFit::Polynomials& NoiseFit::of_residuals(int v) {
    const auto [place, is_new] = left_.try_emplace(v);
    if (!is_new)
        return place->second;
    const std::vector<double>& weights = cost_.weights();
    std::vector<double> left = cost_.left(v, parents_[v]);
    for (const int u : parents_[v]) {
        const std::vector<double>& at = ranks(u);
        const auto class_of = [&](std::size_t i) { return static_cast<int>(at[i] * kClasses); };
        std::vector<double> rows(kClasses, 0.0), means(kClasses, 0.0);
        for (std::size_t i = 0; i < left.size(); ++i) {
            rows[class_of(i)] += weights[i];
            means[class_of(i)] += weights[i] * left[i];
        }
        double statistic = 0.0;
        for (int k = 0; k < kClasses; ++k) {
            means[k] /= std::max(rows[k], 1e-12);
            statistic += rows[k] * means[k] * means[k];
        }
        if (beyond_chance(statistic, kClasses - 1) > 0.0) {
            for (std::size_t i = 0; i < left.size(); ++i)
                left[i] -= means[class_of(i)];
        }
    }
    for (double& z : left)
        z = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    return place->second = polynomials(left);
}

// Legendre's, of mean 0, variance 1 and uncorrelated: fewer of a few values.
NoiseFit::Polynomials NoiseFit::polynomials(const std::vector<double>& ranks) const {
    const std::vector<double>& weights = cost_.weights();
    const std::size_t rows = weights.size();
    std::vector<double> before(rows, 1.0), now(rows), next(rows), ones(rows, 1.0);
    for (std::size_t i = 0; i < rows; ++i)
        now[i] = 2.0 * ranks[i] - 1.0;
    Polynomials found;
    for (int k = 1; k <= kDegree; ++k) {
        std::vector<double> own = now;
        centre(cost_, ones, own);
        for (std::size_t a = 0; a < found.size(); a += rows) {
            const double slope = cost_.weighted(own.data(), found.data() + a) / cost_.total();
            for (std::size_t i = 0; i < rows; ++i)
                own[i] -= slope * found[a + i];
        }
        const double variance = cost_.weighted(own.data(), own.data()) / cost_.total();
        if (variance > kDetermined) {
            for (double& x : own)
                x /= std::sqrt(variance);
            found.insert(found.end(), own.begin(), own.end());
        }
        for (std::size_t i = 0; i < rows; ++i)
            next[i] = ((2 * k + 1) * (2.0 * ranks[i] - 1.0) * now[i] - k * before[i]) / (k + 1);
        before.swap(now);
        now.swap(next);
    }
    for (std::size_t i = 0; i < found.size(); ++i)
        found[i] *= std::sqrt(weights[i % rows]);
    return found;
}

std::vector<ArrowStrength> arrow_strengths(NoiseCost& cost, FamilySearch& search,
                                           const std::vector<std::pair<int, int>>& arrows) {
    const std::size_t rows = cost.n_rows();
    const std::vector<double> ones(rows, 1.0);
    std::vector<std::vector<int>> now(cost.n());
    for (int v = 0; v < cost.n(); ++v)
        now[v] = search.parents(v);
    NoiseFit fit(cost, now);
    std::map<int, std::vector<double>> known;
    std::vector<ArrowStrength> found;
    for (const auto& [cause, effect] : arrows) {
        const std::vector<std::vector<int>> other = search.turned(cause, effect);
        if (other.empty()) {
            const double none = std::numeric_limits<double>::quiet_NaN();
            found.push_back({none, none, none});
            continue;
        }
        std::vector<int> families;
        std::vector<double> difference(rows, 0.0);
        double gain = 0.0;
        for (int v = 0; v < cost.n(); ++v) {
            const bool changed = now[v] != other[v];
            if (changed || v == cause || v == effect)
                families.push_back(v);
            if (!changed)
                continue;
            if (!known.contains(v))
                known[v] = cost.rows(v, now[v]);
            const std::vector<double>&before = known[v], after = cost.rows(v, other[v]);
            for (std::size_t i = 0; i < rows; ++i)
                difference[i] += after[i] - before[i];
            gain += cost.cost(v, other[v]) - cost.cost(v, now[v]);
        }
        const double error = std::sqrt(cost.total() * centre(cost, ones, difference));
        const double lack = fit.lack(families);
        found.push_back({gain, lack, error > 0.0 ? (gain - lack) / error : 0.0});
    }
    return found;
}

} // namespace qwo
