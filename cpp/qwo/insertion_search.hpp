// Insertion search over orders on the exact BIC engine, as a machine that runs in small steps.
//
// Nested neighbourhoods, each tried until it improves nothing:
//   descent  every queued variable moves to its best place; a direction is given up once it has
//            cost more than so many edge penalties. What a move touches is queued again.
//   tucks    every edge x -> y of a variable that changed is tucked (y and its ancestors after x
//            move before x), what that touched descends, and the result is kept if it is not worse.
//            Equal results are kept too: they wander through the equivalence class.
//   turns    every compelled edge x -> y of the equivalence class is tucked in that member of the
//            class in which x is the root of its undirected piece, and so on. The step to the
//            member is free, and reverses in one go what stands in the way of turning the edge.
//            Where x is a root of an undirected piece, its children also look for better parents.
//   sweep    every variable looks for better parents among all that are no descendants of it, and
//            is scanned once over all its places, without giving up.
//   renewal  every variable looks for candidates that it has missed; what that touched descends.
//            There is one after the first descent, when lists of candidates come in if all were
//            candidates till then, and in the end until it finds nothing.
// With very many variables there are no turns, sweeps after the first look at what has changed, and
// tucks and visits of sweeps are tried out many at a time, each from the same state, in threads;
// those that change a parent set are then made one after the other.
// The insertion neighbourhood is that of BOSS (Andrews et al. 2023) and FLOP (Rios et al.); the
// tuck is GRaSP's (Lam, Andrews and Ramsey 2022), the turn is to it what the turning operator of
// GES (Hauser and Buehlmann 2012) is to the reversal of an edge; perturb-and-repair is iterated
// local search. The result is a function of the start and the seed alone: run() may be cut into
// slices at will.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "qwo/parent_sets.hpp"
#include "qwo/policy.hpp"
#include "qwo/random.hpp"
#include "qwo/search_counts.hpp"

namespace qwo {

enum class SearchPhase { descent, tucks, turns, sweep, renewal, done };

struct SearchOptions {
    // When to give up a direction of a scan, in edge penalties: wide while the order is still
    // rough, narrow when what a tuck touched is repaired.
    double give_up_descent = policy::give_up_descent;
    double give_up_repair = policy::give_up_repair;
    // A tuck that costs more than this before it is repaired is taken back at once.
    double give_up_tuck = policy::never;
    bool tucks = true;
    bool turns = true; // where there are tucks
    bool sweep = true;
    // Only the edges of what the descent has touched are tucked, and none turned: for an order that
    // was an optimum of data much like these.
    bool nearby = false;
    // An optimum that is known, or no variables: after the descent only edges of variables whose
    // neighbours or colliders are not as there, and of their neighbours, are tucked and turned.
    // The others were, there.
    OrderedDag known;
    // A restart that ends worse by less than this, in edge penalties, tucks the edges of what it
    // has touched before it is given up.
    double near_miss = 0.0;
    // The result does not depend on them.
    int threads = 1;
};

// Those of a descent over so many variables. In haste no edge is turned, costly tucks are taken
// back at once, and there is no sweep.
SearchOptions search_options(int n, bool hasty);

class InsertionSearch {
  public:
    // The engine must have been reset to a start order and must outlive the search. One that
    // is at an optimum, where a search has left it, has nothing to do but restarts.
    InsertionSearch(ParentSets& engine, std::uint64_t seed, SearchOptions options,
                    bool at_optimum = false);
    ~InsertionSearch();
    InsertionSearch(const InsertionSearch&) = delete;
    InsertionSearch& operator=(const InsertionSearch&) = delete;

    // After changes near an optimum: what they touched is to descend, and run() goes on from there.
    void resume();

    // Runs until done, or until `seconds` of wall time are over, but one step at least; true when
    // done.
    bool run(double seconds);

