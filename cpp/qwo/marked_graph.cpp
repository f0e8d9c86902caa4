#include "qwo/marked_graph.hpp"

#include "qwo/mag.hpp"

#include <algorithm>
#include <utility>

namespace qwo {

std::vector<std::vector<int>> MarkedGraph::neighbours() const {
    std::vector<std::vector<int>> found(n_);
    for (int i = 0; i < n_; ++i) {
        for (int j = 0; j < n_; ++j) {
            if (linked(i, j))
                found[i].push_back(j);
        }
    }
    return found;
}

namespace {

using Lists = std::vector<std::vector<int>>;

// Which vertices an inducing path from x leads to, relative to the hidden ones, if it ends at y.
bool induced(const MarkedGraph& dag, const Lists& near, const BitMatrix& above, int observed, int x,
             int y) {
    std::vector<char> seen(2 * Index{dag.size()}, 0);
    std::vector<std::pair<int, bool>> stack; // a vertex, and whether an arrowhead points into it
    const auto reach = [&](int from, int to) {
        const bool into = dag.at(from, to) == arrowhead;
        char& met = seen[2 * Index{to} + into];
        if (!met) {
            met = 1;
            stack.emplace_back(to, into);
        }
    };
    for (const int v : near[x])
        reach(x, v);
    while (!stack.empty()) {
        const auto [v, into] = stack.back();
        stack.pop_back();
        if (v == y)
            return true;
        if (v == x)
            continue;
        const bool can_collide = above.test(x, v) || above.test(y, v);
        for (const int w : near[v]) {
            const bool collider = into && dag.at(w, v) == arrowhead;
            if (w != x && (collider ? can_collide : v >= observed))
                reach(v, w);
        }
    }
    return false;
}

} // namespace

MarkedGraph mag_of_dag(const MarkedGraph& dag, int observed) {
    const Mag parents(dag);
    AncestralCheck check(dag.size());
    check.is_legal(parents);
    const BitMatrix& above = check.ancestors();
    const Lists near = dag.neighbours();
    MarkedGraph mag(observed);
    for (int x = 0; x < observed; ++x) {
        for (int y = x + 1; y < observed; ++y) {
            if (!dag.linked(x, y) && !induced(dag, near, above, observed, x, y))
                continue;
            mag.set(y, x, above.test(y, x) ? tail : arrowhead);
            mag.set(x, y, above.test(x, y) ? tail : arrowhead);
        }
    }
    return mag;
}

bool is_mag(const MarkedGraph& graph) {
    const int n = graph.size();
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            const int forth = graph.at(i, j), back = graph.at(j, i);
            if ((forth == no_edge) != (back == no_edge) || forth == circle ||
                (forth == tail && back == tail) || (i == j && forth != no_edge))
                return false;
        }
    }
    return AncestralCheck(n).is_legal(Mag(graph));
}

namespace {

// One pass after the other of the rules over a graph.
class Orientation {
  public:
    Orientation(MarkedGraph& graph, const ColliderQuestion& is_collider)
        : graph_(graph), is_collider_(is_collider), near_(graph.neighbours()),
          stamp_(Index{graph.size()} * graph.size(), 0) {}

    void run() {
        do {
            while (arrowhead_rules()) {
            }
        } while (tail_rules());
    }

  private:
    bool arrowhead_rules() {
        bool changed = false;
        for (int k = 0; k < graph_.size(); ++k) {
            for (const int j : near_[k]) {
                if (graph_.at(j, k) == circle && rule_1(k, j))
                    changed = direct(k, j);
                if (graph_.at(k, j) == circle && (rule_2(k, j) || rule_3(k, j))) {
                    graph_.set(k, j, arrowhead);
                    changed = true;
                }
                if (graph_.at(j, k) == circle && rule_4(k, j))
                    changed = true;
            }
        }
        return changed;
    }

    bool direct(int from, int to) {
        graph_.set(to, from, tail);
        graph_.set(from, to, arrowhead);
        return true;
    }

    // i *-> k o-* j without an edge between i and j.
    bool rule_1(int k, int j) const {
        return std::any_of(near_[k].begin(), near_[k].end(), [&](int i) {
            return i != j && graph_.at(i, k) == arrowhead && !graph_.linked(i, j);
        });
    }

