// The kernels, compiled once per instruction set with QWO_VARIANT set to its name.
#include "qwo/kernels.hpp"

#include <cstdint>
#include <cstring>

#ifndef QWO_VARIANT
#define QWO_VARIANT portable
#endif
#define QWO_PASTE_(a, b) a##b
#define QWO_PASTE(a, b) QWO_PASTE_(a, b)
#define QWO_QUOTE_(a) #a
#define QWO_QUOTE(a) QWO_QUOTE_(a)

#if defined(_MSC_VER)
#define QWO_RESTRICT __restrict
#define QWO_PREFETCH(address) static_cast<void>(address)
#else
#define QWO_RESTRICT __restrict__
#define QWO_PREFETCH(address) __builtin_prefetch((address), 0, 2)
#endif

namespace qwo {
namespace {

double dot(int n, const double* QWO_RESTRICT x, const double* QWO_RESTRICT y) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; ++i)
        sum += x[i] * y[i];
    return sum;
}

void pick(int n, const double* QWO_RESTRICT x, const std::int32_t* QWO_RESTRICT index,
          double* QWO_RESTRICT out) {
#pragma omp simd
    for (int i = 0; i < n; ++i)
        out[i] = x[index[i]];
}

void residual_row(int n, const double* x, int k, const double* const* rows, const double* z,
                  double* out) {
    // Two rows to begin with, then four a pass: the output is read and written once for four.
    int j = 0;
    if (k >= 2) {
        const double* r0 = rows[0];
        const double* r1 = rows[1];
        const double z0 = z[0], z1 = z[1];
        if (x == nullptr) {
#pragma omp simd
            for (int i = 0; i < n; ++i)
                out[i] = -z0 * r0[i] - z1 * r1[i];
        } else {
#pragma omp simd
            for (int i = 0; i < n; ++i)
                out[i] = x[i] - z0 * r0[i] - z1 * r1[i];
        }
        j = 2;
    } else {
        for (int i = 0; i < n; ++i)
            out[i] = x == nullptr ? 0.0 : x[i];
    }
    for (; j + 4 <= k; j += 4) {
        const double* r0 = rows[j];
        const double* r1 = rows[j + 1];
        const double* r2 = rows[j + 2];
        const double* r3 = rows[j + 3];
        const double z0 = z[j], z1 = z[j + 1], z2 = z[j + 2], z3 = z[j + 3];
#pragma omp simd
        for (int i = 0; i < n; ++i) {
            out[i] -= z0 * r0[i] + z1 * r1[i] + z2 * r2[i] + z3 * r3[i];
        }
    }
    for (; j < k; ++j) {
        const double* r0 = rows[j];
        const double z0 = z[j];
#pragma omp simd
        for (int i = 0; i < n; ++i)
            out[i] -= z0 * r0[i];
    }
}

void sweep(int n, double scale, double a, double b, double* QWO_RESTRICT r, double* QWO_RESTRICT c,
           double* QWO_RESTRICT s) {
#pragma omp simd
    for (int i = 0; i < n; ++i) {
        const double x = scale * r[i];
        r[i] = x;
        c[i] += a * x;
        s[i] += b * (x * x);
    }
}

void add_products(int n, double a, const double* x, const double* y, double* QWO_RESTRICT out) {
#pragma omp simd
    for (int i = 0; i < n; ++i)
        out[i] += a * (x[i] * y[i]);
}

void gather(int n, double a, const double* QWO_RESTRICT t, double* QWO_RESTRICT sums,
            double* QWO_RESTRICT squares) {
#pragma omp simd
    for (int i = 0; i < n; ++i) {
        sums[i] += a * t[i];
        squares[i] += t[i] * t[i];
    }
}

int best_candidate(int n, const double* QWO_RESTRICT c, const double* QWO_RESTRICT s,
                   const std::int32_t* QWO_RESTRICT place, std::int32_t limit,
                   const std::uint8_t* allowed, double floor, double threshold) {
    // Most blocks hold no candidate: that is found out without a division and without a branch.
    constexpr int block = 64;
    int best = -1;
    double top = 0.0;
    for (int first = 0; first < n; first += block) {
        const int end = first + block < n ? first + block : n;
        double largest = 0.0;
#pragma omp simd reduction(max : largest)
        for (int i = first; i < end; ++i) {
            double e = c[i] * c[i] - threshold * s[i];
            e = place[i] < limit ? e : 0.0;
            e = s[i] > floor ? e : 0.0;
            largest = e > largest ? e : largest;
        }
        if (!(largest > 0.0))
            continue;
        for (int i = first; i < end; ++i) {
            if (!(c[i] * c[i] > threshold * s[i]) || !(s[i] > floor) || place[i] >= limit)
                continue;
            if (allowed != nullptr && allowed[i] == 0)
                continue;
            const double ratio = c[i] * c[i] / s[i];
            if (ratio > top) {
                top = ratio;
                best = i;
            }
        }
    }
    return best;
}

