#include "qwo/noise_cost.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace qwo {

namespace {

constexpr double kReach = 10.0; // standard deviations that the grid covers on either side
// Points of the grid: the width of kernels falls with the number of rows.
constexpr int kPoints = 512, kMorePoints = 1024;
constexpr int kManyRows = 4000;
constexpr double kTail = 0.02; // share of the t distribution with three degrees of freedom
constexpr double kRidge = 1e-9;
constexpr double kLeast = 1e-6; // a smaller standard deviation counts as this
constexpr double kLeastSquare = 1e-4;
constexpr double kMostSpread = 4.0; // of log s², on either side

double tail(double z) {
    const double q = 1.0 + z * z / 3.0;
    return kTail * 0.36755259694786137 / (q * q);
}

// Solves a symmetric positive definite system in place: the matrix is overwritten by its factor.
bool solve(int n, std::vector<double>& a, std::vector<double>& b) {
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; ++k)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j) {
                if (!(sum > 0.0))
                    return false;
                a[j * n + j] = std::sqrt(sum);
            } else {
                a[i * n + j] = sum / a[j * n + j];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return true;
}

} // namespace

// Log density at the points of the grid; far beyond it is the tail alone.
struct NoiseCost::Density {
    std::vector<double> logs;
    double sum = 0.0; // of the logarithms over all rows, with their weights
};

bool NoiseCost::is_far(double z) const {
    return !(std::abs(z) < kReach - step_);
}

double NoiseCost::log_at(const Density& density, int row, double z) const {
    if (is_far(z))
        return std::log(tail(z));
    const int k = static_cast<int>(places_[row]);
    const double w = places_[row] - k;
    return (1.0 - w) * density.logs[k] + w * density.logs[k + 1];
}

NoiseCost::NoiseCost(NoiseData data) : data_(std::move(data)) {
    rows_ = data_.weights.size();
    total_ = std::accumulate(data_.weights.begin(), data_.weights.end(), 0.0);
    firsts_.push_back(0);
    for (const int size : data_.sizes)
        firsts_.push_back(firsts_.back() + size);
    known_.resize(data_.sizes.size());
    even_ = std::all_of(data_.weights.begin(), data_.weights.end(),
                        [](double weight) { return weight == 1.0; });
    points_ = rows_ < kManyRows ? kPoints : kMorePoints;
    step_ = 2.0 * kReach / (points_ - 1);
    for (int k = 0; k < points_; ++k) {
        const double z = -kReach + k * step_;
        tails_.push_back(tail(z));
        squares_.push_back(std::log(std::max(z * z, kLeastSquare)));
        slopes_.push_back(0.0);
        if (k > 0)
            slopes_[k - 1] = squares_[k] - squares_[k - 1];
    }
}

std::vector<int> NoiseCost::columns_of(std::span<const int> parents) const {
    std::vector<int> columns;
    for (const int p : parents) {
        for (int c = firsts_[p]; c < firsts_[p + 1]; ++c)
            columns.push_back(c);
    }
    return columns;
}

double NoiseCost::price_of(int variable, int columns) const {
    const int own = data_.is_number[variable] ? 1 : data_.sizes[variable];
    return data_.price * own * columns;
}

void NoiseCost::residuals(int child, const std::vector<int>& given,
                          std::vector<double>& out) const {
    const double* own = data_.columns.data() + Index{child} * rows_;
    out.resize(rows_);
    const int m = count_of(given);
    const Index width = firsts_.back();
    std::vector<double> a(Index{m} * m), b(m);
    std::vector<const double*> columns(m);
    int first = 0;
    for (std::size_t block = 0; block < data_.ends.size(); ++block) {
        const double* gram = data_.gram.data() + block * width * width;
        for (int i = 0; i < m; ++i) {
            b[i] = gram[given[i] * width + child];
            for (int j = 0; j <= i; ++j)
                a[i * m + j] = gram[given[i] * width + given[j]] + (i == j ? kRidge : 0.0);
            columns[i] = data_.columns.data() + Index{given[i]} * rows_ + first;
        }
        const int size = data_.ends[block] - first;
        const int used = solve(m, a, b) ? m : 0;
        kernels_.residual_row(size, own + first, used, columns.data(), b.data(),
                              out.data() + first);
        first = data_.ends[block];
    }
}

