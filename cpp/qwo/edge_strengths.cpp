#include "qwo/edge_strengths.hpp"

#include <algorithm>
#include <cmath>

namespace qwo {

namespace {

constexpr double kLeastPivot = 1e-15;

// Overwrites the lower triangle of a correlation matrix by L^-1, where L L^T is the matrix with
// pivots that are not too small.
void invert_factor(std::size_t k, double* a) {
    for (std::size_t i = 0; i < k; ++i) {
        double* row = a + i * k;
        double pivot = row[i];
        // Row i of L is L^-1 times column i, of which the rows above are there by now.
        for (std::size_t j = 0; j < i; ++j) {
            double sum = 0.0;
            for (std::size_t h = 0; h <= j; ++h)
                sum += a[j * k + h] * a[h * k + i];
            row[j] = sum;
            pivot -= sum * sum;
        }
        const double scale = 1.0 / std::sqrt(std::max(pivot, kLeastPivot));
        // And row i of L^-1 is -L_i L^-1 / L_ii.
        for (std::size_t j = 0; j < i; ++j) {
            double sum = 0.0;
            for (std::size_t h = j; h < i; ++h)
                sum += row[h] * a[h * k + j];
            row[j] = -sum * scale;
        }
        row[i] = scale;
    }
}

// log det of a k × k matrix, whose lower triangle is overwritten by its Cholesky factor.
double log_det(std::size_t k, double* a) {
    double sum = 0.0;
    for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double left = a[i * k + j];
            for (std::size_t h = 0; h < j; ++h)
                left -= a[i * k + h] * a[j * k + h];
            a[i * k + j] = i == j ? std::sqrt(std::max(left, kLeastPivot)) : left / a[j * k + j];
        }
        sum += 2.0 * std::log(a[i * k + i]);
    }
    return sum;
}

// What a parent explains of a child, with M = L^-1 of the family: its columns stand at `at` in the
// first `given` ones, those of the child behind. The inverse of the matrix is M^T M, and what of
// its block of the parent comes from the rows of the child is what the child knows of it.
double share_of(std::size_t at, std::size_t size, std::size_t given, std::size_t width,
                const double* m, std::vector<double>& work) {
    work.assign(2 * size * size, 0.0);
    double *without = work.data(), *with = work.data() + size * size;
    for (std::size_t i = at; i < width; ++i) {
        for (std::size_t a = 0; a < std::min(size, i - at + 1); ++a) { // M is lower triangular
            for (std::size_t b = 0; b <= a; ++b) {
                const double product = m[i * width + at + a] * m[i * width + at + b];
                with[a * size + b] += product;
                without[a * size + b] += i < given ? product : 0.0;
            }
        }
    }
    if (size == 1 && width == given + 1)
        return m[given * width + at] * m[given * width + at] / with[0];
    return std::max(1.0 - std::exp(log_det(size, without) - log_det(size, with)), 0.0);
}

} // namespace

Explained explained(const double* correlation, const std::vector<std::vector<int>>& parents,
                    const std::vector<int>& sizes, const std::vector<int>& leading) {
    const std::size_t n = parents.size();
    std::vector<std::size_t> firsts{0};
    for (const int size : sizes)
        firsts.push_back(firsts.back() + static_cast<std::size_t>(size));
    Explained found{{}, std::vector<double>(n, 1.0)};
    std::vector<double> family, work;
    std::vector<std::size_t> columns;
    for (std::size_t v = 0; v < n; ++v) {
        if (parents[v].empty())
            continue;
        columns.clear();
        for (const int u : parents[v]) {
            for (std::size_t c = firsts[u]; c < firsts[u + 1]; ++c)
                columns.push_back(c);
        }
        const std::size_t given = columns.size(), own = static_cast<std::size_t>(leading[v]);
        for (std::size_t c = 0; c < own; ++c)
            columns.push_back(firsts[v] + c);
        const std::size_t width = given + own;
        family.resize(width * width);
        for (std::size_t i = 0; i < width; ++i) {
            for (std::size_t j = 0; j < width; ++j)
                family[i * width + j] = correlation[columns[i] * firsts.back() + columns[j]];
        }
        invert_factor(width, family.data());
        std::size_t at = 0;
        for (const int u : parents[v]) {
            const std::size_t size = firsts[u + 1] - firsts[u];
            found.shares.push_back(share_of(at, size, given, width, family.data(), work));
            at += size;
        }
        double left = 1.0;
        for (std::size_t i = given; i < width; ++i)
            left /= family[i * width + i] * family[i * width + i];
        found.variances[v] = own == 1 ? left : std::pow(left, 1.0 / static_cast<double>(own));
    }
    return found;
}

std::vector<double> mixture_weights(std::size_t m, std::size_t k, const double* kernels,
                                    const double* known, const double* visible, int rounds) {
    const double start = static_cast<double>(std::max<std::size_t>(m, 1)) / static_cast<double>(k);
    std::vector<double> weights(k, start), gains(k);
    for (int round = 0; round < rounds; ++round) {
        std::fill(gains.begin(), gains.end(), 0.0);
        for (std::size_t i = 0; i < m; ++i) {
            const double* row = kernels + i * k;
            double density = known[i];
            for (std::size_t j = 0; j < k; ++j)
                density += row[j] * weights[j];
            const double share = 1.0 / density;
            for (std::size_t j = 0; j < k; ++j)
                gains[j] += row[j] * share;
        }
        for (std::size_t j = 0; j < k; ++j)
            weights[j] *= gains[j] / visible[j];
    }
    return weights;
}

} // namespace qwo