void exchange(int n, double c, double s, double* QWO_RESTRICT u, double* QWO_RESTRICT w) {
#pragma omp simd
    for (int i = 0; i < n; ++i) {
        const double first = c * w[i] - s * u[i];
        const double second = c * u[i] + s * w[i];
        u[i] = first;
        w[i] = second;
    }
}

// The two ways to charge a pair, as types, so that each loop below is compiled once for each.
struct EdgeCount {
    double tau;
    // Compares products: no division, and 0 > tau * 0 is false.
    double operator()(double squared, double d) const { return squared > tau * d ? 1.0 : 0.0; }
};

struct CappedLikelihood {
    double tau;
    // The floor keeps 0 / 0 at 0 without a branch: in the prefix of an order d is at least 1.
    double operator()(double squared, double d) const {
        const double ratio = squared / (d > 1e-100 ? d : 1e-100);
        const double x = ratio < tau ? ratio : tau;
        return x + 0.5 * x * x;
    }
};

template <class Cost>
double row_cost_as(int n, const double* QWO_RESTRICT l, const double* QWO_RESTRICT d, Cost cost) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
        sum += cost(l[i] * l[i], d[i]);
    }
    return sum;
}

template <class Cost>
double new_row_cost_as(int n, const double* QWO_RESTRICT l, const double* QWO_RESTRICT before,
                       double* QWO_RESTRICT d, Cost cost) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
        const double squared = l[i] * l[i];
        const double total = before[i] + squared;
        d[i] = total;
        sum += cost(squared, total);
    }
    return sum;
}

// Runs loop(first, end) over a row. If the next row lies `ahead` of this one, that is fetched at
// the same time, since the processor itself does not look beyond a page.
template <class Loop>
ScanCosts over_row(int n, std::ptrdiff_t ahead, const double* l, const double* d, Loop loop) {
    if (ahead == 0)
        return loop(0, n);
    constexpr int block = 64, line = 8;
    ScanCosts sum{0.0, 0.0};
    for (int first = 0; first < n; first += block) {
        const int end = first + block < n ? first + block : n;
        for (int i = first; i < end; i += line) {
            QWO_PREFETCH(l + ahead + i);
            QWO_PREFETCH(d + ahead + i);
        }
        const ScanCosts part = loop(first, end);
        sum.mover += part.mover;
        sum.passed += part.passed;
    }
    return sum;
}

template <class Cost>
ScanCosts scan_left_as(int n, double g, double scale, double scale1, double a, double b,
                       const double* QWO_RESTRICT l, const double* QWO_RESTRICT before,
                       const double* QWO_RESTRICT d, double* QWO_RESTRICT acc, std::ptrdiff_t ahead,
                       Cost cost) {
    return over_row(n, ahead, l, d, [=](int first, int end) {
        double mover = 0.0, passed = 0.0;
#pragma omp simd reduction(+ : mover, passed)
        for (int i = first; i < end; ++i) {
            const double x = scale * acc[i];
            mover += cost(x * x, before[i] + x * x);
            const double rest = acc[i] - g * l[i];
            acc[i] = rest;
            const double x1 = scale1 * rest;
            const double y = a * l[i] - b * x1;
            passed += cost(y * y, d[i] + x1 * x1);
        }
        return ScanCosts{mover, passed};
    });
}

template <class Cost>
ScanCosts scan_right_as(int n, double h, double scale1, double a, double b,
                        const double* QWO_RESTRICT l, const double* QWO_RESTRICT d,
                        double* QWO_RESTRICT acc, double* QWO_RESTRICT x, std::ptrdiff_t ahead,
                        Cost cost) {
    return over_row(n, ahead, l, d, [=](int first, int end) {
        double mover = 0.0, passed = 0.0;
#pragma omp simd reduction(+ : mover, passed)
        for (int i = first; i < end; ++i) {
            const double y = a * l[i] - b * x[i];
            const double sum = acc[i] + h * l[i];
            acc[i] = sum;
            const double x1 = scale1 * sum;
            x[i] = x1;
            passed += cost(y * y, d[i] - x1 * x1);
            mover += cost(x1 * x1, d[i]);
        }
        return ScanCosts{mover, passed};
    });
}

