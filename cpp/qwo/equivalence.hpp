// Members of the Markov equivalence class of a DAG.
//
// An edge that points the same way in all members is compelled. The other edges fall into chordal
// pieces; each may be directed anew by itself, with any of its variables as the root, by maximum
// cardinality search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace qwo {

// A DAG and a topological order of it.
struct OrderedDag {
    std::vector<int> order;
    std::vector<std::vector<int>> parents;
    // By variable, whether it is given, so that its arrows are known; empty if none is.
    std::vector<char> given = {};
};

// What a member has to keep to; nothing by default.
struct MemberRules {
    // Whether the edge parent -> child may stand where there is child -> parent now.
    std::function<bool(int child, int parent)> may_turn;
    // (*precedes)[a * n + b] is not 0 where a must stand before b.
    const std::vector<std::uint8_t>* precedes = nullptr;
};

// By variable, whether its neighbours or its colliders are not the same in two DAGs: where none
// differ, the class is one.
std::vector<char> differing_variables(const OrderedDag& first, const OrderedDag& second);

class EdgeLabels;

// A DAG, and other members of its class.
class ClassMembers {
  public:
    explicit ClassMembers(OrderedDag dag);
    ~ClassMembers();
    ClassMembers(const ClassMembers&) = delete;
    ClassMembers& operator=(const ClassMembers&) = delete;

    const OrderedDag& dag() const { return dag_; }
    // For each variable and each of its parents whether the edge is compelled (Chickering 1995).
    const std::vector<std::vector<char>>& compelled() const { return compelled_; }

    // The member in which `root` is the root of its piece, and a neighbour of it there the second,
    // if one is given. Other pieces stay as they are, and so does the order as far as it can. False
    // if the rules forbid it. Takes time in proportion to the stretch of the order that the piece
    // lies in, but for a copy of the DAG.
    bool with_root(int root, const MemberRules& rules, OrderedDag& member, int second = -1);

    // The member whose pieces have the roots, and whose order has the variables, that `places` puts
    // first. A piece that may not be turned stays as it is. False if the rules leave no order.
    bool nearest(const std::vector<int>& places, const MemberRules& rules, OrderedDag& member);

  private:
    class Pieces;
    struct Scratch;

    OrderedDag dag_;
    std::vector<int> places_;
    std::vector<std::vector<char>> compelled_;
    std::unique_ptr<Scratch> scratch_;
};

// The class of a DAG that differs from a known one in the parents of few variables: what is the
// same is not labelled again.
class NearbyClass {
  public:
    explicit NearbyClass(const ClassMembers& known);
    ~NearbyClass();

    // Goes back to the known DAG.
    void begin();
    void change(int v, const std::vector<int>& parents);
    int more() const { return more_; } // edges than the known one has
    // Labels the edges, where an order of the DAG is given.
    void label(const std::vector<int>& order);
    // The variables whose edges from parents may be labelled otherwise than before.
    const std::vector<int>& labelled() const { return labelled_; }
    // Whether an edge that there was is a line now, or points the other way.
    bool is_open_or_turned(int from, int to) const;

  private:
    const ClassMembers& known_;
    std::vector<std::vector<int>> parents_;
    std::vector<std::vector<char>> compelled_;
    std::vector<char> changed_, unlike_; // parents; parents or labels
    std::vector<int> places_, labelled_;
    int more_ = 0;
    std::unique_ptr<EdgeLabels> labels_;
};

// The class of a DAG as a matrix, row by row: 1 for i -> j, 2 in both places for an undirected
// edge.
std::vector<std::int8_t> class_matrix(const OrderedDag& dag);

// The topological order that comes nearest to `places`; false if there is none.
bool sort_topologically(const std::vector<std::vector<int>>& parents,
                        const std::vector<int>& places, const MemberRules& rules,
                        std::vector<int>& order);

} // namespace qwo
