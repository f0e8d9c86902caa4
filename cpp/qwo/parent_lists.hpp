// Which parents a variable may have in a posterior over DAGs, and which it has for certain.
//
// A set of candidate parents of v is a mask over v's list. Core parents are in every DAG and take
// no bit. `earlier` holds, for each variable, those that every order puts before it: its core
// parents, and what background knowledge asks for beyond edges.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "qwo/bit_matrix.hpp"
#include "qwo/index.hpp"

namespace qwo {

using ParentMask = std::uint32_t;

// Calls visit(b) for every bit of a mask, ascending.
template <class Visit>
void for_each_place(ParentMask mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1)
        visit(std::countr_zero(mask));
}

// The number of bits. A portable build has no instruction for it, and std::popcount calls a
// function.
inline int count_places(ParentMask mask) {
    mask -= (mask >> 1) & 0x55555555u;
    mask = (mask & 0x33333333u) + ((mask >> 2) & 0x33333333u);
    return static_cast<int>((((mask + (mask >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24);
}

class ParentLists {
  public:
    using Lists = std::vector<std::vector<int>>;

    ParentLists(Lists candidates, Lists core, const Lists& more_earlier)
        : candidates_(std::move(candidates)), core_(std::move(core)), earlier_(core_),
          places_(candidates_.size() * candidates_.size(), -1), places_in_(places_),
          precedes_(n(), n()) {
        for (int v = 0; v < n(); ++v) {
            for (int b = 0; b < size(v); ++b) {
                places_[at(v, candidate(v, b))] = static_cast<std::int8_t>(b);
                places_in_[at(candidate(v, b), v)] = static_cast<std::int8_t>(b);
            }
            for (const int u : this->core(v))
                precedes_.set(v, u);
            for (const int u : more_earlier[v]) {
                if (!precedes_.test(v, u)) {
                    precedes_.set(v, u);
                    earlier_[v].push_back(u);
                }
            }
        }
    }

    int n() const { return count_of(candidates_); }
    int size(int v) const { return count_of(candidates(v)); }
    int candidate(int v, int place) const { return candidates(v)[place]; }
    const std::vector<int>& candidates(int v) const { return candidates_[v]; }
    const std::vector<int>& core(int v) const { return core_[v]; }
    const std::vector<int>& earlier(int v) const { return earlier_[v]; }

    // The places of all variables in v's list, and of v in the lists of all: -1 for none.
    const std::int8_t* places(int v) const { return places_.data() + at(v, 0); }
    const std::int8_t* places_in(int v) const { return places_in_.data() + at(v, 0); }
    bool must_precede(int u, int v) const { return precedes_.test(v, u); }

    // Parents of v: those of the mask, then the core.
    void parents(int v, ParentMask mask, std::vector<int>& out) const {
        out.clear();
        for_each_place(mask, [&](int b) { out.push_back(candidate(v, b)); });
        out.insert(out.end(), core(v).begin(), core(v).end());
    }

    // The first of some graphs, rows of n masks, that has a cycle; `graphs` if none has.
    int first_cyclic(const ParentMask* masks, int graphs) const {
        std::vector<int> own, missing(n()), ready;
        Lists children(n());
        for (int graph = 0; graph < graphs; ++graph, masks += n()) {
            for (Lists::value_type& list : children)
                list.clear();
            for (int v = 0; v < n(); ++v) {
                parents(v, masks[v], own);
                own.insert(own.end(), earlier(v).begin(), earlier(v).end());
                for (const int u : own)
                    children[u].push_back(v);
                missing[v] = count_of(own);
                if (own.empty())
                    ready.push_back(v);
            }
            int placed = 0;
            for (; !ready.empty(); ++placed) {
                const int u = ready.back();
                ready.pop_back();
                for (const int v : children[u]) {
                    if (--missing[v] == 0)
                        ready.push_back(v);
                }
            }
            if (placed < n())
                return graph;
        }
        return graphs;
    }

  private:
    std::size_t at(int row, int column) const { return Index{row} * candidates_.size() + column; }

    Lists candidates_, core_, earlier_;
    std::vector<std::int8_t> places_, places_in_;
    BitMatrix precedes_; // row v: who must come before v
};

} // namespace qwo
