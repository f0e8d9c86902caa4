#include "qwo/beyond_lists.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "qwo/equivalence.hpp"
#include "qwo/index.hpp"

namespace qwo {

namespace {

constexpr double kLeastVariance = 1e-300;
constexpr double kLargest = 600.0; // exp of it is still a number

// One draw: the parents of all variables, and who comes before whom.
class DrawnGraph {
  public:
    explicit DrawnGraph(const ParentLists& lists) : lists_(lists), parents_(lists.n()) {}

    // Ancestors follow edges alone, or also what must come earlier for other reasons.
    void load(const ParentMask* masks, bool edges_alone) {
        const int n = lists_.n();
        std::vector<int> missing(n), ready;
        ancestors_ = BitMatrix(n, n);
        children_.assign(n, {});
        for (int v = 0; v < n; ++v) {
            auto& parents = parents_[v];
            lists_.parents(v, masks[v], parents);
            above_ = parents;
            if (!edges_alone)
                above_.insert(above_.end(), lists_.earlier(v).begin(), lists_.earlier(v).end());
            for (const int u : above_)
                children_[u].push_back(v);
            missing[v] = count_of(above_);
            if (above_.empty())
                ready.push_back(v);
        }
        while (!ready.empty()) {
            const int u = ready.back();
            ready.pop_back();
            for (const int v : children_[u]) {
                std::uint64_t* row = ancestors_.row(v);
                const std::uint64_t* from = ancestors_.row(u);
                for (std::size_t w = 0; w < ancestors_.words(); ++w)
                    row[w] |= from[w];
                ancestors_.set(v, u);
                if (--missing[v] == 0)
                    ready.push_back(v);
            }
        }
    }

    const std::vector<int>& parents(int v) const { return parents_[v]; }
    bool is_ancestor(int u, int v) const { return ancestors_.test(v, u); }
    const BitMatrix& ancestors() const { return ancestors_; }

    // Whether u -> v, an edge of the graph, can be turned round: no other way leads from u to v.
    bool can_turn(int u, int v) const {
        const auto leads = [&](const std::vector<int>& above) {
            return std::any_of(above.begin(), above.end(),
                               [&](int w) { return w != u && is_ancestor(u, w); });
        };
        return !leads(parents(v)) && !leads(lists_.earlier(v));
    }

  private:
    const ParentLists& lists_;
    std::vector<std::vector<int>> parents_, children_;
    std::vector<int> above_;
    BitMatrix ancestors_; // row v: the ancestors of v
};

std::vector<int> without(const std::vector<int>& parents, int u) {
    std::vector<int> rest;
    std::copy_if(parents.begin(), parents.end(), std::back_inserter(rest),
                 [u](int w) { return w != u; });
    return rest;
}

double share(double log_ratio) {
    return 1.0 / (1.0 + std::exp(-std::min(log_ratio, kLargest)));
}

class RatioSums {
  public:
    explicit RatioSums(const ScoreTables& tables)
        : tables_(tables), score_(tables.family()), factor_(score_), n_(tables.n()) {}

    // Calls visit(w, log p(G with w -> v) / p(G)) for all w outside v's list: whether that makes a
    // cycle is not asked, so that it holds for all graphs in which v has these parents.
    template <class Visit>
    void additions(const std::vector<int>& parents, int v, const std::uint8_t* possible,
                   Visit visit) {
        const int p = count_of(parents);
        if (p >= score_.most_parents())
            return;
        factor_.load(parents);
        factor_.project(v, own_);
        double variance = score_.at(v, v);
        for (const double x : own_)
            variance -= x * x;
        const double before = score_.value(p, log_of(variance), 0.0);
        for (int w = 0; w < n_; ++w) {
            if (w == v || !possible[index(w, v)] || tables_.lists().places(v)[w] >= 0 ||
                std::find(parents.begin(), parents.end(), w) != parents.end())
                continue;
            factor_.project(w, other_);
            double rest = score_.at(w, w), cross = score_.at(v, w);
            for (std::size_t k = 0; k < other_.size(); ++k) {
                rest -= other_[k] * other_[k];
                cross -= other_[k] * own_[k];
            }
            rest = std::max(rest, kLeastVariance);
            visit(w, score_.value(p + 1, log_of(variance - cross * cross / rest), std::log(rest)) -
                         before);
        }
    }

    // log p(G with u -> v dropped, or turned round) / p(G).
    double dropping(const DrawnGraph& graph, int u, int v) {
        return family(v, without(graph.parents(v), u)) - family(v, graph.parents(v));
    }
    double turning(const DrawnGraph& graph, int u, int v) {
        std::vector<int> parents = graph.parents(u);
        if (count_of(parents) >= score_.most_parents())
            return kNever;
        const double before = family(u, parents);
        parents.push_back(v);
        return dropping(graph, u, v) + family(u, parents) - before;
    }
    std::size_t index(int i, int j) const { return Index{i} * Index{n_} + j; }

  private:
    static double log_of(double variance) { return std::log(std::max(variance, kLeastVariance)); }
    double family(int v, const std::vector<int>& parents) {
        factor_.load(parents);
        return factor_.score(v);
    }

