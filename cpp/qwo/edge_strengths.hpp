// How strong the edges of a DAG are, and which real effects stand behind strengths.
#pragma once

#include <cstddef>
#include <vector>

namespace qwo {

// r^2 of each edge given the other parents, by child, and the variance that each variable's parents
// leave, on the scale of correlations.
struct Explained {
    std::vector<double> shares;
    std::vector<double> variances;
};

// For a correlation matrix without gaps, of so many columns of each variable as a parent, of which
// the leading ones are its own as a child: uncorrelated with each other. Between blocks the share
// is 1 - Λ, Wilks's, and what is left the geometric mean over columns. A parent that the others
// determine adds nothing; a variable that its parents determine leaves next to nothing.
Explained explained(const double* correlation, const std::vector<std::vector<int>>& parents,
                    const std::vector<int>& sizes, const std::vector<int>& leading);

// The weights w of k kernels at m points, after some rounds of expectation and maximisation:
// w_j <- w_j * sum_i K_ij / (known_i + sum_l K_il w_l) / visible_j, from equal ones of the sum m,
// or 1 without points. What is known of the density at a point is no kernel's.
std::vector<double> mixture_weights(std::size_t m, std::size_t k, const double* kernels,
                                    const double* known, const double* visible, int rounds);

} // namespace qwo
