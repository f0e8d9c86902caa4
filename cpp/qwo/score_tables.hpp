// Scores of all sets of candidate parents, and their sums, as tables of 2^K numbers per variable.
//
// Four tables: raw scores; `low`, summed over the subsets of the lower half of the bits only;
// `high`, over those of the upper half only; `full`, over all subsets:  full[U] = log sum_{P in U}
// s(P). With them, P is drawn from {P in U} in two steps of 2^(K/2) looks each, and the sum over
// the sets that contain a given parent takes 2^(K/2) without a difference of sums, which would
// cancel. Scores are relative to the best of their variable.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "qwo/family_score.hpp"
#include "qwo/parent_lists.hpp"
#include "qwo/random.hpp"

namespace qwo {

// Metropolis and Hastings: a move is made if its log ratio exceeds this. One number is drawn in any
// case: whether a ratio is exactly one, as it is for equivalent graphs, or less by rounding must
// not change what follows.
inline double least_log_ratio(Random& random) {
    return std::log(random.uniform());
}

class ScoreTables {
  public:
    // Log scores may be given, those of each variable by set of candidates, one after the other:
    // then the family score is that of what is outside the lists alone.
    ScoreTables(FamilyScore score, ParentLists lists, int threads = 1,
                std::vector<double> given = {});

    int n() const { return lists_.n(); }
    const ParentLists& lists() const { return lists_; }
    const FamilyScore& family() const { return score_; }
    std::size_t bytes() const { return 4 * starts_.back() * sizeof(double); }

    // The best score of v, to which the others are relative.
    double best(int v) const { return best_[v]; }
    double score(int v, ParentMask parents) const { return raw_[start(v) + parents]; }
    // log sum of the scores of all subsets
    double sum(int v, ParentMask allowed) const { return full_[start(v) + allowed]; }
    const double* sums(int v) const { return full_.data() + start(v); }
    // the same over the subsets that contain the candidate at a place, which is allowed
    double sum_with(int v, ParentMask allowed, int place) const;
    ParentMask all(int v) const { return (ParentMask{1} << lists_.size(v)) - 1; }
    // `sum_with` if all candidates are allowed, which no other sum exceeds
    double most_with(int v, int place) const { return most_with_[place_starts_[v] + place]; }

    ParentMask draw(int v, ParentMask allowed, Random& random) const;
    // One that contains the candidate at a place; `log_sum` is the `sum_with` of these.
    ParentMask draw_with(int v, ParentMask allowed, int place, double log_sum,
                         Random& random) const;

  private:
    std::size_t start(int v) const { return starts_[v]; }
    ParentMask lower_half(int v) const { return (ParentMask{1} << (lists_.size(v) / 2)) - 1; }
    void fill(int v);
    void sum_up(int v);

    FamilyScore score_;
    ParentLists lists_;
    std::vector<std::size_t> starts_, place_starts_;
    std::vector<double> raw_, low_, high_, full_, best_, most_with_;
};

} // namespace qwo
