#include "qwo/best_dag.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "qwo/schur_table.hpp"

namespace qwo {

namespace {

constexpr double kLeastVariance = 1e-9;

// Up to so many variables all DAGs are gone through, which takes less time than restarts.
constexpr int proved_up_to = 12;

bool can_be_proved(const ParentSets& sets) {
    const BicProblem& problem = sets.problem();
    const Constraints& constraints = problem.constraints;
    return sets.n() <= proved_up_to && !sets.has_lists() && problem.sets.size() == 1 &&
           problem.blocks.empty() && problem.n_given == 0 && constraints.may_cause.empty() &&
           constraints.precedes.empty() && constraints.required.empty() &&
           problem.sets.front().variances.empty() &&
           problem.sets.front().max_parents >= sets.n() - 1;
}

using Set = std::uint32_t; // of variables, or of all but one: then those above it are a bit lower

Set without(Set set, int v) {
    const Set below = (Set{1} << v) - 1;
    return (set & below) | ((set >> 1) & ~below);
}

// What one variable costs with its best parents among each set of the others.
struct BestParents {
    std::vector<double> costs;

    BestParents(const MomentSet& moments, int v)
        : costs(std::size_t{1} << (moments.correlation.n - 1)) {
        const int others = moments.correlation.n - 1;
        SchurTable table(others, costs.data(), nullptr);
        const auto variable = [&](std::size_t a) {
            const int u = static_cast<int>(a) - 1;
            return a == 0 ? v : u < v ? u : u + 1;
        };
        for (std::size_t a = 0; a < table.width(); ++a) {
            const double* row = moments.correlation.row(variable(a));
            for (std::size_t b = 0; b <= a; ++b)
                table.top()[a * table.width() + b] = row[variable(b)];
        }
        table.run();
        is_certain = costs.back() > kLeastVariance;
        for (std::size_t set = 0; set < costs.size(); ++set)
            costs[set] = moments.score.cost(costs[set], std::popcount(set));
        for (std::size_t bit = 1; bit < costs.size(); bit *= 2) {
            for (std::size_t first = 0; first < costs.size(); first += 2 * bit) {
                const double* without = costs.data() + first;
                double* with = costs.data() + first + bit;
                for (std::size_t k = 0; k < bit; ++k)
                    with[k] = std::min(with[k], without[k]);
            }
        }
    }

    // The best parents among a set: the smallest set that costs no more.
    Set among(Set set) const {
        for (Set rest = set; rest != 0; rest &= rest - 1) {
            const Set smaller = set & ~(rest & -rest);
            if (costs[smaller] <= costs[set])
                set = smaller;
        }
        return set;
    }

    bool is_certain = true;
};

} // namespace

std::optional<BestDag> best_dag(const MomentSet& moments) {
    const int n = moments.correlation.n;
    std::vector<BestParents> of;
    for (int v = 0; v < n; ++v) {
        of.emplace_back(moments, v);
        if (!of.back().is_certain)
            return std::nullopt;
    }
    const std::size_t sets = std::size_t{1} << n;
    std::vector<double> best(sets, std::numeric_limits<double>::infinity());
    std::vector<int> last(sets, 0);
    best[0] = 0.0;
    for (Set set = 1; set < sets; ++set) {
        for (Set rest = set; rest != 0; rest &= rest - 1) {
            const int v = std::countr_zero(rest);
            const double cost = best[set ^ (Set{1} << v)] + of[v].costs[without(set, v)];
            if (cost < best[set]) {
                best[set] = cost;
                last[set] = v;
            }
        }
    }
    const std::size_t size = n;
    BestDag found{{std::vector<int>(size), std::vector<std::vector<int>>(size)}, best.back()};
    Set set = static_cast<Set>(sets - 1);
    for (std::size_t k = size; k-- > 0;) {
        const int v = last[set];
        const BestParents& own = of[v];
        for (Set rest = own.among(without(set, v)); rest != 0; rest &= rest - 1) {
            const int u = std::countr_zero(rest);
            found.dag.parents[v].push_back(u < v ? u : u + 1);
        }
        found.dag.order[k] = v;
        set ^= Set{1} << v;
    }
    return found;
}

bool take_best(ParentSets& sets) {
    if (!can_be_proved(sets))
        return false;
    const std::optional<BestDag> best = best_dag(sets.problem().sets.front());
    const double noise = sets.problem().noise();
    if (best && best->cost < sets.cost() - noise)
        sets.take(best->dag);
    return best && sets.cost() <= best->cost + noise;
}

} // namespace qwo
