// The regression of one variable on its parents, each a single column, by residual arrays.
//
// For a child v with parents P the fit keeps, over the variables u that it looks at,
//     c[u] = cov(v, u | P)      and      s[u] = var(u | P),
// so that what u would add to the likelihood of v is read in O(1):
//     -N log(1 - c[u]^2 / (s[u] s[v])).
// They are all variables, or v and its candidates: only they can become parents. Behind them stands
// an orthonormal basis e_1 .. e_K of the span of the parents, with coefficients T_k of e_k on them.
// From those, beta_j = sum_k cov(e_k, v) T_k[j] and (S[P, P]^-1)_jj = sum_k T_k[j]^2, and dropping
// parent j would raise the residual variance by beta_j^2 / (S[P, P]^-1)_jj.
#pragma once

#include "qwo/basis.hpp"
#include "qwo/parent_fit.hpp"

namespace qwo {

class ColumnFit final : public ParentFit {
  public:
    std::unique_ptr<ParentFit> blank() const override { return std::make_unique<ColumnFit>(); }
    void start(const BicProblem& problem, const Columns& columns, int child) override;
    void assign(const ParentFit& other) override;
    void borrow(const ParentFit& other) override;

    std::vector<double> coefficients() const override;
    std::vector<double> residual_covariances() const override { return {residual_variance()}; }

    // Squared partial correlation of the child and u given the parents.
    double strength(FitContext& context, int u) const override;
    void wanted(FitContext& context, const std::uint8_t* allowed,
                std::uint64_t* words) const override;
    bool would_pay(FitContext& context, int u) const override {
        return strength(context, u) > moments_->worth_adding;
    }
    bool nearly_pays(FitContext& context, int u, double share) const override {
        return strength(context, u) > share * moments_->worth_adding;
    }
    bool is_full() const override { return size() >= moments_->max_parents; }
    void drop(FitContext& context, int index) override;

  private:
    double residual_variance() const { return s_[own_]; }
    void copy_arrays(const ColumnFit& other);
    void make_room();
    void add_at(FitContext& context, int index) override;
    int best_candidate(FitContext& context, const std::int32_t* place, std::int32_t limit,
                       const std::uint8_t* allowed) const override;
    int least_needed(FitContext& context) const override;
    void update_cost(FitContext& context) override;
    // The parent whose loss raises the residual variance least, and that loss; -1 if none may go.
    int weakest(FitContext& context, double& loss) const;

    Basis basis_;
    Array c_, s_;
};

} // namespace qwo
