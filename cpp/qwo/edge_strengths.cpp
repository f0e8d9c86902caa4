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

} // namespace

Explained explained(const double* correlation, const std::vector<std::vector<int>>& parents) {
    const std::size_t n = parents.size();
    Explained found{{}, std::vector<double>(n, 1.0)};
    std::vector<double> family;
    for (std::size_t v = 0; v < n; ++v) {
        const std::size_t k = parents[v].size();
        if (k == 0)
            continue;
        const auto member = [&](std::size_t i) { return i < k ? parents[v][i] : v; };
        const std::size_t width = k + 1;
        family.resize(width * width);
        for (std::size_t i = 0; i < width; ++i) {
            for (std::size_t j = 0; j < width; ++j)
                family[i * width + j] = correlation[member(i) * n + member(j)];
        }
        invert_factor(width, family.data());
        // The inverse of the matrix is M^T M with M = L^-1, whose last row alone knows the child.
        const double* last = family.data() + k * width;
        for (std::size_t j = 0; j < k; ++j) {
            double diagonal = 0.0;
            for (std::size_t i = j; i < width; ++i)
                diagonal += family[i * width + j] * family[i * width + j];
            found.shares.push_back(last[j] * last[j] / diagonal);
        }
        found.variances[v] = 1.0 / (last[k] * last[k]);
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
