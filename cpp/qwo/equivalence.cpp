#include "qwo/equivalence.hpp"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <tuple>
#include <utility>

#include "qwo/index.hpp"

namespace qwo {

namespace {

using Lists = std::vector<std::vector<int>>;

std::vector<int> order_of(const std::vector<int>& places) {
    std::vector<int> order(places.size());
    for (int v = 0; v < count_of(places); ++v)
        order[places[v]] = v;
    return order;
}

// By variable, what makes the class: its neighbours, and its pairs of parents that are no
// neighbours, each pair as one number.
struct Surroundings {
    explicit Surroundings(const OrderedDag& dag)
        : neighbours(dag.parents), colliders(dag.order.size()) {
        for (int y = 0; y < count_of(dag.parents); ++y) {
            for (int x : dag.parents[y])
                neighbours[x].push_back(y);
        }
        for (std::vector<int>& near : neighbours)
            std::sort(near.begin(), near.end());
        for (std::size_t y = 0; y < dag.parents.size(); ++y)
            find_colliders(dag.parents[y], colliders[y]);
    }

    Lists neighbours;
    std::vector<std::vector<std::int64_t>> colliders;

  private:
    void find_colliders(const std::vector<int>& parents, std::vector<std::int64_t>& found) const {
        const auto n = static_cast<std::int64_t>(neighbours.size());
        for (int a : parents) {
            const std::vector<int>& near = neighbours[a];
            for (int b : parents) {
                if (a < b && !std::binary_search(near.begin(), near.end(), b))
                    found.push_back(a * n + b);
            }
        }
        std::sort(found.begin(), found.end());
    }
};

} // namespace

// Labels edges, those into a variable after those into the ones before it (Chickering 1995).
class EdgeLabels {
  public:
    EdgeLabels(int n, std::vector<char> given) : given_(std::move(given)), index_(n, -1) {}

    // Says of each edge into y whether it is compelled.
    void label_edges_into(int y, const Lists& parents_of, const std::vector<int>& places,
                          std::vector<std::vector<char>>& compelled) {
        const std::vector<int>& parents = parents_of[y];
        std::vector<char>& labels = compelled[y];
        labels.assign(parents.size(), unknown);
        nearest_first_.resize(parents.size());
        for (int k = 0; k < count_of(parents); ++k) {
            index_[parents[k]] = k;
            nearest_first_[k] = k;
        }
        std::sort(nearest_first_.begin(), nearest_first_.end(),
                  [&](int a, int b) { return places[parents[a]] > places[parents[b]]; });
        for (int k : nearest_first_) {
            const int x = parents[k];
            if (labels[k] == unknown)
                label_by(x, parents_of[x], compelled[x], parents, labels);
        }
        for (int p : parents)
            index_[p] = -1;
    }

  private:
    static constexpr char unknown = 2;

    // Labels x -> y and whatever follows from it and the edges from above into x.
    void label_by(int x, const std::vector<int>& above, const std::vector<char>& compelled,
                  const std::vector<int>& parents, std::vector<char>& labels) {
        if (!given_.empty() && given_[x]) {
            // As if two others, which are not joined, pointed at x.
            std::fill(labels.begin(), labels.end(), 1);
            return;
        }
        for (std::size_t w = 0; w < above.size(); ++w) {
            if (!compelled[w])
                continue;
            const int k = index_[above[w]];
            if (k < 0) {
                std::fill(labels.begin(), labels.end(), 1);
                return;
            }
            labels[k] = 1;
        }
        const bool collides = std::any_of(parents.begin(), parents.end(), [&](int z) {
            return z != x && std::find(above.begin(), above.end(), z) == above.end();
        });
        std::replace(labels.begin(), labels.end(), unknown, static_cast<char>(collides));
    }

    std::vector<char> given_; // by variable, whether its arrows are known; empty if none are
    std::vector<int> index_;  // of a parent of the variable under work, else -1
    std::vector<int> nearest_first_;
};

namespace {

std::vector<std::vector<char>> labels_of(const OrderedDag& dag) {
    std::vector<std::vector<char>> compelled(dag.order.size());
    EdgeLabels labels(count_of(dag.order), dag.given);
    const std::vector<int> places = places_of(dag.order);
    for (int y : dag.order)
        labels.label_edges_into(y, dag.parents, places, compelled);
    return compelled;
}

// Topological orders of a stretch of an order, as near to the present one as can be.
class Sorting {
  public:
    explicit Sorting(int n) : after_(n), waits_for_(n, 0) {}

