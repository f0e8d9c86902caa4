// DAGs under the product of family scores: parent sets drawn anew one variable at a time, and edges
// turned round.
#pragma once

#include <vector>

#include "qwo/bit_matrix.hpp"
#include "qwo/random.hpp"
#include "qwo/score_tables.hpp"

namespace qwo {

class ParentGibbs {
  public:
    explicit ParentGibbs(const ScoreTables& tables);

    // All families at once; they must be acyclic together with what must come earlier.
    void load(const std::vector<ParentMask>& parents);
    const std::vector<ParentMask>& parents() const { return parents_; }
    // Children of u, and those that must come after it.
    const BitMatrix& followers() const { return followers_; }
    double log_score() const;

    // Parents of v given all other families. Adds P(w -> v | the other families) at w's place to
    // `probabilities`, if given: means of these are better than counts.
    void draw(int v, Random& random, double* probabilities);
    // Edge reversal (Grzegorczyk and Husmeier 2008): for an edge i -> j, both parent sets are
    // dropped and drawn anew, that of i with j in it. Whether it was accepted.
    bool reverse(Random& random);

  private:
    void set_parents(int v, ParentMask parents);
    // Candidates of v that are not its descendants.
    ParentMask allowed(int v);

    const ScoreTables& tables_;
    std::vector<ParentMask> parents_;
    int edges_ = 0;
    BitMatrix followers_, fixed_followers_;
    std::vector<std::uint64_t> seen_;
    std::vector<int> stack_;
};

} // namespace qwo
