// Members of the Markov equivalence class of a DAG.
//
// An edge that points the same way in all members is compelled. The other edges fall into chordal
// pieces; each may be directed anew by itself, with any of its variables as the root, by maximum
// cardinality search.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace qwo {

// A DAG and a topological order of it.
struct OrderedDag {
    std::vector<int> order;
    std::vector<std::vector<int>> parents;
};

// What a member has to keep to; nothing by default.
struct MemberRules {
    // Whether the edge parent -> child may stand where there is child -> parent now.
    std::function<bool(int child, int parent)> may_turn;
    // (*precedes)[a * n + b] is not 0 where a must stand before b.
    const std::vector<std::uint8_t>* precedes = nullptr;
};

// For each variable and each of its parents whether the edge is compelled (Chickering 1995).
std::vector<std::vector<char>> compelled_edges(const OrderedDag& dag);

// The member in which `root` is the root of its piece. Other pieces stay as they are, and so does
// the order as far as it can. False if the rules forbid it.
bool member_with_root(const OrderedDag& dag, const std::vector<std::vector<char>>& compelled,
                      int root, const MemberRules& rules, OrderedDag& member);

// The member whose pieces have the roots, and whose order has the variables, that `places` puts
// first. A piece that may not be turned stays as it is. False if the rules leave no order.
bool nearest_member(const OrderedDag& dag, const std::vector<int>& places, const MemberRules& rules,
                    OrderedDag& member);

// The topological order that comes nearest to `places`; false if there is none.
bool sort_topologically(const std::vector<std::vector<int>>& parents,
                        const std::vector<int>& places, const MemberRules& rules,
                        std::vector<int>& order);

} // namespace qwo
