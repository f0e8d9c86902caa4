// The cost of a directed graph that may have cycles: maximum likelihood of its linear model.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace qwo {

using ParentSetsOf = std::vector<std::vector<int>>; // of each variable, ascending

// The strongly connected components of a directed graph, each ascending.
std::vector<std::vector<int>> strong_components(const ParentSetsOf& parents);

// cost(G) = N (Σ_i log x_i S x_i^T - 2 log |det(I - B)|) + price · edges at the coefficients B of
// the largest likelihood, where x_i is row i of I - B. It is a sum over strongly connected
// components, each given the parents that its variables have outside of it.
//
// With all rows but one fixed, det(I - B) = x_i · c for the cofactors c, so that the best row is
// proportional to S[f, f]^-1 c[f], f being i and its parents (block coordinate descent: Drton, Fox
// and Wang 2019). For the one row of an acyclic component that is the regression.
class CyclicCost {
  public:
    CyclicCost(std::vector<double> covariance, int n, double samples, double price);

    int n() const { return n_; }
    double cost(const ParentSetsOf& parents);
    // Of one strongly connected component, its variables ascending. Where all edges among it and
    // from its parents do not bring it below `enough`, or the fit comes to rest far above, it is
    // infinite.
    double component(const std::vector<int>& members, const ParentSetsOf& parents,
                     double enough = std::numeric_limits<double>::infinity());
    // Row i of `matrix`, n × n, becomes the equation of i: entry j is what j adds to i. The fit is
    // brought to the last digits, which the search does without.
    void coefficients(const ParentSetsOf& parents, double* matrix);

  private:
    struct Hash {
        std::size_t operator()(const std::vector<int>& key) const;
    };
    struct Row {
        std::vector<int> family; // the variable itself, then its parents
        std::vector<int> within; // the place of each in the component, -1 outside
        std::vector<double> factor;
        std::vector<double> values; // of x_i, the first is 1
    };

    struct Known {
        double cost;
        bool is_exact; // otherwise it is no less
    };

    double fit(const std::vector<int>& members, const ParentSetsOf& parents, double tolerance,
               double enough);
    double best_fit(const std::vector<int>& members, const ParentSetsOf& parents);
    double descend(int k, double tolerance, double enough);
    bool improve(int k, int i, double& log_det, double& log_variances);
    double refresh(int k); // the inverse of I - B anew; log |det|

    std::vector<double> covariance_;
    int n_;
    double samples_;
    double price_;
    std::unordered_map<std::vector<int>, Known, Hash> memo_;
    std::vector<Row> rows_;
    std::vector<double> inverse_;
    std::vector<double> work_;
};

} // namespace qwo
