#include "qwo/insertion_search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "qwo/class_step.hpp"
#include "qwo/clock.hpp"
#include "qwo/index.hpp"
#include "qwo/parallel.hpp"

namespace qwo {

namespace {

// What is still to be done with a variable that has changed.
constexpr char to_tuck = 1, to_sweep = 2;
using policy::never;

} // namespace

SearchOptions search_options(int n, bool hasty) {
    SearchOptions options;
    options.turns = options.sweep = !hasty;
    if (hasty)
        options.give_up_tuck = policy::give_up_tuck_in_haste;
    else if (n > policy::every_tuck_up_to)
        options.give_up_tuck = policy::give_up_tuck_of_many;
    return options;
}

struct InsertionSearch::Twin {
    Twin(const ParentSets& other, const SearchOptions& options)
        : engine(other), search(engine, 0, options, true) {}

    ParentSets engine;
    InsertionSearch search;
};

InsertionSearch::~InsertionSearch() = default;

InsertionSearch::InsertionSearch(ParentSets& engine, std::uint64_t seed, SearchOptions options,
                                 bool at_optimum)
    : engine_(engine), random_(seed), options_(options), queued_(engine.n(), 0),
      changed_(engine.n(), at_optimum || options.nearby ? 0 : to_tuck | to_sweep),
      fresh_(engine.n(), 0), restarted_(engine.n(), 0), best_(engine.cost()),
      noise_(engine.problem().noise()) {
    trace_.emplace_back(0.0, best_);
    if (at_optimum) {
        phase_ = SearchPhase::done;
        return;
    }
    std::vector<int> all(engine.n());
    std::iota(all.begin(), all.end(), 0);
    random_.shuffle(all);
    for (int v : all)
        queue(v);
}

void InsertionSearch::resume() {
    phase_ = SearchPhase::descent;
    queue_touched();
}

bool InsertionSearch::run(double seconds) {
    slice_start_ = seconds_now();
    while (phase_ != SearchPhase::done) {
        step();
        if (seconds_now() - slice_start_ >= seconds)
            break;
    }
    elapsed_ += seconds_now() - slice_start_;
    return phase_ == SearchPhase::done;
}

void InsertionSearch::mark_restart() {
    restarting_ = true;
    misled_ = 0;
    phase_ = SearchPhase::descent;
    restart_mark_ = engine_.mark();
    cost_before_restart_ = engine_.cost();
    std::fill(restarted_.begin(), restarted_.end(), 0);
    std::fill(changed_.begin(), changed_.end(), 0);
}

void InsertionSearch::begin_turned(ClassMembers& members, int x, int y) {
    mark_restart();
    if (!members.with_root(x, rules_of(engine_), rooted_))
        return;
    engine_.take(rooted_);
    engine_.take_touched();
    tuck(engine_, x, y);
    const double most = policy::give_up_descent * engine_.problem().typical_penalty;
    if (engine_.place(y) > engine_.place(x) || engine_.cost() - cost_before_restart_ > most) {
        engine_.take_touched();
        return;
    }
    engine_.pin(y, x);
    queue_touched();
    while (!queue_.empty())
        repair_next();
    engine_.pin(-1, -1);
    engine_.for_each_changed(restart_mark_, [&](int v) { touch(v); });
}

void InsertionSearch::begin_restart(int centre, int size) {
    mark_restart();
    const std::vector<int> chosen = ball(centre, size);
    std::vector<int> places;
    for (int v : chosen)
        places.push_back(engine_.place(v));
    if (random_.below(2) == 0)
        random_.shuffle(places);
    else
        std::sort(places.begin(), places.end());
    std::vector<int> order = engine_.order();
    for (std::size_t k = 0; k < chosen.size(); ++k)
        order[places[k]] = chosen[k];
    engine_.arrange(permitted_order(engine_, order));
    for (int v : chosen)
        touch(v);
    queue_touched();
}

// Variables around one, nearest first, the neighbours of each in random order.
std::vector<int> InsertionSearch::ball(int centre, int size) {
    std::vector<int> found{centre};
    std::vector<char> seen(engine_.n(), 0);
    seen[centre] = 1;
    std::vector<int> near;
    for (std::size_t k = 0; k < found.size(); ++k) {
        near.clear();
        engine_.list_neighbours(found[k], near);
        random_.shuffle(near);
        for (int u : near) {
            if (count_of(found) >= size)
                return found;
            if (!seen[u] && !engine_.is_given(u))
                found.push_back(u);
            seen[u] = 1;
        }
    }
    return found;
}

bool InsertionSearch::end_restart(bool equals) {
    restarting_ = false;
    phase_ = SearchPhase::done;
    if (engine_.cost() > cost_before_restart_ + (equals ? noise_ : -noise_)) {
        engine_.undo(restart_mark_);
        forget_work();
        return false;
    }
    engine_.release(restart_mark_);
    return engine_.cost() < cost_before_restart_ - noise_;
}

// A restart that was cut off leaves work behind that the old state does not need.
void InsertionSearch::forget_work() {
    queue_.clear();
    edges_.clear();
    std::fill(queued_.begin(), queued_.end(), 0);
    std::fill(changed_.begin(), changed_.end(), 0);
}

void InsertionSearch::step() {
    switch (phase_) {
    case SearchPhase::descent:
        step_descent();
        break;
    case SearchPhase::tucks:
        step_tucks();
        break;
    case SearchPhase::turns:
        step_turns();
        break;
    case SearchPhase::sweep:
        step_sweep();
        break;
    case SearchPhase::renewal:
        step_renewal();
        break;
    case SearchPhase::done:
        break;
    }
    if (phase_ != SearchPhase::tucks && phase_ != SearchPhase::sweep)
        twins_.clear();
    record();
}

void InsertionSearch::step_descent() {
    if (queue_.empty()) {
        finish_descent();
        return;
    }
    const double give_up = restarting_ ? options_.give_up_repair : options_.give_up_descent;
    scan_and_move(next_queued(), give_up);
    if (restarting_)
        stop_if_back(cost_before_restart_);
}

// What has the parents that it had at the last mark, and a place among them, was at its best there.
void InsertionSearch::stop_if_back(double before) {
    if (std::abs(engine_.cost() - before) > noise_ || !engine_.is_back())
        return;
    queue_.clear();
    std::fill(queued_.begin(), queued_.end(), 0);
}

void InsertionSearch::finish_descent() {
    phase_ = options_.tucks ? SearchPhase::tucks : SearchPhase::sweep;
    const bool compares = !options_.known.order.empty();
    if (compares)
        changed_ = unlike_known();
    if (restarting_) {
        const double lost = engine_.cost() - cost_before_restart_;
        const bool nearly =
            lost > noise_ && lost < options_.near_miss * engine_.problem().typical_penalty;
        phase_ = nearly ? SearchPhase::tucks : SearchPhase::done;
    } else if (compares &&
               std::all_of(changed_.begin(), changed_.end(), [](char c) { return c == 0; })) {
        phase_ = SearchPhase::done;
    } else if (!renewed_) {
        engine_.narrow();
        renew_before(phase_);
    } else if (swept_ && engine_.cost() >= cost_before_sweep_ - noise_) {
        // What the last renewal has touched stays where it was, and so would all the others.
        renew_before(SearchPhase::done);
    }
}

// Where the present DAG is not of the class of the known one, with the neighbours of those
// variables; nobody if it is.
std::vector<char> InsertionSearch::unlike_known() const {
    const std::vector<char> differs = unlike_in(engine_, engine_.dag(), options_.known);
    std::vector<char> unlike(differs.size(), 0);
    std::vector<int> near;
    for (int v = 0; v < engine_.n(); ++v) {
        if (!differs[v])
            continue;
        near.assign(1, v);
        engine_.list_neighbours(v, near);
        for (int u : near)
            unlike[u] = to_tuck | to_sweep;
    }
    return unlike;
}

int InsertionSearch::next_queued() {
    const int v = queue_.front();
    queue_.pop_front();
    queued_[v] = 0;
    return v;
}

void InsertionSearch::scan_and_move(int v, double give_up) {
    ++counts_.scans;
    // An edge may be free, and 0 times infinity is no number.
    const double limit = give_up == never ? never : give_up * engine_.problem().penalty_of(v);
    const Insertion best = engine_.best_insertion(v, limit);
    if (!(best.change < -noise_))
        return;
    const double before = engine_.cost();
    engine_.move(v, best.place);
    ++counts_.moves;
    // Only what has really lowered the cost is followed up, so that every search ends.
    if (engine_.cost() < before - 0.5 * noise_) {
        queue_touched();
    } else {
        engine_.take_touched();
        // Rises within the rounding count, too: falls of the same size are followed up.
        ++misled_;
        if (misled_ > policy::most_misled * engine_.n()) {
            queue_.clear();
            std::fill(queued_.begin(), queued_.end(), 0);
        }
    }
}

void InsertionSearch::repair_next() {
    scan_and_move(next_queued(), options_.give_up_repair);
}

void InsertionSearch::step_tucks() {
    if (edges_.empty() && !collect_edges()) {
        phase_ = restarting_  ? SearchPhase::done
                 : may_turn() ? SearchPhase::turns
                              : SearchPhase::sweep;
        return;
    }
    std::vector<Attempt> attempts;
    for (int k = is_wide() ? policy::attempts_at_once : 1; k > 0 && !edges_.empty(); --k) {
        attempts.push_back({edges_.back().first, edges_.back().second});
        edges_.pop_back();
    }
    make_many(attempts);
}

void InsertionSearch::try_tuck(int x, int y) {
    if (engine_.fit(y).index_of(x) < 0)
        return;
    ++counts_.tucks;
    const double before = engine_.cost();
    const std::size_t mark = engine_.mark();
    tuck(engine_, x, y);
    const double give_up = restarting_ ? policy::give_up_tuck_in_haste : options_.give_up_tuck;
    if (keep_or_undo(mark, before, give_up, true))
        ++counts_.improving_tucks;
}

bool InsertionSearch::is_wide() const {
    return engine_.problem().n_children() > policy::turns_up_to;
}

bool InsertionSearch::may_turn() const {
    return options_.turns && !options_.nearby && !is_wide();
}

// The edges of what has changed, in random order; whether there are any.
bool InsertionSearch::collect_edges() {
    for (int y = 0; y < engine_.n(); ++y) {
        if (!(changed_[y] & to_tuck))
            continue;
        changed_[y] &= ~to_tuck;
        for (int x : engine_.fit(y).parents()) {
            if (!engine_.is_given(x))
                edges_.emplace_back(x, y);
        }
    }
    random_.shuffle(edges_);
    return !edges_.empty();
}

bool InsertionSearch::keep_or_undo(std::size_t mark, double before, double give_up, bool equals) {
    if (engine_.cost() > before + give_up * engine_.problem().typical_penalty) {
        engine_.take_touched();
        engine_.undo(mark);
        return false;
    }
    const std::vector<char> changed_before = changed_;
    misled_ = 0;
    queue_touched();
    while (!queue_.empty()) {
        repair_next();
        stop_if_back(before);
    }
    const bool better = engine_.cost() < before - noise_;
    if (better || (equals && engine_.cost() <= before + noise_))
        engine_.release(mark);
    else
        engine_.undo(mark);
    if (!better)
        changed_ = changed_before;
    return better;
}

void InsertionSearch::step_turns() {
    if (!turns_listed_)
        list_turns();
    if (turns_.empty()) {
        phase_ = turns_improved_ ? SearchPhase::tucks : SearchPhase::sweep;
        turns_listed_ = turns_improved_ = false;
        return;
    }
    const auto [x, y] = turns_.back();
    turns_.pop_back();
    turn(x, y);
}

// The compelled edges from variables that have a parent in their undirected piece: where there is
// none, the tuck has done what the turn would do. Then, without y, all variables of such pieces.
void InsertionSearch::list_turns() {
    turns_listed_ = true;
    members_ = std::make_unique<ClassMembers>(engine_.dag());
    const std::vector<std::vector<char>>& compelled = members_->compelled();
    std::vector<char> wanted(compelled.size(), 1), open(compelled.size(), 0);
    if (!options_.known.order.empty())
        wanted = unlike_known();
    turns_.clear();
    for (int y = 0; y < engine_.n(); ++y) {
        const std::vector<int>& parents = members_->dag().parents[y];
        for (std::size_t k = 0; k < parents.size(); ++k) {
            const int x = parents[k];
            const std::vector<char>& above = compelled[x];
            if (!wanted[x] && !wanted[y])
                continue;
            if (!compelled[y][k])
                open[x] = open[y] = 1;
            else if (std::find(above.begin(), above.end(), 0) != above.end())
                turns_.emplace_back(x, y);
        }
    }
    random_.shuffle(turns_);
    std::vector<std::pair<int, int>> roots;
    for (int x = 0; x < engine_.n(); ++x) {
        if (open[x])
            roots.emplace_back(x, -1);
    }
    random_.shuffle(roots);
    turns_.insert(turns_.begin(), roots.begin(), roots.end());
}

void InsertionSearch::turn(int x, int y) {
    if (!members_->with_root(x, rules_of(engine_), rooted_))
        return;
    const double before = engine_.cost();
    const std::size_t mark = engine_.mark();
    if (y >= 0) {
        ++counts_.turns;
        engine_.take(rooted_);
        // What the step alone has touched is as good as it was.
        if (engine_.cost() >= before - noise_)
            engine_.take_touched();
        engine_.mark(); // the member, which a tuck that leads nowhere comes back to
        tuck(engine_, x, y);
    } else if (exchange_below(x)) {
        ++counts_.exchanges;
    } else {
        engine_.release(mark);
        return;
    }
    if (keep_or_undo(mark, before, options_.give_up_tuck, false)) {
        ++counts_.improving_turns;
        turns_improved_ = true;
        list_turns();
    }
}

// Whether x, or a child of it, has found better parents where x is a root.
bool InsertionSearch::exchange_below(int x) {
    if (engine_.exchange(x, rooted_, noise_))
        return true;
    std::vector<int> children;
    for (int v = 0; v < engine_.n(); ++v) {
        const std::vector<int>& parents = rooted_.parents[v];
        if (std::find(parents.begin(), parents.end(), x) == parents.end())
            continue;
        if (engine_.exchange(v, rooted_, noise_))
            return true;
        children.push_back(v);
    }
    const auto parted = [&](int v) { return part(x, v); };
    return std::any_of(children.begin(), children.end(), parted);
}

// Whether the edge between a root and another of its undirected piece, of which both have common
// neighbours there, can be done without in the member where these come later.
bool InsertionSearch::part(int x, int y) {
    const std::vector<int>& parents = members_->dag().parents[y];
    std::vector<int> compelled;
    for (std::size_t k = 0; k < parents.size(); ++k) {
        if (members_->compelled()[y][k])
            compelled.push_back(parents[k]);
    }
    if (rooted_.parents[y].size() <= compelled.size() + 1)
        return false;
    const double apart = engine_.cost_with(y, compelled);
    compelled.push_back(x);
    return apart < engine_.cost_with(y, compelled) - noise_ &&
           members_->with_root(x, rules_of(engine_), rooted_, y) &&
           engine_.exchange(y, rooted_, noise_);
}

void InsertionSearch::step_sweep() {
    if (!options_.sweep) {
        phase_ = SearchPhase::done;
        return;
    }
    if (sweep_.empty()) {
        list_sweep();
        cost_before_sweep_ = engine_.cost();
        swept_ = false;
        ++counts_.sweeps;
    }
    std::vector<Attempt> attempts;
    for (int k = is_wide() ? policy::attempts_at_once : 1; k > 0 && !sweep_.empty(); --k) {
        attempts.push_back({-1, sweep_.back()});
        sweep_.pop_back();
    }
    make_many(attempts);
    if (sweep_.empty())
        finish_sweep();
}

// All variables; among very many, and near a known optimum, those around which something has
// changed since the last time.
void InsertionSearch::list_sweep() {
    const bool all = !is_wide() && options_.known.order.empty();
    for (int v = 0; v < engine_.n(); ++v) {
        fresh_[v] = (changed_[v] & to_sweep) != 0;
        if (all || fresh_[v])
            sweep_.push_back(v);
        changed_[v] &= ~to_sweep;
    }
    random_.shuffle(sweep_);
}

void InsertionSearch::visit(int v) {
    misled_ = 0;
    // Twins of a wide search list no sweeps; there all that are visited have changed.
    if (engine_.exchange(v, noise_, is_wide() || fresh_[v])) {
        ++counts_.exchanges;
        queue_touched();
    }
    if (!engine_.is_given(v))
        scan_and_move(v, never);
    while (!queue_.empty())
        repair_next();
}

void InsertionSearch::make(Attempt attempt) {
    if (attempt.x < 0)
        visit(attempt.y);
    else
        try_tuck(attempt.x, attempt.y);
}

std::pair<bool, SearchCounts> InsertionSearch::try_out(Attempt attempt) {
    const SearchCounts counts = counts_;
    const std::vector<char> changed = changed_;
    const std::size_t mark = engine_.mark();
    make(attempt);
    const bool counts_for = !engine_.is_back();
    engine_.undo(mark);
    changed_ = changed;
    SearchCounts made = counts_;
    made -= counts;
    counts_ = counts;
    return {counts_for, made};
}

void InsertionSearch::make_many(const std::vector<Attempt>& attempts) {
    if (attempts.size() == 1) {
        make(attempts.front());
        return;
    }
    if (twins_.empty() && count_of(attempts) == policy::attempts_at_once)
        make_twins();
    const int workers = count_of(twins_) + 1;
    const auto search = [&](std::size_t worker) -> InsertionSearch& {
        return worker == 0 ? *this : twins_[worker - 1]->search;
    };
    std::vector<std::pair<bool, SearchCounts>> tried(attempts.size());
    std::atomic<std::size_t> next{0};
    for_each_parallel(workers, workers, [&](std::size_t worker) {
        for (std::size_t k = next++; k < attempts.size(); k = next++)
            tried[k] = search(worker).try_out(attempts[k]);
    });
    // What changes nothing from here will change nothing, or little, when another has been made.
    for_each_parallel(workers, workers, [&](std::size_t worker) {
        for (std::size_t k = 0; k < attempts.size(); ++k) {
            if (tried[k].first)
                search(worker).make(attempts[k]);
        }
    });
    for (const auto& [changes, made] : tried) {
        if (!changes)
            counts_ += made;
    }
}

void InsertionSearch::make_twins() {
    twins_.resize(std::max(options_.threads - 1, 0));
    for_each_parallel(twins_.size(), options_.threads, [&](std::size_t k) {
        twins_[k] = std::make_unique<Twin>(engine_, options_);
    });
}

void InsertionSearch::finish_sweep() {
    const bool improved = engine_.cost() < cost_before_sweep_ - noise_;
    swept_ = !improved;
    if (!improved) {
        cost_before_sweep_ = engine_.cost();
        renew_before(SearchPhase::done);
    } else if (options_.tucks) {
        phase_ = SearchPhase::tucks;
    }
}

void InsertionSearch::renew_before(SearchPhase next) {
    phase_ = SearchPhase::renewal;
    after_renewal_ = next;
    next_renewed_ = 0;
    renewed_ = true;
}

void InsertionSearch::step_renewal() {
    if (next_renewed_ == engine_.n()) {
        phase_ = queue_.empty() ? after_renewal_ : SearchPhase::descent;
        return;
    }
    // With the same parents and other candidates a variable may find another place, but its edges
    // are what they were.
    constexpr int share = policy::attempts_at_once;
    if (options_.threads > 1 && next_renewed_ % share == 0) {
        engine_.foresee(next_renewed_, std::min(next_renewed_ + share, engine_.n()),
                        options_.threads);
    }
    const int v = next_renewed_++;
    if (engine_.renew(v)) {
        ++counts_.renewed;
        queue(v);
        queue_touched();
    }
}

void InsertionSearch::queue(int v) {
    if (queued_[v] || engine_.is_given(v))
        return;
    queued_[v] = 1;
    queue_.push_back(v);
}

void InsertionSearch::queue_touched() {
    for (int v : engine_.take_touched())
        touch(v);
}

void InsertionSearch::touch(int v) {
    queue(v);
    changed_[v] = to_tuck | to_sweep;
    restarted_[v] = 1;
}

void InsertionSearch::record() {
    if (engine_.cost() >= best_ - noise_)
        return;
    best_ = engine_.cost();
    trace_.emplace_back(elapsed_ + seconds_now() - slice_start_, best_);
}

} // namespace qwo
