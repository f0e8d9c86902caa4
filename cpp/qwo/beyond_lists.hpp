// What lists of candidate parents leave out, measured on draws from within them; and what every DAG
// of the draws says about pairs of variables.
#pragma once

#include <cstdint>
#include <vector>

#include "qwo/score_tables.hpp"

namespace qwo {

// A matrix by rows: entry (w, v) concerns the edge w -> v.
using PairValues = std::vector<double>;

// For w outside v's list, means over the draws of
//     ratios:  p(G with w -> v) / p(G), or 1 if that is less, where that is a DAG: the mass of the
//              DAGs with this one edge from outside, per mass inside;
//     near:    r / (1 + r), where r is that ratio, or that of turning v -> w round.
// Pairs whose entry in `possible` is 0 are left out.
void ratios_outside(const ScoreTables& tables, const ParentMask* masks, std::size_t draws,
                    const std::uint8_t* possible, PairValues& ratios, PairValues& near);

// For each core edge e, the mean of max(p(G without e), p(G with e turned round)) / p(G).
void ratios_of_core(const ScoreTables& tables, const ParentMask* masks, std::size_t draws,
                    PairValues& ratios);

// How many draws have a directed path from i to j, and j in the Markov blanket of i.
void count_relations(const ParentLists& lists, const ParentMask* masks, std::size_t draws,
                     PairValues& paths, PairValues& blankets);

// How many draws have a class with i -> j, and with an undirected edge between i and j.
void count_classes(const ParentLists& lists, const ParentMask* masks, std::size_t draws,
                   PairValues& directed, PairValues& undirected);

} // namespace qwo
