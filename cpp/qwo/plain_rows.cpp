#include "qwo/plain_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "qwo/kernels.hpp"

namespace qwo {

namespace {

// What rounding may change of a figure of standardised columns; far more than it does.
constexpr double kMargin = 1e-6;
// Where deviations are less than this share of the values, rounding could change more than that.
constexpr double kLeastSpread = 1e-6;
// Squares beyond these are not exact, or not finite.
constexpr double kSmallest = 1e-70, kLargest = 1e70;

// Among the first rows there is a fraction, and there are three different values.
bool is_measured(const double* column, std::size_t stride, std::size_t count) {
    bool fraction = false;
    int different = 0;
    double met[3];
    for (std::size_t i = 0; i < count && !(fraction && different == 3); ++i) {
        const double value = column[i * stride];
        fraction |= value != std::nearbyint(value);
        if (different < 3 && std::find(met, met + different, value) == met + different)
            met[different++] = value;
    }
    return fraction && different == 3;
}

// How many values of a column are not the first of their kind.
std::size_t repeats(const double* column, std::size_t stride, std::size_t count) {
    const std::size_t mask = std::bit_ceil(4 * count) - 1;
    const int shift = std::countl_zero(static_cast<std::uint64_t>(mask));
    // NaN marks an empty place: no value is one.
    std::vector<double> places(mask + 1, std::nan(""));
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = column[i * stride] + 0.0; // -0 is 0
        std::size_t at = (std::bit_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15U) >> shift;
        while (!std::isnan(places[at]) && places[at] != value)
            at = (at + 1) & mask;
        found += places[at] == value;
        places[at] = value;
    }
    return found;
}

double total(const double* x, std::size_t count) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < count; ++i)
        sum += x[i];
    return sum;
}

// Means of powers of a column about its mean, and the largest value as it was.
struct Shape {
    double second = 0.0, third = 0.0, fourth = 0.0, largest = 0.0;
};

// Takes off the mean; what is no finite number leaves none of the powers one.
Shape centred(double* x, std::size_t count) {
    const double size = static_cast<double>(count), mean = total(x, count) / size;
    double second = 0.0, third = 0.0, fourth = 0.0, most = x[0], least = x[0];
#pragma omp simd reduction(+ : second, third, fourth) reduction(max : most) reduction(min : least)
    for (std::size_t i = 0; i < count; ++i) {
        most = x[i] > most ? x[i] : most;
        least = x[i] < least ? x[i] : least;
        x[i] -= mean;
        const double square = x[i] * x[i];
        second += square;
        third += square * x[i];
        fourth += square * square;
    }
    return {second / size, third / size, fourth / size, std::max(most, -least)};
}

// The correlation of a centred column with itself one row later.
double lagged(const Kernels& kernels, const double* z, std::size_t count, double variance) {
    const double size = static_cast<double>(count - 1), first = z[0], last = z[count - 1];
    const double sum = total(z, count), before = (sum - last) / size, after = (sum - first) / size;
    const double squares = variance * static_cast<double>(count);
    const double spread = ((squares - last * last) / size - before * before) *
                          ((squares - first * first) / size - after * after);
    const double cross = kernels.dot(static_cast<int>(count - 1), z, z + 1) / size - before * after;
    return spread > 0 ? cross / std::sqrt(spread) : 1.0;
}

// No square of a column explains another one, beyond a line; the columns are overwritten.
bool are_straight(const Kernels& kernels, std::vector<double>& columns, std::size_t count,
                  const RowLimits& limits) {
    const int n_rows = static_cast<int>(count);
    const double size = static_cast<double>(count);
    for (std::size_t at = 0; at < columns.size(); at += count) {
        double* z = &columns[at];
        for (std::size_t i = 0; i < count; ++i)
            z[i] = std::min(std::max(z[i], -3.0), 3.0);
        const double mean = total(z, count) / size;
        const double square = kernels.dot(n_rows, z, z) / size - mean * mean;
        if (!(square > kMargin))
            return false;
        const double unit = 1.0 / std::sqrt(square);
        for (std::size_t i = 0; i < count; ++i)
            z[i] = (z[i] - mean) * unit;
    }
    std::vector<double> bend(count);
    for (std::size_t cause = 0; cause < columns.size(); cause += count) {
        const double* z = &columns[cause];
        for (std::size_t i = 0; i < count; ++i)
            bend[i] = z[i] * z[i] - 1.0;
        const double slope = kernels.dot(n_rows, bend.data(), z) / size;
        for (std::size_t i = 0; i < count; ++i)
            bend[i] -= slope * z[i];
        const double spread = kernels.dot(n_rows, bend.data(), bend.data()) / size;
        if (!(spread > kMargin))
            return false;
        for (std::size_t effect = 0; effect < columns.size(); effect += count) {
            if (effect == cause)
                continue;
            const double own = kernels.dot(n_rows, bend.data(), &columns[effect]) / size;
            const double share = own * own / spread + kMargin;
            if (share <= limits.bent)
                continue;
            const double along = kernels.dot(n_rows, z, &columns[effect]) / size;
            const double left = 1.0 - along * along - kMargin;
            if (share >= left || -size * std::log1p(-share / left) > limits.bend_price)
                return false;
        }
    }
    return true;
}

} // namespace

bool are_plain(const double* rows, std::size_t n_rows, std::size_t n_columns,
               const RowLimits& limits) {
    for (std::size_t k = 0; k < n_columns; ++k)
        if (!is_measured(rows + k, n_columns, std::min(n_rows, limits.head)))
            return false;
    std::vector<double> columns(n_columns * n_rows);
    for (std::size_t i = 0; i < n_rows; ++i)
        for (std::size_t k = 0; k < n_columns; ++k)
            columns[k * n_rows + i] = rows[i * n_columns + k];
    const double size = static_cast<double>(n_rows);
    const double serial = std::max(limits.serial, limits.serial_errors / std::sqrt(size - 1.0));
    std::size_t dependent = 0;
    const Kernels& own = kernels();
    for (std::size_t k = 0; k < n_columns; ++k) {
        double* column = &columns[k * n_rows];
        const Shape shape = centred(column, n_rows);
        const double spread = std::sqrt(shape.second);
        // A value that is not finite makes no spread that is; none is compared as true.
        if (!(shape.largest < kLargest && spread < kLargest &&
              spread > std::max(kLeastSpread * shape.largest, kSmallest)))
            return false;
        const double skewness = shape.third / (shape.second * spread);
        const double excess = shape.fourth / (shape.second * shape.second) - 3.0;
        if (!(std::abs(skewness) < limits.skewness - kMargin && excess < limits.excess - kMargin))
            return false;
        dependent += lagged(own, column, n_rows, shape.second) > serial - kMargin;
        for (std::size_t i = 0; i < n_rows; ++i)
            column[i] *= 1.0 / spread;
    }
    if (static_cast<double>(dependent) >= std::max(2.0, static_cast<double>(n_columns) / 2))
        return false;
    if (static_cast<double>(repeats(rows, n_columns, n_rows)) >=
        std::max(limits.repeated * size, 3.0))
        return false;
    return are_straight(own, columns, n_rows, limits);
}

} // namespace qwo
