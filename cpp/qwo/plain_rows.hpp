// Whether an audit of rows has nothing to say.
#pragma once

#include <cstddef>

namespace qwo {

// From where on the audit says something: src/qwo/inspection/checks.py has each with its reason.
struct RowLimits {
    std::size_t head;     // rows that show a column to be of measurements
    double skewness;      // of a column, either way
    double excess;        // excess kurtosis of a column
    double serial;        // correlation of a column with the row before
    double serial_errors; // the same, in standard errors
    double repeated;      // share of rows that repeat others
    double bent;          // share of a column that the square of another explains
    double bend_price;    // what a bend has to be worth, N log-likelihood ratios
};

// True only if all values are finite, all columns are of measurements, of a shape near the normal
// one, next to no row repeats another or goes by the one before, and no column bends with another:
// then no check of the audit finds anything. Where rounding could decide it is false, and false
// says nothing: the checks themselves have to look. For at least two columns.
bool are_plain(const double* rows, std::size_t n_rows, std::size_t n_columns,
               const RowLimits& limits);

} // namespace qwo
