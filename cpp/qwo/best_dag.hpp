// The best DAG of a few variables, of all there are.
//
// Dynamic programming over sets (Silander and Myllymäki 2006): the last of the variables in a set
// has its best parents among the others, and those are in their best order. That takes 2^n numbers
// for each variable, and about as many logarithms.
#pragma once

#include <optional>

#include "qwo/equivalence.hpp"
#include "qwo/parent_sets.hpp"
#include "qwo/problem.hpp"

namespace qwo {

struct BestDag {
    OrderedDag dag;
    double cost = 0.0;
};

// For one set of moments, every variable a column, without constraints. Nothing if a variable is
// all but determined by the others: then rounding would decide.
std::optional<BestDag> best_dag(const MomentSet& moments);

// Goes over to the best of all DAGs if that is better; whether the present one is the best then.
// Nothing happens, and nobody can tell, where there are many variables, or anything but one set of
// moments says what a DAG costs: constraints, lists of candidates, blocks, a bound on parents.
// Marks must have ended.
bool take_best(ParentSets& sets);

} // namespace qwo
