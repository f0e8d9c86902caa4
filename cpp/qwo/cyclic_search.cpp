#include "qwo/cyclic_search.hpp"

#include <algorithm>
#include <utility>

#include "qwo/clock.hpp"
#include "qwo/index.hpp"

namespace qwo {

namespace {

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

// What is gained if the edge is added or removed, or turned.
double CyclicSearch::gain(int cause, int effect, bool turned) {
    const bool removes = has(cause, effect);
    const int own = component_of_[effect];
    if (!turned) {
        // One component changes where no cycle comes or goes.
        const bool within = component_of_[cause] == own;
        if (removes ? !within : within || !reaches(effect, cause)) {
            flip(cause, effect);
            const double now = cost_.component(components_[own], parents_);
            flip(cause, effect);
            return costs_[own] - now;
        }
    }
    flip(cause, effect);
    if (turned)
        flip(effect, cause);
    const double now = cost_.cost(parents_);
    if (turned)
        flip(effect, cause);
    flip(cause, effect);
    return total_ - now;
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
                const double own = gain(cause, effect, false);
                if (own > best.gain)
                    best = {cause, effect, false, own};
                if (!there || !may_[back] || has(effect, cause))
                    continue;
                const double other = gain(cause, effect, true);
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
