#include "qwo/block_fit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "qwo/index.hpp"
#include "qwo/small_matrix.hpp"

namespace qwo {

namespace {

// Below this pivot the floor of the eigenvalues may matter.
constexpr double nearly_determined = 1e-8;

// Keeps rounding from adding and dropping the same edge for ever, and bounds from refusing what
// would pay.
constexpr double margin = 1e-10;

} // namespace

void BlockFit::start(const BicProblem& problem, const Columns& columns, int child) {
    start_head(problem, columns, child);
    n_variables_ = problem.n();
    k_ = problem.blocks.leading(child);
    own_first_ = columns.first(own_);
    n_columns_ = hidden_ = 0;
    members_.clear();
    basis_.clear(columns.width());
    make_room();
    const int size = columns.n_columns(), width = basis_.width();
    for (int j = 0; j < k_; ++j) {
        const double* correlations = moments_->correlation.row(problem.blocks.first(child) + j);
        for (int i = 0; i < size; ++i)
            c(j)[i] = correlations[columns.columns()[i]];
        std::fill(c(j) + size, c(j) + width, 0.0);
    }
    std::fill_n(s_.data(), columns.bands_length(), 0.0);
    std::fill_n(band(0), size, 1.0);
    read_own();
}

void BlockFit::make_room() {
    const int width = basis_.width();
    if (c_.size() < Index{k_} * width)
        c_ = Array(Index{k_} * width);
    if (s_.size() < columns_->bands_length())
        s_ = Array(columns_->bands_length());
}

void BlockFit::copy_arrays(const BlockFit& other) {
    copy_head(other);
    n_variables_ = other.n_variables_;
    k_ = other.k_;
    own_first_ = other.own_first_;
    n_columns_ = other.n_columns_;
    hidden_ = other.hidden_;
    sound_ = other.sound_;
    members_ = other.members_;
    own_factor_ = other.own_factor_;
    make_room();
    std::copy_n(other.c_.data(), k_ * basis_.width(), c_.data());
    std::copy_n(other.s_.data(), columns_->bands_length(), s_.data());
}

void BlockFit::assign(const ParentFit& other) {
    const auto& same = static_cast<const BlockFit&>(other);
    basis_.assign(same.basis_);
    copy_arrays(same);
}

void BlockFit::borrow(const ParentFit& other) {
    const auto& same = static_cast<const BlockFit&>(other);
    basis_.borrow(same.basis_);
    copy_arrays(same);
}

void BlockFit::copy_own(std::vector<double>& out) const {
    out.resize(k_ * k_);
    for (int i = 0; i < k_; ++i) {
        for (int j = 0; j < k_; ++j)
            out[i * k_ + j] = band(std::abs(i - j))[own_first_ + std::min(i, j)];
    }
}

void BlockFit::read_own() {
    copy_own(own_factor_);
    sound_ = cholesky(k_, own_factor_.data()) > nearly_determined;
}

std::vector<double> BlockFit::residual_covariances() const {
    std::vector<double> covariances;
    copy_own(covariances);
    return covariances;
}

std::vector<double> BlockFit::coefficients() const {
    std::vector<double> beta;
    for (int p : parents_) {
        const int index = columns_->find(p);
        for (int i = columns_->first(index); i < columns_->first(index + 1); ++i) {
            const int number = member(i);
            for (int j = 0; j < k_; ++j) {
                double sum = 0.0;
                for (int k = 0; number >= 0 && k < basis_.size(); ++k)
                    sum += basis_.row(k)[own_first_ + j] * basis_.coefficient(k, number);
                beta.push_back(sum);
            }
        }
    }
    return beta;
}

int BlockFit::member(int column) const {
    const auto found = std::find(members_.begin(), members_.end(), column);
    return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
}

void BlockFit::update_cost(FitContext& context) {
    copy_own(context.block);
    cost_ = moments_->score.n_samples *
            floored_log_det(k_, context.block.data(), determined, context.scratch);
    for (int p : parents_)
        cost_ += price(columns_->find(p)).price;
}

void BlockFit::sweep(FitContext& context, double* row, double scale, double sign) {
    const int width = basis_.width();
    context.kernels.sweep(width, scale, sign * scale * row[own_first_], sign, row, c(0), band(0));
    const double* rows[1] = {row};
    for (int j = 1; j < k_; ++j) {
        const double z = -sign * row[own_first_ + j];
        context.kernels.residual_row(width, c(j), 1, rows, &z, c(j));
    }
    for (int d = 1; d < columns_->n_bands(); ++d) {
        const auto [first, count, offset] = columns_->band(d);
        context.kernels.add_products(count, sign, row + first, row + first + d, s_.data() + offset);
    }
}

// Column by column, the one with the largest variance left first: Cholesky's factorisation of S_u
// with pivots.
void BlockFit::add_at(FitContext& context, int index) {
    assert(index >= 0);
    const int first = columns_->first(index), size = columns_->block_size(index);
    const int parent = columns_->variable(index);
    const double* variances = band(0);
    int added = 0;
    for (; added < size; ++added) {
        int pivot = -1;
        for (int i = first; i < first + size; ++i) {
            if (variances[i] > (pivot < 0 ? determined : variances[pivot]) && member(i) < 0)
                pivot = i;
        }
        if (pivot < 0)
            break;
        const double* own =
            correlations(context, context.problem->blocks.first(parent) + pivot - first);
        const auto [row, scale] = basis_.add(context, pivot, own, determined);
        sweep(context, row, scale, -1.0);
        members_.push_back(pivot);
    }
    parents_.push_back(parent);
    n_columns_ += size;
    hidden_ += size - added;
    read_own();
}

void BlockFit::drop(FitContext& context, int index) {
    if (hidden_ > 0) {
        std::vector<int> rest = parents_;
        rest[index] = rest.back();
        rest.pop_back();
        take(context, rest);
        return;
    }
    const int number = columns_->find(parents_[index]);
    for (int i = columns_->first(number); i < columns_->first(number + 1); ++i) {
        const int gone = member(i);
        sweep(context, basis_.drop(context, gone), 1.0, 1.0);
        members_[gone] = members_.back();
        members_.pop_back();
    }
    n_columns_ -= columns_->block_size(number);
    parents_[index] = parents_.back();
    parents_.pop_back();
    read_own();
}

int BlockFit::explain(FitContext& context, int index) const {
    const int first = columns_->first(index), size = columns_->block_size(index);
    context.block.resize(size * size);
    context.cross.resize(size * k_);
    double* s = context.block.data();
    double* y = context.cross.data();
    for (int p = 0; p < size; ++p) {
        for (int q = p; q < size; ++q)
            s[p * size + q] = s[q * size + p] = band(q - p)[first + p];
        for (int j = 0; j < k_; ++j)
            y[p * k_ + j] = c(j)[first + p];
    }
    int rank = 0;
    for (; rank < size; ++rank) {
        int pivot = rank;
        for (int p = rank + 1; p < size; ++p)
            pivot = s[p * size + p] > s[pivot * size + pivot] ? p : pivot;
        if (!(s[pivot * size + pivot] > determined))
            break;
        if (pivot != rank) {
            std::swap_ranges(s + pivot * size, s + (pivot + 1) * size, s + rank * size);
            for (int p = 0; p < size; ++p)
                std::swap(s[p * size + pivot], s[p * size + rank]);
            std::swap_ranges(y + pivot * k_, y + (pivot + 1) * k_, y + rank * k_);
        }
        const double scale = 1.0 / std::sqrt(s[rank * size + rank]);
        for (int j = 0; j < k_; ++j)
            y[rank * k_ + j] *= scale;
        for (int p = rank + 1; p < size; ++p) {
            const double l = s[p * size + rank] * scale;
            for (int j = 0; j < k_; ++j)
                y[p * k_ + j] -= l * y[rank * k_ + j];
            for (int q = rank + 1; q < size; ++q)
                s[p * size + q] -= l * scale * s[rank * size + q];
        }
    }
    return rank;
}

double BlockFit::whiten(FitContext& context, int rows) const {
    context.whitened.assign(context.cross.begin(), context.cross.begin() + rows * k_);
    double sum = 0.0;
    for (int r = 0; r < rows; ++r) {
        double* y = context.whitened.data() + r * k_;
        solve_lower(k_, own_factor_.data(), y);
        for (int j = 0; j < k_; ++j)
            sum += y[j] * y[j];
    }
    return sum;
}

// log det(Sigma + sign Y^T Y) - log det Sigma, for a sound Sigma by the smaller of the two matrices
// that I + sign Y Sigma^-1 Y^T may be.
double BlockFit::change_of_log_det(FitContext& context, Change change) const {
    const auto [rows, sign] = change;
    if (sound_) {
        const double* y = context.whitened.data();
        const bool by_rows = rows <= k_;
        const int m = by_rows ? rows : k_, terms = by_rows ? k_ : rows;
        const int step = by_rows ? k_ : 1, stride = by_rows ? 1 : k_;
        context.small.resize(m * m);
        for (int p = 0; p < m; ++p) {
            for (int q = 0; q <= p; ++q) {
                double sum = 0.0;
                for (int t = 0; t < terms; ++t)
                    sum += y[p * step + t * stride] * y[q * step + t * stride];
                context.small[p * m + q] = sign * sum;
            }
        }
        const double change_of_it = log_det_of_shifted(m, context.small.data());
        if (!std::isnan(change_of_it))
            return change_of_it;
    }
    copy_own(context.small);
    const double before = floored_log_det(k_, context.small.data(), determined, context.scratch);
    for (int r = 0; r < rows; ++r) {
        const double* y = context.cross.data() + r * k_;
        for (int i = 0; i < k_; ++i) {
            for (int j = 0; j < k_; ++j)
                context.small[i * k_ + j] += sign * y[i] * y[j];
        }
    }
    return floored_log_det(k_, context.small.data(), determined, context.scratch) - before;
}

double BlockFit::worth(FitContext& context, int index) const {
    const int rows = explain(context, index);
    const BlockPrice own = price(index);
    if (rows == 0 || (sound_ && !(whiten(context, rows) > own.least)))
        return 0.0;
    const double gain = -change_of_log_det(context, {rows, -1.0});
    return moments_->score.n_samples * gain - own.price * (1.0 + margin);
}

double BlockFit::strength(FitContext& context, int u) const {
    const int index = columns_->find(u);
    return index < 0 ? 0.0 : worth(context, index);
}

bool BlockFit::would_pay(FitContext& context, int u) const {
    const int index = columns_->find(u);
    return index >= 0 && has_room(columns_->block_size(index)) && worth(context, index) > 0.0;
}

// The squares of the rows of C in units of Sigma, summed for each column.
bool BlockFit::prepare(FitContext& context) const {
    if (!sound_)
        return false;
    const int width = basis_.width();
    if (context.squares.size() < width)
        context.squares = Array(width);
    if (context.white.size() < k_ * width)
        context.white = Array(k_ * width);
    double* squares = context.squares.data();
    std::fill_n(squares, width, 0.0);
    context.rows.assign(1, c(0));
    for (int j = 0; j < k_; ++j) {
        const double root = own_factor_[j * k_ + j];
        if (j > 0) {
            context.scratch.resize(j);
            for (int h = 0; h < j; ++h)
                context.scratch[h] = own_factor_[j * k_ + h] / own_factor_[h * k_ + h];
            double* out = context.white.data() + j * width;
            context.kernels.residual_row(width, c(j), j, context.rows.data(),
                                         context.scratch.data(), out);
            context.rows.push_back(out);
        }
        context.kernels.add_products(width, 1.0 / (root * root), context.rows.back(),
                                     context.rows.back(), squares);
    }
    return true;
}

bool BlockFit::refuses(const FitContext& context, int index) const {
    const int first = columns_->first(index), size = columns_->block_size(index);
    const double* squares = context.squares.data() + first;
    const double* variances = band(0) + first;
    double explained = squares[0], left = variances[0];
    for (int i = 1; i < size; ++i) {
        explained += squares[i];
        left += variances[i];
    }
    if (!(left > determined))
        return true;
    const double least_eigenvalue = left - (size - 1);
    return explained * (1.0 + margin) <= price(index).least * least_eigenvalue;
}

void BlockFit::wanted(FitContext& context, const std::uint8_t* allowed,
                      std::uint64_t* words) const {
    std::fill_n(words, (columns_->size() + 63) / 64, 0);
    if (is_full())
        return;
    const bool bounds = prepare(context);
    for (int i = 0; i < columns_->size(); ++i) {
        if (i == own_ || (bounds && refuses(context, i)) || !has_room(columns_->block_size(i)) ||
            (allowed != nullptr && allowed[columns_->variable(i)] == 0))
            continue;
        if (worth(context, i) > 0.0)
            words[i / 64] |= std::uint64_t{1} << (i % 64);
    }
}

int BlockFit::best_candidate(FitContext& context, const std::int32_t* place, std::int32_t limit,
                             const std::uint8_t* allowed) const {
    if (is_full())
        return -1;
    const bool bounds = prepare(context);
    int best = -1;
    double most = 0.0;
    for (int i = 0; i < columns_->size(); ++i) {
        if (place[i] >= limit || i == own_ || (allowed != nullptr && allowed[i] == 0) ||
            (bounds && refuses(context, i)) || !has_room(columns_->block_size(i)))
            continue;
        const double own = worth(context, i);
        if (own > most) {
            most = own;
            best = i;
        }
    }
    return best;
}

// With Omega = T_u^T T_u and B = T_u^T cov(basis, V), Sigma would rise by B^T Omega^-1 B. A bound
// from below may stand for what is above 0.
double BlockFit::need(FitContext& context, int index) const {
    const int number = columns_->find(parents_[index]);
    const double saved = price(number).price * (1.0 - margin);
    if (hidden_ > 0)
        return moments_->score.n_samples * log_det_without(context, index) - saved;
    const int first = columns_->first(number), size = columns_->block_size(number);
    context.block.assign(size * size, 0.0);
    context.cross.assign(size * k_, 0.0);
    context.losses.resize(size);
    context.numbers.clear();
    for (int i = first; i < first + size; ++i)
        context.numbers.push_back(member(i));
    double* omega = context.block.data();
    double* y = context.cross.data();
    for (int k = 0; k < basis_.size(); ++k) {
        for (int p = 0; p < size; ++p) {
            const double t = basis_.coefficient(k, context.numbers[p]);
            context.losses[p] = t;
            for (int q = 0; q <= p; ++q)
                omega[p * size + q] += t * context.losses[q];
            for (int j = 0; j < k_; ++j)
                y[p * k_ + j] += t * basis_.row(k)[own_first_ + j];
        }
    }
    cholesky(size, omega);
    for (int p = 0; p < size; ++p) {
        for (int j = 0; j < k_; ++j) {
            for (int h = 0; h < p; ++h)
                y[p * k_ + j] -= omega[p * size + h] * y[h * k_ + j];
            y[p * k_ + j] /= omega[p * size + p];
        }
    }
    const double n_samples = moments_->score.n_samples;
    if (sound_) {
        // The determinant rises by more than the trace, which most often is enough.
        const double least = n_samples * std::log1p(whiten(context, size)) - saved;
        if (least > 0.0)
            return least;
    }
    return n_samples * change_of_log_det(context, {size, 1.0}) - saved;
}

// The rise of log det Sigma without a parent, where directions may come back: computed anew.
double BlockFit::log_det_without(FitContext& context, int index) const {
    std::vector<std::int32_t> variables(parents_.begin(), parents_.end());
    variables[index] = child_;
    std::sort(variables.begin(), variables.end());
    const Columns few(std::move(variables), context.problem->blocks);
    BlockFit twin;
    twin.start(*context.problem, few, child_);
    for (int p : parents_) {
        if (p != parents_[index])
            twin.add(context, p);
    }
    const auto log_det = [&](const BlockFit& fit) {
        fit.copy_own(context.small);
        return floored_log_det(k_, context.small.data(), determined, context.scratch);
    };
    return log_det(twin) - log_det(*this);
}

int BlockFit::least_needed(FitContext& context) const {
    int found = -1;
    double least = 0.0;
    for (int j = n_required_; j < size(); ++j) {
        const double own = need(context, j);
        if (own < least) {
            least = own;
            found = j;
        }
    }
    return found;
}

} // namespace qwo