    // k -> b *-> j or k *-> b -> j beside k *-o j.
    bool rule_2(int k, int j) const {
        return std::any_of(near_[k].begin(), near_[k].end(), [&](int b) {
            return graph_.at(k, b) == arrowhead && graph_.at(b, j) == arrowhead &&
                   (graph_.at(b, k) == tail || graph_.at(j, b) == tail);
        });
    }

    // a *-> j <-* c, a *-o k o-* c without an edge between a and c, beside k *-o j.
    bool rule_3(int k, int j) const {
        std::vector<int> both;
        for (const int a : near_[j]) {
            if (graph_.at(a, j) != arrowhead || graph_.at(a, k) != circle)
                continue;
            for (const int c : both) {
                if (!graph_.linked(a, c))
                    return true;
            }
            both.push_back(a);
        }
        return false;
    }

    bool rule_4(int k, int j) {
        for (const int i : near_[k]) {
            const int l = i == j ? -1 : discriminating(i, k, j);
            if (l < 0)
                continue;
            if (is_collider_(l, i, k, j)) {
                graph_.set(i, k, arrowhead);
                graph_.set(j, k, arrowhead);
                graph_.set(k, j, arrowhead);
            } else {
                direct(k, j);
            }
            return true;
        }
        return false;
    }

    // The first vertex of a path <l, .., i, k, j> that discriminates k; -1 if there is none.
    int discriminating(int i, int k, int j) const {
        if (!(graph_.at(k, i) == arrowhead && graph_.directed(i, j)))
            return -1;
        std::vector<char> seen(graph_.size(), 0);
        seen[i] = seen[k] = seen[j] = 1;
        std::vector<int> stack{i};
        while (!stack.empty()) {
            const int v = stack.back();
            stack.pop_back();
            for (const int h : near_[v]) {
                if (seen[h] || graph_.at(h, v) != arrowhead)
                    continue;
                if (!graph_.linked(h, j))
                    return h;
                if (graph_.directed(h, j) && graph_.at(v, h) == arrowhead) {
                    seen[h] = 1;
                    stack.push_back(h);
                }
            }
        }
        return -1;
    }

    bool possibly_directed(int i, int j) const {
        return graph_.linked(i, j) && graph_.at(i, j) != tail && graph_.at(j, i) != arrowhead;
    }

    // The vertices that uncovered, possibly directed paths <i, k, ..> end in.
    std::vector<char> uncovered_ends(int i, int k) {
        std::vector<char> ends(graph_.size(), 0);
        if (!possibly_directed(i, k))
            return ends;
        ++now_;
        ends[k] = 1;
        std::vector<std::pair<int, int>> stack{{i, k}};
        while (!stack.empty()) {
            const auto [u, v] = stack.back();
            stack.pop_back();
            for (const int w : near_[v]) {
                int& met = stamp_[Index{v} * graph_.size() + w];
                if (w == i || w == u || met == now_ || graph_.linked(u, w) ||
                    !possibly_directed(v, w))
                    continue;
                met = now_;
                ends[w] = 1;
                stack.emplace_back(v, w);
            }
        }
        return ends;
    }

    bool tail_rules() {
        bool changed = false;
        for (int i = 0; i < graph_.size(); ++i) {
            std::vector<int> open;
            for (const int j : near_[i]) {
                if (graph_.at(i, j) == arrowhead && graph_.at(j, i) == circle)
                    open.push_back(j);
            }
            if (open.empty())
                continue;
            std::vector<std::vector<char>> ends;
            for (const int k : near_[i])
                ends.push_back(uncovered_ends(i, k));
            for (const int j : open) {
                if (rule_8(i, j) || rule_9(i, j, ends) || rule_10(i, j, ends)) {
                    graph_.set(j, i, tail);
                    changed = true;
                }
            }
        }
        return changed;
    }

    // i -> b -> j.
    bool rule_8(int i, int j) const {
        return std::any_of(near_[i].begin(), near_[i].end(),
                           [&](int b) { return graph_.directed(i, b) && graph_.directed(b, j); });
    }

