#include "qwo/regime_cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "qwo/random.hpp"

namespace qwo {

namespace {

// A column that has next to no variance left given those before it explains nothing more.
constexpr double kNothingLeft = 1e-9;

// The least residual variance, in units of the variance over all rows: a variable that was set to
// one value in a regime has none at all.
constexpr double kLeastVariance = 1e-7;

// A regression of its own takes so many rows a parameter.
constexpr double kRowsPerParameter = 3.0;

// The share of log N that a change is let off which leaves the variance of the residuals alone.
constexpr double kSameVariance = 0.5;

// Families of one variable that are remembered, and bases of each.
constexpr std::size_t kStems = 2, kSteps = 16;

} // namespace

RegimeCost::RegimeCost(std::vector<double> sums, int regimes, std::vector<int> sizes,
                       std::vector<int> leading, std::vector<char> known, std::vector<char> dropped,
                       RegimePrices prices)
    : regimes_(regimes), width_(std::accumulate(sizes.begin(), sizes.end(), 1)),
      sizes_(std::move(sizes)), leading_(std::move(leading)), known_(std::move(known)),
      dropped_(std::move(dropped)), prices_(prices), kernels_(kernels()), bits_(regimes),
      stems_(sizes_.size() * kStems), in_base_(regimes) {
    if (std::ranges::all_of(leading_, [](int own) { return own == 1; }))
        most_let_off_ = kSameVariance * prices_.target;
    int next = 1;
    for (const int size : sizes_) {
        first_.push_back(next);
        next += size;
    }
    const Index square = Index{width_} * width_;
    sums_.assign(lots() * square * kLanes, 0.0);
    total_.assign(square, 0.0);
    rows_.assign(lots() * kLanes, 1.0);
    Random random(0x9E3779B97F4A7C15ull);
    for (int r = 0; r < regimes_; ++r) {
        const double* from = sums.data() + r * square;
        double* to = sums_.data() + (r / kLanes) * square * kLanes + r % kLanes;
        for (Index i = 0; i < square; ++i) {
            to[i * kLanes] = from[i];
            total_[i] += from[i];
        }
        rows_[r] = from[0];
        bits_[r] = random.next();
    }
    alone_.resize(rows_.size());
    without_.resize(rows_.size());
}

double RegimeCost::cost(int variable, std::span<const int> parents) {
    return profile(stem_of(variable, parents), -1);
}

double RegimeCost::with(int variable, std::span<const int> parents, int more) {
    return profile(stem_of(variable, parents), more);
}

RegimeCost::Stem& RegimeCost::stem_of(int variable, std::span<const int> parents) {
    ++clock_;
    Stem* oldest = nullptr;
    for (Stem& stem : std::span(stems_).subspan(variable * kStems, kStems)) {
        if (stem.used && std::ranges::equal(stem.parents, parents)) {
            stem.used = clock_;
            return stem;
        }
        if (!oldest || stem.used < oldest->used)
            oldest = &stem;
    }
    prepare(*oldest, variable, parents);
    oldest->used = clock_;
    return *oldest;
}

std::vector<int> RegimeCost::changed(int variable, std::span<const int> parents) {
    cost(variable, parents);
    std::vector<int> found;
    for (int r = 0; r < regimes_; ++r) {
        if (!in_base_[r])
            found.push_back(r);
    }
    return found;
}

void RegimeCost::prepare(Stem& stem, int variable, std::span<const int> parents) {
    stem.variable = variable;
    stem.parents.assign(parents.begin(), parents.end());
    stem.steps.resize(kSteps);
    stem.known = 0;
    std::vector<int>& columns = stem.columns;
    columns.assign(1, 0);
    for (const int p : parents) {
        for (int k = 0; k < sizes_[p]; ++k)
            columns.push_back(first_[p] + k);
    }
    stem.own = leading_[variable];
    for (int k = 0; k < stem.own; ++k)
        columns.push_back(first_[variable] + k);
    const int m = count_of(columns);
    const Index stride = width_;
    stem.triangle = Index{m} * (m + 1) / 2;
    stem.sums.resize(lots() * stem.triangle * kLanes);
    double* to = stem.sums.data();
    for (int lot = 0; lot < lots(); ++lot) {
        const double* from = sums_.data() + lot * stride * stride * kLanes;
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j <= i; ++j, to += kLanes) {
                const double* own = from + (columns[i] * stride + columns[j]) * kLanes;
                std::copy(own, own + kLanes, to);
            }
        }
    }
    stem.alone = stem.sums;
    const int given = m - stem.own;
    for (int lot = 0; lot < lots(); ++lot)
        kernels_.eliminate(m, given, rows_.data() + lot * kLanes, kNothingLeft,
                           stem.alone.data() + lot * stem.triangle * kLanes);
}

