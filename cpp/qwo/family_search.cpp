#include "qwo/family_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "qwo/equivalence.hpp"

namespace qwo {

namespace {

// Two costs that differ by less are equal.
constexpr double kNoise = 1e-7;

// A shaken neighbourhood has at most so many variables.
constexpr int kShaken = 6;

FamilySearch::Parents with(const FamilySearch::Parents& parents, int u) {
    FamilySearch::Parents more = parents;
    more.insert(std::lower_bound(more.begin(), more.end(), u), u);
    return more;
}

FamilySearch::Parents without(const FamilySearch::Parents& parents, int u) {
    FamilySearch::Parents fewer = parents;
    fewer.erase(std::lower_bound(fewer.begin(), fewer.end(), u));
    return fewer;
}

bool has(const FamilySearch::Parents& parents, int u) {
    return std::binary_search(parents.begin(), parents.end(), u);
}

} // namespace

double& FamilySearch::Memo::at(std::uint64_t key) {
    constexpr double kNew = std::numeric_limits<double>::quiet_NaN();
    if (2 * (used_ + 1) > slots_.size()) {
        std::vector<std::pair<std::uint64_t, double>> before(std::max<std::size_t>(64, 4 * used_),
                                                             {0, kNew});
        before.swap(slots_);
        used_ = 0;
        for (const auto& [old, cost] : before) {
            if (!std::isnan(cost))
                at(old) = cost;
        }
    }
    std::size_t k = key & (slots_.size() - 1); // a power of two
    while (!std::isnan(slots_[k].second) && slots_[k].first != key)
        k = (k + 1) & (slots_.size() - 1);
    if (std::isnan(slots_[k].second)) {
        slots_[k].first = key;
        ++used_;
    }
    return slots_[k].second;
}

FamilySearch::FamilySearch(FamilyCost& cost, std::vector<int> order, FamilyLimits limits,
                           int restarts, std::uint64_t seed)
    : cost_(cost), limits_(std::move(limits)), random_(seed), restarts_(restarts),
      order_(std::move(order)), place_(order_.size()), parents_(order_.size()),
      costs_(order_.size(), 0.0), bits_(order_.size()), memo_(order_.size()),
      available_(order_.size(), 0) {
    Random bits(0x9E3779B97F4A7C15ull);
    for (std::uint64_t& own : bits_)
        own = bits.next();
    if (limits_.required.empty())
        limits_.required.resize(order_.size());
    for (int k = 0; k < n(); ++k) {
        const int v = order_[k];
        place_[v] = k;
        if (!is_given(v)) {
            parents_[v] = limits_.required[v];
            costs_[v] = refine(v, parents_[v], family(v, parents_[v]));
        }
        available_[v] = 1;
    }
    refill_queue();
}

double FamilySearch::cost() const {
    return std::accumulate(costs_.begin(), costs_.end(), 0.0);
}

std::size_t FamilySearch::families() const {
    std::size_t count = 0;
    for (const auto& own : memo_)
        count += own.size();
    return count;
}

bool FamilySearch::allowed(int u, int v) const {
    return u != v && (limits_.may_cause.empty() || limits_.may_cause[u * n() + v]);
}

std::uint64_t FamilySearch::key_of(const Parents& parents) const {
    std::uint64_t key = 0;
    for (const int p : parents)
        key ^= bits_[p];
    return key;
}

double FamilySearch::family(int variable, const Parents& parents) {
    double& known = memo_[variable].at(key_of(parents));
    if (std::isnan(known))
        known = cost_.cost(variable, parents);
    return known;
}

double FamilySearch::toggled(int variable, const Parents& parents, std::uint64_t key, int u) {
    double& known = memo_[variable].at(key ^ bits_[u]);
    if (std::isnan(known))
        known = has(parents, u) ? cost_.cost(variable, without(parents, u))
                                : cost_.with(variable, parents, u);
    return known;
}

double FamilySearch::refine(int variable, Parents& parents, double now) {
    const Parents& required = limits_.required[variable];
    for (bool changed = true; changed;) {
        changed = false;
        while (count_of(parents) < limits_.most_parents) {
            double best = now - kNoise;
            int added = -1;
            const std::uint64_t key = key_of(parents);
            for (int u = 0; u < n(); ++u) {
                if (!available_[u] || !allowed(u, variable) || has(parents, u))
                    continue;
                const double own = toggled(variable, parents, key, u);
                if (own < best) {
                    best = own;
                    added = u;
                }
            }
            if (added < 0)
                break;
            parents = with(parents, added);
            now = best;
            changed = true;
        }
        for (;;) {
            double best = now - kNoise;
            int removed = -1;
            const std::uint64_t key = key_of(parents);
            for (const int u : parents) {
                if (has(required, u))
                    continue;
                const double own = toggled(variable, parents, key, u);
                if (own < best) {
                    best = own;
                    removed = u;
                }
            }
            if (removed < 0)
                break;
            parents = without(parents, removed);
            now = best;
            changed = true;
        }
    }
    return now;
}

// Walks a variable to one end, place by place; what that changes at the best place on the way.
// With `apply` below it walks to a place and keeps what it finds.
double FamilySearch::try_path(int variable, int step, int& best_place) {
    const int v = variable;
    Parents own = parents_[v];
    double own_cost = costs_[v], others = 0.0, best = 0.0;
    best_place = place_[v];
    std::fill(available_.begin(), available_.end(), char{0});
    for (int k = 0; k < place_[v]; ++k)
        available_[order_[k]] = 1;
    for (int k = place_[v] + step; k >= 0 && k < n(); k += step) {
        const int u = order_[k];
        if (is_given(u))
            break;
        const bool bound = !limits_.precedes.empty() && (step < 0 ? limits_.precedes[u * n() + v]
                                                                  : limits_.precedes[v * n() + u]);
        if (bound)
            break;
        if (step < 0) {
            // u comes after v now: v loses it, and it gains v. All but these two see the same.
            available_[u] = 0;
            if (has(own, u)) {
                own = without(own, u);
                own_cost = refine(v, own, family(v, own));
            }
            if (allowed(v, u)) {
                const double more = toggled(u, parents_[u], key_of(parents_[u]), v);
                if (more < costs_[u] - kNoise) {
                    Parents theirs = with(parents_[u], v);
                    available_[v] = 1;
                    others += refine(u, theirs, more) - costs_[u];
                    available_[v] = 0;
                }
            }
        } else {
            if (has(parents_[u], v)) {
                Parents theirs = without(parents_[u], v);
                others += refine(u, theirs, family(u, theirs)) - costs_[u];
            }
            available_[u] = 1;
            if (allowed(u, v)) {
                const double more = toggled(v, own, key_of(own), u);
                if (more < own_cost - kNoise) {
                    own = with(own, u);
                    own_cost = refine(v, own, more);
                }
            }
        }
        const double change = own_cost - costs_[v] + others;
        if (change < best - kNoise) {
            best = change;
            best_place = k;
        }
    }
    return best;
}

void FamilySearch::apply_path(int variable, int place) {
    std::vector<int> order = order_;
    order.erase(order.begin() + place_[variable]);
    order.insert(order.begin() + place, variable);
    const auto [first, last] = std::minmax(place_[variable], place);
    rearrange(order, first, last);
}

// Goes over to an order that differs at the places first .. last; sets change from what they were.
void FamilySearch::rearrange(const std::vector<int>& order, int first, int last) {
    std::fill(available_.begin(), available_.end(), char{0});
    for (int k = 0; k < first; ++k)
        available_[order[k]] = 1;
    for (int k = first; k <= last; ++k) {
        const int v = order[k];
        // Only those that a variable has lost, or may have gained, can change its parents.
        Parents own;
        for (const int u : parents_[v]) {
            if (available_[u])
                own.push_back(u);
        }
        bool changed = own.size() != parents_[v].size();
        double now = changed ? family(v, own) : costs_[v];
        for (int j = first; j < k && !changed; ++j) {
            const int u = order[j];
            changed = place_[u] > place_[v] && allowed(u, v) &&
                      toggled(v, own, key_of(own), u) < now - kNoise;
        }
        if (changed) {
            now = refine(v, own, now);
            parents_[v] = std::move(own);
            costs_[v] = now;
        }
        available_[v] = 1;
    }
    order_ = order;
    for (int k = first; k <= last; ++k)
        place_[order_[k]] = k;
}

bool FamilySearch::insert(int variable) {
    if (is_given(variable))
        return false;
    int left = 0, right = 0;
    const double gain_left = try_path(variable, -1, left);
    const double gain_right = try_path(variable, +1, right);
    const double gain = std::min(gain_left, gain_right);
    if (gain > -kNoise)
        return false;
    const State before = state();
    const double cost_before = cost();
    apply_path(variable, gain_left <= gain_right ? left : right);
    return keep_if_better(before, cost_before);
}

std::vector<int> FamilySearch::tucked(int parent, int child, bool ahead) const {
    const int from = place_[parent], to = place_[child];
    std::vector<char> moved(order_.size(), 0);
    moved[ahead ? child : parent] = 1;
    for (int k = ahead ? to : from; ahead ? k > from : k < to; k += ahead ? -1 : 1) {
        const int v = order_[k];
        if (ahead && moved[v]) {
            for (const int u : parents_[v])
                moved[u] |= place_[u] > from;
        } else if (!ahead && v != parent) {
            moved[v] |= std::any_of(parents_[v].begin(), parents_[v].end(),
                                    [&](int u) { return moved[u] != 0; });
        }
    }
    std::vector<int> first, second;
    for (int k = from; k <= to; ++k) {
        const int v = order_[k];
        ((moved[v] != 0) == ahead && v != parent ? first : second).push_back(v);
    }
    if (!ahead) {
        // The child comes before all that move behind it.
        std::erase(second, child);
        std::erase(first, child);
        first.push_back(child);
    }
    if (!limits_.precedes.empty()) {
        for (const int u : second) {
            for (const int v : first) {
                if (place_[u] < place_[v] && limits_.precedes[u * n() + v])
                    return {};
            }
        }
    }
    std::vector<int> order = order_;
    std::copy(first.begin(), first.end(), order.begin() + from);
    std::copy(second.begin(), second.end(), order.begin() + from + count_of(first));
    return order;
}

bool FamilySearch::tuck(int parent, int child) {
    const int from = place_[parent], to = place_[child];
    const std::vector<int> order = tucked(parent, child, true);
    if (order.empty())
        return false;
    const State before = state();
    const double cost_before = cost();
    rearrange(order, from, to);
    return keep_if_better(before, cost_before);
}

bool FamilySearch::keep_if_better(const State& before, double cost_before) {
    if (cost() < cost_before - kNoise)
        return true;
    restore(before);
    return false;
}

bool FamilySearch::to_root(int root) {
    std::vector<std::uint8_t> precedes(limits_.precedes.begin(), limits_.precedes.end());
    MemberRules rules;
    rules.may_turn = [this](int child, int parent) {
        return allowed(parent, child) && !is_given(child) && !has(limits_.required[parent], child);
    };
    if (!precedes.empty())
        rules.precedes = &precedes;
    ClassMembers members({order_, parents_});
    OrderedDag member;
    if (!members.with_root(root, rules, member))
        return false;
    bool changed = false;
    for (int v = 0; v < n(); ++v) {
        std::sort(member.parents[v].begin(), member.parents[v].end());
        if (member.parents[v] == parents_[v])
            continue;
        parents_[v] = std::move(member.parents[v]);
        costs_[v] = family(v, parents_[v]);
        changed = true;
    }
    order_ = std::move(member.order);
    for (int k = 0; k < n(); ++k)
        place_[order_[k]] = k;
    return changed;
}

bool FamilySearch::reroot(int root) {
    const State before = state();
    const double cost_before = cost();
    if (!to_root(root)) {
        restore(before);
        return false;
    }
    return keep_if_better(before, cost_before);
}

void FamilySearch::take(std::vector<int> order, std::vector<Parents> parents) {
    order_ = std::move(order);
    parents_ = std::move(parents);
    for (int k = 0; k < n(); ++k)
        place_[order_[k]] = k;
    for (int v = 0; v < n(); ++v) {
        if (!is_given(v))
            costs_[v] = family(v, parents_[v]);
    }
}

void FamilySearch::to_best_member() {
    for (bool improved = true; improved;) {
        improved = false;
        for (int v = 0; v < n(); ++v)
            improved |= reroot(v);
    }
}

// Insertions of those whose parents are not what they were, and of their neighbours.
void FamilySearch::settle_around(const State& before) {
    std::vector<char> near(order_.size(), 0);
    for (int v = 0; v < n(); ++v) {
        if (before.parents[v] == parents_[v])
            continue;
        near[v] = 1;
        for (const int u : before.parents[v])
            near[u] = 1;
        for (const int u : parents_[v])
            near[u] = 1;
    }
    for (int v = 0; v < n(); ++v) {
        for (const int u : parents_[v]) {
            if (before.parents[u] != parents_[u])
                near[v] = 1;
        }
    }
    std::vector<int> queue;
    for (int v = 0; v < n(); ++v) {
        if (near[v])
            queue.push_back(v);
    }
    settle(std::move(queue));
}

std::vector<FamilySearch::Parents> FamilySearch::turned(int cause, int effect) {
    const State before = state();
    const std::vector<char> precedes = limits_.precedes;
    if (!precedes.empty() && precedes[cause * n() + effect])
        return {};
    std::vector<Parents> best;
    double least = std::numeric_limits<double>::infinity();
    for (int way = 0; way < 3; ++way) {
        if (way == 2) {
            if (!to_root(effect) || place_[effect] > place_[cause]) {
                restore(before);
                continue;
            }
        } else {
            const std::vector<int> order = tucked(cause, effect, way == 0);
            if (order.empty())
                continue;
            rearrange(order, place_[cause], place_[effect]);
        }
        limits_.precedes.resize(Index{n()} * n(), 0);
        limits_.precedes[effect * n() + cause] = 1;
        settle_around(before);
        limits_.precedes = precedes;
        if (cost() < least) {
            least = cost();
            best = parents_;
        }
        restore(before);
    }
    return best;
}

void FamilySearch::restore(const State& state) {
    order_ = state.order;
    parents_ = state.parents;
    costs_ = state.costs;
    for (int k = 0; k < n(); ++k)
        place_[order_[k]] = k;
}

void FamilySearch::settle(std::vector<int> queue) {
    std::vector<char> waiting(order_.size(), 0);
    for (const int v : queue)
        waiting[v] = 1;
    for (std::size_t k = 0; k < queue.size(); ++k) {
        const int v = queue[k];
        waiting[v] = 0;
        const std::vector<Parents> before = parents_;
        if (!insert(v))
            continue;
        for (int u = 0; u < n(); ++u) {
            if ((u == v || before[u] != parents_[u]) && !waiting[u]) {
                queue.push_back(u);
                waiting[u] = 1;
            }
        }
    }
}

// The order of a neighbourhood is shuffled among its places, and repaired where that changed it.
void FamilySearch::shake() {
    const int centre = random_.below(n());
    std::vector<int> around{centre};
    for (int u = 0; u < n(); ++u) {
        if (has(parents_[centre], u) || has(parents_[u], centre))
            around.push_back(u);
    }
    random_.shuffle(around);
    std::erase_if(around, [this](int v) { return is_given(v); });
    if (around.size() > kShaken)
        around.resize(kShaken);
    if (around.size() < 2)
        return;
    std::vector<int> places;
    for (const int v : around)
        places.push_back(place_[v]);
    std::sort(places.begin(), places.end());
    std::vector<int> order = order_;
    for (std::size_t k = 0; k < around.size(); ++k)
        order[places[k]] = around[k];
    if (!limits_.precedes.empty()) {
        for (int i = places.front(); i <= places.back(); ++i) {
            for (int j = i + 1; j <= places.back(); ++j) {
                if (limits_.precedes[order[j] * n() + order[i]])
                    return;
            }
        }
    }
    const State before = state();
    const double cost_before = cost();
    rearrange(order, places.front(), places.back());
    std::vector<int> queue;
    for (int u = 0; u < n(); ++u) {
        if (before.parents[u] != parents_[u])
            queue.push_back(u);
    }
    settle(std::move(queue));
    if (cost() > cost_before - kNoise)
        restore(before);
    else
        improved_ = true;
}

void FamilySearch::refill_queue() {
    queue_.clear();
    if (phase_ == Phase::insertions || phase_ == Phase::roots) {
        queue_.resize(order_.size());
        std::iota(queue_.begin(), queue_.end(), 0);
        random_.shuffle(queue_);
    } else if (phase_ == Phase::tucks) {
        for (int v = 0; v < n(); ++v) {
            for (const int u : parents_[v])
                queue_.push_back(u * n() + v);
        }
        random_.shuffle(queue_);
    } else if (phase_ == Phase::restarts) {
        queue_.assign(restarts_, 0);
    }
    next_ = 0;
    improved_ = false;
}

// One move; whether the search goes on.
bool FamilySearch::step() {
    if (phase_ == Phase::done)
        return false;
    if (next_ < queue_.size()) {
        const int item = queue_[next_++];
        if (phase_ == Phase::insertions) {
            improved_ |= insert(item);
        } else if (phase_ == Phase::roots) {
            improved_ |= reroot(item);
        } else if (phase_ == Phase::tucks) {
            const int u = item / n(), v = item % n();
            if (has(parents_[v], u) && !is_given(u))
                improved_ |= tuck(u, v);
        } else {
            shake();
        }
        return true;
    }
    if (improved_)
        phase_ = Phase::insertions;
    else if (phase_ == Phase::insertions)
        phase_ = Phase::roots;
    else if (phase_ == Phase::roots)
        phase_ = Phase::tucks;
    else if (phase_ == Phase::tucks && restarts_ > 0)
        phase_ = Phase::restarts;
    else
        phase_ = Phase::done;
    refill_queue();
    return phase_ != Phase::done;
}

bool FamilySearch::run(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    while (step()) {
        if (std::chrono::duration<double>(Clock::now() - start).count() >= seconds)
            return phase_ == Phase::done;
    }
    return true;
}

} // namespace qwo
