// What all fits of one search share: moments, score, constraints. Never changes.
//
// Each child is explained from a set of moments of its own: those of the rows in which nobody has
// set its value, say. Everything in a fit belongs to one child, so that no two sets ever meet. Most
// often there is one set for all.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "qwo/constraints.hpp"
#include "qwo/score.hpp"

namespace qwo {

// A symmetric matrix that someone else owns. Rows may be longer than n: what follows is zero then.
struct CorrelationRows {
    std::shared_ptr<const void> owner;
    const double* values = nullptr;
    int n = 0;
    int stride = 0;

    const double* row(int i) const {
        return values + static_cast<std::size_t>(i) * static_cast<std::size_t>(stride);
    }
};

// The moments of some rows, with what an edge costs there.
struct MomentSet {
    MomentSet(CorrelationRows correlation, Score score, int max_parents)
        : correlation(std::move(correlation)), score(score), worth_adding(score.worth_adding()),
          worth_keeping(score.worth_keeping()), max_parents(max_parents) {}

    CorrelationRows correlation;
    // Of the variables in these rows: 1, or 0 for one that is constant there. Empty if all are 1.
    std::vector<double> variances;
    Score score;
    double worth_adding, worth_keeping; // of the score, which would compute them again and again
    int max_parents;
};

struct BicProblem {
    std::vector<MomentSet> sets; // one at least, all of the same variables
    std::vector<int> which;      // the set of each child; empty if all have the first
    double penalty = 0.0;        // the price of an edge in the first set: the unit of searches
    Constraints constraints;

    int n() const { return sets.front().correlation.n; }
    const MomentSet& moments_of(int child) const {
        return which.empty()
                   ? sets.front()
                   : sets[static_cast<std::size_t>(which[static_cast<std::size_t>(child)])];
    }
};

} // namespace qwo
