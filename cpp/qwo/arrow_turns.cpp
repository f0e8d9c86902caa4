#include "qwo/arrow_turns.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "qwo/class_step.hpp"
#include "qwo/equivalence.hpp"
#include "qwo/index.hpp"
#include "qwo/policy.hpp"

namespace qwo {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

bool contains(const std::vector<int>& list, int v) {
    return std::find(list.begin(), list.end(), v) != list.end();
}

class Turner {
  public:
    explicit Turner(ParentSets& engine)
        : engine_(engine), noise_(engine.problem().noise()), before_(engine.cost()),
          members_(engine.dag()), class_(members_), first_(engine.n()), children_(engine.n()),
          queued_(engine.n(), 0) {
        const OrderedDag& dag = members_.dag();
        for (int y : dag.order) {
            first_[y] = count_of(edges_);
            for (int k = 0; k < count_of(dag.parents[y]); ++k) {
                const bool compelled = members_.compelled()[y][k] != 0;
                if (compelled && !engine.is_given(dag.parents[y][k]))
                    children_[dag.parents[y][k]].push_back(count_of(edges_));
                edges_.push_back({dag.parents[y][k], y, compelled});
            }
        }
    }

    ArrowTurns turn_all(double limit, int most) {
        ArrowTurns found;
        for (int x : members_.dag().order) {
            const int left = most - count_of(found.turns);
            if (left > 0 && !children_[x].empty())
                turn_below(x, limit, left, found.turns);
        }
        std::sort(found.turns.begin(), found.turns.end(),
                  [](const ArrowTurn& a, const ArrowTurn& b) { return a.edge < b.edge; });
        list_triples(found);
        found.edges = std::move(edges_);
        return found;
    }

  private:
    void list_triples(ArrowTurns& found) const {
        std::vector<std::vector<int>> near(engine_.n()), edges(engine_.n());
        for (int k = 0; k < count_of(edges_); ++k) {
            for (const auto& [v, u] : {std::pair{edges_[k].from, edges_[k].to},
                                       std::pair{edges_[k].to, edges_[k].from}}) {
                near[v].push_back(u);
                edges[v].push_back(k);
            }
        }
        for (int v = 0; v < engine_.n(); ++v) {
            for (int j = 0; j < count_of(near[v]); ++j) {
                for (int i = 0; i < j; ++i) {
                    const int a = near[v][i], b = near[v][j];
                    ++found.met;
                    if (near[a].size() < near[b].size() ? contains(near[a], b)
                                                        : contains(near[b], a))
                        ++found.closed;
                    else if (!engine_.is_given(v) && !engine_.is_given(a) && !engine_.is_given(b))
                        found.open.push_back({v, edges[v][i], edges[v][j]});
                }
            }
        }
    }

    // Turns the arrows from x, in the member that has it as a root.
    void turn_below(int x, double limit, int most, std::vector<ArrowTurn>& turns) {
        const std::size_t mark = engine_.mark();
        const bool may = go_to_root(x);
        for (int edge : children_[x]) {
            if (most-- == 0)
                break;
            turns.push_back({edge, never, 0, {}});
            if (may)
                turn(turns.back(), limit, mark);
        }
        engine_.undo(mark);
    }

    // Where x has no parent in its undirected piece, it is the root.
    bool go_to_root(int x) {
        const std::vector<char>& above = members_.compelled()[x];
        if (std::find(above.begin(), above.end(), 0) == above.end())
            return true;
        if (!members_.with_root(x, rules_of(engine_), rooted_))
            return false;
        engine_.take(rooted_);
        engine_.take_touched();
        return true;
    }

