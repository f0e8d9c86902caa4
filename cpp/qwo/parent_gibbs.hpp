// DAGs under the product of family scores: parent sets drawn anew one variable at a time, and edges
// turned round.
#pragma once

#include <cstdint>
#include <utility>
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
    // The same for a directed path of several edges, all of whose parent sets are dropped: modes in
    // which a whole path runs the other way are out of reach of single reversals.
    bool turn_path(int edges, Random& random);

  private:
    void set_parents(int v, ParentMask parents);
    // Candidates of v that are not its descendants.
    ParentMask allowed(int v) { return allowed(v, &v, 1); }
    // Candidates of v that are neither any of these variables nor descendants of one.
    ParentMask allowed(int v, const int* sources, std::size_t count);
    // Ends of an edge that a table has, drawn uniformly; there must be one.
    std::pair<int, int> draw_edge(Random& random) const;
    // The children of v by such edges, into `children_`.
    void find_children(int v);
    // A path of so many edges into `path_`, by a random walk; false if it ends before.
    bool draw_path(int edges, Random& random);
    // log probability of drawing `path_` from the present graph.
    double path_log_probability();
    // No sum that `lay_path` returns for the reverse of `path_` exceeds this.
    double most_of_turned_path() const;
    // Gives the variables of `path_`, which have no parents, parent sets one after the other, each
    // with its predecessor in it: drawn, or given. The log of the sums of scores that they are
    // drawn from, or kNever if there is none.
    double lay_path(Random& random, const std::vector<ParentMask>* given);

    const ScoreTables& tables_;
    std::vector<ParentMask> parents_;
    std::vector<int> n_parents_; // of each variable, and their sum
    int edges_ = 0;
    BitMatrix followers_, fixed_followers_;
    std::vector<std::uint64_t> seen_;
    std::vector<int> stack_, path_, children_;
    std::vector<ParentMask> old_;
};

} // namespace qwo
