#include "qwo/insertion_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "qwo/parallel.hpp"

namespace qwo {

namespace {

// Movers that share a pass: the rows stay in the fastest cache from one to the next, and so few
// accumulators in the second.
constexpr std::size_t batch_size = 8;

// Up to so many variables L and D stay in the caches from one scan to the next.
constexpr int in_cache = 1000;

// One variable on its way from the first place to the last.
class Mover {
  public:
    // One mover of those that share passes is to fetch the rows from memory.
    Mover(const OrderFactor& factor, int v, double* changes, bool fetches)
        : factor_(factor), fetches_(fetches && factor.n() > in_cache), kernels_(factor.kernels()),
          place_(factor.place(v)), column_(factor.column(v)), correlation_(factor.correlation(v)),
          residual_(correlation_[column_]), changes_(changes), acc_(factor.full_width()),
          x_(factor.full_width()), passed_(place_) {
        // Column 0, which is zero in every row, stands for the mover before its own place.
        acc_[0] = 1.0;
        const double own = factor.row(place_)[column_];
        lowest_residual_ = 1.0 / (own * own);
    }

    void visit(int j) {
        if (j < place_) {
            step_left(j);
        } else if (j > place_) {
            step_right(j);
        } else {
            arrive();
        }
    }

  private:
    std::ptrdiff_t ahead(int j) const {
        return fetches_ && j + 1 < factor_.n() ? factor_.full_width() : 0;
    }

    void step_left(int j) {
        const int width = factor_.width(j);
        const double* l = factor_.row(j);
        const double g = kernels_.dot(width, l, correlation_);
        // More predecessors never leave more variance, whatever rounding says.
        const double rest = std::max(residual_ - g * g, lowest_residual_);
        const double scale = 1.0 / std::sqrt(residual_), scale1 = 1.0 / std::sqrt(rest);
        const ScanCosts costs =
            kernels_.scan_left(width, g, scale, scale1, std::sqrt(rest) * scale, g * scale, l,
                               factor_.precisions_before(j), factor_.precisions(j), acc_.data(),
                               ahead(j), factor_.pair_cost());
        residual_ = rest;
        changes_[j] = costs.mover - factor_.ceiling();
        passed_[j] = costs.passed - factor_.ceiling() - factor_.row_cost(j);
    }

    // At the mover's own place: sums up the way here and starts the way on.
    void arrive() {
        double sum = -factor_.row_cost(place_);
        for (int j = place_ - 1; j >= 0; --j) {
            sum += passed_[j];
            changes_[j] += sum;
        }
        changes_[place_] = 0.0;
        sum_ = -factor_.row_cost(place_);
        const double* l = factor_.row(place_);
        const double own = l[column_];
        for (int i = 0; i < factor_.width(place_); ++i) {
            x_[i] = l[i];
            acc_[i] = own * l[i];
        }
    }

    // In the mover's own column y and its D vanish. There x and acc are set such that y is 0, up to
    // rounding, over a D that is not, and that the mover is not charged for its diagonal.
    void step_right(int j) {
        const double* l = factor_.row(j);
        const double h = l[column_], d = factor_.precisions(j)[column_];
        const double scale1 = 1.0 / std::sqrt(d);
        const double root0 = std::sqrt(factor_.precisions_before(j)[column_]);
        x_[column_] = root0;
        acc_[column_] = -h * h;
        const ScanCosts costs = kernels_.scan_right(
            factor_.width(j), h, scale1, root0 * scale1, h * scale1, l, factor_.precisions(j),
            acc_.data(), x_.data(), ahead(j), factor_.pair_cost());
        sum_ += costs.passed - factor_.ceiling() - factor_.row_cost(j);
        changes_[j] = costs.mover + sum_;
    }

    const OrderFactor& factor_;
    bool fetches_;
    const Kernels& kernels_;
    int place_, column_;
    const double* correlation_;
    double residual_, lowest_residual_ = 0.0; // variance of the mover, left and in the end
    double sum_ = 0.0;
    double* changes_;
    Array acc_, x_;
    Array passed_; // change of the cost of the variable at place j if the mover passes it
};

} // namespace

void scan_insertions(OrderFactor& factor, std::span<const int> movers, double* changes,
                     int threads) {
    const std::size_t n = factor.n();
    const std::size_t workers = std::max(threads, 1);
    factor.note_passes(movers.size());
    // A mover's result does not depend on whom it shares its passes with.
    const std::size_t share =
        std::clamp((movers.size() + workers - 1) / workers, std::size_t{1}, batch_size);
    for_each_parallel((movers.size() + share - 1) / share, threads, [&](std::size_t group) {
        const std::size_t first = group * share, end = std::min(first + share, movers.size());
        std::vector<Mover> batch;
        batch.reserve(share);
        for (std::size_t m = first; m < end; ++m)
            batch.emplace_back(factor, movers[m], changes + m * n, m == first);
        for (int j = 0; j < factor.n(); ++j) {
            for (Mover& mover : batch)
                mover.visit(j);
        }
        for (std::size_t i = first * n; i < end * n; ++i)
            changes[i] *= factor.weight();
    });
}

} // namespace qwo