RegimeCost::Step& RegimeCost::step(Stem& stem, double rows, const Step* before, int left) {
    for (std::size_t k = 0; k < stem.known; ++k) {
        if (stem.steps[k].base == base_key_)
            return stem.steps[k];
    }
    const bool full = stem.known == kSteps;
    Step& step = full ? spare_[before == &spare_[0]] : stem.steps[stem.known++];
    step.base = base_key_;
    step.rows.assign(rows_.size(), 1.0);
    step.rows[regimes_] = rows;
    for (int r = 0; r < regimes_; ++r) {
        if (in_base_[r])
            step.rows[r] = std::max(rows - rows_[r], 1.0);
    }
    const auto take = [&](int r) {
        const double* own = stem.sums.data() + (r / kLanes) * stem.triangle * kLanes + r % kLanes;
        for (Index i = 0; i < stem.triangle; ++i)
            step.sums[i] -= own[i * kLanes];
    };
    if (before) {
        step.sums = before->sums;
        take(left);
    } else {
        step.sums.clear();
        for (const int i : stem.columns) {
            for (const int j : stem.columns) {
                step.sums.push_back(total_[Index{i} * width_ + j]);
                if (i == j)
                    break;
            }
        }
        for (int r = 0; r < regimes_; ++r) {
            if (!in_base_[r])
                take(r);
        }
    }
    step.factors.resize(stem.sums.size());
    const int m = count_of(stem.columns);
    for (int lot = 0; lot < lots(); ++lot) {
        double* factors = step.factors.data() + lot * stem.triangle * kLanes;
        kernels_.take_away(stem.triangle, step.sums.data(),
                           stem.sums.data() + lot * stem.triangle * kLanes, factors);
        kernels_.eliminate(m, m - stem.own, step.rows.data() + lot * kLanes, kNothingLeft, factors);
    }
    return step;
}

void RegimeCost::gather_tail(const Stem& stem, int more) {
    const int count = more < 0 ? 0 : sizes_[more];
    const Index m = count_of(stem.columns), stride = width_;
    tail_size_ = count * m + count * (count + 1) / 2;
    tails_.resize(lots() * tail_size_ * kLanes);
    tail_.resize(tail_size_ * kLanes);
    base_tail_.clear();
    const Index small = count + stem.own;
    work_.resize(small * (small + 1) / 2 * kLanes);
    double* to = tails_.data();
    for (int lot = 0; lot < lots(); ++lot) {
        const double* from = sums_.data() + lot * stride * stride * kLanes;
        for (int k = 0; k < count; ++k) {
            const Index row = (first_[more] + k) * stride;
            const auto add = [&](int column) {
                const double* own = from + (row + column) * kLanes;
                std::copy(own, own + kLanes, to);
                to += kLanes;
                if (lot == 0)
                    base_tail_.push_back(total_[row + column]);
            };
            std::ranges::for_each(stem.columns, add);
            for (int j = 0; j <= k; ++j)
                add(first_[more] + j);
        }
    }
}

void RegimeCost::fit(const Stem& stem, int more, const double* factors, const double* rows,
                     double* out) {
    const int given = count_of(stem.columns) - stem.own;
    const int count = more < 0 ? 0 : sizes_[more];
    kernels_.extend(given, stem.own, count, rows, kNothingLeft, kLeastVariance, factors,
                    tail_.data(), work_.data(), out);
    for (int l = 0; l < kLanes; ++l)
        out[l] *= rows[l];
}

void RegimeCost::leave(int regime) {
    in_base_[regime] = 0;
    base_key_ ^= bits_[regime];
    const double* own = tails_.data() + (regime / kLanes) * tail_size_ * kLanes + regime % kLanes;
    for (Index i = 0; i < tail_size_; ++i)
        base_tail_[i] -= own[i * kLanes];
}

