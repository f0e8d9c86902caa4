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

int count_edges(const OrderedDag& dag) {
    int count = 0;
    for (const std::vector<int>& own : dag.parents)
        count += count_of(own);
    return count;
}

// The mark of the edge from -> to in a class.
EdgeMark mark_in(const ClassMembers& members, int from, int to) {
    const auto mark = [&](int cause, int effect, EdgeMark directed) {
        const std::vector<int>& parents = members.dag().parents[effect];
        const auto found = std::find(parents.begin(), parents.end(), cause);
        if (found == parents.end())
            return EdgeMark::none;
        return members.compelled()[effect][found - parents.begin()] ? directed : EdgeMark::open;
    };
    const EdgeMark along = mark(from, to, EdgeMark::along);
    return along == EdgeMark::none ? mark(to, from, EdgeMark::against) : along;
}

class Turner {
  public:
    explicit Turner(ParentSets& engine)
        : engine_(engine), noise_(engine.problem().noise()), members_(engine.dag()),
          queued_(engine.n(), 0) {
        const OrderedDag& dag = members_.dag();
        for (int y : dag.order) {
            for (int k = 0; k < count_of(dag.parents[y]); ++k)
                edges_.push_back({dag.parents[y][k], y, members_.compelled()[y][k] != 0});
        }
    }

    const std::vector<ClassEdge>& edges() const { return edges_; }

    ArrowTurn turn(int edge, double limit) {
        const int x = edges_[edge].from, y = edges_[edge].to;
        ArrowTurn found{edge, never, 0, {}};
        const double before = engine_.cost();
        const std::size_t mark = engine_.mark();
        if (go_to(x, y)) {
            engine_.pin(y, x);
            repair();
            engine_.pin(-1, -1);
            OrderedDag dag = engine_.dag();
            found.lost = cost_with_edge(x, y, dag) - before;
            if (found.lost <= limit)
                compare(std::move(dag), found);
        }
        engine_.take_touched();
        engine_.undo(mark);
        return found;
    }

  private:
    // Whether y stands before x now.
    bool go_to(int x, int y) {
        if (!members_.with_root(x, rules_of(engine_), rooted_))
            return false;
        engine_.take(rooted_);
        engine_.take_touched();
        tuck(engine_, x, y);
        return engine_.place(y) < engine_.place(x);
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
                engine_.best_insertion(v, policy::give_up_repair * engine_.problem().penalty_of(v));
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

    // What the present graph costs with y -> x, whether that pays or not. It gets the edge.
    double cost_with_edge(int x, int y, OrderedDag& dag) {
        std::vector<int>& parents = dag.parents[x];
        if (std::find(parents.begin(), parents.end(), y) != parents.end())
            return engine_.cost();
        if (!engine_.may_have(x, y))
            return never;
        parents.push_back(y);
        return engine_.cost() - engine_.fit(x).cost() + engine_.cost_with(x, parents);
    }

    void compare(OrderedDag dag, ArrowTurn& found) const {
        found.more = count_edges(dag) - count_of(edges_);
        const ClassMembers members(std::move(dag));
        for (const ClassEdge& edge : edges_)
            found.marks.push_back(mark_in(members, edge.from, edge.to));
    }

    ParentSets& engine_;
    double noise_;
    ClassMembers members_;
    std::vector<ClassEdge> edges_;
    OrderedDag rooted_;
    std::deque<int> queue_;
    std::vector<char> queued_;
};

} // namespace

ArrowTurns turn_arrows(ParentSets& engine, double limit, int most) {
    Turner turner(engine);
    ArrowTurns found{turner.edges(), {}};
    for (int k = 0; k < count_of(found.edges) && count_of(found.turns) < most; ++k) {
        if (found.edges[k].compelled)
            found.turns.push_back(turner.turn(k, limit));
    }
    return found;
}

} // namespace qwo
