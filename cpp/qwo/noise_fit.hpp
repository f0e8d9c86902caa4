// How well a model of noise fits, and what its arrows are worth beyond what it lacks.
//
// Where a model is right, residuals depend neither on a cause nor on each other. If they do,
// because of products of causes, other forms of spread, bent scales or errors of measurement, a
// richer model would gain something, and it might gain more in the other direction. So evidence
// counts as far as it exceeds what is left to be gained.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "qwo/family_search.hpp"
#include "qwo/noise_cost.hpp"

namespace qwo {

// What the families of a DAG, parents ascending, leave unexplained under a model of noise.
class NoiseFit {
  public:
    NoiseFit(NoiseCost& cost, std::vector<std::vector<int>> parents)
        : cost_(cost), parents_(std::move(parents)) {}

    // By how much twice the log-likelihood of some families, ascending, could rise.
    //
    // By the smooth test of independence (Kallenberg and Ledwina 1999) of residuals and each
    // parent, and of residuals and others: rows times squared correlations of polynomials of both
    // ranks. That is twice the log-likelihood of a density of such a form, nearly. The mean without
    // dependence is taken off.
    double lack(const std::vector<int>& families);

    const std::vector<std::vector<int>>& parents() const { return parents_; }

  private:
    // One after the other, each times the root of the weights.
    using Polynomials = std::vector<double>;

    double dependence(int v, int u, bool is_parent);
    const std::vector<double>& ranks(int u);
    const Polynomials& of_cause(int u);
    const Polynomials& of_residuals(int v);
    Polynomials polynomials(const std::vector<double>& ranks) const;

    NoiseCost& cost_;
    std::vector<std::vector<int>> parents_;
    std::map<int, std::vector<double>> ranks_;
    std::map<int, Polynomials> causes_, left_;
    std::map<std::tuple<int, int, bool>, double> known_;
};

// Of an arrow: what the best graph near by that has the other direction costs more, what the model
// lacks there, and what the gain has more than that, in standard errors of the gain (Vuong 1989).
// NaN if there is no such graph.
struct ArrowStrength {
    double gain, lack, z;
};

std::vector<ArrowStrength> arrow_strengths(NoiseCost& cost, FamilySearch& search,
                                           const std::vector<std::pair<int, int>>& arrows);

} // namespace qwo
