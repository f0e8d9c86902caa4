#include "qwo/parent_fit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace qwo {

ParentFit::ParentFit(const BicProblem& problem, const Columns& columns, int child) {
    start(problem, columns, child);
}

void ParentFit::start(const BicProblem& problem, const Columns& columns, int child) {
    moments_ = &problem.moments_of(child);
    columns_ = &columns;
    child_ = child;
    own_ = columns.find(child);
    assert(own_ >= 0);
    n_required_ = 0;
    parents_.clear();
    rows_.clear();
    lengths_.clear();
    set_width(columns.width());
    const double* correlations = moments_->correlation.row(child);
    const int size = columns.size();
    if (columns.all()) {
        std::copy_n(correlations, size, c_.data());
    } else {
        for (int i = 0; i < size; ++i)
            c_[static_cast<std::size_t>(i)] = correlations[columns.variable(i)];
    }
    std::fill_n(s_.data(), size, 1.0);
    if (!moments_->variances.empty()) {
        for (int i = 0; i < size; ++i)
            s_[static_cast<std::size_t>(i)] =
                moments_->variances[static_cast<std::size_t>(columns.variable(i))];
    }
    std::fill(c_.data() + size, c_.data() + width_, 0.0);
    std::fill(s_.data() + size, s_.data() + width_, 0.0);
}

// Makes room for so many columns. What the basis holds is lost if that changes anything.
void ParentFit::set_width(int width) {
    if (width == width_)
        return;
    width_ = width;
    if (c_.size() < static_cast<std::size_t>(width)) {
        c_ = Array(static_cast<std::size_t>(width));
        s_ = Array(static_cast<std::size_t>(width));
    }
    const auto fits = [&](int rows) {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width_ + rows) <=
               basis_.size();
    };
    capacity_ = 0;
    while (fits(capacity_ + padded(1)))
        capacity_ += padded(1);
}

const double* ParentFit::correlations(FitContext& context, int variable) const {
    const double* row = moments_->correlation.row(variable);
    if (columns_->all() && moments_->correlation.stride >= width_)
        return row;
    if (context.correlations.size() < static_cast<std::size_t>(width_))
        context.correlations = Array(static_cast<std::size_t>(width_));
    double* picked = context.correlations.data();
    if (columns_->all()) {
        std::copy_n(row, columns_->size(), picked);
    } else {
        context.kernels.pick(columns_->size(), row, columns_->variables(), picked);
    }
    std::fill(picked + columns_->size(), picked + width_, 0.0);
    return picked;
}

void ParentFit::copy_head(const ParentFit& other) {
    moments_ = other.moments_;
    columns_ = other.columns_;
    child_ = other.child_;
    own_ = other.own_;
    n_required_ = other.n_required_;
    cost_ = other.cost_;
    parents_ = other.parents_;
    lengths_ = other.lengths_;
    set_width(other.width_);
    std::copy_n(other.c_.data(), width_, c_.data());
    std::copy_n(other.s_.data(), width_, s_.data());
}

void ParentFit::assign(const ParentFit& other) {
    copy_head(other);
    rows_.clear();
    reserve(size());
    for (int k = 0; k < size(); ++k) {
        std::copy_n(other.row(k), width_ + lengths_[static_cast<std::size_t>(k)], place_for(k));
        rows_.push_back(place_for(k));
    }
}

void ParentFit::borrow(const ParentFit& other) {
    copy_head(other);
    rows_ = other.rows_;
}

// Room to write the basis of `size` parents; rows that this fit has written move along.
void ParentFit::reserve(int size) {
    if (size <= capacity_)
        return;
    const int wider = std::max(8, padded(std::max(size, capacity_ + capacity_ / 2)));
    const std::size_t stride = static_cast<std::size_t>(width_) + static_cast<std::size_t>(wider);
    Array grown(static_cast<std::size_t>(wider) * stride);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        if (rows_[k] != place_for(static_cast<int>(k)))
            continue;
        double* moved = grown.data() + k * stride;
        std::copy_n(rows_[k], width_ + lengths_[k], moved);
        rows_[k] = moved;
    }
    basis_.swap(grown);
    capacity_ = wider;
}