    // An uncovered, possibly directed path <i, k, .., j> whose k has no edge to j.
    bool rule_9(int i, int j, const std::vector<std::vector<char>>& ends) const {
        for (std::size_t s = 0; s < near_[i].size(); ++s) {
            const int k = near_[i][s];
            if (k != j && !graph_.linked(k, j) && ends[s][j])
                return true;
        }
        return false;
    }

    // a -> j <- c, and uncovered, possibly directed paths <i, u, .., a> and <i, w, .., c>, u and w
    // without an edge.
    bool rule_10(int i, int j, const std::vector<std::vector<char>>& ends) const {
        std::vector<int> parents;
        for (const int a : near_[j]) {
            if (a != i && graph_.directed(a, j))
                parents.push_back(a);
        }
        if (parents.size() < 2)
            return false;
        for (std::size_t s = 0; s < near_[i].size(); ++s) {
            for (std::size_t t = s + 1; t < near_[i].size(); ++t) {
                const int u = near_[i][s], w = near_[i][t];
                if (u == j || w == j || graph_.linked(u, w))
                    continue;
                for (const int a : parents) {
                    for (const int c : parents) {
                        if (a != c && ends[s][a] && ends[t][c])
                            return true;
                    }
                }
            }
        }
        return false;
    }

    MarkedGraph& graph_;
    const ColliderQuestion& is_collider_;
    const Lists near_;
    std::vector<int> stamp_;
    int now_ = 0;
};

} // namespace

void orient(MarkedGraph& graph, const ColliderQuestion& is_collider) {
    Orientation(graph, is_collider).run();
}

MarkedGraph pag_of_mag(const MarkedGraph& mag, const MarkLimits& limits) {
    const int n = mag.size();
    MarkedGraph pag(n);
    const Lists near = mag.neighbours();
    const auto said = [n](const std::vector<char>& flags, int i, int j) {
        return MarkLimits::said(flags, n, i, j);
    };
    for (int i = 0; i < n; ++i) {
        for (const int j : near[i]) {
            // The end at i: an arrowhead where i cannot cause j, or j is said to cause i; a tail
            // where neither j nor anything hidden can be behind the edge.
            const bool head = said(limits.no_tail, i, j) || said(limits.required, j, i);
            const bool causes = said(limits.required, i, j) ||
                                (said(limits.clear, i, j) && said(limits.no_tail, j, i));
            pag.set(j, i, causes ? tail : head ? arrowhead : circle);
        }
    }
    for (int k = 0; k < n; ++k) {
        for (const int i : near[k]) {
            for (const int j : near[k]) {
                if (i < j && mag.at(i, k) == arrowhead && mag.at(j, k) == arrowhead &&
                    !mag.linked(i, j)) {
                    pag.set(i, k, arrowhead);
                    pag.set(j, k, arrowhead);
                }
            }
        }
    }
    orient(pag, [&](int, int i, int k, int j) {
        return mag.at(i, k) == arrowhead && mag.at(j, k) == arrowhead;
    });
    return pag;
}

MarkedGraph mag_of_pag(const MarkedGraph& pag) {
    const int n = pag.size();
    MarkedGraph mag = pag;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            if (pag.at(i, j) == arrowhead && pag.at(j, i) == circle)
                mag.set(j, i, tail);
            else if (pag.at(i, j) == circle && pag.at(j, i) == tail)
                mag.set(i, j, arrowhead);
        }
    }
    // Maximum cardinality search orders the chordal o-o part.
    std::vector<int> weight(n, 0);
    std::vector<char> done(n, 0);
    for (int step = 0; step < n; ++step) {
        int v = -1;
        for (int u = 0; u < n; ++u) {
            if (!done[u] && (v < 0 || weight[u] > weight[v]))
                v = u;
        }
        done[v] = 1;
        for (int u = 0; u < n; ++u) {
            if (!done[u] && pag.at(u, v) == circle && pag.at(v, u) == circle) {
                ++weight[u];
                mag.set(v, u, arrowhead);
                mag.set(u, v, tail);
            }
        }
    }
    return mag;
}

bool is_pag(const MarkedGraph& graph) {
    const MarkedGraph mag = mag_of_pag(graph);
    return is_mag(mag) && pag_of_mag(mag) == graph;
}

} // namespace qwo