    const ScoreTables& tables_;
    const FamilyScore& score_;
    FamilyFactor factor_;
    int n_;
    std::vector<double> own_, other_;
};

} // namespace

void ratios_outside(const ScoreTables& tables, const ParentMask* masks, std::size_t draws,
                    const std::uint8_t* possible, PairValues& ratios, PairValues& near) {
    const ParentLists& lists = tables.lists();
    const std::size_t n = tables.n();
    const double weight = 1.0 / static_cast<double>(draws);
    ratios.assign(n * n, 0.0);
    near.assign(n * n, 0.0);
    std::vector<DrawnGraph> graphs(draws, DrawnGraph(lists));
    std::vector<std::size_t> by_mask(draws);
    for (std::size_t d = 0; d < draws; ++d) {
        graphs[d].load(masks + d * n, false);
        by_mask[d] = d;
    }
    RatioSums sums(tables);
    for (int v = 0; v < tables.n(); ++v) {
        const auto mask = [&](std::size_t d) { return masks[d * n + v]; };
        std::sort(by_mask.begin(), by_mask.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(mask(a), a) < std::pair(mask(b), b);
        });
        // Graphs in which v has the same parents are looked at together.
        for (auto first = by_mask.begin(), end = first; first != by_mask.end(); first = end) {
            end = std::find_if(first, by_mask.end(),
                               [&](std::size_t d) { return mask(d) != mask(*first); });
            sums.additions(graphs[*first].parents(v), v, possible, [&](int w, double log_ratio) {
                const auto acyclic = std::count_if(
                    first, end, [&](std::size_t d) { return !graphs[d].is_ancestor(v, w); });
                const double share_of_draws = weight * static_cast<double>(acyclic);
                const std::size_t pair = sums.index(w, v);
                // A draw in a thousand with a ratio of fifty would make the whole mean: truncated.
                ratios[pair] += share_of_draws * std::exp(std::min(log_ratio, 0.0));
                near[pair] += share_of_draws * share(log_ratio);
            });
        }
        for (const DrawnGraph& graph : graphs) {
            for (const int u : graph.parents(v)) { // u -> v, which may be turned round to v -> u
                const std::size_t turned = sums.index(v, u);
                if (lists.places(u)[v] < 0 && possible[turned] && !lists.must_precede(u, v) &&
                    graph.can_turn(u, v))
                    near[turned] += weight * share(sums.turning(graph, u, v));
            }
        }
    }
}

void ratios_of_core(const ScoreTables& tables, const ParentMask* masks, std::size_t draws,
                    PairValues& ratios) {
    const std::size_t n = tables.n();
    ratios.assign(n * n, 0.0);
    DrawnGraph graph(tables.lists());
    RatioSums sums(tables);
    for (std::size_t d = 0; d < draws; ++d, masks += n) {
        graph.load(masks, false);
        for (int v = 0; v < tables.n(); ++v) {
            for (const int u : tables.lists().core(v)) {
                double log_ratio = sums.dropping(graph, u, v);
                if (graph.can_turn(u, v))
                    log_ratio = std::max(log_ratio, sums.turning(graph, u, v));
                ratios[sums.index(u, v)] +=
                    std::exp(std::min(log_ratio, kLargest)) / static_cast<double>(draws);
            }
        }
    }
}

void count_relations(const ParentLists& lists, const ParentMask* masks, std::size_t draws,
                     PairValues& paths, PairValues& blankets) {
    const std::size_t n = lists.n();
    paths.assign(n * n, 0.0);
    blankets.assign(n * n, 0.0);
    DrawnGraph graph(lists);
    const auto entry = [n](PairValues& values, int i, int j) -> double& {
        return values[Index{i} * n + j];
    };
    for (std::size_t d = 0; d < draws; ++d, masks += n) {
        graph.load(masks, true);
        BitMatrix blanket(lists.n(), lists.n());
        for (int v = 0; v < lists.n(); ++v) {
            for_each_bit(graph.ancestors().row(v), graph.ancestors().words(),
                         [&](int u) { entry(paths, u, v) += 1.0; });
            const std::vector<int>& parents = graph.parents(v);
            for (const int u : parents) {
                blanket.set(u, v);
                blanket.set(v, u);
                for (const int w : parents) {
                    if (w != u)
                        blanket.set(u, w);
                }
            }
        }
        for (int i = 0; i < lists.n(); ++i)
            for_each_bit(blanket.row(i), blanket.words(),
                         [&](int j) { entry(blankets, i, j) += 1.0; });
    }
}

void count_classes(const ParentLists& lists, const ParentMask* masks, std::size_t draws,
                   PairValues& directed, PairValues& undirected) {
    const std::size_t n = lists.n();
    directed.assign(n * n, 0.0);
    undirected.assign(n * n, 0.0);
    DrawnGraph graph(lists);
    std::vector<int> places(n);
    std::iota(places.begin(), places.end(), 0);
    OrderedDag dag;
    dag.parents.resize(n);
    for (std::size_t d = 0; d < draws; ++d, masks += n) {
        graph.load(masks, false);
        for (int v = 0; v < lists.n(); ++v)
            dag.parents[v] = graph.parents(v);
        if (!sort_topologically(dag.parents, places, MemberRules{}, dag.order))
            continue; // no DAG, which no chain draws
        const std::vector<std::int8_t> codes = class_matrix(dag);
        for (std::size_t k = 0; k < codes.size(); ++k) {
            if (codes[k] == 1)
                directed[k] += 1.0;
            else if (codes[k] == 2)
                undirected[k] += 1.0;
        }
    }
}

} // namespace qwo
