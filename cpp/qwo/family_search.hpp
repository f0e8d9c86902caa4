// An order search on any decomposable cost: grow–shrink parent sets, insertions, tucks, restarts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "qwo/index.hpp"
#include "qwo/random.hpp"

namespace qwo {

// What a variable costs with some parents, ascending. Called once for each pair.
class FamilyCost {
  public:
    virtual ~FamilyCost() = default;
    virtual double cost(int variable, std::span<const int> parents) = 0;
    // The same with one more, which is none of them.
    virtual double with(int variable, std::span<const int> parents, int more) {
        std::vector<int> all(parents.begin(), parents.end());
        all.insert(std::lower_bound(all.begin(), all.end(), more), more);
        return cost(variable, all);
    }
};

// What a search may not do.
struct FamilyLimits {
    std::vector<char> may_cause; // [u * n + v]: u may be a parent of v; empty for all
    std::vector<char> precedes;  // [u * n + v]: u stands before v; empty for none
    std::vector<std::vector<int>> required;
    std::vector<char> given; // stand in front, are never explained; empty for none
    int most_parents = 1 << 20;
};

// The DAG of an order is what growing and shrinking make of each parent set as the order changes;
// the search descends by insertions (a variable is put where it costs least), other members of the
// Markov class, which need not cost the same, and tucks (the child of an edge, with its ancestors
// between, goes before the parent), then shuffles neighbourhoods and repairs them.
class FamilySearch {
  public:
    using Parents = std::vector<int>;

    FamilySearch(FamilyCost& cost, std::vector<int> order, FamilyLimits limits, int restarts,
                 std::uint64_t seed);

    // Goes on for about so many seconds; whether the search has ended.
    bool run(double seconds);

    double cost() const;
    const std::vector<int>& order() const { return order_; }
    const Parents& parents(int variable) const { return parents_[variable]; }
    // Goes over to a DAG as it is, whatever growing and shrinking would make of it.
    void take(std::vector<int> order, std::vector<Parents> parents);
    // Goes to the cheapest member of the Markov class that changes of the root lead to.
    void to_best_member();
    // The cheapest graph near by in which `effect` stands before `cause`: its parent sets. Nothing
    // if the limits forbid it. The state stays as it is.
    std::vector<Parents> turned(int cause, int effect);
    // How many different families have been scored.
    std::size_t families() const;

  private:
    // Costs by a key of 64 random bits a parent, exclusive-ored: two of a million sets have the
    // same one with probability 3e-8.
    class Memo {
      public:
        // Where the cost of a key stands; NaN if it is new.
        double& at(std::uint64_t key);
        std::size_t size() const { return used_; }

      private:
        std::vector<std::pair<std::uint64_t, double>> slots_;
        std::size_t used_ = 0;
    };
    struct State {
        std::vector<int> order;
        std::vector<Parents> parents;
        std::vector<double> costs;
    };
    enum class Phase { insertions, roots, tucks, restarts, done };

    int n() const { return count_of(order_); }
    bool allowed(int u, int v) const;
    bool is_given(int v) const { return !limits_.given.empty() && limits_.given[v]; }
    std::uint64_t key_of(const Parents& parents) const;
    double family(int variable, const Parents& parents);
    // The same with a parent more, or, if it is one of them, a parent fewer.
    double toggled(int variable, const Parents& parents, std::uint64_t key, int u);
    // Grows and shrinks a parent set among those available until neither helps.
    double refine(int variable, Parents& parents, double now);
    // The change of the cost when a variable goes to its best place; goes there if it is negative.
    bool insert(int variable);
    double try_path(int variable, int step, int& best_place);
    void apply_path(int variable, int place);
    bool tuck(int parent, int child);
    // The order in which a child, with its ancestors between, goes before the parent, or the
    // parent, with its descendants between, behind the child; empty if the limits forbid it.
    std::vector<int> tucked(int parent, int child, bool ahead) const;
    // Goes to the member of the Markov class in which a variable is the root of its piece.
    bool reroot(int root);
    bool to_root(int root);
    void settle_around(const State& before);
    bool keep_if_better(const State& before, double cost_before);
    void rearrange(const std::vector<int>& order, int first, int last);
    void settle(std::vector<int> queue);
    bool step();
    void shake();
    void refill_queue();
    State state() const { return {order_, parents_, costs_}; }
    void restore(const State& state);

    FamilyCost& cost_;
    FamilyLimits limits_;
    Random random_;
    int restarts_;
    std::vector<int> order_;
    std::vector<int> place_;
    std::vector<Parents> parents_;
    std::vector<double> costs_;
    std::vector<std::uint64_t> bits_; // of each variable, for keys of sets
    std::vector<Memo> memo_;
    std::vector<char> available_;
    Phase phase_ = Phase::insertions;
    std::vector<int> queue_;
    std::size_t next_ = 0;
    bool improved_ = false;
};

} // namespace qwo
