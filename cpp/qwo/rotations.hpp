// Rows of few non-zeros among all with M S M^T = I: the paper's equation (12) without an order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "qwo/random.hpp"

namespace qwo {

// All M with M S M^T = I are U M, U orthogonal. With P = S^-1 the sums P_ii = Σ_k M[k, i]² stay,
// and with all rows but k as they are, leaving i out of row k loses about -N log(1 - q) points,
// q = M[k, i]² / P_ii. So an entry costs min(N (q + q²/2), price), and rotations of two rows, most
// of which make an entry zero, are annealed on the sum; some steps turn three rows at once, such
// that one has two new zeros and another one, which single rotations reach only uphill. Exact
// moments are a large N and a price of 1: the cost is the number of non-zeros. Some rows can be
// turned among themselves, with the columns that count in them; `weights` are the 1 / P_ii.
class Rotations {
  public:
    Rotations(std::vector<double> rows, std::vector<double> weights, double samples, double price,
              std::uint64_t seed);

    // Anneals for so many steps, or about so many seconds, from a temperature in units of the price
    // down to none; the best rows are kept. Whether all steps were made.
    bool anneal(long long steps, double temperature, double seconds);

    double cost() const { return best_cost_; }
    const std::vector<double>& rows() const { return best_; }

  private:
    double entry(double value, int i) const {
        const double q = value * value * weights_[i], points = samples_ * (q + 0.5 * q * q);
        return points < price_ ? points : price_;
    }
    bool counts(double value, int i) const {
        return samples_ * value * value * weights_[i] > 0.5 * price_;
    }
    double row_cost(const double* row) const;
    void note(int row);
    void turn(int one, int other, int column); // of the rows that are tried
    bool accept(std::span<const int> rows, double heat, Random& random);
    int draw_column(int row, Random& random) const;
    int draw_rows(int column, std::array<int, 2>& rows, Random& random) const;

    double samples_, price_;
    std::uint64_t state_;
    std::vector<double> rows_, best_, weights_;
    int n_, n_rows_;
    std::vector<double> costs_, tried_;
    std::vector<char> counted_; // by column
    std::vector<int> totals_;   // of a column, how often it counts
    double cost_ = 0.0, best_cost_ = 0.0;
};

} // namespace qwo
