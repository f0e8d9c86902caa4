// The cost of a family when rows come from several regimes: groups of rows per child.
#pragma once

#include <span>
#include <vector>

#include "qwo/family_search.hpp"
#include "qwo/kernels.hpp"

namespace qwo {

// What an edge and a changed equation cost.
struct RegimePrices {
    double edge = 0.0;   // c log N, for each coefficient
    double target = 0.0; // log N, for each own intercept and variance
    double slopes = 0.5; // share of log N that each slope of a changed equation costs
};

// cost(v | P) = Σ_g N_g log s_g²(v | P) + penalties, where the regimes that leave v alone are one
// group, the base, and each other regime is one. Which regimes leave the base is chosen for each
// parent set anew: the one whose leaving pays most leaves, while it pays its price (the profile).
//
// Everything comes from the sums of products of (1, columns) of each regime, which add up: leaving
// is a subtraction. A variable owns one or more consecutive columns.
class RegimeCost final : public FamilyCost {
  public:
    // sums: one (m + 1) × (m + 1) matrix a regime, row-major, of the m columns with a leading 1, in
    // units in which each column has mean 0 and variance 1 over all rows.
    // known[r * n + v]: v is known to be touched in r: a group of its own, free of its price.
    // dropped[r * n + v]: the rows of r tell nothing of v (its value was set).
    // leading: in how many of its columns, the first ones, a variable is explained.
    RegimeCost(std::vector<double> sums, int regimes, std::vector<int> sizes,
               std::vector<int> leading, std::vector<char> known, std::vector<char> dropped,
               RegimePrices prices);

    double cost(int variable, std::span<const int> parents) override;

    // The regimes that have left the base of a variable with these parents, known ones included.
    std::vector<int> changed(int variable, std::span<const int> parents);

  private:
    // kLanes matrices side by side, as Kernels::eliminate takes them.
    using Lanes = std::vector<double>;

    double profile(int variable, std::span<const int> parents);
    void gather(int variable, std::span<const int> parents);
    // N log det of the residual covariance of the last columns given the others, of each lane.
    void fit(const double* sums, const double* rows, double* out);
    double fit_base(double rows);

    int lots() const { return (regimes_ + kLanes - 1) / kLanes; }
    double* family(int lot) { return family_.data() + lot * triangle_ * kLanes; }

    Lanes sums_; // [lot][row * width + column][lane]
    int regimes_;
    int width_; // columns and the leading 1
    std::vector<int> sizes_;
    std::vector<int> leading_;
    std::vector<int> first_; // the first column of each variable
    std::vector<char> known_;
    std::vector<char> dropped_;
    RegimePrices prices_;
    const Kernels& kernels_;

    // Of the family that is looked at: the sums of its columns, a lower triangle a regime.
    std::vector<int> columns_;
    int own_ = 0;
    std::size_t triangle_ = 0;
    Lanes rows_; // of each regime; 1 where there is none
    Lanes family_;
    std::vector<double> base_;
    Lanes rest_;
    Lanes factor_;
    Lanes pivots_;
    Lanes alone_;
    std::vector<char> in_base_;
};

} // namespace qwo
