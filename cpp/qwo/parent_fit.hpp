// The regression of one variable on its parents, by residual arrays.
//
// For a child v with parents P the fit keeps, over the variables u of its columns,
//     c[u] = cov(v, u | P)      and      s[u] = var(u | P),
// so that what u would add to the likelihood of v is read in O(1):
//     -N log(1 - c[u]^2 / (s[u] s[v])).
// The columns are all variables, or v and its candidates: only they can become parents. Behind them
// stands an orthonormal basis e_1 .. e_K of the span of the parents: row k holds cov(e_k, u) for
// the same u, followed by the coefficients T_k of e_k on the parents. From those, beta_j = sum_k
// cov(e_k, v) T_k[j] and (S[P, P]^-1)_jj = sum_k T_k[j]^2, and dropping parent j would raise the
// residual variance by beta_j^2 / (S[P, P]^-1)_jj. Adding a parent appends its normalised residual
// to the basis; dropping one turns the basis, by a Householder reflection, until the residual of
// that parent is its last vector, and takes it off. Either costs O(K) for each column, and every
// number in the rows is a correlation, so that rounding errors stay of the size of the machine's
// precision however collinear the parents are.
#pragma once

#include <cstdint>
#include <vector>

#include "qwo/columns.hpp"
#include "qwo/fit_context.hpp"
#include "qwo/matrix.hpp"

namespace qwo {

class ParentFit {
  public:
    ParentFit() = default;
    // The fit without parents. The columns, which must include the child, outlive the fit.
    ParentFit(const BicProblem& problem, const Columns& columns, int child);

    ParentFit(const ParentFit& other) { assign(other); }
    ParentFit(ParentFit&& other) noexcept = default;
    ParentFit& operator=(const ParentFit& other) {
        assign(other);
        return *this;
    }
    ParentFit& operator=(ParentFit&& other) noexcept = default;

    // Takes over another fit; reuses the storage that is already there.
    void assign(const ParentFit& other);

    // The same for a fit that is only tried out: rows of the basis are shared with the other, which
    // must stay as it is, until they change.
    void borrow(const ParentFit& other);

    int child() const { return child_; }
    const Columns& columns() const { return *columns_; }
    const std::vector<int>& parents() const { return parents_; }
    std::vector<double> coefficients() const; // of the parents, in their order
    double residual_variance() const { return s_[static_cast<std::size_t>(own_)]; }
    int index_of(int parent) const; // -1 if it is none
    // -2 log-likelihood (up to a constant) plus the penalty of the parents, after grow_shrink.
    double cost() const { return cost_; }
    // Squared partial correlation of the child and u given the parents; 0 for one that the parents
    // determine, and for one that is no candidate.
    double gain_r2(int u) const;

    // Bit i of `words` says whether the variable of column i would pay for itself as a parent, as
    // gain_r2 has it; none does if the fit is full.
    void wanted(const std::uint8_t* allowed, std::uint64_t* words) const;
    // Whether u would pay for itself, as far as the moments say.
    bool would_pay(int u) const { return gain_r2(u) > moments_->worth_adding; }
    bool is_full() const { return size() >= moments_->max_parents; }

    void add(FitContext& context, int parent);
    void drop(FitContext& context, int index);

    // Puts in the parents that the constraints require, which are never dropped.
    void add_required(FitContext& context);

    // Grow and shrink by single parents until neither lowers the cost. Candidates are the
    // variables with place[u] < limit that the constraints allow; required parents stay.
    void grow_shrink(FitContext& context, const std::int32_t* place, std::int32_t limit);

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

  private:
    int size() const { return static_cast<int>(parents_.size()); }
    // A row of the basis: `width_` covariances, then the coefficients on the parents. Those of
    // parents that joined after the row was made are zero and not stored: see `lengths_`.
    const double* row(int k) const { return rows_[static_cast<std::size_t>(k)]; }
    double coefficient(int k, int j) const {
        return j < lengths_[static_cast<std::size_t>(k)] ? row(k)[width_ + j] : 0.0;
    }
    // Where this fit may write row k.
    double* place_for(int k) {
        return basis_.data() + static_cast<std::size_t>(k) * (width_ + capacity_);
    }
    void start(const BicProblem& problem, const Columns& columns, int child);
    void set_width(int width);
    // The correlations of a variable with those of the columns, zero from there to `width_`.
    const double* correlations(FitContext& context, int variable) const;
    void add_column(FitContext& context, int column);
    double* own_direction(FitContext& context, int index) const; // a step of drop()
    void reserve(int size);
    void copy_head(const ParentFit& other);
    void update_cost();
    // The parent whose loss raises the residual variance least, and that loss; -1 if none may go.
    int weakest(FitContext& context, double& loss) const;

    const MomentSet* moments_ = nullptr; // those of the child
    const Columns* columns_ = nullptr;
    int child_ = -1;
    int own_ = -1;       // the column of the child
    int n_required_ = 0; // required parents come first
    int width_ = 0;
    int capacity_ = 0; // rows that `basis_` has room for
    double cost_ = 0.0;
    std::vector<int> parents_;
    std::vector<const double*> rows_;
    std::vector<int> lengths_;
    Array c_, s_, basis_;
};

} // namespace qwo
