// What a search is about, as it comes from Python: moments, blocks, candidates, knowledge.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "checks.hpp"
#include "qwo/parent_sets.hpp"

namespace qwo::bindings {

using Lists = std::vector<std::vector<int>>;

// Lists one after the other; list v ends before ends[v].
using ListsIn = std::pair<OrderIn, OrderIn>;
Lists to_lists(const OrderIn& items, const OrderIn& ends);

// The same with one list of variables for each of n.
Lists checked_lists(const char* what, const OrderIn& items, const OrderIn& ends, int n);

// A set of moments: correlation matrix, N, price of an edge, most parents.
using MomentsIn = std::tuple<MatrixIn, double, double, Whole>;

// Sizes of the blocks of columns, how many of each lead, the price of an edge with so many
// parameters, and the most columns that the parents of a variable and all but one of its own may
// have; what edges cost less for being probable beforehand, by child and parent, or nothing.
using BlocksIn = std::tuple<OrderIn, OrderIn, std::vector<double>, Whole, std::vector<double>>;

ParentSets make_parent_sets(const std::vector<MomentsIn>& moments, const OrderIn& which,
                            const std::optional<MaskIn>& may_cause,
                            const std::optional<MaskIn>& precedes, Lists required,
                            const std::string& kernel, const OrderIn& candidates,
                            const OrderIn& ends, bool all_at_first, const BlocksIn& given_blocks,
                            const OrderIn& given);

// Refuse an engine that has no order yet, or marks, or not so many variables.
void check_ready(const ParentSets& sets);
void check_unmarked(const ParentSets& sets);
int checked_variable(const ParentSets& sets, Whole v);

} // namespace qwo::bindings
