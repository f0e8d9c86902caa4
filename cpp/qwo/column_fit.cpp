#include "qwo/column_fit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace qwo {

void ColumnFit::start(const BicProblem& problem, const Columns& columns, int child) {
    start_head(problem, columns, child);
    basis_.clear(columns.width());
    make_room();
    const double* correlations = moments_->correlation.row(child);
    const int size = columns.size();
    if (columns.all()) {
        std::copy_n(correlations, size, c_.data());
    } else {
        for (int i = 0; i < size; ++i)
            c_[i] = correlations[columns.variable(i)];
    }
    std::fill_n(s_.data(), size, 1.0);
    if (!moments_->variances.empty()) {
        for (int i = 0; i < size; ++i)
            s_[i] = moments_->variances[columns.variable(i)];
    }
    std::fill(c_.data() + size, c_.data() + basis_.width(), 0.0);
    std::fill(s_.data() + size, s_.data() + basis_.width(), 0.0);
}

void ColumnFit::make_room() {
    const int width = basis_.width();
    if (c_.size() < width) {
        c_ = Array(width);
        s_ = Array(width);
    }
}

void ColumnFit::copy_arrays(const ColumnFit& other) {
    make_room();
    std::copy_n(other.c_.data(), basis_.width(), c_.data());
    std::copy_n(other.s_.data(), basis_.width(), s_.data());
}

void ColumnFit::assign(const ParentFit& other) {
    const auto& same = static_cast<const ColumnFit&>(other);
    copy_head(same);
    basis_.assign(same.basis_);
    copy_arrays(same);
}

void ColumnFit::borrow(const ParentFit& other) {
    const auto& same = static_cast<const ColumnFit&>(other);
    copy_head(same);
    basis_.borrow(same.basis_);
    copy_arrays(same);
}

std::vector<double> ColumnFit::coefficients() const {
    std::vector<double> beta(parents_.size(), 0.0);
    for (int k = 0; k < size(); ++k) {
        for (int j = 0; j < size(); ++j) {
            beta[j] += basis_.row(k)[own_] * basis_.coefficient(k, j);
        }
    }
    return beta;
}

void ColumnFit::update_cost(FitContext&) {
    cost_ = moments_->score.cost(std::max(residual_variance(), determined), parents_.size());
}

double ColumnFit::strength(FitContext&, int u) const {
    const int i = columns_->find(u);
    if (i < 0 || !(s_[i] > determined))
        return 0.0;
    return c_[i] * c_[i] / (s_[i] * std::max(residual_variance(), determined));
}

void ColumnFit::wanted(FitContext&, const std::uint8_t* allowed, std::uint64_t* words) const {
    const bool full = is_full();
    const double threshold = moments_->worth_adding * std::max(residual_variance(), determined);
    const double* c = c_.data();
    const double* s = s_.data();
    const int size = columns_->size();
    for (int first = 0; first < size; first += 64) {
        const int bits = full ? 0 : std::min(64, size - first);
        std::uint64_t word = 0;
        for (int b = 0; b < bits; ++b) {
            const double ci = c[first + b], si = s[first + b];
            const bool yes = (ci * ci > threshold * si) & (si > determined);
            word |= static_cast<std::uint64_t>(yes) << b;
        }
        if (allowed != nullptr) {
            for (int b = 0; b < bits; ++b) {
                if (allowed[columns_->variable(first + b)] == 0)
                    word &= ~(std::uint64_t{1} << b);
            }
        }
        words[first / 64] = word;
    }
    words[own_ / 64] &= ~(std::uint64_t{1} << (own_ % 64));
}

void ColumnFit::add_at(FitContext& context, int index) {
    assert(index >= 0);
    const int parent = columns_->variable(index);
    const auto [added, scale] =
        basis_.add(context, index, correlations(context, parent), determined);
    context.kernels.sweep(basis_.width(), scale, -scale * added[own_], -1.0, added, c_.data(),
                          s_.data());
    parents_.push_back(parent);
}

void ColumnFit::drop(FitContext& context, int index) {
    double* gone = basis_.drop(context, index);
    context.kernels.sweep(basis_.width(), 1.0, gone[own_], 1.0, gone, c_.data(), s_.data());
    parents_[index] = parents_.back();
    parents_.pop_back();
}

int ColumnFit::best_candidate(FitContext& context, const std::int32_t* place, std::int32_t limit,
                              const std::uint8_t* allowed) const {
    if (is_full() || !(residual_variance() > determined))
        return -1;
    return context.kernels.best_candidate(columns_->size(), c_.data(), s_.data(), place, limit,
                                          allowed, determined,
                                          moments_->worth_adding * residual_variance());
}

int ColumnFit::weakest(FitContext& context, double& loss) const {
    const int k = size();
    if (k == n_required_)
        return -1;
    context.losses.assign(k, 0.0);
    context.precisions.assign(k, 0.0);
    for (int i = 0; i < k; ++i) {
        context.kernels.gather(basis_.length(i), basis_.row(i)[own_],
                               basis_.row(i) + basis_.width(), context.losses.data(),
                               context.precisions.data());
    }
    int found = -1;
    loss = std::numeric_limits<double>::infinity();
    for (int j = n_required_; j < k; ++j) {
        const double l = context.losses[j] * context.losses[j] / context.precisions[j];
        if (l < loss) {
            loss = l;
            found = j;
        }
    }
    return found;
}

int ColumnFit::least_needed(FitContext& context) const {
    double loss = 0.0;
    const int index = weakest(context, loss);
    return index < 0 || loss >= moments_->worth_keeping * residual_variance() ? -1 : index;
}

} // namespace qwo