    void turn(ArrowTurn& found, double limit, std::size_t outer) {
        const int x = edges_[found.edge].from, y = edges_[found.edge].to;
        const std::size_t mark = engine_.mark();
        tuck(engine_, x, y);
        if (engine_.place(y) < engine_.place(x)) {
            const BicProblem& problem = engine_.problem();
            // With blocks an edge has several penalties, and a turn that looks dear may be cheap.
            if (!problem.blocks.empty() ||
                engine_.cost() - before_ < policy::repaired_turn * problem.penalty) {
                engine_.pin(y, x);
                repair();
                engine_.pin(-1, -1);
            }
            std::vector<int> parents = engine_.fit(x).parents();
            found.lost = cost_with_edge(x, y, parents) - before_;
            if (found.lost <= limit)
                compare(found, x, parents, outer);
        }
        engine_.take_touched();
        engine_.undo(mark);
    }

    void queue_touched() {
        for (int v : engine_.take_touched()) {
            if (queued_[v] || engine_.is_given(v))
                continue;
            queued_[v] = 1;
            queue_.push_back(v);
        }
    }

    void repair() {
        queue_touched();
        while (!queue_.empty()) {
            const int v = queue_.front();
            queue_.pop_front();
            queued_[v] = 0;
            const Insertion best =
                engine_.best_insertion(v, policy::give_up_turn * engine_.problem().penalty_of(v));
            if (!(best.change < -noise_))
                continue;
            const double before = engine_.cost();
            engine_.move(v, best.place);
            if (engine_.cost() < before - 0.5 * noise_)
                queue_touched();
            else
                engine_.take_touched();
        }
    }

    // What the present graph costs with y -> x, whether that pays or not. x gets the parent.
    double cost_with_edge(int x, int y, std::vector<int>& parents) {
        if (contains(parents, y))
            return engine_.cost();
        if (!engine_.may_have(x, y))
            return never;
        parents.push_back(y);
        return engine_.cost() - engine_.fit(x).cost() + engine_.cost_with(x, parents);
    }

    void compare(ArrowTurn& found, int x, const std::vector<int>& parents, std::size_t outer) {
        class_.begin();
        engine_.for_each_changed(outer, [&](int v) { class_.change(v, engine_.fit(v).parents()); });
        class_.change(x, parents);
        found.more = class_.more();
        class_.label(engine_.order());
        // Edges into others are as they were.
        for (int y : class_.labelled()) {
            const int end = first_[y] + count_of(members_.dag().parents[y]);
            for (int k = first_[y]; k < end; ++k) {
                if (edges_[k].compelled && class_.is_open_or_turned(edges_[k].from, y))
                    found.gone.push_back(k);
            }
        }
        std::sort(found.gone.begin(), found.gone.end());
    }

    ParentSets& engine_;
    double noise_, before_;
    ClassMembers members_;
    NearbyClass class_;
    std::vector<ClassEdge> edges_;
    std::vector<int> first_;                 // by variable, the first edge into it
    std::vector<std::vector<int>> children_; // by variable, the arrows from it
    OrderedDag rooted_;
    std::deque<int> queue_;
    std::vector<char> queued_;
};

// For each variable those at most two edges away in the skeleton, if they may be parents.
CandidateLists::Lists lists_near(const ParentSets& engine) {
    CandidateLists::Lists lists(engine.n());
    std::vector<std::vector<int>> near(engine.n());
    for (int v = 0; v < engine.n(); ++v)
        engine.list_neighbours(v, near[v]);
    for (int v = 0; v < engine.n(); ++v) {
        std::vector<std::int32_t>& own = lists[v];
        for (int u : near[v]) {
            own.push_back(u);
            own.insert(own.end(), near[u].begin(), near[u].end());
        }
        std::sort(own.begin(), own.end());
        own.erase(std::unique(own.begin(), own.end()), own.end());
        own.erase(std::remove_if(own.begin(), own.end(),
                                 [&](int u) { return u == v || !engine.may_have(v, u); }),
                  own.end());
    }
    return lists;
}

} // namespace

ArrowTurns turn_arrows(ParentSets& engine, double limit, int most) {
    if (engine.has_lists() || engine.problem().n_children() <= policy::turned_among_all_up_to)
        return Turner(engine).turn_all(limit, most);
    ParentSets nearby(engine, lists_near(engine));
    return Turner(nearby).turn_all(limit, most);
}

} // namespace qwo
