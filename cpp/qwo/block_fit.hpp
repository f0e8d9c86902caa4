// The regression of one variable on its parents where variables own blocks of columns: a nominal
// one with k + 1 levels has k (the degenerate Gaussian of Andrews, Ramsey and Cooper 2019), and the
// basis of a curve as many as it has functions. The child is explained in its k_v leading columns.
//
// Columns have unit covariance within each block to begin with, so that floors need no units. For a
// child v with parents P the fit keeps, over the variables u that it looks at,
//     C = cov(V, U | P), k_v rows over all columns,      and      S_u = cov(U | P),
// the latter by its diagonals: band d holds cov(i, i + d | P) for the columns i. With
// Sigma = S_v, what u adds to the likelihood is
//     N (log det Sigma - log det(Sigma - C S_u^-1 C^T)).
// The trace t of Sigma^-1 C S_u^-1 C^T bounds it from above, by -N log(1 - t), and most candidates
// are refused by a bound of t that takes no inverse: S_u never exceeds the identity, and so its
// least eigenvalue is at least tr S_u - (k_u - 1).
//
// Behind that stands one basis of all columns of the parents (see Basis). Directions of a parent
// that the others determine are left out of it, and may come back when one of those leaves: then
// the fit starts again from the parents that are left.
#pragma once

#include "qwo/basis.hpp"
#include "qwo/index.hpp"
#include "qwo/parent_fit.hpp"

namespace qwo {

class BlockFit final : public ParentFit {
  public:
    std::unique_ptr<ParentFit> blank() const override { return std::make_unique<BlockFit>(); }
    void start(const BicProblem& problem, const Columns& columns, int child) override;
    void assign(const ParentFit& other) override;
    void borrow(const ParentFit& other) override;

    std::vector<double> coefficients() const override;
    std::vector<double> residual_covariances() const override;

    // What u would lower the cost by.
    double strength(FitContext& context, int u) const override;
    void wanted(FitContext& context, const std::uint8_t* allowed,
                std::uint64_t* words) const override;
    bool would_pay(FitContext& context, int u) const override;
    bool nearly_pays(FitContext&, int, double) const override { return true; }
    bool is_full() const override { return !has_room(1); }
    void drop(FitContext& context, int index) override;

  private:
    // Rows y of k_v numbers whose products sum up to a change of Sigma.
    struct Change {
        int rows;
        double sign;
    };

    double* c(int row) { return c_.data() + Index{row * basis_.width()}; }
    const double* c(int row) const { return c_.data() + Index{row * basis_.width()}; }
    // So that band(d)[i] belongs to the columns i and i + d; it may begin at a later i than 0.
    double* band(int d) { return s_.data() + (columns_->band(d).offset - columns_->band(d).first); }
    const double* band(int d) const {
        return s_.data() + (columns_->band(d).offset - columns_->band(d).first);
    }
    bool has_room(int columns) const {
        return size() < moments_->max_parents &&
               n_columns_ + columns + k_ - 1 <= moments_->max_columns;
    }
    BlockPrice price(int index) const {
        return moments_->price(columns_->block_size(index) * k_, columns_->variable(index), child_,
                               n_variables_);
    }

    void make_room();
    void copy_arrays(const BlockFit& other);
    void add_at(FitContext& context, int index) override;
    int best_candidate(FitContext& context, const std::int32_t* place, std::int32_t limit,
                       const std::uint8_t* allowed) const override;
    int least_needed(FitContext& context) const override;
    void update_cost(FitContext& context) override;

    // Adds (+1) or takes away (-1) what a direction explains; its row is scaled on the way.
    void sweep(FitContext& context, double* row, double scale, double sign);
    void read_own();
    void copy_own(std::vector<double>& out) const;
    int member(int column) const; // its number in the basis, -1 if it was left out

    // Whether `context` has what refuses() needs.
    bool prepare(FitContext& context) const;
    bool refuses(const FitContext& context, int index) const;
    // What the variable of a number would lower the cost by; not above 0 if that does not pay.
    double worth(FitContext& context, int index) const;
    // What the loss of a parent would raise it by, or a bound above 0 from below.
    double need(FitContext& context, int index) const;
    // The rows, in `context.cross`, that a candidate takes off Sigma; how many.
    int explain(FitContext& context, int index) const;
    double whiten(FitContext& context, int rows) const; // their squares in units of Sigma
    double change_of_log_det(FitContext& context, Change change) const;
    double log_det_without(FitContext& context, int index) const;

    int n_variables_ = 0; // of the problem
    int k_ = 0;           // leading columns of the child,
    int own_first_ = 0;   // and the first of them
    int n_columns_ = 0;   // of the parents,
    int hidden_ = 0;      // and those of them that the basis does without
    bool sound_ = true;   // no direction of the child is nearly determined
    Basis basis_;
    std::vector<int> members_;       // the columns of the basis
    std::vector<double> own_factor_; // Cholesky's, of Sigma, if it is sound
    Array c_, s_;
};

} // namespace qwo
