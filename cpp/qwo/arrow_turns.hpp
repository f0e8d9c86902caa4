// What the arrows of an equivalence class are worth: the cost of turning each, all else found anew
// near by.
//
// An arrow x -> y that all members of the class share is turned in the member in which x is the
// root of its undirected piece: y and its ancestors move before x, y is kept there, and what that
// has touched descends. The class of the graph that this leads to says which other arrows are
// turned or open there, too: each graph found bounds the worth of all of them from above, and at
// the far end of a stretch an arrow is worth what the cheapest way costs to undo what directs it.
// Classes differ in few places, and only there, and downstream, are edges labelled anew.
#pragma once

#include <vector>

#include "qwo/parent_sets.hpp"

namespace qwo {

struct ClassEdge {
    int from, to;
    bool compelled;
};

// The graph that turning an arrow leads to.
struct ArrowTurn {
    int edge;              // the arrow, among the edges of the class
    double lost;           // what the graph costs more; infinite if the constraints forbid it
    int more;              // edges that it has more
    std::vector<int> gone; // arrows of the class that it has as lines or the other way round,
                           // ascending; none if too much is lost
};

// Two edges that meet, whose other ends are not joined; none of the three variables is given.
struct OpenTriple {
    int centre, one, other;
};

struct ArrowTurns {
    std::vector<ClassEdge> edges;
    std::vector<ArrowTurn> turns;
    std::vector<OpenTriple> open;
    int met = 0, closed = 0; // pairs of edges that meet, and whose other ends are joined
};

// Turns the first `most` compelled edges of the present class one by one, causes first, and looks
// at the class of what costs up to `limit` more. The engine stays as it is.
ArrowTurns turn_arrows(ParentSets& engine, double limit, int most);

} // namespace qwo