    // Sorts order[first .. end - 1], where `places` says which variable stands where; what stands
    // before and after needs nothing of it. False if there is no such order.
    bool sort(const Lists& parents, const std::vector<int>& places, const MemberRules& rules,
              std::vector<int>& order, int first, int end) {
        for (int k = first; k < end; ++k) {
            after_[order[k]].clear();
            waits_for_[order[k]] = 0;
        }
        for (int k = first; k < end; ++k) {
            for (int x : parents[order[k]]) {
                if (places[x] >= first)
                    put_before(x, order[k]);
            }
        }
        if (rules.precedes != nullptr)
            obey(*rules.precedes, order, first, end);
        const auto later = [&](int a, int b) { return places[a] > places[b]; };
        std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
        for (int k = first; k < end; ++k) {
            if (waits_for_[order[k]] == 0)
                ready.push(order[k]);
        }
        int next = first;
        while (!ready.empty()) {
            const int v = ready.top();
            ready.pop();
            order[next++] = v;
            for (int u : after_[v]) {
                if (--waits_for_[u] == 0)
                    ready.push(u);
            }
        }
        return next == end;
    }

  private:
    void put_before(int x, int y) {
        after_[x].push_back(y);
        ++waits_for_[y];
    }

    void obey(const std::vector<std::uint8_t>& precedes, const std::vector<int>& order, int first,
              int end) {
        for (int k = first; k < end; ++k) {
            for (int l = first; l < end; ++l) {
                if (precedes[Index{order[k]} * after_.size() + order[l]] != 0)
                    put_before(order[k], order[l]);
            }
        }
    }

    Lists after_;
    std::vector<int> waits_for_;
};

} // namespace

// The undirected pieces of the class, and their directions anew.
class ClassMembers::Pieces {
  public:
    Pieces(const OrderedDag& dag, const std::vector<std::vector<char>>& compelled)
        : dag_(dag), compelled_(compelled), below_(dag.order.size()), above_(dag.order.size()),
          rank_(dag.order.size(), -1), root_(dag.order.size(), -1), weight_(dag.order.size(), 0),
          stays_(dag.order.size(), 0) {
        for (int y = 0; y < count_of(dag.parents); ++y) {
            for (std::size_t k = 0; k < dag.parents[y].size(); ++k) {
                if (compelled[y][k])
                    continue;
                above_[y].push_back(dag.parents[y][k]);
                below_[dag.parents[y][k]].push_back(y);
            }
        }
    }

    // Ranks the variables of a piece from its root on, most visited neighbours first.
    void direct_from(int root, const std::vector<int>& places) {
        if (rank_[root] >= 0)
            return;
        // Entries that have been overtaken are skipped.
        std::priority_queue<std::tuple<int, int, int>> front;
        front.emplace(0, -places[root], root);
        const auto meet = [&](int u) {
            if (rank_[u] < 0)
                front.emplace(++weight_[u], -places[u], u);
        };
        while (!front.empty()) {
            const int v = std::get<2>(front.top());
            front.pop();
            if (rank_[v] >= 0)
                continue;
            rank_[v] = count_of(directed_);
            root_[v] = root;
            directed_.push_back(v);
            std::for_each(above_[v].begin(), above_[v].end(), meet);
            std::for_each(below_[v].begin(), below_[v].end(), meet);
        }
    }

    const std::vector<int>& directed() const { return directed_; }

    // Whether the rules leave the piece with this root as it is.
    bool stays(int root) const { return stays_[root]; }

    void keep_to(const MemberRules& rules) {
        if (!rules.may_turn)
            return;
        for (int y : directed_) {
            for (int x : above_[y]) {
                if (is_turned(x, y) && !rules.may_turn(x, y))
                    stays_[root_[y]] = 1;
            }
        }
    }

    // Parents that stay come first, in the order that they had.
    void put_parents(Lists& parents) const {
        for (int v : directed_) {
            std::vector<int>& found = parents[v];
            found.clear();
            for (std::size_t k = 0; k < dag_.parents[v].size(); ++k) {
                const int x = dag_.parents[v][k];
                if (compelled_[v][k] || !is_turned(x, v))
                    found.push_back(x);
            }
            for (int u : below_[v]) {
                if (is_turned(v, u))
                    found.push_back(u);
            }
        }
    }

    void forget() {
        for (int v : directed_) {
            rank_[v] = root_[v] = -1;
            weight_[v] = stays_[v] = 0;
        }
        directed_.clear();
    }

  private:
    // Whether the reversible edge x -> y is y -> x now.
    bool is_turned(int x, int y) const { return rank_[y] < rank_[x] && !stays_[root_[y]]; }

    const OrderedDag& dag_;
    const std::vector<std::vector<char>>& compelled_;
    Lists below_, above_; // children and parents by reversible edges
    std::vector<int> rank_, root_, weight_;
    std::vector<char> stays_;   // by root
    std::vector<int> directed_; // by rank
};

struct ClassMembers::Scratch {
    Scratch(const OrderedDag& dag, const std::vector<std::vector<char>>& compelled)
        : pieces(dag, compelled), sorting(count_of(dag.order)) {}

