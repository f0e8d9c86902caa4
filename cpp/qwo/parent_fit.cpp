#include "qwo/parent_fit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace qwo {

ParentFit::ParentFit(const BicProblem& problem, int child)
    : child_(child), width_(problem.correlation.stride()), c_(static_cast<std::size_t>(width_)),
      s_(static_cast<std::size_t>(width_)) {
    std::copy_n(problem.correlation.row(child), problem.n(), c_.data());
    std::fill_n(s_.data(), problem.n(), 1.0);
}

void ParentFit::assign(const ParentFit& other) {
    child_ = other.child_;
    n_required_ = other.n_required_;
    cost_ = other.cost_;
    parents_ = other.parents_;
    if (width_ != other.width_) {
        width_ = other.width_;
        capacity_ = 0;
        c_ = other.c_;
        s_ = other.s_;
    } else {
        std::copy_n(other.c_.data(), width_, c_.data());
        std::copy_n(other.s_.data(), width_, s_.data());
    }
    reserve(size());
    for (int k = 0; k < size(); ++k)
        std::copy_n(other.row(k), width_ + size(), row(k));
}

// Room for the basis of `size` parents. What is there keeps its place only if nothing has to grow,
// or if the rows are copied: callers rely on the latter.
void ParentFit::reserve(int size) {
    if (size <= capacity_)
        return;
    const int wider = std::max(8, padded(std::max(size, capacity_ + capacity_ / 2)));
    Array grown(static_cast<std::size_t>(wider) * (width_ + wider));
    const int kept = std::min(this->size(), capacity_);
    for (int k = 0; k < kept; ++k) {
        std::copy_n(row(k), stride(),
                    grown.data() + static_cast<std::size_t>(k) * (width_ + wider));
    }
    basis_.swap(grown);
    capacity_ = wider;
}

