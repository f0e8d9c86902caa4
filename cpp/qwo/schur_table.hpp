// Residual variances of one variable, and determinants, for all sets of its candidate parents.
//
// Decide the candidates from the last to the first: a node of that recursion with j undecided ones
// holds the Schur complement of those and the variable, of size j + 1. "In" pivots, in j^2
// operations, "out" drops the row: about 6 2^K operations for all 2^K sets of K candidates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

class SchurTable {
  public:
    static constexpr double kLeast = 1e-300;

    // Tables of 2^candidates numbers, by the bits of the set; determinants may be nullptr.
    SchurTable(int candidates, double* variances, double* determinants)
        : width_(Index{candidates} + 1), variances_(variances), determinants_(determinants),
          levels_(width_ * width_ * width_) {}

    // The matrix of the variable (row 0) and its candidates, lower triangle, rows of `width`.
    double* top() { return level(width_ - 1); }
    std::size_t width() const { return width_; }
    void run() { decide(width_ - 1, top(), 0, 1.0); }

  private:
    double* level(std::size_t j) { return levels_.data() + j * width_ * width_; }

    void decide(std::size_t j, const double* matrix, std::uint32_t set, double determinant) {
        if (j == 0) {
            variances_[set] = std::max(matrix[0], kLeast);
            if (determinants_ != nullptr)
                determinants_[set] = std::max(determinant, kLeast);
            return;
        }
        decide(j - 1, matrix, set, determinant);
        const double* row = matrix + j * width_;
        const double pivot = std::max(row[j], kLeast);
        double* next = level(j - 1);
        // The first branch has written to the levels below j - 1 only, and is done with them.
        for (std::size_t a = 0; a < j; ++a) {
            const double factor = row[a] / pivot;
            for (std::size_t b = 0; b <= a; ++b)
                next[a * width_ + b] = matrix[a * width_ + b] - factor * row[b];
        }
        decide(j - 1, next, set | (std::uint32_t{1} << (j - 1)), determinant * pivot);
    }

    std::size_t width_;
    double* variances_;
    double* determinants_;
    std::vector<double> levels_;
};

} // namespace qwo
