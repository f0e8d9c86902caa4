#include "qwo/cyclic_search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "qwo/clock.hpp"
#include "qwo/index.hpp"

namespace qwo {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double least_gain = 0.01; // points; what a fit is off by must not look like a gain

} // namespace

CyclicSearch::CyclicSearch(CyclicCost& cost, std::vector<char> may, std::vector<char> must)
    : cost_(cost), n_(cost.n()), may_(std::move(may)), must_(std::move(must)), component_of_(n_),
      seen_(n_) {
    start(ParentSetsOf(n_));
}

void CyclicSearch::start(ParentSetsOf parents) {
    parents_ = std::move(parents);
    rebuild();
}

void CyclicSearch::rebuild() {
    components_ = strong_components(parents_);
    costs_.assign(components_.size(), 0.0);
    total_ = 0.0;
    for (int c = 0; c < count_of(components_); ++c) {
        for (const int v : components_[c])
            component_of_[v] = c;
        costs_[c] = cost_.component(components_[c], parents_);
        total_ += costs_[c];
    }
}

bool CyclicSearch::has(int cause, int effect) const {
    const auto& own = parents_[effect];
    return std::binary_search(own.begin(), own.end(), cause);
}

void CyclicSearch::flip(int cause, int effect) {
    auto& own = parents_[effect];
    const auto place = std::lower_bound(own.begin(), own.end(), cause);
    if (place != own.end() && *place == cause)
        own.erase(place);
    else
        own.insert(place, cause);
}

// Whether there is a path from one variable to another, looked for from its end.
bool CyclicSearch::reaches(int from, int to) {
    std::fill(seen_.begin(), seen_.end(), 0);
    stack_.assign(1, to);
    seen_[to] = 1;
    while (!stack_.empty()) {
        const int v = stack_.back();
        stack_.pop_back();
        if (v == from)
            return true;
        for (const int u : parents_[v]) {
            if (!seen_[u]) {
                seen_[u] = 1;
                stack_.push_back(u);
            }
        }
    }
    return false;
}

// What is gained if the edge is added or removed, or turned; no more than `least` if that is all.
double CyclicSearch::gain(int cause, int effect, bool turned, double least) {
    const bool removes = has(cause, effect);
    const int own = component_of_[effect];
    // One component changes where no cycle comes or goes.
    const bool within = component_of_[cause] == own;
    const bool alone = !turned && (removes ? !within : within || !reaches(effect, cause));
    flip(cause, effect);
    if (turned)
        flip(effect, cause);
    double gained = 0.0;
    if (alone) {
        const double old = costs_[own];
        gained = old - cost_.component(components_[own], parents_, old - least);
    } else {
        gained = change(cause, effect, least);
    }
    if (turned)
        flip(effect, cause);
    flip(cause, effect);
    return gained;
}

// The same for the graph that is tried: components that stay as they are cost what they did.
double CyclicSearch::change(int cause, int effect, double least) {
    std::vector<std::vector<int>> changed;
    double old = 0.0;
    std::fill(seen_.begin(), seen_.end(), 0);
    for (auto& members : strong_components(parents_)) {
        const int before = component_of_[members[0]];
        const bool touched = std::ranges::binary_search(members, cause) ||
                             std::ranges::binary_search(members, effect);
        if (!touched && members == components_[before])
            continue;
        for (const int v : members) {
            const int c = component_of_[v];
            old += seen_[c] ? 0.0 : costs_[c];
            seen_[c] = 1;
        }
        changed.push_back(std::move(members));
    }
    const double enough = changed.size() == 1 ? old - least : infinity;
    double now = 0.0;
    for (const auto& members : changed)
        now += cost_.component(members, parents_, enough);
    return old - now;
}

bool CyclicSearch::descend(double seconds) {
    const double end = seconds_now() + seconds;
    while (true) {
        Change best;
        best.gain = least_gain;
        for (int cause = 0; cause < n_; ++cause) {
            if (seconds_now() > end)
                return false;
            for (int effect = 0; effect < n_; ++effect) {
                const Index forth = Index{cause} * n_ + effect, back = Index{effect} * n_ + cause;
                if (!may_[forth])
                    continue;
                const bool there = has(cause, effect);
                if (there && must_[forth])
                    continue;
                const double own = gain(cause, effect, false, best.gain);
                if (own > best.gain)
                    best = {cause, effect, false, own};
                if (!there || !may_[back] || has(effect, cause))
                    continue;
                const double other = gain(cause, effect, true, best.gain);
                if (other > best.gain)
                    best = {cause, effect, true, other};
            }
        }
        if (best.cause < 0)
            return true;
        flip(best.cause, best.effect);
        if (best.turned)
            flip(best.effect, best.cause);
        rebuild();
    }
}

} // namespace qwo
