// Dense algebra on symmetric matrices of a few rows, row by row without gaps.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace qwo {

// Overwrites the lower triangle of A by its Cholesky factor L, A = L L^T, and returns the smallest
// pivot. Stops at one that is not positive; the matrix is of no use then.
inline double cholesky(int k, double* a) {
    double smallest = std::numeric_limits<double>::infinity();
    for (int j = 0; j < k; ++j) {
        for (int i = j; i < k; ++i) {
            double rest = a[i * k + j];
            for (int h = 0; h < j; ++h)
                rest -= a[i * k + h] * a[j * k + h];
            if (i > j) {
                a[i * k + j] = rest / a[j * k + j];
                continue;
            }
            smallest = rest < smallest ? rest : smallest;
            if (!(rest > 0.0))
                return smallest;
            a[j * k + j] = std::sqrt(rest);
        }
    }
    return smallest;
}

// Overwrites x by L^-1 x.
inline void solve_lower(int k, const double* l, double* x) {
    for (int i = 0; i < k; ++i) {
        for (int h = 0; h < i; ++h)
            x[i] -= l[i * k + h] * x[h];
        x[i] /= l[i * k + i];
    }
}

// log det(I + A), to full relative precision where A is small; overwrites A. Not a number if I + A
// is singular or nearly so.
inline double log_det_of_shifted(int k, double* a) {
    constexpr double least_pivot = 1e-6;
    double sum = 0.0;
    for (int j = 0; j < k; ++j) {
        double x = a[j * k + j];
        for (int h = 0; h < j; ++h)
            x -= a[j * k + h] * a[j * k + h];
        if (!(1.0 + x > least_pivot))
            return std::numeric_limits<double>::quiet_NaN();
        sum += std::log1p(x);
        const double root = std::sqrt(1.0 + x);
        for (int i = j + 1; i < k; ++i) {
            double rest = a[i * k + j];
            for (int h = 0; h < j; ++h)
                rest -= a[i * k + h] * a[j * k + h];
            a[i * k + j] = rest / root;
        }
    }
    return sum;
}

// Leaves the eigenvalues of A on its diagonal, by Jacobi's rotations.
inline void diagonalise(int k, double* a) {
    constexpr int most_rounds = 60;
    for (int round = 0; round < most_rounds; ++round) {
        double off = 0.0;
        for (int p = 0; p < k; ++p) {
            for (int q = p + 1; q < k; ++q) {
                const double apq = a[p * k + q];
                off += apq * apq;
                if (apq == 0.0)
                    continue;
                const double theta = (a[q * k + q] - a[p * k + p]) / (2.0 * apq);
                const double t =
                    (theta < 0.0 ? -1.0 : 1.0) / (std::abs(theta) + std::hypot(theta, 1.0));
                const double c = 1.0 / std::hypot(t, 1.0), s = t * c;
                for (int i = 0; i < k; ++i) {
                    const double x = a[i * k + p], y = a[i * k + q];
                    a[i * k + p] = c * x - s * y;
                    a[i * k + q] = s * x + c * y;
                }
                for (int i = 0; i < k; ++i) {
                    const double x = a[p * k + i], y = a[q * k + i];
                    a[p * k + i] = c * x - s * y;
                    a[q * k + i] = s * x + c * y;
                }
            }
        }
        if (off < 1e-34)
            return;
    }
}

// log det of a covariance matrix whose eigenvalues count as `floor` where they are below it.
// Pivots, which are quicker, decide as long as none comes near. `scratch` is overwritten.
inline double floored_log_det(int k, const double* a, double floor, std::vector<double>& scratch) {
    constexpr double near = 1e-8;
    scratch.assign(a, a + k * k);
    double sum = 0.0;
    if (cholesky(k, scratch.data()) > near) {
        for (int i = 0; i < k; ++i)
            sum += 2.0 * std::log(scratch[i * k + i]);
        return sum;
    }
    scratch.assign(a, a + k * k);
    diagonalise(k, scratch.data());
    for (int i = 0; i < k; ++i) {
        const double value = scratch[i * k + i];
        sum += std::log(value > floor ? value : floor);
    }
    return sum;
}

} // namespace qwo
