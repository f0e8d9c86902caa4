#include "qwo/bridges.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "qwo/class_step.hpp"
#include "qwo/index.hpp"

namespace qwo {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class Bridges {
  public:
    explicit Bridges(ParentSets& sets)
        : sets_(sets), dag_(sets.dag()), near_(sets.n()), above_(sets.n(), -1), branches_(sets.n()),
          fixed_(sets.n()), chosen_(sets.n()), least_(sets.n(), {never, never}) {
        for (int v = 0; v < sets.n(); ++v) {
            for (int p : dag_.parents[v]) {
                near_[v].push_back(p);
                near_[p].push_back(v);
            }
        }
        find();
    }

    // What the best directions cost, all in all.
    double least() {
        double sum = 0.0;
        for (auto v = visited_.rbegin(); v != visited_.rend(); ++v) {
            weigh(*v);
            sum += above_[*v] < 0 ? least_[*v][0] : 0.0;
        }
        return sum;
    }

    std::vector<std::vector<int>> parents() const {
        std::vector<std::vector<int>> found = fixed_;
        std::vector<char> down(sets_.n(), 0); // whether the edge from above points to it
        for (int v : visited_) {
            const std::vector<int>& own = chosen_[v][down[v]];
            if (down[v])
                found[v].push_back(above_[v]);
            found[v].insert(found[v].end(), own.begin(), own.end());
            for (int c : branches_[v])
                down[c] = std::find(own.begin(), own.end(), c) == own.end();
        }
        return found;
    }

  private:
    // Depth first, with the earliest variable that each can reach by an edge outside the tree.
    void find() {
        const int n = sets_.n();
        std::vector<int> number(n, -1), low(n), next(n, 0), from(n, -1), stack;
        for (int root = 0; root < n; ++root) {
            if (number[root] >= 0)
                continue;
            stack.assign(1, root);
            while (!stack.empty()) {
                const int v = stack.back();
                if (number[v] < 0) {
                    number[v] = low[v] = count_of(visited_);
                    visited_.push_back(v);
                }
                if (next[v] < count_of(near_[v])) {
                    const int u = near_[v][next[v]++];
                    if (number[u] < 0) {
                        from[u] = v;
                        stack.push_back(u);
                    } else if (u != from[v]) {
                        low[v] = std::min(low[v], number[u]);
                    }
                    continue;
                }
                stack.pop_back();
                const int p = from[v];
                if (p < 0)
                    continue;
                low[p] = std::min(low[p], low[v]);
                if (low[v] > number[p]) {
                    above_[v] = p;
                    branches_[p].push_back(v);
                }
            }
        }
        for (int v = 0; v < n; ++v) {
            for (int p : dag_.parents[v]) {
                if (above_[v] != p && above_[p] != v)
                    fixed_[v].push_back(p);
            }
        }
    }

    // The least cost of v and all below it, if the edge above it points away from it, or to it.
    void weigh(int v) {
        base_ = 0.0;
        for (int c : branches_[v])
            base_ += least_[c][1];
        for (int down = 0; down < (above_[v] < 0 ? 1 : 2); ++down) {
            std::vector<int> parents = fixed_[v], own;
            if (down)
                parents.push_back(above_[v]);
            const int most = branches_[v].size() <= 12 ? 3 : branches_[v].size() <= 40 ? 2 : 1;
            choose(v, down, 0, most, base_, parents, own);
        }
    }

    void choose(int v, int down, std::size_t next, int left, double below,
                std::vector<int>& parents, std::vector<int>& own) {
        const double cost = below + sets_.cost_with(v, parents);
        if (cost < least_[v][down]) {
            least_[v][down] = cost;
            chosen_[v][down] = own;
        }
        for (std::size_t k = next; left > 0 && k < branches_[v].size(); ++k) {
            const int c = branches_[v][k];
            parents.push_back(c);
            own.push_back(c);
            choose(v, down, k + 1, left - 1, below - least_[c][1] + least_[c][0], parents, own);
            parents.pop_back();
            own.pop_back();
        }
    }

    ParentSets& sets_;
    const OrderedDag dag_;
    std::vector<std::vector<int>> near_;
    std::vector<int> above_;                 // the other end of the bridge towards a root, or -1
    std::vector<std::vector<int>> branches_; // those of the bridges away from it
    std::vector<std::vector<int>> fixed_;    // parents by other edges
    std::vector<int> visited_;
    std::vector<std::array<std::vector<int>, 2>> chosen_; // branches that are parents
    std::vector<std::array<double, 2>> least_;
    double base_ = 0.0;
};

} // namespace

bool direct_bridges(ParentSets& sets) {
    if (!sets.problem().constraints.required.empty())
        return false;
    Bridges bridges(sets);
    double present = 0.0;
    for (int v = 0; v < sets.n(); ++v)
        present += sets.fit(v).cost();
    if (!(bridges.least() < present - sets.problem().noise()))
        return false;
    OrderedDag dag;
    dag.parents = bridges.parents();
    std::vector<int> places(sets.n());
    for (int v = 0; v < sets.n(); ++v)
        places[v] = sets.place(v);
    if (!sort_topologically(dag.parents, places, rules_of(sets), dag.order))
        return false;
    sets.take(dag);
    return true;
}

} // namespace qwo