std::vector<double> ParentFit::coefficients() const {
    std::vector<double> beta(parents_.size(), 0.0);
    for (int k = 0; k < size(); ++k) {
        for (int j = 0; j < size(); ++j) {
            beta[static_cast<std::size_t>(j)] += row(k)[child_] * row(k)[width_ + j];
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

void ParentFit::update_cost(const BicProblem& problem) {
    cost_ = problem.n_samples * std::log(std::max(residual_variance(), determined)) +
            problem.penalty * static_cast<double>(parents_.size());
}

double ParentFit::gain_r2(int u) const {
    const auto i = static_cast<std::size_t>(u);
    if (!(s_[i] > determined))
        return 0.0;
    return c_[i] * c_[i] / (s_[i] * std::max(residual_variance(), determined));
}

void ParentFit::add(const BicProblem& problem, const Kernels& kern, FitWorkspace& work,
                    int parent) {
    const int k = size();
    reserve(k + 1);
    work.z.resize(static_cast<std::size_t>(k));
    work.rows.resize(static_cast<std::size_t>(k));
    for (int i = 0; i < k; ++i) {
        work.rows[static_cast<std::size_t>(i)] = row(i);
        work.z[static_cast<std::size_t>(i)] = row(i)[parent];
    }
    double* added = row(k);
    kern.residual_row(width_, problem.correlation.row(parent), k, work.rows.data(), work.z.data(),
                      added);
    for (auto& r : work.rows)
        r += width_;
    kern.residual_row(capacity_, nullptr, k, work.rows.data(), work.z.data(), added + width_);
    added[width_ + k] = 1.0;
    for (int i = 0; i < k; ++i)
        row(i)[width_ + k] = 0.0;

    const double scale = 1.0 / std::sqrt(std::max(added[parent], determined));
    for (int j = 0; j <= k; ++j)
        added[width_ + j] *= scale;
    kern.sweep(width_, scale, -scale * added[child_], -1.0, added, c_.data(), s_.data());
    parents_.push_back(parent);
}

void ParentFit::drop(const Kernels& kern, FitWorkspace& work, int index) {
    const int last = size() - 1;
    assert(index >= 0 && index <= last);
    const int whole = width_ + capacity_;

    // The unit vector of span(P) that no other parent has a share in, in coordinates of the basis.
    work.z.resize(parents_.size());
    work.rows.resize(parents_.size());
    double norm = 0.0;
    for (int k = 0; k <= last; ++k) {
        const double t = row(k)[width_ + index];
        work.z[static_cast<std::size_t>(k)] = -t;
        work.rows[static_cast<std::size_t>(k)] = row(k);
        norm += t * t;
    }
    norm = std::sqrt(norm);
    for (double& z : work.z)
        z /= norm;
    if (static_cast<int>(work.direction.size()) < whole) {
        work.direction = Array(static_cast<std::size_t>(whole) + cache_line);
    }
    double* direction = work.direction.data();
    kern.residual_row(whole, nullptr, last + 1, work.rows.data(), work.z.data(), direction);

    // Reflect the basis so that the last vector is that direction (up to its sign); drop it.
    double pivot = -work.z[static_cast<std::size_t>(last)];
    const double sign = pivot < 0.0 ? -1.0 : 1.0;
    pivot = std::abs(pivot);
    const double* final_row = row(last);
    for (int k = 0; k < last; ++k) {
        const double h = -work.z[static_cast<std::size_t>(k)] / (1.0 + pivot);
        const double* mirror[2] = {direction, final_row};
        const double by[2] = {h, h * sign};
        kern.residual_row(whole, row(k), 2, mirror, by, row(k));
    }
    kern.sweep(width_, 1.0, direction[child_], 1.0, direction, c_.data(), s_.data());

    // The order of the parents carries no meaning, except that the required ones come first.
    for (int k = 0; k < last; ++k)
        row(k)[width_ + index] = row(k)[width_ + last];
    parents_[static_cast<std::size_t>(index)] = parents_.back();
    parents_.pop_back();
}

void ParentFit::add_required(const BicProblem& problem, const Kernels& kern, FitWorkspace& work) {
    if (problem.constraints.required.empty())
        return;
    for (int p : problem.constraints.required[static_cast<std::size_t>(child_)]) {
        add(problem, kern, work, p);
    }
    n_required_ = size();
}

int ParentFit::weakest(const Kernels& kern, FitWorkspace& work, double& loss) const {
    const int k = size();
    if (k == n_required_)
        return -1;
    work.losses.assign(static_cast<std::size_t>(k), 0.0);
    work.precisions.assign(static_cast<std::size_t>(k), 0.0);
    for (int i = 0; i < k; ++i) {
        kern.gather(k, row(i)[child_], row(i) + width_, work.losses.data(), work.precisions.data());
    }
    int found = -1;
    loss = std::numeric_limits<double>::infinity();
    for (int j = n_required_; j < k; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const double l = work.losses[at] * work.losses[at] / work.precisions[at];
        if (l < loss) {
            loss = l;
            found = j;
        }
    }
    return found;
}

void ParentFit::grow_shrink(const BicProblem& problem, const Kernels& kern, FitWorkspace& work,
                            const std::int32_t* place, std::int32_t limit) {
    const std::uint8_t* allowed = problem.constraints.allowed_parents(child_, problem.n());
    double lowest = std::numeric_limits<double>::infinity();
    for (;;) {
        while (size() < problem.max_parents && residual_variance() > determined) {
            const int u = kern.best_candidate(
                problem.n(), c_.data(), s_.data(), place, limit, allowed, determined,
                work.worth_adding * residual_variance(), work.excess.data());
            if (u < 0)
                break;
            add(problem, kern, work, u);
        }
        bool dropped = false;
        for (;;) {
            double loss = 0.0;
            const int j = weakest(kern, work, loss);
            if (j < 0 || loss >= work.worth_keeping * residual_variance())
                break;
            drop(kern, work, j);
            dropped = true;
        }
        update_cost(problem);
        // Every step lowers the cost; where rounding has the last word, stop.
        if (!dropped || !(cost_ < lowest))
            return;
        lowest = cost_;
    }
}

void ParentFit::refresh(const BicProblem& problem, const Kernels& kern, FitWorkspace& work) {
    const std::vector<int> chosen = parents_;
    parents_.clear();
    std::copy_n(problem.correlation.row(child_), problem.n(), c_.data());
    std::fill_n(s_.data(), problem.n(), 1.0);
    for (int p : chosen)
        add(problem, kern, work, p);
    update_cost(problem);
}

} // namespace qwo
