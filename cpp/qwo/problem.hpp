// What all fits of one search share: moments, score, constraints. Never changes.
//
// Each child is explained from a set of moments of its own: those of the rows in which nobody has
// set its value, say. Everything in a fit belongs to one child, so that no two sets ever meet. Most
// often there is one set for all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "qwo/blocks.hpp"
#include "qwo/constraints.hpp"
#include "qwo/index.hpp"
#include "qwo/score.hpp"

namespace qwo {

// A symmetric matrix that someone else owns. Rows may be longer than n: what follows is zero then.
struct CorrelationRows {
    std::shared_ptr<const void> owner;
    const double* values = nullptr;
    int n = 0;
    int stride = 0;

    const double* row(int i) const { return values + Index{i} * Index{stride}; }
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
    // Of an edge with so many parameters: columns of the parent times leading ones of the child.
    std::vector<BlockPrice> block_prices;
    int max_columns = 0; // those of the child and its parents, less one
    // What edges cost less for being probable beforehand, by child and parent; only for blocks, and
    // empty if none is.
    std::vector<double> bonus;

    // Of the edge u -> v with so many parameters, among n variables.
    BlockPrice price(int parameters, int u, int v, int n) const {
        const BlockPrice& plain = block_prices[parameters];
        const double less = bonus.empty() ? 0.0 : bonus[v * Index{n} + u];
        return less == 0.0 ? plain : BlockPrice(score.n_samples, plain.price - less);
    }
};

struct BicProblem {
    std::vector<MomentSet> sets; // one at least, all of the same variables
    std::vector<int> which;      // the set of each child; empty if all have the first
    Blocks blocks;               // none if every variable is a column
    // The price of an edge in the first set, the unit of searches: of the cheapest and of a typical
    // one, which blocks make differ, and then of a typical one of each variable.
    double penalty = 0.0, typical_penalty = 0.0;
    std::vector<double> penalties;
    Constraints constraints;
    // By variable, whether it is given: such ones stand before all others and have no parents.
    // Empty if none is.
    std::vector<char> given;
    int n_given = 0;

    int n() const { return blocks.empty() ? sets.front().correlation.n : blocks.n(); }
    // Whether all members of an equivalence class cost the same.
    bool is_equivalent() const {
        return blocks.empty() || (blocks.all_lead() && sets.front().bonus.empty());
    }
    // Takes up what an edge with so many parameters costs, in the one set of moments.
    void price_blocks(const std::vector<double>& prices) {
        for (const double price : prices)
            sets.front().block_prices.emplace_back(sets.front().score.n_samples, price);
        penalty = std::numeric_limits<double>::infinity();
        typical_penalty = 0.0;
        for (int v = 0; v < n(); ++v) {
            double sum = 0.0;
            for (int u = 0; u < n(); ++u) {
                const double price = prices[blocks.size(u) * blocks.leading(v)];
                sum += price;
                penalty = std::min(penalty, price);
            }
            penalties.push_back(sum / n());
            typical_penalty += sum / n() / n();
        }
    }
    int n_children() const { return n() - n_given; }
    bool is_given(int v) const { return !given.empty() && given[v] != 0; }
    // A difference of costs up to this is taken for rounding. A cost is N times a sum of
    // logarithms: from about N = 1e11 on, their last digits weigh more than a thousandth of an
    // edge.
    double noise() const {
        double most = 0.0;
        for (const MomentSet& set : sets)
            most = std::max(most, set.score.n_samples);
        return std::max(1e-3 * penalty, 1e-14 * n() * most);
    }
    double penalty_of(int v) const { return penalties.empty() ? penalty : penalties[v]; }
    const MomentSet& moments_of(int child) const {
        return which.empty() ? sets.front() : sets[which[child]];
    }
};

} // namespace qwo
