// Who would take whom as a parent, and who has whom, as bits: from both sides, so that a variable
// on its way visits only the places where a fit would change.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwo/bit_matrix.hpp"
#include "qwo/parent_fit.hpp"

namespace qwo {

class WishIndex {
  public:
    explicit WishIndex(int n) : n_(n), wanted_by_(n, n), children_(n, n), parents_(n) {}

    // Room for fits that look at so many variables. What was known of wishes is lost, or kept.
    void resize(int most) { wants_ = BitMatrix(n_, most); }
    void widen(int most) {
        if (most > 64 * static_cast<int>(wants_.words()))
            wants_ = wants_.widened(most + most / 2);
    }

    // Bits of what a fit would take, by its numbers of variables. Candidates are all allowed; the
    // constraints are asked only where everyone is one.
    void find(FitContext& context, const ParentFit& fit, std::uint64_t* words) const {
        const Constraints& constraints = context.problem->constraints;
        fit.wanted(context,
                   fit.columns().all() ? constraints.allowed_parents(fit.child(), n_) : nullptr,
                   words);
    }
    const std::vector<std::uint64_t>& found(FitContext& context, const ParentFit& fit) {
        scratch_.assign(wants_.words(), 0);
        find(context, fit, scratch_.data());
        return scratch_;
    }

    // Takes up what a fit has and wants now.
    void update(FitContext& context, const ParentFit& fit) {
        const int u = fit.child();
        std::uint64_t* row = wants_.row(u);
        found(context, fit);
        for (std::size_t w = 0; w < wants_.words(); ++w) {
            for (std::uint64_t flips = row[w] ^ scratch_[w]; flips != 0; flips &= flips - 1) {
                const int number = static_cast<int>(w * 64) + std::countr_zero(flips);
                wanted_by_.flip(fit.columns().variable(number), u);
            }
            row[w] = scratch_[w];
        }
        std::vector<int>& known = parents_[u];
        for (int p : known)
            children_.clear(p, u);
        known = fit.parents();
        for (int p : known)
            children_.set(p, u);
    }
    // Takes the wishes of a fit back, before its columns change.
    void forget(const ParentFit& fit) {
        std::uint64_t* row = wants_.row(fit.child());
        for_each_bit(row, wants_.words(), [&](int number) {
            wanted_by_.clear(fit.columns().variable(number), fit.child());
        });
        std::fill_n(row, wants_.words(), 0);
    }

    std::size_t words() const { return wants_.words(); }
    const std::uint64_t* wants(int v) const { return wants_.row(v); } // by v's numbers
    bool wants(int v, int number) const { return wants_.test(v, number); }
    bool is_wanted(int v, int by) const { return wanted_by_.test(v, by); }
    bool is_parent(int v, int child) const { return children_.test(v, child); }
    template <class Visit>
    void for_each_wanting(int v, Visit visit) const {
        for_each_bit(wanted_by_.row(v), wanted_by_.words(), visit);
    }
    template <class Visit>
    void for_each_child(int v, Visit visit) const {
        for_each_bit(children_.row(v), children_.words(), visit);
    }

  private:
    int n_;
    BitMatrix wants_;     // (u, i): the fit of u would take its variable of number i
    BitMatrix wanted_by_; // (v, u): the fit of u would take v
    BitMatrix children_;  // (v, u): v is a parent of u
    std::vector<std::vector<int>> parents_; // as they are in `children_`
    std::vector<std::uint64_t> scratch_;
};

} // namespace qwo
