// The best DAG of a few variables, of all there are.
//
// Dynamic programming over sets (Silander and Myllymäki 2006): the last of the variables in a set
// has its best parents among the others, and those are in their best order. What a variable costs
// with each set of parents comes from the determinants of all sets, by one elimination that they
// share: var(v | P) = det(P + v) / det(P), for blocks of columns as for single ones; where children
// are explained in leading columns alone, each has an elimination of its own. All of it is done
// with exp(cost / N), so that it takes no logarithms, in 4 (n + 4) 2^n bytes.
#pragma once

#include <optional>

#include "qwo/equivalence.hpp"
#include "qwo/parent_sets.hpp"
#include "qwo/policy.hpp"
#include "qwo/problem.hpp"

namespace qwo {

inline constexpr int most_proved = 30; // variables whose sets can be numbered

struct BestDag {
    OrderedDag dag;
    double cost = 0.0;
};

// Among the DAGs that the constraints allow, with no more parents than the moments do. Of DAGs that
// cost the same up to a billionth of an edge the one with the fewest edges, then with the largest
// sum of squared correlations along them: nothing depends on the order of columns, unless
// exchanging columns leaves the moments as they are. Of equals it is the present one. Nothing if a
// variable is all but determined by others: then rounding would decide.
std::optional<BestDag> best_dag(const BicProblem& problem, const OrderedDag& present);

// Goes over to the best of all DAGs; whether the present one is the best then. Nothing happens, and
// nobody can tell, where there are more variables than `most` or lists of candidates, or where a
// variable is all but determined by others. Marks must have ended.
bool take_best(ParentSets& sets, int most = policy::proved_up_to);

} // namespace qwo