void RegimeCost::fit_without(const Stem& stem, int more, const Step& base) {
    for (int lot = 0; lot < lots(); ++lot) {
        kernels_.take_away(tail_size_, base_tail_.data(), tails_.data() + lot * tail_size_ * kLanes,
                           tail_.data());
        fit(stem, more, base.factors.data() + lot * stem.triangle * kLanes,
            base.rows.data() + lot * kLanes, without_.data() + lot * kLanes);
    }
}

void RegimeCost::fit_alone(const Stem& stem, int more) {
    for (int lot = 0; lot < lots(); ++lot) {
        const double* tail = tails_.data() + lot * tail_size_ * kLanes;
        std::copy(tail, tail + tail_.size(), tail_.begin());
        fit(stem, more, stem.alone.data() + lot * stem.triangle * kLanes,
            rows_.data() + lot * kLanes, alone_.data() + lot * kLanes);
    }
}

double RegimeCost::profile(Stem& stem, int more) {
    gather_tail(stem, more);
    const std::size_t n = sizes_.size();
    const double own = stem.own, count = more < 0 ? 0 : sizes_[more];
    const double slopes = (count_of(stem.columns) - own - 1 + count) * own;
    const double own_parameters = own + own * (own + 1) / 2;
    const double least_rows = kRowsPerParameter * (slopes + own_parameters) / own;
    const double leaving = prices_.target * (own_parameters + prices_.slopes * slopes);
    double total = prices_.edge * slopes;
    fit_alone(stem, more);
    std::fill(in_base_.begin(), in_base_.end(), char{1});
    base_key_ = 0;
    int left = regimes_;
    double rows = total_[0];
    for (int r = 0; r < regimes_; ++r) {
        const bool set = dropped_[r * n + stem.variable];
        if (!set && !(known_[r * n + stem.variable] && rows_[r] >= least_rows))
            continue;
        if (!set)
            total += alone_[r] + prices_.target * prices_.slopes * slopes;
        leave(r);
        rows -= rows_[r];
        --left;
    }
    if (left == 0)
        return total;
    const Step* base = &step(stem, rows, nullptr, -1);
    fit_without(stem, more, *base);
    double now = without_[regimes_];
    left_.clear();
    total += now;
    // What a change is let off that leaves the variance of the residuals as it is in other rows.
    const auto let_off = [&](int r, double others, double fit) {
        const double sum = rows_[r] + others, log_ratio = alone_[r] / rows_[r] - fit / others;
        const double worse = sum * std::log1p(rows_[r] / sum * std::expm1(log_ratio));
        return std::max(0.0, most_let_off_ - worse + rows_[r] * log_ratio);
    };
    while (left > 1) {
        int best = -1;
        double best_gain = leaving, best_let_off = 0.0;
        for (int r = 0; r < regimes_; ++r) {
            const double others = rows - rows_[r], gain = now - without_[r] - alone_[r];
            if (gain + most_let_off_ <= best_gain || !in_base_[r] || rows_[r] < least_rows ||
                others < least_rows)
                continue;
            const double off = let_off(r, others, without_[r]);
            if (gain + off > best_gain) {
                best = r;
                best_gain = gain + off;
                best_let_off = off;
            }
        }
        if (best < 0)
            break;
        leave(best);
        left_.push_back(best);
        rows -= rows_[best];
        total -= best_gain - best_let_off - leaving;
        now = without_[best];
        if (--left > 1) {
            base = &step(stem, rows, base, best);
            fit_without(stem, more, *base);
        }
    }
    double most = 0.0;
    if (left > 1) {
        for (const int r : left_)
            most += let_off(r, rows, now);
    } else { // each is by itself: any may be called the base
        left_.push_back(static_cast<int>(std::ranges::find(in_base_, 1) - in_base_.begin()));
        for (const int base_alone : left_) {
            double sum = -most_let_off_; // of the base, which has not changed
            for (const int r : left_)
                sum += let_off(r, rows_[base_alone], alone_[base_alone]);
            most = std::max(most, sum);
        }
    }
    return total - most;
}

} // namespace qwo