    Pieces pieces;
    Sorting sorting;
};

ClassMembers::ClassMembers(OrderedDag dag)
    : dag_(std::move(dag)), places_(places_of(dag_.order)), compelled_(labels_of(dag_)),
      scratch_(std::make_unique<Scratch>(dag_, compelled_)) {}

ClassMembers::~ClassMembers() = default;

bool ClassMembers::with_root(int root, const MemberRules& rules, OrderedDag& member, int second) {
    Pieces& pieces = scratch_->pieces;
    const int place = second < 0 ? -1 : std::exchange(places_[second], -1);
    pieces.direct_from(root, places_);
    if (second >= 0)
        places_[second] = place;
    pieces.keep_to(rules);
    const bool may = !pieces.stays(root);
    int first = count_of(dag_.order), end = 0;
    if (may) {
        member = dag_;
        pieces.put_parents(member.parents);
        for (int v : pieces.directed()) {
            first = std::min(first, places_[v]);
            end = std::max(end, places_[v] + 1);
        }
    }
    pieces.forget();
    return may && scratch_->sorting.sort(member.parents, places_, rules, member.order, first, end);
}

bool ClassMembers::nearest(const std::vector<int>& places, const MemberRules& rules,
                           OrderedDag& member) {
    Pieces& pieces = scratch_->pieces;
    for (int v : order_of(places))
        pieces.direct_from(v, places);
    pieces.keep_to(rules);
    member.parents = dag_.parents;
    pieces.put_parents(member.parents);
    pieces.forget();
    return sort_topologically(member.parents, places, rules, member.order);
}

NearbyClass::NearbyClass(const ClassMembers& known)
    : known_(known), parents_(known.dag().parents), compelled_(known.compelled()),
      changed_(parents_.size(), 0), unlike_(parents_.size(), 0), places_(parents_.size()),
      labels_(std::make_unique<EdgeLabels>(count_of(parents_), known.dag().given)) {}

NearbyClass::~NearbyClass() = default;

void NearbyClass::begin() {
    for (int v : labelled_) {
        parents_[v] = known_.dag().parents[v];
        compelled_[v] = known_.compelled()[v];
        changed_[v] = unlike_[v] = 0;
    }
    labelled_.clear();
    more_ = 0;
}

// What has changed is listed at once, to be taken back even if nobody asks for labels.
void NearbyClass::change(int v, const std::vector<int>& parents) {
    more_ += count_of(parents) - count_of(parents_[v]);
    parents_[v] = parents;
    if (changed_[v])
        return;
    const std::vector<int>& before = known_.dag().parents[v];
    const bool same = parents.size() == before.size() &&
                      std::is_permutation(parents.begin(), parents.end(), before.begin());
    if (same) {
        parents_[v] = before;
        return;
    }
    changed_[v] = unlike_[v] = 1;
    labelled_.push_back(v);
}

void NearbyClass::label(const std::vector<int>& order) {
    for (int k = 0; k < count_of(order); ++k)
        places_[order[k]] = k;
    for (int y : order) {
        const auto is_unlike = [&](int x) { return unlike_[x] != 0; };
        if (!changed_[y] && std::none_of(parents_[y].begin(), parents_[y].end(), is_unlike))
            continue;
        labels_->label_edges_into(y, parents_, places_, compelled_);
        if (changed_[y])
            continue;
        labelled_.push_back(y);
        unlike_[y] = compelled_[y] != known_.compelled()[y];
    }
}

bool NearbyClass::is_open_or_turned(int from, int to) const {
    const auto found = std::find(parents_[to].begin(), parents_[to].end(), from);
    if (found != parents_[to].end())
        return !compelled_[to][found - parents_[to].begin()];
    return std::find(parents_[from].begin(), parents_[from].end(), to) != parents_[from].end();
}

std::vector<std::int8_t> class_matrix(const OrderedDag& dag) {
    const int n = count_of(dag.order);
    const std::vector<std::vector<char>> compelled = labels_of(dag);
    std::vector<std::int8_t> matrix(Index{n} * n, 0);
    for (int y = 0; y < n; ++y) {
        for (int k = 0; k < count_of(dag.parents[y]); ++k) {
            const int x = dag.parents[y][k];
            matrix[Index{x} * n + y] = compelled[y][k] ? 1 : 2;
            if (!compelled[y][k])
                matrix[Index{y} * n + x] = 2;
        }
    }
    return matrix;
}

std::vector<char> differing_variables(const OrderedDag& first, const OrderedDag& second) {
    const Surroundings one(first), other(second);
    std::vector<char> differs(first.order.size());
    for (std::size_t v = 0; v < differs.size(); ++v)
        differs[v] =
            one.neighbours[v] != other.neighbours[v] || one.colliders[v] != other.colliders[v];
    return differs;
}

bool sort_topologically(const std::vector<std::vector<int>>& parents,
                        const std::vector<int>& places, const MemberRules& rules,
                        std::vector<int>& order) {
    order = order_of(places);
    const int n = count_of(parents);
    return Sorting(n).sort(parents, places, rules, order, 0, n);
}

} // namespace qwo
