// The exact BIC engine: for an order, every variable's parent set by grow-shrink in its prefix.
//
// A variable's fit depends only on the set of variables before it. Moving v over its neighbour u
// therefore touches two fits at most, and most of the time none: u is asked in O(1) whether v would
// help it (or whether v is its parent), v is asked the same about u. Only a "yes" costs a refit.
// The answers are kept as bits, by the variable that is asked about, so that a scan reads one row
// of bits and not one entry of every fit. Fits start from the parents they had (warm start), so the
// parent sets depend on the path; each is at all times a set that no single addition or removal
// improves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "qwo/bit_matrix.hpp"
#include "qwo/parent_fit.hpp"

namespace qwo {

struct Insertion {
    int place;
    double change; // of the total cost; negative is better
};

class ParentSets {
  public:
    ParentSets(std::shared_ptr<const BicProblem> problem, const Kernels& kernels);
    // The same state without its marks.
    ParentSets(const ParentSets& other);

    // Forgets everything, marks included, and fits every variable in its prefix.
    void reset(const std::vector<int>& order);

    int n() const { return problem_->n(); }
    const BicProblem& problem() const { return *problem_; }
    double cost() const { return cost_; }
    const std::vector<int>& order() const { return order_; }
    int place(int v) const { return place_[static_cast<std::size_t>(v)]; }
    const ParentFit& fit(int v) const { return fits_[static_cast<std::size_t>(v)]; }

    // The places that the constraints leave for v while all others stay: lowest and highest.
    std::pair<int, int> permitted(int v) const;

    void move(int v, int place);

    // The change of the total cost for every place of v; infinite outside the permitted places.
    void scan(int v, double* changes);

    // The best place of v. A direction is given up once its change exceeds `give_up`.
    Insertion best_insertion(int v, double give_up);

    // Marks nest. undo(m) restores the state at the mark, release(m) keeps the present one; either
    // ends the mark m and all after it.
    std::size_t mark();
    void undo(std::size_t mark);
    void release(std::size_t mark);

    // Variables whose fit or place has changed, or that are parents of such a one, since the last
    // call; with repetitions.
    std::vector<int> take_touched();

  private:
    struct Mark {
        std::uint64_t id;
        std::size_t journal_size;
        double cost;
        std::vector<int> order;
    };

    template <class Visit>
    void scan_left(int v, int lowest, Visit visit);
    template <class Visit>
    void scan_right(int v, int highest, Visit visit);

    // v's fit after u has left its prefix, u's fit after v has joined it, and the reverse.
    // `limit` is the place below which candidates stand. Each says whether the fit has changed.
    bool lose(ParentFit& fit, int candidate, int limit);
    bool gain(ParentFit& fit, int candidate, int limit);
    bool wants(const ParentFit& fit, int candidate) const;

    void touch(const ParentFit& fit);
    void index(int u); // brings the bits up to date with the fit of u
    void save(int v);
    void set_order(const std::vector<int>& order);

    std::shared_ptr<const BicProblem> problem_;
    const Kernels* kernels_;
    FitWorkspace work_;
    std::vector<int> order_;
    std::vector<std::int32_t> place_;
    std::vector<ParentFit> fits_;
    double cost_ = 0.0;
    BitMatrix wants_;     // (u, v): the fit of u would take v as a parent
    BitMatrix wanted_by_; // (v, u): the same, transposed
    BitMatrix children_;  // (v, u): v is a parent of u
    std::vector<std::vector<int>> indexed_parents_;
    std::vector<std::uint64_t> fit_wants_; // scratch of index()

    ParentFit own_, other_; // scratch of the scans
    std::vector<int> touched_;
    std::vector<Mark> marks_;
    std::vector<ParentFit> journal_, spare_;
    std::vector<std::uint64_t> saved_in_;
    std::uint64_t next_mark_ = 1;
};

} // namespace qwo
