// Graphs of marks: ancestral graphs (MAGs), and what all graphs of the same independences share
// (PAGs).
//
// Entry [i * n + j] is what the edge between i and j has at j: none, circle, arrowhead or tail.
// J. Zhang, On the completeness of orientation rules for causal discovery in the presence of latent
// confounders and selection bias, Artificial Intelligence 172 (2008). No selection bias here: rules
// 1 to 4 and 8 to 10.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

enum MarkCode : std::int8_t { no_edge = 0, circle = 1, arrowhead = 2, tail = 3 };

class MarkedGraph {
  public:
    explicit MarkedGraph(int n) : n_(n), marks_(Index{n} * n, no_edge) {}
    MarkedGraph(int n, const std::int8_t* marks) : n_(n), marks_(marks, marks + Index{n} * n) {}

    int size() const { return n_; }
    // The mark at j of the edge between i and j.
    std::int8_t at(int i, int j) const { return marks_[Index{i} * n_ + j]; }
    void set(int i, int j, std::int8_t mark) { marks_[Index{i} * n_ + j] = mark; }
    bool linked(int i, int j) const { return at(i, j) != no_edge; }
    bool directed(int i, int j) const { return at(i, j) == arrowhead && at(j, i) == tail; }
    const std::vector<std::int8_t>& marks() const { return marks_; }
    std::vector<std::vector<int>> neighbours() const;

    bool operator==(const MarkedGraph& other) const { return marks_ == other.marks_; }

  private:
    int n_;
    std::vector<std::int8_t> marks_;
};

// What is known of marks beforehand: which ends are no tails, and which are.
struct MarkLimits {
    std::vector<char> no_tail;  // [i * n + j]: if i and j are linked, the end at i is an arrowhead
    std::vector<char> required; // [i * n + j]: i -> j
    std::vector<char> clear;    // [i * n + j]: nothing hidden causes both i and j

    static bool said(const std::vector<char>& flags, int n, int i, int j) {
        return !flags.empty() && flags[Index{i} * n + j];
    }
};

// The MAG over the first `observed` vertices of a DAG; the others are hidden.
MarkedGraph mag_of_dag(const MarkedGraph& dag, int observed);

// Whether all edges are -> or <->, without directed and almost directed cycles, and every pair
// without an edge can be separated.
bool is_mag(const MarkedGraph& graph);

// Whether k on the path <l, .., i, k, j> that discriminates it is a collider.
using ColliderQuestion = std::function<bool(int l, int i, int k, int j)>;

// Zhang's rules until none applies. Circles become arrowheads and tails, in place.
void orient(MarkedGraph& graph, const ColliderQuestion& is_collider);

// The marks that all MAGs of the same independences share, circles elsewhere; with limits, those
// that follow from the limits by the rules are made, too.
MarkedGraph pag_of_mag(const MarkedGraph& mag, const MarkLimits& limits = {});

// A member of the class: o-> becomes ->, the o-o part an acyclic graph without new colliders.
MarkedGraph mag_of_pag(const MarkedGraph& pag);

// Whether a graph is the PAG of the member that `mag_of_pag` makes of it.
bool is_pag(const MarkedGraph& graph);

} // namespace qwo
