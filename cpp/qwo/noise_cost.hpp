// The cost of a family by the density of its own residuals, in place of a Gaussian's.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "qwo/family_search.hpp"
#include "qwo/kernels.hpp"

namespace qwo {

// Rows as columns of mean 0 and variance 1, and what they belong to.
struct NoiseData {
    std::vector<double> columns; // one after the other, each with a number for every row
    std::vector<double> gram;    // their covariance, block of rows by block of rows
    std::vector<int> ends;       // of blocks of rows with equations of their own; one at least
    std::vector<double> weights; // how many rows each row counts for
    std::vector<int> sizes;      // columns of each variable; the first is the variable itself
    std::vector<char> is_number; // by variable; the others are blocks with a Gaussian cost
    double price = 0.0;          // of a coefficient
};

// cost(v | P) = -2 Σ_i w_i log f(r_i / s) + 2 N log s + price · coefficients
//
// r are the residuals of v on all columns of P, s their standard deviation, N the sum of weights.
// f is a kernel density of r / s that leaves each row out of its own: Gaussian kernels on a grid,
// of two widths (Silverman's and half of that) of which the likelier is taken, with a little of a t
// distribution for the tails, and straight in its logarithm between points of the grid. For
// Gaussian residuals this is the Gaussian cost up to a constant; else it is less, the more so the
// less noise from several sources is mixed in r: that tells cause from effect.
//
// Where it pays, s depends on the causes: log s² is a sum of multiples of the parents themselves,
// fitted to log r² (straight between points of the grid) by least squares, each for the price of a
// coefficient. Without that, noise whose
// spread goes with a cause would look like an arrow the other way.
//
// Rows come in one block, or in several with equations and deviations s of their own: columns have
// mean 0 and variance 1 in each, and f is one density for all.
//
// A variable that is no number costs what its block costs: N log det cov(V | P) + N k.
class NoiseCost final : public FamilyCost {
  public:
    explicit NoiseCost(NoiseData data);

    double cost(int variable, std::span<const int> parents) override;
    // -2 log density of each row, with what a spread costs: their weighted sum is the cost less the
    // price of coefficients.
    std::vector<double> rows(int variable, std::span<const int> parents);
    // Residuals in units of their spread; of what is no number those of its first column.
    std::vector<double> left(int variable, std::span<const int> parents);

    int n() const { return count_of(data_.sizes); }
    int n_rows() const { return count_of(data_.weights); }
    const std::vector<double>& weights() const { return data_.weights; }
    double total() const { return total_; } // of the weights
    // Σ w x y over all rows.
    double weighted(const double* x, const double* y) const;
    const double* values(int variable) const {
        return data_.columns.data() + Index{firsts_[variable]} * rows_;
    }

  private:
    struct Density;
    // Residuals in units of their own standard deviation, and twice its logarithm in each row.
    struct Noise {
        std::vector<double> z, log_spread;
        double constant = 0.0; // is added to each of the latter, which are none if all are alike
        int parameters = 0;
    };

    std::vector<int> columns_of(std::span<const int> parents) const;
    // Of one column of a child given some others.
    void residuals(int child, const std::vector<int>& given, std::vector<double>& out) const;
    void put_on_grid(const std::vector<double>& z);
    double smooth(int first, int last, double h, double* logs);
    Density density(const std::vector<double>& z);
    bool is_far(double z) const;
    // At a row that stands on the grid.
    double log_at(const Density& density, int row, double z) const;
    double gaussian(int variable, const std::vector<int>& given, std::vector<double>* by_row) const;
    double price_of(int variable, int columns) const;
    // The weighted sum of -2 log density over all rows, each of which is written down if wanted.
    double value_of(const Noise& noise, std::vector<double>* by_row);
    Noise constant_noise(int variable, const std::vector<int>& given) const;
    // The same with a spread that depends on the parents; without parameters if that cannot pay.
    // The constant one stands on the grid.
    Noise spread_noise(const Noise& constant, std::span<const int> parents);
    // Residuals in units of their spread are written down, too, if wanted.
    double number(int variable, std::span<const int> parents, std::vector<double>* by_row,
                  std::vector<double>* left = nullptr);

    NoiseData data_;
    const Kernels& kernels_ = kernels();
    int rows_ = 0;
    double total_ = 0.0;
    std::vector<int> firsts_;
    bool even_ = true; // all weights are 1
    std::vector<std::map<std::vector<int>, double>> known_;
    int points_ = 0; // of the grid, from one to the next of which it is a step
    double step_ = 0.0;
    std::vector<double> tails_, squares_, slopes_; // there: tail(z), log z² and its differences
    // What is made anew for each family: the grid, and where rows stand on it.
    std::vector<double> mass_, places_, logs_, kernel_;
    std::vector<const double*> shifted_;
};

} // namespace qwo
