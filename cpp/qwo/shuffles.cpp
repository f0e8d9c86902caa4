#include "qwo/shuffles.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace qwo {

namespace {

constexpr int smallest_ball = 2, largest_ball = 20;

// If so many restarts all lead back to where they began, so will the rest.
constexpr int quiet = 10;

// Up to where a restart was nearly as good, in prices of an edge.
constexpr double nearly = 0.5;

double seconds_now() {
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

SearchOptions repairs() {
    SearchOptions options;
    options.tucks = false;
    options.sweep = false;
    options.near_miss = 1.0;
    return options;
}

} // namespace

Shuffles::Shuffles(ParentSets& engine, std::uint64_t seed, int length, int tries,
                   const std::vector<int>& centres)
    : engine_(engine), search_(engine, seed, repairs(), true), random_(~seed), length_(length),
      tries_(tries), failures_(static_cast<std::size_t>(engine.n()), tries) {
    if (length > 0 || tries == 0)
        return;
    for (int v : centres) {
        failures_[static_cast<std::size_t>(v)] = 0;
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
        if (made_ == length_ || (made_ == quiet && led_back_ == quiet))
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
    search_.begin_restart(centre_, smallest_ball + random_.below(largest_ball - smallest_ball + 1));
    return true;
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
    near_ += lost > noise && lost < nearly * engine_.problem().typical_penalty ? 1 : 0;
    improved_ += better ? 1 : 0;
}

void Shuffles::wait(int centre) {
    if (engine_.is_given(centre))
        return;
    waiting_.push_back(centre);
    const auto at = static_cast<std::size_t>(random_.below(static_cast<int>(waiting_.size())));
    std::swap(waiting_.back(), waiting_[at]);
}

// The centre of the last restart does not wait, nor does any variable that has failed often enough.
void Shuffles::wait_again(bool better) {
    int& failures = failures_[static_cast<std::size_t>(centre_)];
    if (!better) {
        if (++failures < tries_)
            wait(centre_);
        return;
    }
    failures = tries_;
    for (int v = 0; v < engine_.n(); ++v) {
        if (!search_.restarted()[static_cast<std::size_t>(v)])
            continue;
        if (failures_[static_cast<std::size_t>(v)] >= tries_)
            wait(v);
        failures_[static_cast<std::size_t>(v)] = 0;
    }
}

} // namespace qwo