double row_cost(int n, const double* l, const double* d, PairCost cost) {
    if (cost.count)
        return row_cost_as(n, l, d, EdgeCount{cost.tau});
    return row_cost_as(n, l, d, CappedLikelihood{cost.tau});
}

double new_row_cost(int n, const double* l, const double* before, double* d, PairCost cost) {
    if (cost.count)
        return new_row_cost_as(n, l, before, d, EdgeCount{cost.tau});
    return new_row_cost_as(n, l, before, d, CappedLikelihood{cost.tau});
}

ScanCosts scan_left(int n, double g, double scale, double scale1, double a, double b,
                    const double* l, const double* before, const double* d, double* acc,
                    std::ptrdiff_t ahead, PairCost cost) {
    if (cost.count) {
        return scan_left_as(n, g, scale, scale1, a, b, l, before, d, acc, ahead,
                            EdgeCount{cost.tau});
    }
    return scan_left_as(n, g, scale, scale1, a, b, l, before, d, acc, ahead,
                        CappedLikelihood{cost.tau});
}

ScanCosts scan_right(int n, double h, double scale1, double a, double b, const double* l,
                     const double* d, double* acc, double* x, std::ptrdiff_t ahead, PairCost cost) {
    if (cost.count)
        return scan_right_as(n, h, scale1, a, b, l, d, acc, x, ahead, EdgeCount{cost.tau});
    return scan_right_as(n, h, scale1, a, b, l, d, acc, x, ahead, CappedLikelihood{cost.tau});
}

void take_away(int count, const double* QWO_RESTRICT whole, const double* QWO_RESTRICT own,
               double* QWO_RESTRICT out) {
    for (int i = 0; i < count; ++i) {
#pragma omp simd
        for (int l = 0; l < kLanes; ++l)
            out[i * kLanes + l] = whole[i] - own[i * kLanes + l];
    }
}

// What is left of a row given the first `until` columns: their rows stand in `a`, with the inverse
// of the pivot at the end of each; those after `width` are the row's own and those in `more`.
void reduce(int until, int width, const double* QWO_RESTRICT a, const double* QWO_RESTRICT more,
            int own, double* QWO_RESTRICT row) {
    double factor[kLanes];
    for (int j = 0; j < until; ++j) {
        const double* inverse = a + (j * (j + 1) / 2 + j) * kLanes;
        const double* left = row + j * kLanes;
#pragma omp simd
        for (int l = 0; l < kLanes; ++l)
            factor[l] = left[l] * inverse[l];
        for (int k = j + 1; k < width; ++k) {
            const double* other = a + (k * (k + 1) / 2 + j) * kLanes;
            double* to = row + k * kLanes;
#pragma omp simd
            for (int l = 0; l < kLanes; ++l)
                to[l] -= factor[l] * other[l];
        }
        for (int t = 0; t <= own; ++t) {
            const double* other =
                t < own ? more + (t * width + t * (t + 1) / 2 + j) * kLanes : left;
            double* to = row + (width + t) * kLanes;
#pragma omp simd
            for (int l = 0; l < kLanes; ++l)
                to[l] -= factor[l] * other[l];
        }
    }
}

void invert(const double* QWO_RESTRICT rows, double nothing, double* QWO_RESTRICT pivot) {
#pragma omp simd
    for (int l = 0; l < kLanes; ++l)
        pivot[l] = pivot[l] > nothing * rows[l] ? 1.0 / pivot[l] : 0.0;
}

void eliminate(int m, int given, const double* QWO_RESTRICT rows, double nothing,
               double* QWO_RESTRICT a) {
    for (int i = 0; i < m; ++i) {
        double* row = a + i * (i + 1) / 2 * kLanes;
        reduce(i < given ? i : given, i, a, nullptr, 0, row);
        if (i < given)
            invert(rows, nothing, row + i * kLanes);
    }
}

