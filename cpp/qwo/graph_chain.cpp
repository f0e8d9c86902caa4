#include "qwo/graph_chain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "qwo/index.hpp"

namespace qwo {

namespace {
constexpr int kFewestJoint = 5;
}

GraphChain::GraphChain(const ScoreTables& tables, const std::vector<int>& order, std::uint64_t seed)
    : tables_(tables), random_(seed), orders_(tables), graph_(tables), parents_(tables.n(), 0),
      logs_(parents_.size() + 2), changes_(parents_.size() + 1), ready_(parents_.size()),
      missing_(parents_.size()), new_order_(parents_.size()) {
    orders_.set_order(order);
    for (std::size_t k = 1; k < logs_.size(); ++k)
        logs_[k] = std::log(static_cast<double>(k));
    for (int v = 0; v < tables.n(); ++v)
        edge_sums_.emplace_back(tables.lists().size(v), 0.0);
}

void GraphChain::burn_in(int annealed, int sweeps) {
    for (int i = 1; i <= annealed; ++i) {
        const double share = static_cast<double>(i) / (annealed + 1);
        orders_.sweep(random_, share * share);
    }
    for (int i = 0; i < sweeps; ++i)
        orders_.sweep(random_);
    for (int v = 0; v < tables_.n(); ++v)
        parents_[v] = tables_.draw(v, orders_.predecessors(v), random_);
    graph_.load(parents_);
}

void GraphChain::run(int draws, int thin, const SweepPlan& plan, ParentMask* masks,
                     double* log_scores) {
    for (int d = 0; d < draws; ++d) {
        for (int i = 0; i < thin; ++i)
            sweep(plan);
        masks = std::copy(graph_.parents().begin(), graph_.parents().end(), masks);
        log_scores[d] = graph_.log_score();
    }
}

void GraphChain::forget_sums() {
    for (std::vector<double>& sums : edge_sums_)
        std::fill(sums.begin(), sums.end(), 0.0);
    visits_ = 0;
}

void GraphChain::sweep(const SweepPlan& plan) {
    const int n = tables_.n();
    const auto times = [&](double share) { return static_cast<int>(std::lround(share * n)); };
    if (plan.joint > 0.0) {
        redraw_order();
        for (int i = std::max(times(plan.joint), kFewestJoint); i > 0; --i)
            joint_move(random_.below(n));
        graph_.load(parents_);
    }
    for (int i = times(plan.reversals); i > 0; --i) {
        ++counts_.reversals_tried;
        counts_.reversals_taken += graph_.reverse(random_) ? 1 : 0;
    }
    for (int i = times(plan.paths); i > 0; --i) {
        ++counts_.paths_tried;
        counts_.paths_taken += graph_.turn_path(2 + random_.below(3), random_) ? 1 : 0;
    }
    if (times(plan.parents) > 0) {
        for (int v = 0; v < n; ++v)
            graph_.draw(v, random_, edge_sums_[v].data());
        ++visits_;
    }
}

std::vector<double> GraphChain::edge_means() const {
    const ParentLists& lists = tables_.lists();
    const int n = lists.n();
    const double visits = static_cast<double>(std::max<std::int64_t>(visits_, 1));
    std::vector<double> means(Index{n} * n, 0.0);
    for (int v = 0; v < n; ++v) {
        for (int b = 0; b < lists.size(v); ++b)
            means[Index{lists.candidate(v, b)} * n + v] = edge_sums(v)[b] / visits;
        for (const int u : lists.core(v))
            means[Index{u} * n + v] = 1.0;
    }
    return means;
}

void GraphChain::redraw_order() {
    parents_ = graph_.parents();
    const ParentLists& lists = tables_.lists();
    const int n = tables_.n();
    int waiting = 0;
    for (int v = 0; v < n; ++v) {
        // A parent that must come earlier anyway counts once, as it does among the followers.
        int missing = count_of(lists.earlier(v));
        for_each_place(parents_[v], [&](int b) {
            missing += lists.must_precede(lists.candidate(v, b), v) ? 0 : 1;
        });
        missing_[v] = missing;
        if (missing == 0)
            ready_[waiting++] = v;
    }
    const BitMatrix& followers = graph_.followers();
    for (int k = 0; k < n; ++k) {
        const std::size_t drawn = random_.below(waiting);
        const int v = ready_[drawn];
        ready_[drawn] = ready_[--waiting];
        new_order_[k] = v;
        for_each_bit(followers.row(v), followers.words(), [&](int u) {
            if (--missing_[u] == 0)
                ready_[waiting++] = u;
        });
    }
    orders_.set_order(new_order_);
    log_q_ = order_log_probability();
}

double GraphChain::order_log_probability() {
    const ParentLists& lists = tables_.lists();
    std::fill(changes_.begin(), changes_.end(), 0);
    for (int v = 0; v < tables_.n(); ++v) {
        int ready = 0;
        for_each_place(parents_[v], [&](int b) {
            ready = std::max(ready, orders_.place(lists.candidate(v, b)) + 1);
        });
        for (const int u : lists.earlier(v))
            ready = std::max(ready, orders_.place(u) + 1);
        ++changes_[ready];
        --changes_[Index{orders_.place(v)} + 1];
    }
    double log_q = 0.0;
    int waiting = 0;
    for (std::size_t k = 0; k + 1 < changes_.size(); ++k) {
        waiting += changes_[k];
        log_q -= logs_[waiting];
    }
    return log_q;
}

void GraphChain::joint_move(int v) {
    const std::int8_t* of_v = tables_.lists().places_in(v);
    const int from = orders_.place(v), to = orders_.draw_place(v, random_);
    ++counts_.joint_tried;
    orders_.shift(from, to);
    saved_.clear();
    for (int k = std::min(from, to); k <= std::max(from, to); ++k) {
        const int u = orders_.order()[k];
        if (u != v && of_v[u] < 0)
            continue;
        ParentMask& parents = parents_[u];
        saved_.emplace_back(u, parents);
        parents = tables_.draw(u, orders_.predecessors(u), random_);
    }
    const double log_q = order_log_probability();
    if (log_q - log_q_ > least_log_ratio(random_)) {
        log_q_ = log_q;
        ++counts_.joint_taken;
        return;
    }
    for (const auto& [u, parents] : saved_)
        parents_[u] = parents;
    orders_.shift(to, from);
}

} // namespace qwo
