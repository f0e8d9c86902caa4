#include "qwo/class_step.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

namespace {

bool are_same(std::vector<int> a, std::vector<int> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

// Variables whose parents differ in two DAGs, by connected piece, with what the second one gains.
struct Piece {
    double gain = 0.0;
    std::vector<int> variables;
};

class Differences {
  public:
    Differences(ParentSets& sets, const OrderedDag& present, const OrderedDag& other)
        : sets_(sets), other_(other), differs_(present.order.size(), 0),
          near_(present.order.size()) {
        for (int v = 0; v < sets.n(); ++v)
            differs_[v] = !are_same(present.parents[v], other.parents[v]);
        for (int v = 0; v < sets.n(); ++v) {
            if (!differs_[v])
                continue;
            connect(v, present.parents[v]);
            connect(v, other.parents[v]);
        }
    }

    std::vector<Piece> find() {
        std::vector<Piece> found;
        for (int v = 0; v < sets_.n(); ++v) {
            if (differs_[v])
                found.push_back(grow(v));
        }
        std::sort(found.begin(), found.end(),
                  [](const Piece& a, const Piece& b) { return a.gain > b.gain; });
        return found;
    }

  private:
    void connect(int v, const std::vector<int>& parents) {
        for (int u : parents) {
            if (differs_[u]) {
                near_[u].push_back(v);
                near_[v].push_back(u);
            }
        }
    }

    Piece grow(int v) {
        Piece piece;
        piece.variables.push_back(v);
        differs_[v] = 0;
        for (std::size_t k = 0; k < piece.variables.size(); ++k) {
            const int u = piece.variables[k];
            piece.gain += sets_.fit(u).cost() - sets_.cost_with(u, other_.parents[u]);
            for (int w : near_[u]) {
                if (differs_[w]) {
                    differs_[w] = 0;
                    piece.variables.push_back(w);
                }
            }
        }
        return piece;
    }

    ParentSets& sets_;
    const OrderedDag& other_;
    std::vector<char> differs_;
    std::vector<std::vector<int>> near_;
};

} // namespace

MemberRules rules_of(const ParentSets& sets) {
    MemberRules rules;
    const Constraints& constraints = sets.problem().constraints;
    if (!sets.fit(0).columns().all() || !constraints.may_cause.empty() ||
        !constraints.required.empty() || sets.problem().n_given > 0) {
        rules.may_turn = [&sets, &constraints](int child, int parent) {
            if (!constraints.required.empty()) {
                const std::vector<int>& required = constraints.required[parent];
                if (std::find(required.begin(), required.end(), child) != required.end())
                    return false;
            }
            return sets.may_have(child, parent);
        };
    }
    if (!constraints.precedes.empty())
        rules.precedes = &constraints.precedes;
    return rules;
}

std::vector<int> permitted_order(const ParentSets& sets, const std::vector<int>& order) {
    if (sets.problem().constraints.precedes.empty())
        return order;
    const std::vector<int> places = places_of(order);
    std::vector<int> permitted;
    sort_topologically(std::vector<std::vector<int>>(order.size()), places, rules_of(sets),
                       permitted);
    return permitted;
}

bool reroot(ParentSets& sets, int root) {
    OrderedDag member;
    if (!ClassMembers(sets.dag()).with_root(root, rules_of(sets), member))
        return false;
    sets.take(member);
    return true;
}

void tuck(ParentSets& sets, int x, int y) {
    const int from = sets.place(x);
    std::vector<char> ancestor(sets.n(), 0);
    ancestor[y] = 1;
    std::vector<int> movers;
    for (int k = sets.place(y); k > from; --k) {
        const int v = sets.order()[k];
        if (!ancestor[v])
            continue;
        movers.push_back(v);
        for (int p : sets.fit(v).parents())
            ancestor[p] = 1;
    }
    int target = from;
    for (auto v = movers.rbegin(); v != movers.rend(); ++v) {
        sets.move(*v, std::max(target, sets.permitted(*v).first));
        ++target;
    }
    // Who comes before x now may help it, together with another that did not help before.
    sets.invite(x, y, sets.problem().noise());
}

bool cross(ParentSets& sets, const OrderedDag& other, double least_gain) {
    const MemberRules rules = rules_of(sets);
    std::vector<int> places(sets.n());
    for (int v = 0; v < sets.n(); ++v)
        places[v] = sets.place(v);
    OrderedDag aligned = other;
    if (sets.problem().is_equivalent() && !ClassMembers(other).nearest(places, rules, aligned))
        return false;
    OrderedDag mixture = sets.dag();
    bool found = false;
    for (const Piece& piece : Differences(sets, mixture, aligned).find()) {
        if (!(piece.gain > least_gain))
            break;
        std::vector<std::vector<int>> parents = mixture.parents;
        for (int v : piece.variables)
            parents[v] = aligned.parents[v];
        std::vector<int> order;
        if (!sort_topologically(parents, places, rules, order))
            continue;
        mixture = {std::move(order), std::move(parents)};
        found = true;
    }
    if (found)
        sets.take(mixture);
    return found;
}

std::vector<char> unlike_in(const ParentSets& sets, const OrderedDag& first,
                            const OrderedDag& second) {
    if (sets.problem().is_equivalent())
        return differing_variables(first, second);
    std::vector<char> differs(sets.n(), 0);
    for (int v = 0; v < sets.n(); ++v)
        differs[v] = !are_same(first.parents[v], second.parents[v]);
    return differs;
}

} // namespace qwo
