#include "qwo/shuffles.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "qwo/clock.hpp"
#include "qwo/index.hpp"
#include "qwo/policy.hpp"

namespace qwo {

namespace {

SearchOptions repairs(int n) {
    SearchOptions options;
    options.tucks = false;
    options.sweep = false;
    options.near_miss =
        n <= policy::few_starts_up_to ? policy::near_miss : policy::near_miss_of_many;
    return options;
}

// The ends of edges that are worth little.
void find_weak_edges(ParentSets& engine, std::vector<char>& found) {
    std::vector<int> others;
    for (int v = 0; v < engine.n(); ++v) {
        const std::vector<int> parents = engine.fit(v).parents();
        const double limit = engine.fit(v).cost() + policy::sure * engine.problem().penalty_of(v);
        for (int k = 0; k < count_of(parents); ++k) {
            others = parents;
            others.erase(others.begin() + k);
            if (engine.cost_with(v, others) < limit)
                found[v] = found[parents[k]] = 1;
        }
    }
}

// The variables of triangles and squares: a neighbour can be reached by two steps, or another
// variable in two ways.
void find_short_cycles(const ParentSets& engine, std::vector<char>& found) {
    const int n = engine.n();
    std::vector<std::vector<int>> near(n);
    for (int v = 0; v < n; ++v)
        engine.list_neighbours(v, near[v]);
    std::vector<int> reached(n, n); // from which variable last
    for (int v = 0; v < n; ++v) {
        for (int u : near[v])
            reached[u] = v;
        for (int u : near[v]) {
            for (int w : near[u]) {
                if (w == v)
                    continue;
                found[v] |= reached[w] == v ? 1 : 0;
                reached[w] = v;
            }
        }
    }
}

} // namespace

std::vector<int> doubtful(ParentSets& engine) {
    std::vector<char> found(engine.n(), 0);
    find_short_cycles(engine, found);
    find_weak_edges(engine, found);
    std::vector<int> variables;
    for (int v = 0; v < engine.n(); ++v) {
        if (found[v] && !engine.is_given(v))
            variables.push_back(v);
    }
    return variables;
}

Shuffles::Shuffles(ParentSets& engine, std::uint64_t seed, int length, int tries,
                   const std::vector<int>& centres)
    : engine_(engine), search_(engine, seed, repairs(engine.problem().n_children()), true),
      random_(~seed), length_(length), tries_(tries), failures_(engine.n(), tries) {
    if (length > 0) {
        std::vector<char> weak(failures_.size(), 0);
        find_weak_edges(engine, weak);
        is_sure_ = std::find(weak.begin(), weak.end(), 1) == weak.end();
        return;
    }
    if (tries == 0)
        return;
    for (int v : centres) {
        failures_[v] = 0;
        wait(v);
    }
}

bool Shuffles::run(double seconds) {
    const double begun = seconds_now();
    do {
        if (!search_.is_restarting() && !begin_next())
            return true;
        if (search_.run(seconds - (seconds_now() - begun)))
            end();
    } while (seconds_now() - begun < seconds);
    return false;
}

bool Shuffles::begin_next() {
    if (length_ > 0) {
        if (made_ == length_ || (made_ == policy::quiet_restarts && is_quiet()))
            return false;
        do
            centre_ = random_.below(engine_.n());
        while (engine_.is_given(centre_));
    } else {
        if (waiting_.empty())
            return false;
        centre_ = waiting_.back();
        waiting_.pop_back();
    }
    const int largest = length_ > 0 ? policy::largest_ball_at_first : policy::largest_ball;
    const int sizes = largest - policy::smallest_ball + 1;
    search_.begin_restart(centre_, policy::smallest_ball + random_.below(sizes));
    return true;
}

bool Shuffles::is_quiet() const {
    return led_back_ == made_ || (is_sure_ && near_ + improved_ == 0);
}

void Shuffles::end() {
    if (!search_.is_restarting())
        return;
    const double lost = engine_.cost() - search_.cost_before_restart();
    const bool better = search_.end_restart();
    count(lost, better);
    if (length_ == 0)
        wait_again(better);
}

void Shuffles::count(double lost, bool better) {
    ++made_;
    const double noise = engine_.problem().noise();
    led_back_ += std::abs(lost) <= noise ? 1 : 0;
    near_ += lost > noise && lost < policy::nearly * engine_.problem().typical_penalty ? 1 : 0;
    improved_ += better ? 1 : 0;
}

void Shuffles::wait(int centre) {
    if (engine_.is_given(centre))
        return;
    waiting_.push_back(centre);
    std::swap(waiting_.back(), waiting_[random_.below(count_of(waiting_))]);
}

// The centre of the last restart does not wait, nor does any variable that has failed often enough.
void Shuffles::wait_again(bool better) {
    int& failures = failures_[centre_];
    if (!better) {
        if (++failures < tries_)
            wait(centre_);
        return;
    }
    failures = tries_;
    for (int v = 0; v < engine_.n(); ++v) {
        if (!search_.restarted()[v])
            continue;
        if (failures_[v] >= tries_)
            wait(v);
        failures_[v] = 0;
    }
}

} // namespace qwo
