// The regression of one variable on its parents.
//
// What variables look like is left to those who derive from this: single columns (ColumnFit), or
// blocks of them (BlockFit). Here is what both do with them: grow and shrink, start again, and the
// parents themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "qwo/columns.hpp"
#include "qwo/fit_context.hpp"
#include "qwo/index.hpp"

namespace qwo {

class ParentFit {
  public:
    virtual ~ParentFit() = default;
    ParentFit& operator=(const ParentFit&) = delete;

    // Another fit of the same kind, of nothing yet.
    virtual std::unique_ptr<ParentFit> blank() const = 0;
    // The fit without parents. The columns, which must include the child, outlive the fit.
    virtual void start(const BicProblem& problem, const Columns& columns, int child) = 0;
    // Takes over another fit of the same kind; reuses the storage that is already there.
    virtual void assign(const ParentFit& other) = 0;
    // The same for a fit that is only tried out: it shares with the other, which must stay as it
    // is, what does not change.
    virtual void borrow(const ParentFit& other) = 0;

    // Makes it a fit of another problem, which differs in its constraints alone.
    void belong_to(const BicProblem& problem) { moments_ = &problem.moments_of(child_); }

    int child() const { return child_; }
    const Columns& columns() const { return *columns_; }
    const std::vector<int>& parents() const { return parents_; }
    int index_of(int parent) const;                          // -1 if it is none
    bool has_parents(const std::vector<int>& parents) const; // these and no others, in any order
    // -2 log-likelihood (up to a constant) plus the price of the parents, after grow_shrink.
    double cost() const { return cost_; }

    // Coefficients of the columns of the parents, in their order, for each column of the child.
    virtual std::vector<double> coefficients() const = 0;
    // Covariances of the columns of the child given the parents, row by row.
    virtual std::vector<double> residual_covariances() const = 0;

    // What u would explain of the child, to compare candidates by: 0 for one that the parents
    // determine, and for one that is no candidate.
    virtual double strength(FitContext& context, int u) const = 0;
    // Bit i of `words` says whether the variable of number i would pay for itself as a parent, as
    // would_pay has it; none does if the fit is full.
    virtual void wanted(FitContext& context, const std::uint8_t* allowed,
                        std::uint64_t* words) const = 0;
    // Whether u would pay for itself, as far as the moments say.
    virtual bool would_pay(FitContext& context, int u) const = 0;
    // Whether u is worth such a share of its price; true if that takes long to tell.
    virtual bool nearly_pays(FitContext& context, int u, double share) const = 0;
    virtual bool is_full() const = 0;
    int n_required() const { return n_required_; } // parents, which come first

    void add(FitContext& context, int parent) { add_at(context, columns_->find(parent)); }
    // Takes out the parent of a number, which the last one gets: their order carries no meaning,
    // except that the required ones come first.
    virtual void drop(FitContext& context, int index) = 0;

    // Puts in the parents that the constraints require, which are never dropped.
    void add_required(FitContext& context);

    // Grow and shrink by single parents until neither lowers the cost. Candidates are the
    // variables with place[u] < limit that the constraints allow; required parents stay.
    void grow_shrink(FitContext& context, const std::int32_t* place, std::int32_t limit);

    // Takes in a candidate that does not pay by itself, and grows and shrinks if others pay beside
    // it; whether one does. If not, the fit is left with a parent too many.
    bool grow_around(FitContext& context, int parent, const std::int32_t* place,
                     std::int32_t limit);

    // Recomputes everything but the choice of parents from the correlation matrix.
    void refresh(FitContext& context);

    // The same with other parents, which are in the columns and among which the required ones come
    // first.
    void take(FitContext& context, const std::vector<int>& parents);

    // The regression of another fit of the same child, over other columns, computed anew. They must
    // include its parents.
    void rebuild(FitContext& context, const ParentFit& other, const Columns& columns);

    // Below this conditional variance (in units of the variance) a variable counts as determined.
    static constexpr double determined = 1e-12;

  protected:
    ParentFit() = default;
    ParentFit(const ParentFit&) = default;

    int size() const { return count_of(parents_); }
    void start_head(const BicProblem& problem, const Columns& columns, int child);
    void copy_head(const ParentFit& other);
    // The correlations of a column of the problem with those of this fit, zero from there on.
    const double* correlations(FitContext& context, int column) const;
    // Places by number in the columns, and what the constraints allow, if they must be asked.
    struct Candidates {
        const std::int32_t* place;
        const std::uint8_t* allowed;
    };
    Candidates candidates(FitContext& context, const std::int32_t* place) const;

    virtual void add_at(FitContext& context, int index) = 0; // the variable of a number
    // The number of the candidate that is worth most, -1 if none pays or there is no room.
    virtual int best_candidate(FitContext& context, const std::int32_t* place, std::int32_t limit,
                               const std::uint8_t* allowed) const = 0;
    // The index of the parent that is worth least, if it does not pay; -1 if all do.
    virtual int least_needed(FitContext& context) const = 0;
    virtual void update_cost(FitContext& context) = 0;

    const MomentSet* moments_ = nullptr; // those of the child
    const Columns* columns_ = nullptr;
    int child_ = -1;
    int own_ = -1;       // the number of the child among the variables
    int n_required_ = 0; // required parents come first
    double cost_ = 0.0;
    std::vector<int> parents_;
};

// A fit of the kind that a problem takes.
std::unique_ptr<ParentFit> make_fit(const BicProblem& problem);

} // namespace qwo
