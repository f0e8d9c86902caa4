#include "qwo/order_factor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "qwo/index.hpp"

namespace qwo {

namespace {

// The ratio on the diagonal of a row is 1 up to rounding, and must stay above tau.
constexpr double highest_tau = 1.0 - 1e-9;

// Packing moves about 2 n^2 numbers one by one, which takes as long as visiting 8 n^2 in line.
constexpr std::size_t packing_cost = 8;

double edge_cost(PairCost cost) {
    return cost.count ? 1.0 : cost.tau + 0.5 * cost.tau * cost.tau;
}

} // namespace

OrderFactor::OrderFactor(const double* correlation, int n, PairCost pair_cost, double weight,
                         const Kernels& kernels)
    : n_(n), pair_cost_{std::min(pair_cost.tau, highest_tau), pair_cost.count},
      ceiling_(edge_cost(pair_cost_)), weight_(weight), kernels_(&kernels), correlation_(n, n + 1),
      factor_(n, n + 1), precisions_(n + 1, n + 1), order_(n), place_(n), column_(n), width_(n),
      row_costs_(n), packed_(n), saved_under_(n) {
    for (int v = 0; v < n; ++v) {
        column_[v] = 1 + v;
        std::copy_n(correlation + Index{v} * Index{n}, n, correlation_.row(v) + 1);
    }
}

void OrderFactor::load(const std::vector<int>& order, const double* inverse_cholesky) {
    assert(count_of(order) == n_);
    marks_.clear();
    saved_.clear();
    saved_values_.clear();
    exchanges_ = 0;
    total_ = 0.0;
    std::fill(row_costs_.begin(), row_costs_.end(), 0.0);
    for (int k = 0; k < n_; ++k)
        place_at(k, order[k]);
    pack();
    for (int k = 0; k < n_; ++k) {
        std::copy_n(inverse_cholesky + Index{k} * Index{n_}, k + 1, factor_.row(k) + 1);
        charge_row(k, width(k), true);
    }
}

std::vector<int> OrderFactor::parents(int v) const {
    const int k = place(v);
    std::vector<int> found;
    for (int i = 0; i < n_; ++i) {
        if (place(i) < k && is_parent(k, i))
            found.push_back(i);
    }
    return found;
}

int OrderFactor::count_edges() const {
    const PairCost edges{pair_cost_.tau, true};
    double count = 0.0;
    for (int k = 0; k < n_; ++k) {
        count += kernels_->row_cost(width(k), row(k), precisions(k), edges) - 1.0;
    }
    return static_cast<int>(count);
}

void OrderFactor::move(int v, int place) {
    const int from = this->place(v);
    if (place == from)
        return;
    const int first = std::min(from, place), last = std::max(from, place);
    save(first, last);
    const int width = this->width(last);
    for (int k = from; k < place; ++k)
        exchange(k, width);
    for (int k = from; k > place; --k)
        exchange(k - 1, width);
    charge_rows(first, last, width);
}

void OrderFactor::swap(int first, int second) {
    if (first == second)
        return;
    const int start = std::min(first, second), stop = std::max(first, second) + 1;
    std::vector<int> block(order_.begin() + start, order_.begin() + stop);
    std::swap(block.front(), block.back());
    permute(start, block);
}

void OrderFactor::permute(int start, const std::vector<int>& block) {
    int first = start, last = start + count_of(block) - 1;
    const auto unchanged = [&](int k) { return order_[k] == block[k - start]; };
    while (first <= last && unchanged(first))
        ++first;
    while (last > first && unchanged(last))
        --last;
    if (first >= last)
        return;
    save(first, last);
    const int width = this->width(last);
    for (int k = first; k < last; ++k) {
        for (int j = place(block[k - start]); j > k; --j)
            exchange(j - 1, width);
    }
    charge_rows(first, last, width);
}

void OrderFactor::tuck(int x, int y) {
    const int start = place(x), stop = place(y);
    if (stop <= start)
        return;
    std::vector<bool> found(stop - start + 1); // y and its ancestors, by place from x on
    found.back() = true;
    for (int k = stop; k > start; --k) {
        if (!found[k - start])
            continue;
        for (int j = start; j < k; ++j) {
            if (is_parent(k, order_[j]))
                found[j - start] = true;
        }
    }
    if (!found.front())
        return;
    found.front() = false; // x itself stays behind
    std::vector<int> block;
    block.reserve(found.size());
    for (const bool mover : {true, false}) {
        for (int k = start; k <= stop; ++k) {
            if (found[k - start] == mover)
                block.push_back(order_[k]);
        }
    }
    permute(start, block);
}

void OrderFactor::place_at(int k, int v) {
    order_[k] = v;
    place_[v] = k;
}

// With a, b at places k, k + 1: the rotation that removes a from the upper of the two rows. That
// row then is uncorrelated with all predecessors of place k and free of a, so it belongs to b.
void OrderFactor::exchange(int k, int width) {
    const int a = order_[k], b = order_[k + 1];
    double* u = factor_.row(k);
    double* w = factor_.row(k + 1);
    const double ua = u[column(a)], wa = w[column(a)];
    const double r = std::sqrt(ua * ua + wa * wa);
    kernels_->exchange(width, ua / r, wa / r, u, w);
    u[column(a)] = 0.0; // exactly, so that D has exact zeros, too
    place_at(k, b);
    place_at(k + 1, a);
    ++exchanges_;
}

// What follows from the rows first .. last of L, of which `width` columns may have changed. The
// last of them spans the same variables as before, so that its D stays.
void OrderFactor::charge_rows(int first, int last, int width) {
    for (int k = first; k <= last; ++k)
        charge_row(k, width, k < last);
    wasted_ += Index{last - first + 1} * Index{width - padded(last + 2)};
    pack_if_due();
}

void OrderFactor::charge_row(int k, int width, bool new_precisions) {
    const double* before = precisions_.row(k);
    double* d = precisions_.row(k + 1);
    const double charged = new_precisions
                               ? kernels_->new_row_cost(width, row(k), before, d, pair_cost_)
                               : kernels_->row_cost(width, row(k), d, pair_cost_);
    const double cost = charged - ceiling_;
    total_ += cost - row_costs_[k];
    row_costs_[k] = cost;
    const int own = padded(column(order_[k]) + 1);
    width_[k] = k > 0 ? std::max(this->width(k - 1), own) : own;
}

void OrderFactor::note_passes(std::size_t passes) {
    std::size_t spared = 0;
    for (int k = 0; k < n_; ++k)
        spared += width(k) - padded(k + 2);
    wasted_ += passes * spared;
    pack_if_due();
}

void OrderFactor::pack_if_due() {
    if (marks_.empty() && wasted_ > packing_cost * Index{n_} * Index{n_})
        pack();
}

// Puts the columns into the present order.
void OrderFactor::pack() {
    for (int v = 0; v < n_; ++v)
        pack_row(correlation_.row(v), n_);
    for (int k = 0; k < n_; ++k) {
        pack_row(factor_.row(k), k + 1);
        pack_row(precisions_.row(k + 1), k + 1);
    }
    for (int k = 0; k < n_; ++k) {
        column_[order_[k]] = 1 + k;
        width_[k] = padded(k + 2);
    }
    wasted_ = 0;
}

// The first `columns` places of a row; zeros in all others.
void OrderFactor::pack_row(double* row, int columns) {
    for (int i = 0; i < columns; ++i)
        packed_[i] = row[column(order_[i])];
    std::copy_n(packed_.data(), columns, row + 1);
    std::fill(row + 1 + columns, row + full_width(), 0.0);
}

std::size_t OrderFactor::mark() {
    pack_if_due();
    marks_.push_back({next_id_++, saved_.size(), total_, exchanges_});
    return marks_.size() - 1;
}

void OrderFactor::save(int first, int last) {
    if (marks_.empty())
        return;
    const std::uint64_t id = marks_.back().id;
    for (int k = first; k <= last; ++k) {
        std::uint64_t& saved_under = saved_under_[k];
        if (saved_under >= id)
            continue;
        saved_.push_back({k, order_[k], width(k), row_cost(k), saved_under});
        saved_under = id;
        saved_values_.insert(saved_values_.end(), row(k), row(k) + width(k));
        saved_values_.insert(saved_values_.end(), precisions(k), precisions(k) + width(k));
    }
}

void OrderFactor::undo(std::size_t mark) {
    assert(mark < marks_.size());
    const Mark target = marks_[mark];
    std::size_t size = saved_values_.size();
    while (saved_.size() > target.saved) {
        size -= 2 * Index{saved_.back().width};
        restore(saved_.back(), saved_values_.data() + size);
        saved_.pop_back();
    }
    saved_values_.resize(size);
    total_ = target.total;
    exchanges_ = target.exchanges;
    marks_.resize(mark);
}

void OrderFactor::restore(const SavedRow& saved, const double* values) {
    const int k = saved.k;
    for (double* row : {factor_.row(k), precisions_.row(k + 1)}) {
        std::copy_n(values, saved.width, row);
        if (width(k) > saved.width)
            std::fill(row + saved.width, row + width(k), 0.0);
        values += saved.width;
    }
    place_at(k, saved.variable);
    width_[k] = saved.width;
    row_costs_[k] = saved.cost;
    saved_under_[k] = saved.previous_id;
}

void OrderFactor::release(std::size_t mark) {
    assert(mark < marks_.size());
    marks_.resize(mark);
    if (!marks_.empty())
        return; // the copies serve the marks that remain
    saved_.clear();
    saved_values_.clear();
}

} // namespace qwo
