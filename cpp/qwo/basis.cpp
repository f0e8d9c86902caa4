#include "qwo/basis.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "qwo/index.hpp"

namespace qwo {

void Basis::clear(int width) {
    rows_.clear();
    lengths_.clear();
    set_width(width);
}

// What the basis holds is lost if that changes anything.
void Basis::set_width(int width) {
    if (width == width_)
        return;
    width_ = width;
    const auto fits = [&](int rows) {
        return Index{rows} * Index{width_ + rows} <= values_.size();
    };
    capacity_ = 0;
    while (fits(capacity_ + padded(1)))
        capacity_ += padded(1);
}

void Basis::assign(const Basis& other) {
    set_width(other.width_);
    lengths_ = other.lengths_;
    rows_.clear();
    reserve(other.size());
    for (int k = 0; k < other.size(); ++k) {
        std::copy_n(other.row(k), width_ + length(k), place_for(k));
        rows_.push_back(place_for(k));
    }
}

void Basis::borrow(const Basis& other) {
    set_width(other.width_);
    lengths_ = other.lengths_;
    rows_ = other.rows_;
}

// Room to write so many rows; those that this basis has written move along.
void Basis::reserve(int size) {
    if (size <= capacity_)
        return;
    const int wider = std::max(8, padded(std::max(size, capacity_ + capacity_ / 2)));
    const Index stride = Index{width_} + wider;
    Array grown(Index{wider} * stride);
    for (int k = 0; k < count_of(rows_); ++k) {
        if (rows_[k] != place_for(k))
            continue;
        double* moved = grown.data() + k * stride;
        std::copy_n(rows_[k], width_ + lengths_[k], moved);
        rows_[k] = moved;
    }
    values_.swap(grown);
    capacity_ = wider;
}

Basis::Residual Basis::add(FitContext& context, int column, const double* correlations,
                           double floor) {
    const int k = size();
    reserve(k + 1);
    context.z.resize(k);
    for (int i = 0; i < k; ++i)
        context.z[i] = row(i)[column];
    double* added = place_for(k);
    context.kernels.residual_row(width_, correlations, k, rows_.data(), context.z.data(), added);
    const double scale = 1.0 / std::sqrt(std::max(added[column], floor));
    double* coefficients = added + width_;
    std::fill_n(coefficients, k, 0.0);
    for (int i = 0; i < k; ++i) {
        const double z = scale * context.z[i];
        for (int j = 0; j < length(i); ++j)
            coefficients[j] -= z * row(i)[width_ + j];
    }
    coefficients[k] = scale;
    rows_.push_back(added);
    lengths_.push_back(k + 1);
    return {added, scale};
}

// The unit vector of the span that no other column has a share in: its coordinates in the basis are
// -z; its covariances and its coefficients on the columns are returned.
double* Basis::own_direction(FitContext& context, int index) const {
    const int last = size() - 1;
    context.z.resize(rows_.size());
    context.turned.resize(rows_.size());
    double norm = 0.0;
    for (int k = 0; k <= last; ++k) {
        const double t = coefficient(k, index);
        context.z[k] = -t;
        norm += t * t;
    }
    norm = std::sqrt(norm);
    for (double& z : context.z)
        z /= norm;
    const int length = width_ + last + 1;
    if (context.direction.size() < length)
        context.direction = Array(2 * length);
    double* direction = context.direction.data();
    context.kernels.residual_row(width_, nullptr, last + 1, rows_.data(), context.z.data(),
                                 direction);
    for (int j = 0; j <= last; ++j) {
        double sum = 0.0;
        for (int k = 0; k <= last; ++k) {
            sum -= context.z[k] * coefficient(k, j);
        }
        direction[width_ + j] = sum;
    }
    return direction;
}

double* Basis::drop(FitContext& context, int index) {
    const int last = size() - 1;
    assert(index >= 0 && index <= last);
    reserve(last + 1);
    double* direction = own_direction(context, index);

    // Reflect the basis so that the last vector is that direction (up to its sign); drop it.
    const double pivot = -context.z[last];
    const double sign = pivot < 0.0 ? -1.0 : 1.0;
    const double* mirror[2] = {direction, row(last)};
    for (int k = 0; k < last; ++k) {
        const double h = -context.z[k] / (1.0 + std::abs(pivot));
        const double by[2] = {h, h * sign};
        double* turned = place_for(k);
        for (int j = 0; j <= last; ++j) {
            context.turned[j] =
                coefficient(k, j) - h * direction[width_ + j] - h * sign * coefficient(last, j);
        }
        context.turned[index] = context.turned[last];
        context.kernels.residual_row(width_, row(k), 2, mirror, by, turned);
        std::copy_n(context.turned.data(), last, turned + width_);
        rows_[k] = turned;
        lengths_[k] = last;
    }
    rows_.pop_back();
    lengths_.pop_back();
    return direction;
}

} // namespace qwo
