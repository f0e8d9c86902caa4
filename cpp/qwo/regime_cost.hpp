// The cost of a family when rows come from several regimes: groups of rows per child.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qwo/family_search.hpp"
#include "qwo/index.hpp"
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
// Where the residual variance of a changed equation is much like that of the base, half of log N is
// let off, less by how much a common variance fits worse. So a turned edge, which changes slopes
// and variance where the true one changes slopes alone, costs more. Known changes, which are free,
// are let off nothing, nor are any beside variables of several columns, which have no one variance.
//
// Everything comes from the sums of products of (1, columns) of each regime, which add up: leaving
// is a subtraction. A variable owns one or more consecutive columns. Families that differ by one
// parent share the elimination of the others.
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
    double with(int variable, std::span<const int> parents, int more) override;

    // The regimes that have left the base of a variable with these parents, known ones included.
    std::vector<int> changed(int variable, std::span<const int> parents);

  private:
    // kLanes matrices side by side, as the kernels take them: one a regime, then one for the base.
    using Lanes = std::vector<double>;

    // A base, and what is left of the family given the parents in the base without each regime.
    struct Step {
        std::uint64_t base = 0; // exclusive or of the bits of its regimes
        std::vector<double> sums;
        Lanes rows;
        Lanes factors;
    };
    // A variable with some parents: triangles of (1, parents, variable) by lots.
    struct Stem {
        int variable = -1;
        std::uint64_t used = 0; // when it was asked for last
        std::vector<int> parents;
        std::vector<int> columns;
        int own = 0;
        Index triangle = 0;
        Lanes sums;
        Lanes alone;             // what is left given the parents in each regime by itself
        std::vector<Step> steps; // of which so many are known
        std::size_t known = 0;
    };

    double profile(Stem& stem, int more);
    Stem& stem_of(int variable, std::span<const int> parents);
    void prepare(Stem& stem, int variable, std::span<const int> parents);
    // The base as it is now, of so many rows; the one before it, without the regime that left.
    Step& step(Stem& stem, double rows, const Step* before, int left);
    // The rows of one more parent in each regime, and their sums over the base.
    void gather_tail(const Stem& stem, int more);
    // N log det of the residual covariance of the last columns given the others, of each lane.
    void fit(const Stem& stem, int more, const double* factors, const double* rows, double* out);
    void fit_alone(const Stem& stem, int more);
    void fit_without(const Stem& stem, int more, const Step& base);
    void leave(int regime);

    int lots() const { return regimes_ / kLanes + 1; }

    Lanes sums_; // [lot][row * width + column][lane]
    int regimes_;
    int width_; // columns and the leading 1
    std::vector<int> sizes_;
    std::vector<int> leading_;
    std::vector<int> first_; // the first column of each variable
    std::vector<char> known_;
    std::vector<char> dropped_;
    RegimePrices prices_;
    double most_let_off_ = 0.0;
    const Kernels& kernels_;
    std::vector<double> total_;       // over all regimes
    Lanes rows_;                      // of each regime; 1 where there is none
    std::vector<std::uint64_t> bits_; // of each regime, for keys of bases

    std::vector<Stem> stems_; // of each variable, those that were asked for last
    std::uint64_t clock_ = 0;
    Step spare_[2];

    // Of the profile that is looked at.
    std::vector<char> in_base_;
    std::vector<int> left_; // what has left it at its price
    std::uint64_t base_key_ = 0;
    Index tail_size_ = 0;
    Lanes tails_;
    std::vector<double> base_tail_;
    Lanes tail_;
    Lanes work_;
    Lanes alone_;
    Lanes without_;
};

} // namespace qwo
