// The maximum spanning tree of how much variables depend on each other, and orders from its roots.
#pragma once

#include <vector>

namespace qwo {

using Tree = std::vector<std::vector<int>>; // the neighbours of each variable

// By Prim's algorithm, of the size of the entries of an n x n matrix whose rows are `stride` apart.
Tree spanning_tree(const double* strengths, int n, int stride);

// The variables of a tree from a root outwards, breadth first.
std::vector<int> tree_order(const Tree& tree, int root);

} // namespace qwo