std::vector<double> ParentFit::coefficients() const {
    std::vector<double> beta(parents_.size(), 0.0);
    for (int k = 0; k < size(); ++k) {
        for (int j = 0; j < size(); ++j) {
            beta[static_cast<std::size_t>(j)] += row(k)[own_] * coefficient(k, j);
        }
    }
    return beta;
}

int ParentFit::index_of(int parent) const {
    for (std::size_t i = 0; i < parents_.size(); ++i) {
        if (parents_[i] == parent)
            return static_cast<int>(i);
    }
    return -1;
}

void ParentFit::update_cost() {
    cost_ = moments_->score.cost(std::max(residual_variance(), determined), parents_.size());
}

double ParentFit::gain_r2(int u) const {
    const int column = columns_->find(u);
    const auto i = static_cast<std::size_t>(column);
    if (column < 0 || !(s_[i] > determined))
        return 0.0;
    return c_[i] * c_[i] / (s_[i] * std::max(residual_variance(), determined));
}

void ParentFit::wanted(const std::uint8_t* allowed, std::uint64_t* words) const {
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

void ParentFit::add(FitContext& context, int parent) {
    add_column(context, columns_->find(parent));
}

void ParentFit::add_column(FitContext& context, int column) {
    assert(column >= 0);
    const int k = size();
    const int parent = columns_->variable(column);
    reserve(k + 1);
    context.z.resize(static_cast<std::size_t>(k));
    for (int i = 0; i < k; ++i)
        context.z[static_cast<std::size_t>(i)] = row(i)[column];
    double* added = place_for(k);
    context.kernels.residual_row(width_, correlations(context, parent), k, rows_.data(),
                                 context.z.data(), added);
    const double scale = 1.0 / std::sqrt(std::max(added[column], determined));
    double* coefficients = added + width_;
    std::fill_n(coefficients, k, 0.0);
    for (int i = 0; i < k; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double z = scale * context.z[at];
        for (int j = 0; j < lengths_[at]; ++j)
            coefficients[j] -= z * row(i)[width_ + j];
    }
    coefficients[k] = scale;
    context.kernels.sweep(width_, scale, -scale * added[own_], -1.0, added, c_.data(), s_.data());
    parents_.push_back(parent);
    rows_.push_back(added);
    lengths_.push_back(k + 1);
}

// The unit vector of span(P) that no other parent has a share in: its coordinates in the basis are
// -z; its covariances and its coefficients on the parents are returned.
double* ParentFit::own_direction(FitContext& context, int index) const {
    const int last = size() - 1;
    context.z.resize(parents_.size());
    context.turned.resize(parents_.size());
    double norm = 0.0;
    for (int k = 0; k <= last; ++k) {
        const double t = coefficient(k, index);
        context.z[static_cast<std::size_t>(k)] = -t;
        norm += t * t;
    }
    norm = std::sqrt(norm);
    for (double& z : context.z)
        z /= norm;
    const auto length = static_cast<std::size_t>(width_ + last + 1);
    if (context.direction.size() < length)
        context.direction = Array(2 * length);
    double* direction = context.direction.data();
    context.kernels.residual_row(width_, nullptr, last + 1, rows_.data(), context.z.data(),
                                 direction);
    for (int j = 0; j <= last; ++j) {
        double sum = 0.0;
        for (int k = 0; k <= last; ++k) {
            sum -= context.z[static_cast<std::size_t>(k)] * coefficient(k, j);
        }
        direction[width_ + j] = sum;
    }
    return direction;
}

void ParentFit::drop(FitContext& context, int index) {
    const int last = size() - 1;
    assert(index >= 0 && index <= last);
    reserve(last + 1);
    double* direction = own_direction(context, index);

    // Reflect the basis so that the last vector is that direction (up to its sign); drop it. The
    // last parent takes the dropped one's number: their order carries no meaning, except that the
    // required ones come first.
    const double pivot = -context.z[static_cast<std::size_t>(last)];
    const double sign = pivot < 0.0 ? -1.0 : 1.0;
    const double* mirror[2] = {direction, row(last)};
    for (int k = 0; k < last; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double h = -context.z[at] / (1.0 + std::abs(pivot));
        const double by[2] = {h, h * sign};
        double* turned = place_for(k);
        for (int j = 0; j <= last; ++j) {
            context.turned[static_cast<std::size_t>(j)] =
                coefficient(k, j) - h * direction[width_ + j] - h * sign * coefficient(last, j);
        }
        context.turned[static_cast<std::size_t>(index)] =
            context.turned[static_cast<std::size_t>(last)];
        context.kernels.residual_row(width_, row(k), 2, mirror, by, turned);
        std::copy_n(context.turned.data(), last, turned + width_);
        rows_[at] = turned;
        lengths_[at] = last;
    }
    context.kernels.sweep(width_, 1.0, direction[own_], 1.0, direction, c_.data(), s_.data());
    parents_[static_cast<std::size_t>(index)] = parents_.back();
    parents_.pop_back();
    rows_.pop_back();
    lengths_.pop_back();
}

void ParentFit::add_required(FitContext& context) {
    if (context.problem->constraints.required.empty())
        return;
    for (int p : context.problem->constraints.required[static_cast<std::size_t>(child_)]) {
        add(context, p);
    }
    n_required_ = size();
}

int ParentFit::weakest(FitContext& context, double& loss) const {
    const int k = size();
    if (k == n_required_)
        return -1;
    context.losses.assign(static_cast<std::size_t>(k), 0.0);
    context.precisions.assign(static_cast<std::size_t>(k), 0.0);
    for (int i = 0; i < k; ++i) {
        context.kernels.gather(lengths_[static_cast<std::size_t>(i)], row(i)[own_], row(i) + width_,
                               context.losses.data(), context.precisions.data());
    }
    int found = -1;
    loss = std::numeric_limits<double>::infinity();
    for (int j = n_required_; j < k; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const double l = context.losses[at] * context.losses[at] / context.precisions[at];
        if (l < loss) {
            loss = l;
            found = j;
        }
    }
    return found;
}

void ParentFit::grow_shrink(FitContext& context, const std::int32_t* place, std::int32_t limit) {
    // Candidates are all allowed; the constraints are asked only where there is no choice of them.
    const std::uint8_t* allowed =
        columns_->all() ? context.problem->constraints.allowed_parents(child_, context.problem->n())
                        : nullptr;
    if (!columns_->all()) {
        context.places.resize(static_cast<std::size_t>(columns_->size()));
        for (int i = 0; i < columns_->size(); ++i)
            context.places[static_cast<std::size_t>(i)] = place[columns_->variable(i)];
        place = context.places.data();
    }
    double lowest = std::numeric_limits<double>::infinity();
    for (;;) {
        while (!is_full() && residual_variance() > determined) {
            const int column = context.kernels.best_candidate(
                columns_->size(), c_.data(), s_.data(), place, limit, allowed, determined,
                moments_->worth_adding * residual_variance());
            if (column < 0)
                break;
            add_column(context, column);
        }
        bool dropped = false;
        for (;;) {
            double loss = 0.0;
            const int j = weakest(context, loss);
            if (j < 0 || loss >= moments_->worth_keeping * residual_variance())
                break;
            drop(context, j);
            dropped = true;
        }
        update_cost();
        // Every step lowers the cost; where rounding has the last word, stop.
        if (!dropped || !(cost_ < lowest))
            return;
        lowest = cost_;
    }
}

void ParentFit::refresh(FitContext& context) {
    const std::vector<int> chosen = parents_;
    take(context, chosen);
}

void ParentFit::take(FitContext& context, const std::vector<int>& parents) {
    const int n_required = n_required_;
    start(*context.problem, *columns_, child_);
    for (int p : parents)
        add(context, p);
    n_required_ = n_required;
    update_cost();
}

void ParentFit::rebuild(FitContext& context, const ParentFit& other, const Columns& columns) {
    start(*context.problem, columns, other.child_);
    for (int p : other.parents_)
        add(context, p);
    n_required_ = other.n_required_;
    update_cost();
}

} // namespace qwo
