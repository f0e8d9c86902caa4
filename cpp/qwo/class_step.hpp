// Steps that keep to the equivalence class of the present DAG, or mix it with another one.
#pragma once

#include <vector>

#include "qwo/equivalence.hpp"
#include "qwo/parent_sets.hpp"

namespace qwo {

// What the constraints and the lists of candidates ask of members of a class. For as long as the
// engine lives.
MemberRules rules_of(const ParentSets& sets);

// The order nearest to a given one that the constraints allow.
std::vector<int> permitted_order(const ParentSets& sets, const std::vector<int>& order);

// Goes to the member of the class in which a variable is the root of its undirected piece. By
// itself this costs nothing; but in their new prefixes fits may find parents that pay, so that the
// cost stays, up to rounding, or falls. False, and nothing has happened, if the constraints or the
// candidates forbid it.
bool reroot(ParentSets& sets, int root);

// y and those of its ancestors that stand after x move, in their order, before x (the tuck of
// GRaSP). Constraints are kept: a move is cut short where they forbid it.
void tuck(ParentSets& sets, int x, int y);

// Partition crossover (Whitley, Hains and Howe 2009, for tours): where the parents of the present
// DAG differ from those of another one, in the member of its class that is nearest to the present
// order if all members cost the same, the variables fall into connected pieces. Each piece that is
// better by more than `least_gain` and leaves the graph acyclic is taken over. Whether there was
// any.
bool cross(ParentSets& sets, const OrderedDag& other, double least_gain);

// Where two DAGs differ: in neighbours or colliders, or in parents where members of a class do not
// cost the same.
std::vector<char> unlike_in(const ParentSets& sets, const OrderedDag& first,
                            const OrderedDag& second);

} // namespace qwo
