// A Markov chain whose stationary distribution is exactly the posterior over DAGs.
//
// Order MCMC moves far, but weights a DAG by its number of linear extensions. Let q(order | G) be
// the probability that choosing uniformly among the variables whose parents are all placed, again
// and again, gives the order:  q = prod_t 1 / #{v: ready_v <= t <= place_v}.  It is normalised over
// the linear extensions of G, so p(G | D) q(order | G) on pairs has p(G | D) as its marginal. The
// joint move draws a place as order MCMC does, then the parents of the mover and of all it has
// passed that could have it as a parent; all scores cancel, and it is accepted with q' / q.
#pragma once

#include <cstdint>
#include <vector>

#include "qwo/order_gibbs.hpp"
#include "qwo/parent_gibbs.hpp"

namespace qwo {

// How often each move is made in a sweep, per variable.
struct SweepPlan {
    double joint = 0.1; // if any, at least a few: without, some chains of few variables are trapped
    double reversals = 3.0;
    double paths = 1.0; // of two to four edges
    double parents = 1.0;
};

struct MoveCounts {
    std::int64_t joint_tried = 0, joint_taken = 0;
    std::int64_t reversals_tried = 0, reversals_taken = 0;
    std::int64_t paths_tried = 0, paths_taken = 0;
};

class GraphChain {
  public:
    // The order must keep what the lists say about who comes earlier.
    GraphChain(const ScoreTables& tables, const std::vector<int>& order, std::uint64_t seed);

    // Sweeps of order MCMC alone, to come near the mode from any order, the first of them at
    // temperatures that fall to one; then a DAG given the order.
    void burn_in(int annealed, int sweeps);
    // `draws` DAGs, each after `thin` sweeps: masks (n per draw) and log scores.
    void run(int draws, int thin, const SweepPlan& plan, ParentMask* masks, double* log_scores);

    // Sums of the conditional probabilities of the edges into v, by place in v's list, over
    // `visits()` sweeps.
    const std::vector<double>& edge_sums(int v) const { return edge_sums_[v]; }
    std::int64_t visits() const { return visits_; }
    // Their means as a matrix, row by row, with entry (u, v) for u -> v; 1 for core parents.
    std::vector<double> edge_means() const;
    void forget_sums();

    const ScoreTables& tables() const { return tables_; }
    const std::vector<int>& order() const { return orders_.order(); }
    double order_log_score() const { return orders_.log_score(); }
    const MoveCounts& counts() const { return counts_; }

  private:
    void sweep(const SweepPlan& plan);
    void redraw_order();
    void joint_move(int v);
    double order_log_probability(); // log q of the present order given `parents_`

    const ScoreTables& tables_;
    Random random_;
    OrderGibbs orders_;
    ParentGibbs graph_;
    std::vector<ParentMask> parents_; // of the pair (order, DAG), while joint moves are made
    double log_q_ = 0.0;
    MoveCounts counts_;
    std::vector<std::vector<double>> edge_sums_;
    std::int64_t visits_ = 0;

    std::vector<double> logs_;
    std::vector<int> changes_, ready_, missing_, new_order_;
    std::vector<std::pair<int, ParentMask>> saved_;
};

} // namespace qwo