double NoiseCost::weighted(const double* x, const double* y) const {
    if (even_)
        return kernels_.dot(rows_, x, y);
    double sum = 0.0;
    for (int i = 0; i < rows_; ++i)
        sum += data_.weights[i] * x[i] * y[i];
    return sum;
}

// Each row is shared between two points of the grid: what these have of all rows.
void NoiseCost::put_on_grid(const std::vector<double>& z) {
    mass_.assign(3 * points_, 0.0); // zeros on either side, so that all points are alike
    places_.resize(rows_);
    const double scale = 1.0 / step_, most = points_ - 1.001;
    for (int i = 0; i < rows_; ++i)
        places_[i] = std::max(0.0, std::min((z[i] + kReach) * scale, most));
    double* mass = mass_.data() + points_;
    for (int i = 0; i < rows_; ++i) {
        const int k = static_cast<int>(places_[i]);
        const double own = even_ ? 1.0 : data_.weights[i], right = own * (places_[i] - k);
        mass[k] += own - right;
        mass[k + 1] += right;
    }
}

// Log densities of one kernel at some points of the grid, and their sum over rows.
double NoiseCost::smooth(int first, int last, double h, double* logs) {
    const double* mass = mass_.data() + points_;
    const int reach = std::min(static_cast<int>(4.0 * h / step_), points_);
    const double unit =
        (1.0 - kTail) / (std::max(total_ - 1.0, 1.0) * h * std::sqrt(2.0 * std::numbers::pi));
    kernel_.clear();
    shifted_.clear();
    for (int d = 1; d <= reach; ++d) {
        kernel_.insert(kernel_.end(), 2, -std::exp(-0.5 * (d * step_ / h) * (d * step_ / h)));
        shifted_.insert(shifted_.end(), {mass + first - d, mass + first + d});
    }
    for (int k = first; k <= last; ++k)
        logs[k] = mass[k] - 1.0; // the kernel of the row itself is left out
    kernels_.residual_row(last - first + 1, logs + first, 2 * reach, shifted_.data(),
                          kernel_.data(), logs + first);
    double sum = 0.0;
    for (int k = first; k <= last; ++k) {
        logs[k] = std::log(unit * std::max(logs[k], 0.0) + tails_[k]);
        sum += mass[k] * logs[k];
    }
    return sum;
}

NoiseCost::Density NoiseCost::density(const std::vector<double>& z) {
    put_on_grid(z);
    const double* mass = mass_.data() + points_;
    int first = 0, last = points_ - 1, low = 0, high = 0;
    while (mass[first] == 0.0)
        ++first;
    while (mass[last] == 0.0)
        --last;
    double sum = 0.0;
    for (int k = first; sum < 0.75 * total_; ++k) {
        low = sum < 0.25 * total_ ? k : low;
        high = k;
        sum += mass[k];
    }
    const double middle = std::max(high - low, 1) * step_ / 1.349;
    const double silverman = 0.9 * std::min(1.0, middle) * std::pow(total_, -0.2);
    Density best{std::vector<double>(points_)};
    best.sum = smooth(first, last, std::max(silverman, 2.0 * step_), best.logs.data());
    logs_.resize(points_);
    const double other = smooth(first, last, std::max(0.5 * silverman, 2.0 * step_), logs_.data());
    if (other > best.sum) {
        best.sum = other;
        best.logs.swap(logs_);
    }
    // The logarithm is straight between points, as mass is shared between them; far rows are not.
    if (first > 1 && last < points_ - 2)
        return best;
    for (int i = 0; i < rows_; ++i) {
        if (is_far(z[i]))
            best.sum += data_.weights[i] * (std::log(tail(z[i])) - log_at(best, i, 0.0));
    }
    return best;
}

