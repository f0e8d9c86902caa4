// The surroundings of a variable in the best of all DAGs that the rest of the graph leaves open.
#pragma once

#include <vector>

#include "qwo/equivalence.hpp"
#include "qwo/parent_sets.hpp"

namespace qwo {

// In the member of the class that has a variable as a root, and it and its ancestors first, fits
// may find that the root pays as a parent. If not, those around it change their parents among each
// other for the best there are (`best_dag`): parents from elsewhere may leave them, none come in,
// and whoever is elsewhere keeps its own. Goes where that lowers the cost by more than rounding
// does; whether it does. `covered` counts for each variable in how many such surroundings it was.
// Single columns of one set of moments, no lists of candidates; marks must have ended.
bool take_best_around(ParentSets& sets, ClassMembers& members, int centre,
                      std::vector<int>& covered);

} // namespace qwo
