// Orders under the product of summed scores, exp sum_v Z_v[predecessors of v] (order MCMC).
#pragma once

#include <vector>

#include "qwo/random.hpp"
#include "qwo/score_tables.hpp"

namespace qwo {

class OrderGibbs {
  public:
    explicit OrderGibbs(const ScoreTables& tables);

    void set_order(const std::vector<int>& order);
    const std::vector<int>& order() const { return order_; }
    int place(int v) const { return place_[v]; }
    // The candidates of v that come before it.
    ParentMask predecessors(int v) const { return predecessors_[v]; }

    // A place for v from its full conditional over all places that it may take; nothing moves.
    // Passing u changes one bit of the mask of v and one of the mask of u. An inverse temperature
    // below one flattens it.
    int draw_place(int v, Random& random, double inverse_temperature = 1.0);
    // Moves the variable at one place to another.
    void shift(int from, int to);
    // Makes n draws of the place of a variable, each chosen at random.
    void sweep(Random& random, double inverse_temperature = 1.0);
    double log_score() const;

  private:
    // What the weight of v's place is in either direction from where it stands; the place at which
    // a variable stands that it cannot pass, or one beyond the end.
    int weigh(int v, int step);

    const ScoreTables& tables_;
    std::vector<int> order_, place_;
    std::vector<ParentMask> predecessors_;
    std::vector<double> weights_;
};

} // namespace qwo