double NoiseCost::gaussian(int variable, const std::vector<int>& given,
                           std::vector<double>* by_row) const {
    const int k = data_.sizes[variable];
    std::vector<std::vector<double>> left(k);
    for (int a = 0; a < k; ++a)
        residuals(firsts_[variable] + a, given, left[a]);
    std::vector<double> factor(Index{k} * k);
    for (int a = 0; a < k; ++a) {
        for (int b = 0; b < k; ++b) {
            factor[a * k + b] = weighted(left[a].data(), left[b].data()) / total_ +
                                (a == b ? kLeast * kLeast : 0.0);
        }
    }
    std::vector<double> none(k, 0.0);
    solve(k, factor, none);
    double log_det = 0.0;
    for (int a = 0; a < k; ++a)
        log_det += 2.0 * std::log(factor[a * k + a]);
    const double constant = log_det + k * std::log(2.0 * std::numbers::pi);
    double sum = 0.0;
    std::vector<double> y(k);
    for (int i = 0; i < rows_; ++i) {
        double squares = 0.0;
        for (int a = 0; a < k; ++a) {
            y[a] = left[a][i];
            for (int b = 0; b < a; ++b)
                y[a] -= factor[a * k + b] * y[b];
            y[a] /= factor[a * k + a];
            squares += y[a] * y[a];
        }
        sum += data_.weights[i] * (constant + squares);
        if (by_row != nullptr)
            (*by_row)[i] = constant + squares;
    }
    return sum;
}

NoiseCost::Noise NoiseCost::constant_noise(int variable, const std::vector<int>& given) const {
    Noise noise;
    residuals(firsts_[variable], given, noise.z);
    int first = 0;
    for (const int last : data_.ends) {
        double sum = 0.0, rows = 0.0;
        if (even_ && data_.ends.size() == 1) {
            sum = weighted(noise.z.data(), noise.z.data());
            rows = total_;
        } else {
            for (int i = first; i < last; ++i) {
                sum += data_.weights[i] * noise.z[i] * noise.z[i];
                rows += data_.weights[i];
            }
        }
        const double scale = std::max(std::sqrt(sum / std::max(rows, kLeast)), kLeast);
        const double unit = 1.0 / scale;
        for (int i = first; i < last; ++i)
            noise.z[i] *= unit;
        const double twice = 2.0 * std::log(scale);
        if (data_.ends.size() == 1)
            noise.constant = twice;
        else
            noise.log_spread.resize(last, twice);
        first = last;
    }
    return noise;
}

