// The exact BIC engine: for an order, every variable's parent set by grow-shrink in its prefix.
//
// A variable's fit depends only on the set of variables before it. Moving v over its neighbour u
// therefore touches two fits at most, and most of the time none: u is asked in O(1) whether v would
// help it (or whether v is its parent), v is asked the same about u. Only a "yes" costs a refit.
// The answers are kept as bits, by the variable that is asked about, so that a journey of v visits
// only the places where there is a "yes". Fits start from the parents they had (warm start), so the
// parent sets depend on the path; each is at all times a set that no single addition or removal
// improves.
//
// Where all variables are candidates for the parents of each, memory grows with n^2 times the
// number of parents. With lists of candidates it grows with their length; `renew` looks at all
// others and takes in those that have been missed. Lists may also come in later, by `narrow`: while
// an order is rough, a variable may need parents that no list foresees.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "qwo/candidate_lists.hpp"
#include "qwo/equivalence.hpp"
#include "qwo/fit_journal.hpp"
#include "qwo/order_places.hpp"
#include "qwo/parent_fit.hpp"
#include "qwo/wish_index.hpp"

namespace qwo {

struct Insertion {
    int place;
    double change; // of the total cost; negative is better
};

// What a twin with the same problem and the same lists of candidates needs, to go on as a copy
// would to the last bit.
struct ParentSetsState {
    std::vector<int> order;
    std::vector<std::vector<int>> parents; // in fitting order
    std::vector<std::vector<int>> checked; // those for which renew() has nothing to add
    double cost;                           // the sum over all moves, which rounds in its own way
};

class ParentSets {
  public:
    // candidates[v] lists those that may become parents of v, ascending, required ones included,
    // forbidden ones and v itself not; all that are allowed if there are no lists, and until
    // narrow() if all are candidates at first.
    ParentSets(std::shared_ptr<const BicProblem> problem, const Kernels& kernels,
               const CandidateLists::Lists& candidates = {}, bool all_at_first = false);
    // The same state without its marks.
    ParentSets(const ParentSets& other);
    // The same, but that no edge joins some pairs: who had the other as a parent has grown and
    // shrunk without. There must be no lists.
    ParentSets(const ParentSets& other, const std::vector<std::pair<int, int>>& apart);
    // The same order and parents, which must be candidates, over lists.
    ParentSets(const ParentSets& other, const CandidateLists::Lists& candidates);

    // Changes places with an engine of the same problem.
    void swap(ParentSets& other) noexcept;

    // Forgets everything, marks included, and fits every variable in its prefix.
    void reset(const std::vector<int>& order, int threads = 1);

    // What reset() to an order would cost. It keeps one fit at a time, while reset() keeps all, and
    // those of a bad order have many parents.
    double cost_of(const std::vector<int>& order, int threads = 1) const;

    ParentSetsState state() const;
    // Takes up a state, as a copy of where it comes from would; marks are forgotten.
    void load(const ParentSetsState& state, int threads = 1);

    int n() const { return context_.problem->n(); }
    const BicProblem& problem() const { return *context_.problem; }
    bool is_given(int v) const { return problem().is_given(v); }
    double cost() const { return cost_; }
    const std::vector<int>& order() const { return places_.order(); }
    int place(int v) const { return places_.place(v); }
    const ParentFit& fit(int v) const { return *fits_[v]; }
    // The list of v, itself included, whether it has come in yet or not.
    const Columns& candidates(int v) const { return lists_.listed(v); }

    // Whether some variables are no candidates of others, now or once all lists have come in.
    bool has_lists() const { return lists_.any(); }

    // Whether u is among the variables that the fit of v looks at.
    bool may_list(int v, int u) const { return lists_.of(v).find(u) >= 0; }

    // Keeps one variable before another until the next call; -1 for none.
    void pin(int first, int second) { pinned_ = {first, second}; }

    // The places that the constraints leave for v while all others stay: lowest and highest.
    std::pair<int, int> permitted(int v) const;

    void move(int v, int place);

    // Goes to another order at once. Every fit gives up the parents that stand after it now, then
    // grows and shrinks in its new prefix.
    void arrange(const std::vector<int>& order);
    // The same from given parents, each of which must be a candidate and stand before its child.
    // The cost is theirs, or lower where a fit has grown or shrunk.
    void take(const OrderedDag& dag);
    OrderedDag dag() const;

    // Whether the constraints and the lists of candidates let a variable have a parent.
    bool may_have(int child, int parent) const;
    // The cost of a variable with other parents; infinite if one of them is no candidate.
    double cost_with(int v, const std::vector<int>& parents);
    void list_neighbours(int v, std::vector<int>& found) const; // parents and children

    // The change of the total cost for every place of v; infinite outside the permitted places.
    void scan(int v, double* changes);

    // The best place of v. A direction is given up once its change exceeds `give_up`.
    Insertion best_insertion(int v, double give_up);

    // For each edge u -> v, by v and then by u, the odds that another takes its place: the sum of
    // exp((t_w - t_u) / 2) over all w that may be parents of v and are none, nor descendants, t
    // being what one adds to twice the log-likelihood beside the other parents. Single columns of
    // one set of moments.
    std::vector<double> rivals();

    // Looks for other parents of v among all variables that are no descendants of it: one is given
    // up for others, or all are found anew, or two are added that pay only together. Goes there if
    // that lowers the cost by more than so much; whether it does. Growing and shrinking alone never
    // exchange.
    bool exchange(int v, double least_gain, bool pairs = true);
    // The same in another member of the class.
    bool exchange(int v, const OrderedDag& member, double least_gain);

