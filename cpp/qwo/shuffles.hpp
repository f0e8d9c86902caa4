// Restarts one after the other on an engine at an optimum: connected balls of variables are
// shuffled.
//
// Either so many around random variables, or, around each variable, until so many have failed since
// it was touched last: what has not changed is not tried again.
#pragma once

#include <cstdint>
#include <vector>

#include "qwo/insertion_search.hpp"

namespace qwo {

// Variables around which the graph may be wrong. False colliders show in triangles and squares of
// the skeleton, since they need edges to pay for them, and elsewhere only weak edges are in doubt:
// those at an edge that is worth less than ten times its price.
std::vector<int> doubtful(ParentSets& engine);

class Shuffles {
  public:
    // `length` restarts in all, or, if that is 0, `tries` around each of these variables.
    Shuffles(ParentSets& engine, std::uint64_t seed, int length, int tries,
             const std::vector<int>& centres);

    // Runs until done, or until `seconds` of wall time are over, but one step at least; true when
    // done. Whoever leaves earlier calls end().
    bool run(double seconds);
    // Ends the restart under way, if there is one, as it would have ended by itself.
    void end();

    const InsertionSearch& search() const { return search_; }
    int made() const { return made_; }
    // Those that have ended worse than they began by less than half the price of an edge.
    int near() const { return near_; }
    int improved() const { return improved_; }

  private:
    bool begin_next();
    bool is_quiet() const;
    void count(double lost, bool better);
    void wait(int centre);
    void wait_again(bool better);

    ParentSets& engine_;
    InsertionSearch search_;
    Random random_;
    int length_, tries_;
    int centre_ = 0;
    std::vector<int> waiting_;  // centres, in random order: those with fewer than `tries_` failures
    std::vector<int> failures_; // since the variable was touched last
    int made_ = 0, near_ = 0, led_back_ = 0, improved_ = 0;
    bool is_sure_ = false; // no edge is weak
};

} // namespace qwo
