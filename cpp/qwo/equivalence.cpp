#include "qwo/equivalence.hpp"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <tuple>
#include <utility>

namespace qwo {

namespace {

using Lists = std::vector<std::vector<int>>;

std::size_t at(int v) {
    return static_cast<std::size_t>(v);
}

std::vector<int> places_in(const std::vector<int>& order) {
    std::vector<int> places(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
        places[at(order[k])] = static_cast<int>(k);
    return places;
}

// The labels of all edges, those into a variable after those into the ones before it.
class Labels {
  public:
    explicit Labels(const OrderedDag& dag)
        : dag_(dag), place_(places_in(dag.order)), index_(dag.order.size(), -1),
          compelled_(dag.order.size()) {
        for (int y : dag.order)
            label_edges_into(y);
    }

    std::vector<std::vector<char>> take() { return std::move(compelled_); }

  private:
    static constexpr char unknown = 2;

    void label_edges_into(int y) {
        const std::vector<int>& parents = dag_.parents[at(y)];
        std::vector<char>& labels = compelled_[at(y)];
        labels.assign(parents.size(), unknown);
        std::vector<int> nearest_first(parents.size());
        for (std::size_t k = 0; k < parents.size(); ++k) {
            index_[at(parents[k])] = static_cast<int>(k);
            nearest_first[k] = static_cast<int>(k);
        }
        std::sort(nearest_first.begin(), nearest_first.end(), [&](int a, int b) {
            return place_[at(parents[at(a)])] > place_[at(parents[at(b)])];
        });
        for (int k : nearest_first) {
            if (labels[at(k)] == unknown)
                label_by(parents[at(k)], parents, labels);
        }
        for (int p : parents)
            index_[at(p)] = -1;
    }

    // Labels x -> y and whatever follows from it.
    void label_by(int x, const std::vector<int>& parents, std::vector<char>& labels) {
        const std::vector<int>& above = dag_.parents[at(x)];
        for (std::size_t w = 0; w < above.size(); ++w) {
            if (!compelled_[at(x)][w])
                continue;
            const int k = index_[at(above[w])];
            if (k < 0) {
                std::fill(labels.begin(), labels.end(), 1);
                return;
            }
            labels[at(k)] = 1;
        }
        const bool collides = std::any_of(parents.begin(), parents.end(), [&](int z) {
            return z != x && std::find(above.begin(), above.end(), z) == above.end();
        });
        std::replace(labels.begin(), labels.end(), unknown, static_cast<char>(collides));
    }

    const OrderedDag& dag_;
    std::vector<int> place_;
    std::vector<int> index_; // of a parent of the variable under work, else -1
    std::vector<std::vector<char>> compelled_;
};

// The undirected pieces of a DAG's class, and their directions anew.
class Pieces {
  public:
    Pieces(const OrderedDag& dag, const std::vector<std::vector<char>>& compelled,
           const std::vector<int>& places)
        : dag_(dag), compelled_(compelled), places_(places), undirected_(dag.order.size()),
          rank_(dag.order.size(), -1), root_(dag.order.size(), -1), weight_(dag.order.size(), 0),
          stays_(dag.order.size(), 0) {
        for_each_reversible([&](int x, int y) {
            undirected_[at(x)].push_back(y);
            undirected_[at(y)].push_back(x);
        });
    }

    // Ranks the variables of a piece from its root on, most visited neighbours first.
    void direct_from(int root) {
        if (rank_[at(root)] >= 0)
            return;
        // Entries that have been overtaken are skipped.
        std::priority_queue<std::tuple<int, int, int>> front;
        front.emplace(0, -places_[at(root)], root);
        while (!front.empty()) {
            const int v = std::get<2>(front.top());
            front.pop();
            if (rank_[at(v)] >= 0)
                continue;
            rank_[at(v)] = next_rank_++;
            root_[at(v)] = root;
            for (int u : undirected_[at(v)]) {
                if (rank_[at(u)] < 0)
                    front.emplace(++weight_[at(u)], -places_[at(u)], u);
            }
        }
    }

    // Whether the rules leave the piece with this root as it is.
    bool stays(int root) const { return stays_[at(root)]; }

    void keep_to(const MemberRules& rules) {
        if (!rules.may_turn)
            return;
        for_each_reversible([&](int x, int y) {
            if (is_turned(x, y) && !rules.may_turn(x, y))
                stays_[at(root_[at(y)])] = 1;
        });
    }

    // Parents that stay come first, in the order that they had.
    Lists parents() const {
        Lists kept(dag_.order.size()), gained(dag_.order.size());
        for (std::size_t y = 0; y < kept.size(); ++y) {
            for (std::size_t k = 0; k < dag_.parents[y].size(); ++k) {
                const int x = dag_.parents[y][k];
                if (!compelled_[y][k] && is_turned(x, static_cast<int>(y)))
                    gained[at(x)].push_back(static_cast<int>(y));
                else
                    kept[y].push_back(x);
            }
        }
        for (std::size_t v = 0; v < kept.size(); ++v)
            kept[v].insert(kept[v].end(), gained[v].begin(), gained[v].end());
        return kept;
    }

  private:
    template <class Visit>
    void for_each_reversible(Visit visit) const {
        for (std::size_t y = 0; y < dag_.parents.size(); ++y) {
            for (std::size_t k = 0; k < dag_.parents[y].size(); ++k) {
                if (!compelled_[y][k])
                    visit(dag_.parents[y][k], static_cast<int>(y));
            }
        }
    }
    // Whether the reversible edge x -> y is y -> x now. Pieces without ranks are not.
    bool is_turned(int x, int y) const {
        return rank_[at(y)] < rank_[at(x)] && !stays_[at(root_[at(y)])];
    }

    const OrderedDag& dag_;
    const std::vector<std::vector<char>>& compelled_;
    const std::vector<int>& places_;
    Lists undirected_;
    std::vector<int> rank_, root_, weight_;
    std::vector<char> stays_; // by root
    int next_rank_ = 0;
};

} // namespace

std::vector<std::vector<char>> compelled_edges(const OrderedDag& dag) {
    return Labels(dag).take();
}

bool member_with_root(const OrderedDag& dag, const std::vector<std::vector<char>>& compelled,
                      int root, const MemberRules& rules, OrderedDag& member) {
    const std::vector<int> places = places_in(dag.order);
    Pieces pieces(dag, compelled, places);
    pieces.direct_from(root);
    pieces.keep_to(rules);
    member.parents = pieces.parents();
    return !pieces.stays(root) && sort_topologically(member.parents, places, rules, member.order);
}

bool nearest_member(const OrderedDag& dag, const std::vector<int>& places, const MemberRules& rules,
                    OrderedDag& member) {
    const std::vector<std::vector<char>> compelled = compelled_edges(dag);
    Pieces pieces(dag, compelled, places);
    std::vector<int> first(places.size());
    for (std::size_t v = 0; v < places.size(); ++v)
        first[at(places[v])] = static_cast<int>(v);
    for (int v : first)
        pieces.direct_from(v);
    pieces.keep_to(rules);
    member.parents = pieces.parents();
    return sort_topologically(member.parents, places, rules, member.order);
}

bool sort_topologically(const std::vector<std::vector<int>>& parents,
                        const std::vector<int>& places, const MemberRules& rules,
                        std::vector<int>& order) {
    const std::size_t n = parents.size();
    Lists after(n);
    std::vector<int> waits_for(n, 0);
    const auto put_before = [&](std::size_t x, std::size_t y) {
        after[x].push_back(static_cast<int>(y));
        ++waits_for[y];
    };
    for (std::size_t y = 0; y < n; ++y) {
        for (int x : parents[y])
            put_before(at(x), y);
    }
    for (std::size_t a = 0; rules.precedes != nullptr && a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) {
            if ((*rules.precedes)[a * n + b] != 0)
                put_before(a, b);
        }
    }
    const auto later = [&](int a, int b) { return places[at(a)] > places[at(b)]; };
    std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
    for (std::size_t v = 0; v < n; ++v) {
        if (waits_for[v] == 0)
            ready.push(static_cast<int>(v));
    }
    order.clear();
    while (!ready.empty()) {
        const int v = ready.top();
        ready.pop();
        order.push_back(v);
        for (int u : after[at(v)]) {
            if (--waits_for[at(u)] == 0)
                ready.push(u);
        }
    }
    return order.size() == n;
}

} // namespace qwo