    // Makes u, which stands before v, a parent of v although it does not pay alone, if with others
    // it lowers the cost by more than so much; whether it does.
    bool invite(int v, int u, double least_gain);

    // Looks at all variables that are no candidates of v. Takes in those that its fit would want as
    // parents, and the neighbourhood of v in the present DAG; returns whether there were any. Where
    // no variable has any left, no single addition or removal improves any parent set, whether
    // candidate or not. Marks must have ended.
    bool renew(int v);
    // Looks at what is missed for renew() of some variables in a row beforehand, in threads.
    // Nothing but renew() may follow until they have had their turn.
    void foresee(int first, int end, int threads);

    // Leaves each variable its list of candidates and its parents, unless it is so already. The
    // fits stay what they are. Marks must have ended.
    void narrow();
    bool has_narrowed() const { return !lists_.waits(); }

    // Marks nest. undo(m) restores the state at the mark, release(m) keeps the present one; either
    // ends the mark m and all after it.
    std::size_t mark() { return journal_.mark(cost_, order()); }
    void undo(std::size_t mark);
    void release(std::size_t mark) { journal_.release(mark); }
    std::size_t marks() const { return journal_.marks(); }
    // Whether all have the parents again that they had at the last mark; the order may differ.
    bool is_back() const;
    // Calls visit(v) for those whose fit may have changed since a mark, with repetitions.
    template <class Visit>
    void for_each_changed(std::size_t mark, Visit visit) const {
        journal_.for_each_since(mark, [&](const ParentFit& old) { visit(old.child()); });
    }

    // Variables whose fit or place has changed, or that are parents of such a one, since the last
    // call; with repetitions.
    std::vector<int> take_touched();

  private:
    ParentSets(const ParentSets& other, std::shared_ptr<const BicProblem> problem);

    template <class Visit>
    class Trial;
    class Move;
    class WayLeft;
    class WayRight;

    // The journey of v from its place to another, visiting places where a fit changes. Traveller
    // says what happens there; it returns false from arrive() to stop.
    template <class Traveller>
    void go_left(int v, int lowest, Traveller& traveller);
    template <class Traveller>
    void go_right(int v, int highest, Traveller& traveller);
    // Tries both journeys out: visit(place, change) returns false to end one.
    template <class Visit>
    void go_both_ways(int v, Visit visit);

    // v's fit after u has left its prefix, u's fit after v has joined it, and the reverse.
    // `limit` is the place below which candidates stand.
    void lose(ParentFit& fit, int candidate, int limit);
    void gain(ParentFit& fit, int candidate, int limit);
    bool wants(const ParentFit& fit, int candidate);
    bool wishes(int v, int candidate) const; // the same for the fit of v, from the index

    // Steps of exchange(). Other parents than those of `own_` are left in `other_`. Marked with 1
    // are v and its descendants, which stand after all others in the end.
    template <class ParentsOf>
    std::vector<std::int32_t> followers(std::vector<int>::const_iterator first,
                                        std::vector<int>::const_iterator end,
                                        ParentsOf parents_of) const;
    bool find_better(int v, const std::vector<std::int32_t>& follows, double least_gain);
    bool may_pair(int v) const; // whether chance has few pairs to offer
    bool find_pair(int v, const std::vector<std::int32_t>& follows, double least_gain, bool all);
    bool take_better(int v, const std::vector<std::int32_t>& follows, OrderedDag dag);
    bool is_permitted(const std::vector<int>& order) const;

    ParentFit& own_fit(int v) { return *fits_[v]; }
    void touch(const ParentFit& fit);
    void index(int v) { index_.update(context_, fit(v)); }
    void save(int v) { journal_.save(fit(v)); } // before it changes
    void refresh(ParentFit& fit);               // after its parents have changed
    void begin(const std::vector<int>& order);
    // All fits with the required parents, and those that fill(context, fit) adds.
    template <class Visit>
    void share(int threads, Visit visit) const;
    template <class Fill>
    void make_fits(int threads, Fill fill);
    bool may_widen(int v) const;
    bool widen(int v); // a step of renew()
    // Variables that a fit would want if they were candidates; whether they are all.
    struct Missed {
        std::vector<std::int32_t> variables;
        bool is_all = false;
    };
    Missed find_missed(FitContext& context, ParentFit& wide, const ParentFit& fit) const;
    void find_neighbours(const ParentFit& fit, std::vector<std::int32_t>& found) const;
    // Brings the fit of v up to date with its prefix, where that or its parents have changed.
    void refit(int v, bool has_changed);

    FitContext context_;
    OrderPlaces places_;
    CandidateLists lists_;
    std::vector<std::unique_ptr<ParentFit>> fits_;
    WishIndex index_;
    FitJournal journal_;
    double cost_ = 0.0;
    std::pair<int, int> pinned_{-1, -1};
    std::vector<std::vector<int>> checked_; // the parents for which renew() has nothing to add
    std::map<int, Missed> foreseen_;
    std::vector<int> touched_;
    bool walks_ = false; // from place to place, instead of leaping to where a fit changes

    std::unique_ptr<ParentFit> own_, other_;  // scratch of the scans
    std::unique_ptr<ParentFit> wide_;         // scratch of renew()
    std::vector<int> visits_, visits_of_own_; // the heaps of WayLeft and WayRight
};

} // namespace qwo
