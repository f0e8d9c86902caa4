// The score of a variable with its parents in a linear Gaussian model:
//     log s(v, P) = constants[p] - exponents[p] log c - determinant log det R_PP,   p = |P|,
//     c = R_vv - R_vP R_PP^-1 R_Pv.
// BGe (Geiger and Heckerman 2002, as corrected by Kuipers, Moffa and Heckerman 2014) and BIC differ
// in R and in the numbers only.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

// Finite, so that differences of impossible scores are numbers.
inline constexpr double kNever = -1e30;

struct FamilyScore {
    int n = 0;
    std::vector<double> matrix; // R, row by row
    std::vector<double> constants;
    std::vector<double> exponents;
    double determinant = 0.0;

    double at(int i, int j) const { return matrix[Index{i} * Index{n} + j]; }
    int most_parents() const { return count_of(constants) - 1; }
    double value(int parents, double log_variance, double log_determinant) const {
        const std::size_t p = parents;
        return constants[p] - exponents[p] * log_variance - determinant * log_determinant;
    }
};

// The Cholesky factor of R_PP, for one family after the other.
class FamilyFactor {
  public:
    explicit FamilyFactor(const FamilyScore& score) : score_(score) {}

    void load(const std::vector<int>& parents);
    // L^-1 R_Pw, whose square is what the parents explain of w.
    void project(int w, std::vector<double>& out) const;
    double log_determinant() const { return log_determinant_; }
    // log s(v, P) for the loaded parents.
    double score(int v);

  private:
    const FamilyScore& score_;
    std::vector<int> parents_;
    std::vector<double> lower_, scratch_;
    double log_determinant_ = 0.0;
};

} // namespace qwo
