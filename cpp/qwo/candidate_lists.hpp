// The variables that each fit looks at: all, or a list of candidates, which may come in later.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "qwo/columns.hpp"
#include "qwo/problem.hpp"

namespace qwo {

class CandidateLists {
  public:
    using Lists = std::vector<std::vector<std::int32_t>>;
    using Shared = std::shared_ptr<const Columns>;

    // lists[v] has the candidates of v; everyone is one if there are no lists, and until narrow()
    // if all are at first. Given variables have none.
    CandidateLists(const BicProblem& problem, const Lists& lists, bool all_at_first)
        : any_(!lists.empty()),
          everyone_(std::make_shared<const Columns>(problem.n(), problem.blocks)) {
        for (int v = 0; v < problem.n(); ++v) {
            const Shared listed = lists.empty() ? everyone_ : columns_of(problem, v, lists[v]);
            const Shared alone = problem.is_given(v) ? columns_of(problem, v, {}) : nullptr;
            if (all_at_first)
                later_.push_back(alone ? alone : listed);
            present_.push_back(alone ? alone : all_at_first ? everyone_ : listed);
        }
    }

    const Columns& everyone() const { return *everyone_; }
    const Columns& of(int v) const { return *present_[v]; }
    // The same, but the list where it has not come in yet.
    const Columns& listed(int v) const { return *(waits() ? later_ : present_)[v]; }
    bool waits() const { return !later_.empty(); }
    bool any() const { return any_; } // but for those of given variables
    int longest() const {
        int most = 0;
        for (const Shared& own : present_)
            most = std::max(most, own->size());
        return most;
    }

    // v's list and others besides.
    Shared joined(const BicProblem& problem, int v, std::vector<std::int32_t> others) const {
        const Columns& own = listed(v);
        others.insert(others.end(), own.variables(), own.variables() + own.size());
        return columns_of(problem, v, std::move(others));
    }
    void put(int v, Shared columns) { present_[v] = std::move(columns); }
    // To be told that every list that waited has come in.
    void end_waiting() { later_.clear(); }

  private:
    bool any_;
    static Shared columns_of(const BicProblem& problem, int v,
                             std::vector<std::int32_t> variables) {
        variables.push_back(v);
        std::sort(variables.begin(), variables.end());
        variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
        return std::make_shared<const Columns>(std::move(variables), problem.blocks);
    }

    Shared everyone_;
    std::vector<Shared> present_, later_;
};

} // namespace qwo