NoiseCost::Noise NoiseCost::spread_noise(const Noise& constant, std::span<const int> parents) {
    const int m = count_of(parents);
    const Index width = firsts_.back();
    std::vector<double> a(Index{m} * m), slopes(m, 0.0);
    logs_.resize(rows_);
    for (int i = 0; i < rows_; ++i) {
        const int k = static_cast<int>(places_[i]);
        logs_[i] = squares_[k] + (places_[i] - k) * slopes_[k];
    }
    for (int j = 0; j < m; ++j) {
        const double* column = data_.columns.data() + Index{firsts_[parents[j]]} * rows_;
        slopes[j] = weighted(column, logs_.data()) / total_;
        for (int k = 0; k < m; ++k)
            a[j * m + k] = data_.gram[firsts_[parents[j]] * width + firsts_[parents[k]]];
    }
    for (int j = 0; j < m; ++j)
        a[j * m + j] += kRidge;
    Noise noise;
    const std::vector<double> products = slopes;
    if (!solve(m, a, slopes))
        return noise;
    const double variance = std::inner_product(slopes.begin(), slopes.end(), products.begin(), 0.0);
    // Of a Gaussian, twice the log-likelihood rises by N / 2 times the variance of log s².
    if (0.5 * total_ * variance < data_.price * m)
        return noise;
    noise.log_spread.assign(rows_, 0.0);
    for (int j = 0; j < m; ++j) {
        const double* column = data_.columns.data() + Index{firsts_[parents[j]]} * rows_;
        for (int i = 0; i < rows_; ++i)
            noise.log_spread[i] += slopes[j] * column[i];
    }
    noise.z.resize(rows_);
    double sum = 0.0;
    for (int i = 0; i < rows_; ++i) {
        noise.log_spread[i] = std::clamp(noise.log_spread[i], -kMostSpread, kMostSpread);
        noise.z[i] = constant.z[i] * std::exp(-0.5 * noise.log_spread[i]);
        sum += data_.weights[i] * noise.z[i] * noise.z[i];
        if (!constant.log_spread.empty())
            noise.log_spread[i] += constant.log_spread[i];
    }
    const double scale = std::max(std::sqrt(sum / total_), kLeast);
    for (double& z : noise.z)
        z /= scale;
    noise.constant = constant.constant + 2.0 * std::log(scale);
    noise.parameters = m;
    return noise;
}

double NoiseCost::value_of(const Noise& noise, std::vector<double>* by_row) {
    const Density own = density(noise.z);
    double spread = 0.0;
    if (!noise.log_spread.empty())
        spread = std::inner_product(noise.log_spread.begin(), noise.log_spread.end(),
                                    data_.weights.begin(), 0.0);
    if (by_row != nullptr) {
        for (int i = 0; i < rows_; ++i) {
            const double own_spread = noise.log_spread.empty() ? 0.0 : noise.log_spread[i];
            (*by_row)[i] = noise.constant + own_spread - 2.0 * log_at(own, i, noise.z[i]);
        }
    }
    return noise.constant * total_ + spread - 2.0 * own.sum;
}

double NoiseCost::number(int variable, std::span<const int> parents, std::vector<double>* by_row,
                         std::vector<double>* left) {
    Noise constant = constant_noise(variable, columns_of(parents));
    const double value = value_of(constant, by_row);
    Noise spread = parents.empty() ? Noise{} : spread_noise(constant, parents);
    const double price = data_.price * spread.parameters;
    std::vector<double> rows(by_row == nullptr ? 0 : rows_);
    const bool may_pay = spread.parameters > 0;
    const double other =
        may_pay ? value_of(spread, by_row == nullptr ? nullptr : &rows) + price : value;
    const bool pays = may_pay && other < value;
    if (left != nullptr)
        *left = std::move(pays ? spread.z : constant.z);
    if (!pays)
        return value;
    if (by_row != nullptr) {
        for (int i = 0; i < rows_; ++i)
            (*by_row)[i] = rows[i] + price / total_;
    }
    return other;
}

double NoiseCost::cost(int variable, std::span<const int> parents) {
    std::vector<int> key(parents.begin(), parents.end());
    const auto found = known_[variable].find(key);
    if (found != known_[variable].end())
        return found->second;
    const std::vector<int> given = columns_of(parents);
    const double value = price_of(variable, given.size()) +
                         (data_.is_number[variable] ? number(variable, parents, nullptr)
                                                    : gaussian(variable, given, nullptr));
    known_[variable].emplace(std::move(key), value);
    return value;
}

std::vector<double> NoiseCost::left(int variable, std::span<const int> parents) {
    if (!data_.is_number[variable])
        return constant_noise(variable, columns_of(parents)).z;
    std::vector<double> found;
    number(variable, parents, nullptr, &found);
    return found;
}

std::vector<double> NoiseCost::rows(int variable, std::span<const int> parents) {
    std::vector<double> found(rows_);
    if (data_.is_number[variable])
        number(variable, parents, &found);
    else
        gaussian(variable, columns_of(parents), &found);
    return found;
}

} // namespace qwo