    // A restart, to be followed by run() until done and end_restart(): `size` variables, those
    // nearest to one in the present skeleton, exchange their places, and what that touches
    // descends. They come in random order, or from the centre outwards. No sweep follows.
    void begin_restart(int centre, int size);
    // The same by an arrow x -> y of the class: it is turned in the member of the class that has x
    // as a root, what that touches descends while it must stay turned, and then once more.
    void begin_turned(ClassMembers& members, int x, int y);
    // Keeps the result if it is better, or as good where equals are welcome, else returns to where
    // the restart began; true if better.
    bool end_restart(bool equals = true);

    const ParentSets& engine() const { return engine_; }
    bool is_restarting() const { return restarting_; }
    double cost_before_restart() const { return cost_before_restart_; }
    // By variable, whether the last restart has touched it.
    const std::vector<char>& restarted() const { return restarted_; }
    SearchPhase phase() const { return phase_; }
    const SearchCounts& counts() const { return counts_; }
    // (seconds of run() so far, cost) each time the cost fell below all earlier values.
    const std::vector<std::pair<double, double>>& trace() const { return trace_; }

  private:
    void mark_restart();
    void step();
    void step_descent();
    void finish_descent();
    std::vector<char> unlike_known() const;
    void step_tucks();
    bool collect_edges();
    bool is_wide() const;
    bool may_turn() const;
    void step_turns();
    void list_turns();
    void turn(int x, int y);
    bool exchange_below(int x);
    bool part(int x, int y);
    // Repairs what was touched since a mark; keeps it if that is better, or as good where equals
    // are welcome, and returns to the mark if not. Whether it is better.
    bool keep_or_undo(std::size_t mark, double before, double give_up, bool equals);
    void step_sweep();
    void list_sweep();
    // An edge x -> y that may be tucked, or, without x, a variable for the sweep to visit.
    struct Attempt {
        int x, y;
    };
    void make(Attempt attempt);
    void try_tuck(int x, int y);
    void visit(int v);
    // Makes an attempt and takes it back; whether it has changed a parent set, and what it took.
    std::pair<bool, SearchCounts> try_out(Attempt attempt);
    // Tries many attempts out, each from the present state, and makes those that change something.
    void make_many(const std::vector<Attempt>& attempts);
    void scan_and_move(int v, double give_up);
    void repair_next();
    void stop_if_back(double before);
    int next_queued();
    void queue(int v);
    void queue_touched();
    void touch(int v);
    std::vector<int> ball(int centre, int size);
    void forget_work();
    void record();
    void finish_sweep();
    void renew_before(SearchPhase next);
    void step_renewal();

    // Twins of engine and search for other threads, in the same state, while attempts are made.
    struct Twin;
    std::vector<std::unique_ptr<Twin>> twins_;
    void make_twins();

    ParentSets& engine_;
    Random random_;
    SearchOptions options_;
    SearchPhase phase_ = SearchPhase::descent;
    std::deque<int> queue_;
    std::vector<char> queued_;
    std::vector<char> changed_;              // variables to be tucked, to be swept: two bits
    std::vector<std::pair<int, int>> edges_; // the tucks of this round still to try
    std::unique_ptr<ClassMembers> members_;  // of the class that the turns are listed for,
    std::vector<std::pair<int, int>> turns_; // those still to try,
    OrderedDag rooted_;                      // and the member that one begins with
    bool turns_listed_ = false;
    bool turns_improved_ = false;
    std::vector<int> sweep_;
    std::vector<char> fresh_; // changed since the sweep before
    SearchPhase after_renewal_ = SearchPhase::done;
    int next_renewed_ = 0;
    bool renewed_ = false; // since the first descent
    bool swept_ = false;   // the last sweep has improved nothing
    bool restarting_ = false;
    int misled_ = 0; // moves that cost no less although that was expected
    std::vector<char> restarted_;
    std::size_t restart_mark_ = 0;
    double cost_before_restart_ = 0.0;
    double cost_before_sweep_ = 0.0;
    SearchCounts counts_;
    double elapsed_ = 0.0;
    double slice_start_ = 0.0;
    double best_;
    double noise_;
    std::vector<std::pair<double, double>> trace_;
};

} // namespace qwo
