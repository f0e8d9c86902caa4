#include "qwo/best_ball.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "qwo/best_dag.hpp"
#include "qwo/class_step.hpp"
#include "qwo/index.hpp"
#include "qwo/policy.hpp"

namespace qwo {

namespace {

// A part of a DAG that no path leaves and comes back to, and its parents from elsewhere.
class Ball {
  public:
    Ball(const OrderedDag& dag, const std::vector<std::vector<int>>& near, int centre)
        : dag_(dag), role_(dag.order.size(), elsewhere) {
        grow(near, centre);
        while (!close() || count_of(inside_) + count_of(above_) > policy::ball_with_parents)
            inside_.pop_back();
    }

    const std::vector<int>& inside() const { return inside_; }
    const std::vector<int>& above() const { return above_; }

  private:
    enum Role : char { elsewhere, within, below };

    void grow(const std::vector<std::vector<int>>& near, int centre) {
        std::vector<char> seen(role_.size(), 0);
        seen[centre] = 1;
        inside_.push_back(centre);
        for (std::size_t k = 0; k < inside_.size(); ++k) {
            for (int u : near[inside_[k]]) {
                if (count_of(inside_) == policy::ball_proved)
                    return;
                if (!seen[u] && (dag_.given.empty() || !dag_.given[u]))
                    inside_.push_back(u);
                seen[u] = 1;
            }
        }
    }

    // Finds what is below and who are the parents; false if something below leads back inside.
    bool close() {
        std::fill(role_.begin(), role_.end(), elsewhere);
        for (int v : inside_)
            role_[v] = within;
        above_.clear();
        for (int v : dag_.order) {
            for (int p : dag_.parents[v]) {
                if (role_[v] == within) {
                    if (role_[p] == below)
                        return false;
                    if (role_[p] == elsewhere &&
                        std::find(above_.begin(), above_.end(), p) == above_.end())
                        above_.push_back(p);
                } else if (role_[p] != elsewhere) {
                    role_[v] = below;
                }
            }
        }
        return true;
    }

    const OrderedDag& dag_;
    std::vector<int> inside_, above_;
    std::vector<char> role_;
};

// The problem of some variables alone, of which the first so many are given.
BicProblem part_of(const BicProblem& problem, const std::vector<int>& variables, int n_given) {
    const int n = count_of(variables), all = problem.n();
    const MomentSet& moments = problem.sets.front();
    auto values = std::make_shared<std::vector<double>>();
    for (int v : variables) {
        const double* row = moments.correlation.row(v);
        for (int u : variables)
            values->push_back(row[u]);
    }
    const double* first = values->data();
    BicProblem part;
    part.sets.emplace_back(CorrelationRows{std::move(values), first, n, n}, moments.score,
                           moments.max_parents);
    part.penalty = problem.penalty;
    part.typical_penalty = problem.typical_penalty;
    part.given.assign(n, 0);
    std::fill_n(part.given.begin(), n_given, 1);
    part.n_given = n_given;
    const Constraints& known = problem.constraints;
    for (int v : variables) {
        if (!known.required.empty()) {
            std::vector<int>& own = part.constraints.required.emplace_back();
            for (int k = 0; k < n; ++k) {
                const std::vector<int>& required = known.required[v];
                if (std::find(required.begin(), required.end(), variables[k]) != required.end())
                    own.push_back(k);
            }
        }
        for (int u : variables) {
            if (!known.may_cause.empty())
                part.constraints.may_cause.push_back(known.may_cause[Index{v} * all + u]);
            if (!known.precedes.empty())
                part.constraints.precedes.push_back(known.precedes[Index{v} * all + u]);
        }
    }
    return part;
}

// Goes to a member whose root and its ancestors come first, so that all others may have the root as
// a parent; whether that pays for one of them.
bool lead(ParentSets& sets, OrderedDag& member, int root) {
    std::vector<char> above(sets.n(), 0);
    above[root] = 1;
    for (auto v = member.order.rbegin(); v != member.order.rend(); ++v) {
        for (int p : member.parents[*v])
            above[p] |= above[*v];
    }
    std::stable_partition(member.order.begin(), member.order.end(),
                          [&](int v) { return above[v] || sets.is_given(v); });
    if (!sets.problem().constraints.precedes.empty()) {
        const std::vector<int> places = places_of(member.order);
        if (!sort_topologically(member.parents, places, rules_of(sets), member.order))
            return false;
    }
    const double before = sets.cost();
    sets.take(member);
    return sets.cost() < before - sets.problem().noise();
}

} // namespace

bool take_best_around(ParentSets& sets, ClassMembers& members, int centre,
                      std::vector<int>& covered) {
    OrderedDag rooted;
    if (!members.with_root(centre, rules_of(sets), rooted))
        return false;
    if (lead(sets, rooted, centre))
        return true;
    if (covered[centre] >= policy::balls_enough)
        return false;
    std::vector<std::vector<int>> near(sets.n());
    for (int v = 0; v < sets.n(); ++v) {
        for (int p : rooted.parents[v]) {
            near[v].push_back(p);
            near[p].push_back(v);
        }
    }
    const Ball ball(rooted, near, centre);
    for (int v : ball.inside())
        ++covered[v];
    std::vector<int> variables = ball.above(), numbers(sets.n(), -1);
    const int n_given = count_of(variables);
    std::copy_if(
        rooted.order.begin(), rooted.order.end(), std::back_inserter(variables), [&](int v) {
            return std::find(ball.inside().begin(), ball.inside().end(), v) != ball.inside().end();
        });
    OrderedDag present;
    for (int k = 0; k < count_of(variables); ++k) {
        numbers[variables[k]] = k;
        present.order.push_back(k);
        std::vector<int>& own = present.parents.emplace_back();
        for (int p : rooted.parents[variables[k]]) {
            if (k >= n_given)
                own.push_back(numbers[p]);
        }
    }
    const BicProblem part = part_of(sets.problem(), variables, n_given);
    const std::optional<BestDag> best = best_dag(part, present);
    if (!best || best->dag.parents == present.parents)
        return false;
    OrderedDag changed = rooted;
    double gain = 0.0;
    for (int k = n_given; k < count_of(variables); ++k) {
        const int v = variables[k];
        std::vector<int>& own = changed.parents[v];
        own.clear();
        for (int p : best->dag.parents[k])
            own.push_back(variables[p]);
        gain += sets.cost_with(v, rooted.parents[v]) - sets.cost_with(v, own);
    }
    std::vector<int> places(sets.n());
    for (int v = 0; v < sets.n(); ++v)
        places[v] = sets.place(v);
    if (!(gain > sets.problem().noise()) ||
        !sort_topologically(changed.parents, places, rules_of(sets), changed.order))
        return false;
    sets.take(changed);
    return true;
}

} // namespace qwo
