#include "qwo/regime_cost.hpp"

#include <algorithm>
#include <cmath>
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
                       std::vector<int> leading, std::vector<char> known, std::vector<char> dropped,
                       RegimePrices prices)
    : regimes_(regimes), width_(std::accumulate(sizes.begin(), sizes.end(), 1)),
      sizes_(std::move(sizes)), leading_(std::move(leading)), known_(std::move(known)),
      dropped_(std::move(dropped)), prices_(prices), kernels_(kernels()) {
    int next = 1;
    for (const int size : sizes_) {
        first_.push_back(next);
        next += size;
    }
    const std::size_t square = static_cast<std::size_t>(width_) * width_;
    sums_.assign(lots() * square * kLanes, 0.0);
    rows_.assign(static_cast<std::size_t>(lots()) * kLanes, 1.0);
    for (int r = 0; r < regimes_; ++r) {
        const double* from = sums.data() + r * square;
        double* to = sums_.data() + (r / kLanes) * square * kLanes + r % kLanes;
        for (std::size_t i = 0; i < square; ++i)
            to[i * kLanes] = from[i];
        rows_[r] = from[0];
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
    own_ = leading_[variable];
    for (int k = 0; k < own_; ++k)
        columns_.push_back(first_[variable] + k);
    const std::size_t m = columns_.size(), stride = width_;
    triangle_ = m * (m + 1) / 2;
    family_.resize(lots() * triangle_ * kLanes);
    rest_.resize(triangle_ * kLanes);
    pivots_.resize(static_cast<std::size_t>(own_) * kLanes);
    double* to = family_.data();
    for (int lot = 0; lot < lots(); ++lot) {
        const double* from = sums_.data() + lot * stride * stride * kLanes;
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j <= i; ++j, to += kLanes) {
                const double* own = from + (columns_[i] * stride + columns_[j]) * kLanes;
                std::copy(own, own + kLanes, to);
            }
        }
    }
}

void RegimeCost::fit(const double* sums, const double* rows, double* out) {
    const int m = static_cast<int>(columns_.size());
    factor_.assign(sums, sums + triangle_ * kLanes);
    kernels_.eliminate(m, m - own_, rows, kNothingLeft, kLeastVariance, factor_.data(),
                       pivots_.data());
    for (int l = 0; l < kLanes; ++l) {
        double log_det = 0.0;
        for (int k = 0; k < own_; ++k)
            log_det += std::log(pivots_[k * kLanes + l]);
        out[l] = rows[l] * log_det;
    }
}

double RegimeCost::fit_base(double rows) {
    double all[kLanes], out[kLanes];
    std::fill(all, all + kLanes, rows);
    for (std::size_t i = 0; i < triangle_; ++i)
        std::fill_n(rest_.data() + i * kLanes, kLanes, base_[i]);
    fit(rest_.data(), all, out);
    return out[0];
}

double RegimeCost::profile(int variable, std::span<const int> parents) {
    gather(variable, parents);
    const std::size_t m = columns_.size(), n = sizes_.size();
    const double slopes = static_cast<double>((m - own_ - 1) * own_);
    const double own_parameters = own_ + own_ * (own_ + 1) / 2.0;
    const double least_rows = kRowsPerParameter * (slopes + own_parameters) / own_;
    const double leaving = prices_.target * (own_parameters + prices_.slopes * slopes);
    double total = prices_.edge * slopes;
    double rows = 0.0;
    alone_.resize(rows_.size());
    in_base_.assign(regimes_, 1);
    base_.assign(triangle_, 0.0);
    for (int lot = 0; lot < lots(); ++lot)
        fit(family(lot), rows_.data() + lot * kLanes, alone_.data() + lot * kLanes);
    int left = 0;
    for (int r = 0; r < regimes_; ++r) {
        const bool able = rows_[r] >= least_rows;
        if (dropped_[r * n + variable] || (known_[r * n + variable] && able)) {
            in_base_[r] = 0;
            if (!dropped_[r * n + variable])
                total += alone_[r] + prices_.target * prices_.slopes * slopes;
            continue;
        }
        const double* own = family(r / kLanes) + r % kLanes;
        for (std::size_t i = 0; i < triangle_; ++i)
            base_[i] += own[i * kLanes];
        rows += rows_[r];
        ++left;
    }
    if (left == 0)
        return total;
    double now = fit_base(rows);
    total += now;
    while (left > 1) {
        int best = -1;
        double best_gain = leaving, best_rest = 0.0;
        for (int lot = 0; lot < lots(); ++lot) {
            double without_rows[kLanes], without[kLanes];
            bool may_leave[kLanes], any = false;
            for (int l = 0; l < kLanes; ++l) {
                const int r = lot * kLanes + l;
                may_leave[l] = r < regimes_ && in_base_[r] && rows_[r] >= least_rows &&
                               rows - rows_[r] >= least_rows;
                without_rows[l] = may_leave[l] ? rows - rows_[r] : 1.0;
                any |= may_leave[l];
            }
            if (!any)
                continue;
            const double* own = family(lot);
            for (std::size_t i = 0; i < triangle_; ++i) {
                for (int l = 0; l < kLanes; ++l)
                    rest_[i * kLanes + l] = base_[i] - own[i * kLanes + l];
            }
            fit(rest_.data(), without_rows, without);
            for (int l = 0; l < kLanes; ++l) {
                const double gain = now - without[l] - alone_[lot * kLanes + l];
                if (may_leave[l] && gain > best_gain) {
                    best = lot * kLanes + l;
                    best_gain = gain;
                    best_rest = without[l];
                }
            }
        }
        if (best < 0)
            break;
        const double* own = family(best / kLanes) + best % kLanes;
        for (std::size_t i = 0; i < triangle_; ++i)
            base_[i] -= own[i * kLanes];
        rows -= rows_[best];
        total -= best_gain - leaving;
        now = best_rest;
        in_base_[best] = 0;
        --left;
    }
    return total;
}

} // namespace qwo
