// A whole search on the exact BIC engine: which descents, starts and restarts follow each other.
//
//   proof     with few variables all DAGs are gone through, and that is it
//   descent   from the order that the engine is at
//   starts    the same from orders of the spanning tree, until enough agree on every variable; the
//             engine keeps the best, with every better piece of the others
//   restarts  chains of shuffles, each from the order found so far; the best chain wins
//   insisting restarts around what is in doubt, where there is reason for more
//   polish    in the end, up to some size: the best directions of all edges that lie on no cycle,
//             and the best of all DAGs around each variable in doubt, exactly
// Starts and restarts are made in rounds, until starts agree. Near a known order there are a hasty
// descent and one round of restarts alone. All numbers stand in policy.hpp. The result is a
// function of the engine's state, the options and the draws: neither slices nor threads change it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "qwo/insertion_search.hpp"
#include "qwo/policy.hpp"
#include "qwo/shuffles.hpp"
#include "qwo/spanning_tree.hpp"

namespace qwo {

struct RunOptions {
    int restarts = 20;                // in each round; without any there is one descent and no more
    std::optional<int> starts, tries; // by the policy if not given
    bool tucks = true;
    bool nearby = false; // the order is the best of data much like these
    int jobs = 1;        // threads that chains are shared among
    int threads = 1;     // threads of a descent
    // How much variables depend on each other, n x n; their correlations if it is empty.
    std::vector<double> association;
};

// Where seeds and roots come from.
struct Draws {
    std::function<std::uint64_t()> seed;
    std::function<int(int)> below; // uniform in 0 .. bound - 1
};

class SearchRun {
  public:
    // The engine must outlive the run, and have an order and no marks.
    SearchRun(ParentSets& engine, Draws draws, RunOptions options);
    ~SearchRun();
    SearchRun(const SearchRun&) = delete;
    SearchRun& operator=(const SearchRun&) = delete;

    // Runs until done, or until `seconds` of wall time are over, but one step at least; true when
    // done. Whoever leaves earlier calls stop().
    bool run(double seconds);
    // Ends what is under way, and leaves the engine at the best that has been found.
    void stop();

    const ParentSets& engine() const { return engine_; }
    // Whether a restart is under way on the engine itself.
    bool is_restarting() const;
    // Whether all DAGs have been gone through, and none costs less.
    bool is_proved() const { return is_proved_; }
    // Of the descents.
    const SearchCounts& counts() const { return counts_; }
    // (seconds since the run was made, cost) at first and each time the cost has fallen.
    const std::vector<std::pair<double, double>>& trace() const { return trace_; }
    // What has been done, each with a number: of edges, of the root, of restarts, of tries.
    const std::vector<std::pair<const char*, int>>& steps() const { return steps_; }

  private:
    using Next = void (SearchRun::*)(); // what follows the work under way
    struct Chain;

    bool work(double seconds);
    bool run_chains(double seconds);
    void descend(ParentSets& engine, SearchOptions options, Next next);
    void end_descent();

    void begin();
    void prove(int most);
    void begin_at_cheaper();
    void restart_near();
    void begin_rounds();
    void begin_round();
    void next_start();
    void compare_start();
    void count_start();
    void end_starts();
    void restart(Next next);
    void end_chains();
    void follow_up();
    void insist(int tries, bool around_disputed);
    void end_insisting();
    void end_round();
    void next_round();
    void polish();
    bool turn_arrows();
    void finish();

    std::vector<int> next_tree_order();
    double distance_from_tree(double cost);
    bool is_sparse() const;
    void note(const char* step, int number);
    void note_cost();
    double seconds() const;

    ParentSets& engine_;
    const Draws draws_;
    const RunOptions options_;
    const int n_, children_, starts_;
    const double noise_;

    Next next_ = &SearchRun::begin;
    std::unique_ptr<InsertionSearch> descent_; // under way, and when it began
    double descent_begun_ = 0.0;
    std::vector<std::unique_ptr<Chain>> chains_; // under way

    Tree tree_;
    bool is_thin_ = false; // an order from the spanning tree has cost little more than the best
    int rounds_ = 0;
    bool is_proved_ = false;

    std::unique_ptr<ParentSets> challenger_; // what a start has led to
    std::vector<char> differing_;            // variables on which it does not agree
    double cost_before_start_ = 0.0;
    double cost_of_tree_ = std::numeric_limits<double>::infinity();
    int starts_left_ = 0, fruitless_ = 0, enough_ = 0;
    std::vector<int> agreed_;            // by variable, how many starts have agreed on it
    std::vector<int> disputed_;          // variables on which not enough have
    std::optional<OrderedDag> compared_; // what they were counted against
    bool starts_agree_ = false;

    bool improved_ = false; // by the restarts of this round
    int n_near_ = 0;        // of the last restarts, those that have ended near where they began
    double cost_in_vain_ = std::numeric_limits<double>::infinity(); // all restarts failed there

    double begun_;
    SearchCounts counts_;
    std::vector<std::pair<double, double>> trace_;
    std::vector<std::pair<const char*, int>> steps_;
};

} // namespace qwo
