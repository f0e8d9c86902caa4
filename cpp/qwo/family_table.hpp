// All parent sets of a variable that can be in a best DAG, by branch and bound.
//
// A set that costs no less than one of its subsets is in none; sets that are beaten in ways that
// were not seen may be listed all the same. Candidates are decided one after the other, "out"
// before "in", always the one that explains the most beside all that are undecided: where a true
// parent is out, what stands in for it comes next, and noise comes last, when nothing pays any
// more. At a node two residual variances are at hand, given the set so far and given all that is
// undecided as well; each decision is one pivot of one of the two matrices, O(m²). Nothing beyond
// is looked at where no one and no two of the undecided pay, nor all of them together the price of
// three edges.
#pragma once

#include <cstdint>
#include <vector>

namespace qwo {

using WideSet = std::uint64_t; // of up to 64 variables

struct FamilyTable {
    std::vector<WideSet> sets;
    std::vector<double> costs; // N log var(v | set) + price · size
    bool is_complete = true;
};

struct TableLimits {
    int most_parents = 64;
    std::int64_t most_nodes = 0;
};

// Required parents are in every set. Incomplete where there would be more nodes than the limit, or
// where a variable is all but determined by others.
FamilyTable family_table(const std::vector<double>& correlation, int n, int variable,
                         const std::vector<int>& candidates, const std::vector<int>& required,
                         double samples, double price, const TableLimits& limits);

} // namespace qwo