// Adds log x of positive numbers to `sum`: x = 2^k m with m between √½ and √2, and log m from the
// series of the inverse hyperbolic tangent of (m - 1) / (m + 1), which is at most .172.
void add_log(const double* QWO_RESTRICT x, double* QWO_RESTRICT sum) {
    constexpr std::uint64_t kOne = 0x3ff0000000000000u, kRoot = 0x3fe6a09e667f3bcdu;
    constexpr std::uint64_t kDigits = 0x000fffffffffffffu, kMagic = 0x4330000000000000u;
    constexpr double kLog2 = 0.693147180559945309417;
    std::uint64_t bits[kLanes], exponents[kLanes];
    double part[kLanes], power[kLanes];
    std::memcpy(bits, x, sizeof bits);
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) {
        const std::uint64_t moved = bits[l] + (kOne - kRoot);
        exponents[l] = (moved >> 52) | kMagic; // 2^52 + exponent, as a double
        bits[l] = (moved & kDigits) + kRoot;
    }
    std::memcpy(part, bits, sizeof part);
    std::memcpy(power, exponents, sizeof power);
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) {
        const double s = (part[l] - 1.0) / (part[l] + 1.0), z = s * s;
        double series = 1.0 / 21.0;
        series = series * z + 1.0 / 19.0;
        series = series * z + 1.0 / 17.0;
        series = series * z + 1.0 / 15.0;
        series = series * z + 1.0 / 13.0;
        series = series * z + 1.0 / 11.0;
        series = series * z + 1.0 / 9.0;
        series = series * z + 1.0 / 7.0;
        series = series * z + 1.0 / 5.0;
        series = series * z + 1.0 / 3.0;
        series = series * z + 1.0;
        sum[l] += (power[l] - (4503599627370496.0 + 1023.0)) * kLog2 + 2.0 * s * series;
    }
}

void extend(int given, int own, int more, const double* QWO_RESTRICT rows, double nothing,
            double least, const double* QWO_RESTRICT a, double* QWO_RESTRICT tail,
            double* QWO_RESTRICT work, double* QWO_RESTRICT logs) {
    const int width = given + own, m = more + own;
    for (int t = 0; t < more; ++t) {
        double* row = tail + (t * width + t * (t + 1) / 2) * kLanes;
        reduce(given, width, a, tail, t, row);
        double* to = work + t * (t + 1) / 2 * kLanes;
        std::memcpy(to, row + width * kLanes, (t + 1) * kLanes * sizeof(double));
    }
    for (int k = 0; k < own; ++k) {
        double* to = work + (more + k) * (more + k + 1) / 2 * kLanes;
        for (int t = 0; t < more; ++t) {
            const double* row = tail + (t * width + t * (t + 1) / 2) * kLanes;
            std::memcpy(to + t * kLanes, row + (given + k) * kLanes, kLanes * sizeof(double));
        }
        const int i = given + k;
        std::memcpy(to + more * kLanes, a + (i * (i + 1) / 2 + given) * kLanes,
                    (k + 1) * kLanes * sizeof(double));
    }
    std::memset(logs, 0, kLanes * sizeof(double));
    for (int i = 0; i < m; ++i) {
        double* row = work + i * (i + 1) / 2 * kLanes;
        double* diagonal = row + i * kLanes;
        reduce(i, i, work, nullptr, 0, row);
        if (i < more) {
            invert(rows, nothing, diagonal);
            continue;
        }
        double pivot[kLanes];
#pragma omp simd
        for (int l = 0; l < kLanes; ++l) {
            const double left = diagonal[l] / rows[l];
            pivot[l] = left > least ? left : least;
            diagonal[l] = 1.0 / (pivot[l] * rows[l]);
        }
        add_log(pivot, logs);
    }
}

} // namespace

extern const Kernels QWO_PASTE(kernels_, QWO_VARIANT);
const Kernels QWO_PASTE(kernels_, QWO_VARIANT) = {
    .name = QWO_QUOTE(QWO_VARIANT),
    .dot = dot,
    .pick = pick,
    .residual_row = residual_row,
    .sweep = sweep,
    .add_products = add_products,
    .gather = gather,
    .best_candidate = best_candidate,
    .exchange = exchange,
    .row_cost = row_cost,
    .new_row_cost = new_row_cost,
    .scan_left = scan_left,
    .scan_right = scan_right,
    .take_away = take_away,
    .eliminate = eliminate,
    .extend = extend,
};

} // namespace qwo
