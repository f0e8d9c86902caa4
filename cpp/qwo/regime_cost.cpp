#include "qwo/regime_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace qwo {

namespace {

// A column that has next to no variance left given those before it explains nothing more.
constexpr double kNothingLeft = 1e-9;

// The least residual variance, in units of the variance over all rows: a variable that was set to
// one value in a regime has none at all.
constexpr double kLeastVariance = 1e-7;

// A regression of its own takes so many rows a parameter.
constexpr double kRowsPerParameter = 3.0;

} // namespace

RegimeCost::RegimeCost(std::vector<double> sums, int regimes, std::vector<int> sizes,
                       std::vector<char> known, std::vector<char> dropped, RegimePrices prices)
    : sums_(std::move(sums)), regimes_(regimes),
      width_(std::accumulate(sizes.begin(), sizes.end(), 1)), sizes_(std::move(sizes)),
      known_(std::move(known)), dropped_(std::move(dropped)), prices_(prices) {
    int next = 1;
    for (const int size : sizes_) {
        first_.push_back(next);
        next += size;
    }
}

double RegimeCost::cost(int variable, std::span<const int> parents) {
    return profile(variable, parents);
}

std::vector<int> RegimeCost::changed(int variable, std::span<const int> parents) {
    profile(variable, parents);
    std::vector<int> found;
    for (int r = 0; r < regimes_; ++r) {
        if (!in_base_[r])
            found.push_back(r);
    }
    return found;
}

void RegimeCost::gather(int variable, std::span<const int> parents) {
    columns_.assign(1, 0);
    for (const int p : parents) {
        for (int k = 0; k < sizes_[p]; ++k)
            columns_.push_back(first_[p] + k);
    }
    own_ = sizes_[variable];
    for (int k = 0; k < own_; ++k)
        columns_.push_back(first_[variable] + k);
    const std::size_t m = columns_.size();
    family_.resize(regimes_ * m * m);
    const std::size_t stride = width_;
    for (int r = 0; r < regimes_; ++r) {
        const double* from = sums_.data() + r * stride * stride;
        double* to = family_.data() + r * m * m;
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j <= i; ++j)
                to[i * m + j] = from[columns_[i] * stride + columns_[j]];
        }
    }
}

// N log det of the residual covariance of the last columns given the others, by Cholesky's factor.
double RegimeCost::fit(const double* sums, double rows) {
    const std::size_t m = columns_.size(), given = m - own_;
    factor_.assign(sums, sums + m * m);
    double* a = factor_.data();
    double log_det = 0.0;
    for (std::size_t j = 0; j < m; ++j) {
        double pivot = a[j * m + j];
        for (std::size_t h = 0; h < j; ++h)
            pivot -= a[j * m + h] * a[j * m + h];
        pivot /= rows;
        double root = 0.0; // what the column explains of those after it, by nothing if it is 0
        if (j >= given) {
            pivot = std::max(pivot, kLeastVariance);
            log_det += std::log(pivot);
            root = 1.0 / std::sqrt(pivot * rows);
        } else if (pivot > kNothingLeft) {
            root = 1.0 / std::sqrt(pivot * rows);
        }
        for (std::size_t i = j + 1; i < m; ++i) {
            double x = a[i * m + j];
            for (std::size_t h = 0; h < j; ++h)
                x -= a[i * m + h] * a[j * m + h];
            a[i * m + j] = x * root;
        }
    }
    return rows * log_det;
}

double RegimeCost::profile(int variable, std::span<const int> parents) {
    gather(variable, parents);
    const std::size_t m = columns_.size(), square = m * m;
    const std::size_t n = sizes_.size();
    const double slopes = static_cast<double>((m - own_ - 1) * own_);
    const double own_parameters = own_ + own_ * (own_ + 1) / 2.0;
    const double parameters = slopes + own_parameters;
    const double leaving = prices_.target * (own_parameters + prices_.slopes * slopes);
    double total = prices_.edge * slopes;
    double rows = 0.0;
    alone_.assign(regimes_, std::numeric_limits<double>::infinity());
    in_base_.assign(regimes_, 1);
    base_.assign(square, 0.0);
    int left = 0;
    for (int r = 0; r < regimes_; ++r) {
        const double* own = family_.data() + r * square;
        const double own_rows = own[0];
        if (dropped_[r * n + variable]) {
            in_base_[r] = 0;
            continue;
        }
        if (own_rows >= kRowsPerParameter * parameters / own_)
            alone_[r] = fit(own, own_rows);
        if (known_[r * n + variable] && std::isfinite(alone_[r])) {
            in_base_[r] = 0;
            total += alone_[r] + prices_.target * prices_.slopes * slopes;
            continue;
        }
        for (std::size_t i = 0; i < square; ++i)
            base_[i] += own[i];
        rows += own_rows;
        ++left;
    }
    if (left == 0)
        return total;
    double now = fit(base_.data(), rows);
    total += now;
    rest_.resize(square);
    while (left > 1) {
        int best = -1;
        double best_gain = leaving, best_rest = 0.0;
        for (int r = 0; r < regimes_; ++r) {
            const double* own = family_.data() + r * square;
            if (!in_base_[r] || !std::isfinite(alone_[r]) ||
                rows - own[0] < kRowsPerParameter * parameters / own_)
                continue;
            for (std::size_t i = 0; i < square; ++i)
                rest_[i] = base_[i] - own[i];
            const double without = fit(rest_.data(), rows - own[0]);
            const double gain = now - without - alone_[r];
            if (gain > best_gain) {
                best = r;
                best_gain = gain;
                best_rest = without;
            }
        }
        if (best < 0)
            break;
        const double* own = family_.data() + best * square;
        for (std::size_t i = 0; i < square; ++i)
            base_[i] -= own[i];
        rows -= own[0];
        total -= best_gain - leaving;
        now = best_rest;
        in_base_[best] = 0;
        --left;
    }
    return total;
}

} // namespace qwo
