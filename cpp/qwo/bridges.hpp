// The best directions of all edges that lie on no cycle of the skeleton.
#pragma once

#include "qwo/parent_sets.hpp"

namespace qwo {

// Whatever their directions, such edges close no directed cycle; so they are chosen by dynamic
// programming from the leaves of the trees that they form, while all other edges stay as they are.
// A variable has at most three of them as parents, fewer at hubs. Goes there if that lowers the
// cost by more than rounding does; whether it does. Marks must have ended.
bool direct_bridges(ParentSets& sets);

} // namespace qwo
