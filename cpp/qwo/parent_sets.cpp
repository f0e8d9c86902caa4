#include "qwo/parent_sets.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>
#include <limits>

namespace qwo {

namespace {

constexpr std::int32_t before_all = -1;
constexpr std::int32_t after_all = std::numeric_limits<std::int32_t>::max();

// Candidates that a fit takes in at a time. Where everything depends on everything, all variables
// would become candidates of each otherwise.
constexpr std::size_t most_missed = 256;

constexpr std::size_t most_neighbours = 50;

// Up to so many variables, all of them candidates, a journey asks each.
constexpr int most_walked = 500;

std::shared_ptr<const Columns> columns_of(std::vector<std::int32_t> variables) {
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    return std::make_shared<const Columns>(std::move(variables));
}

} // namespace

ParentSets::ParentSets(std::shared_ptr<const BicProblem> problem, const Kernels& kernels,
                       const std::vector<std::vector<std::int32_t>>& candidates, bool all_at_first)
    : problem_(std::move(problem)), kernels_(&kernels), work_(*problem_),
      everyone_(std::make_shared<const Columns>(problem_->n())),
      place_(static_cast<std::size_t>(problem_->n()), after_all), wanted_by_(n(), n()),
      children_(n(), n()), indexed_parents_(static_cast<std::size_t>(n())),
      checked_(static_cast<std::size_t>(n()), {-1}), saved_in_(static_cast<std::size_t>(n()), 0) {
    for (std::size_t v = 0; v < candidates.size(); ++v) {
        std::vector<std::int32_t> variables = candidates[v];
        variables.push_back(static_cast<std::int32_t>(v));
        columns_.push_back(columns_of(std::move(variables)));
    }
    if (all_at_first)
        later_.swap(columns_);
    if (columns_.empty())
        columns_.assign(static_cast<std::size_t>(n()), everyone_);
    make_room_for_wishes();
    walks_ = candidates.empty() && n() <= most_walked;
}

void ParentSets::make_room_for_wishes() {
    int most = 0;
    for (const auto& columns : columns_)
        most = std::max(most, columns->size());
    wants_ = BitMatrix(n(), most);
}

ParentSets::ParentSets(const ParentSets& other)
    : problem_(other.problem_), kernels_(other.kernels_), work_(*problem_),
      everyone_(other.everyone_), place_(other.place_), columns_(other.columns_),
      later_(other.later_), walks_(other.walks_), fits_(other.fits_), cost_(other.cost_),
      wants_(other.wants_), wanted_by_(other.wanted_by_), children_(other.children_),
      indexed_parents_(other.indexed_parents_), checked_(other.checked_),
      saved_in_(static_cast<std::size_t>(n()), 0) {
    set_order(other.order_);
}

void ParentSets::set_order(const std::vector<int>& order) {
    order_ = order;
    for (std::size_t k = 0; k < order_.size(); ++k) {
        place_[static_cast<std::size_t>(order_[k])] = static_cast<std::int32_t>(k);
    }
}

void ParentSets::begin(const std::vector<int>& order) {
    marks_.clear();
    journal_.clear();
    touched_.clear();
    set_order(order);
    fits_.clear();
}

ParentFit& ParentSets::begin_fit(int v) {
    ParentFit& fit = fits_.emplace_back(*problem_, *columns_[static_cast<std::size_t>(v)], v);
    fit.add_required(*problem_, *kernels_, work_);
    return fit;
}

void ParentSets::reset(const std::vector<int>& order) {
    begin(order);
    cost_ = 0.0;
    for (int v = 0; v < n(); ++v) {
        ParentFit& fit = begin_fit(v);
        fit.grow_shrink(*problem_, *kernels_, work_, place_.data(), place(v));
        // As after every move: the numbers are those of the parents, however they were found.
        fit.refresh(*problem_, *kernels_, work_);
        cost_ += fit.cost();
        index(v);
    }
}

ParentSetsState ParentSets::state() const {
    ParentSetsState state{order_, {}, checked_, cost_};
    for (const ParentFit& fit : fits_)
        state.parents.push_back(fit.parents());
    return state;
}

void ParentSets::load(const ParentSetsState& state) {
    begin(state.order);
    checked_ = state.checked;
    for (int v = 0; v < n(); ++v) {
        ParentFit& fit = begin_fit(v);
        const std::vector<int>& parents = state.parents[static_cast<std::size_t>(v)];
        for (std::size_t k = fit.parents().size(); k < parents.size(); ++k)
            fit.add(*problem_, *kernels_, work_, parents[k]);
        fit.refresh(*problem_, *kernels_, work_);
        index(v);
    }
    cost_ = state.cost;
}

void ParentSets::narrow() {
    assert(marks_.empty());
    if (has_narrowed())
        return;
    for (int v = 0; v < n(); ++v) {
        forget(v);
        ParentFit& fit = fits_[static_cast<std::size_t>(v)];
        const Columns& listed = candidates(v);
        std::vector<std::int32_t> variables(listed.variables(), listed.variables() + listed.size());
        variables.insert(variables.end(), fit.parents().begin(), fit.parents().end());
        std::shared_ptr<const Columns>& columns = columns_[static_cast<std::size_t>(v)];
        columns = columns_of(std::move(variables));
        ParentFit narrowed;
        narrowed.rebuild(*problem_, *kernels_, work_, fit, *columns);
        fit = std::move(narrowed);
    }
    later_.clear();
    make_room_for_wishes();
    for (int v = 0; v < n(); ++v)
        index(v);
}

bool ParentSets::renew(int v) {
    assert(marks_.empty());
    bool found = false;
    while (widen(v))
        found = true; // with new parents, others may be wanted
    return found;
}

bool ParentSets::widen(int v) {
    ParentFit& fit = fits_[static_cast<std::size_t>(v)];
    if (fit.columns().all() || checked_[static_cast<std::size_t>(v)] == fit.parents())
        return false;
    std::vector<std::int32_t> variables;
    find_missed(fit, variables);
    find_neighbours(fit, variables);
    if (variables.empty())
        return false;
    forget(v);
    std::shared_ptr<const Columns>& columns = columns_[static_cast<std::size_t>(v)];
    variables.insert(variables.end(), columns->variables(), columns->variables() + columns->size());
    const std::shared_ptr<const Columns> wider = columns_of(std::move(variables));
    ParentFit renewed;
    renewed.rebuild(*problem_, *kernels_, work_, fit, *wider);
    renewed.grow_shrink(*problem_, *kernels_, work_, place_.data(), place(v));
    const bool changed = renewed.parents() != fit.parents();
    if (changed)
        touch(fit);
    cost_ += renewed.cost() - fit.cost();
    fit = std::move(renewed);
    columns = wider;
    if (columns->size() > 64 * static_cast<int>(wants_.words()))
        wants_ = wants_.widened(columns->size() + columns->size() / 2);
    fit.refresh(*problem_, *kernels_, work_);
    if (changed)
        touch(fit);
    index(v);
    return true;
}

// Those that the fit would take as parents if they were candidates and stood before its child.
// Those that do stand there come first, and the strongest; no more than `most_missed`. Notes the
// parents unless there are more in the prefix, since then this has nothing more to find for them.
void ParentSets::find_missed(const ParentFit& fit, std::vector<std::int32_t>& missed) {
    const int v = fit.child();
    wide_.rebuild(*problem_, *kernels_, work_, fit, *everyone_);
    std::vector<std::uint64_t> wanted(wanted_by_.words());
    find_wanted(wide_, wanted.data());
    std::size_t in_prefix = 0;
    for_each_bit(wanted.data(), wanted.size(), [&](int u) {
        if (fit.columns().find(u) < 0) {
            missed.push_back(u);
            in_prefix += place(u) < place(v) ? 1 : 0;
        }
    });
    if (in_prefix <= most_missed)
        checked_[static_cast<std::size_t>(v)] = fit.parents();
    if (missed.size() <= most_missed)
        return;
    std::sort(missed.begin(), missed.end(), [&](int a, int b) {
        const bool first = place(a) < place(v), second = place(b) < place(v);
        return first != second ? first : wide_.gain_r2(a) > wide_.gain_r2(b);
    });
    missed.resize(most_missed);
}

// The neighbours of the child in the present DAG, and theirs: a parent that is lost is replaced by
// those that it has stood for. Hubs, which everyone is a neighbour of, are not asked for theirs.
void ParentSets::find_neighbours(const ParentFit& fit, std::vector<std::int32_t>& found) const {
    const int v = fit.child();
    const std::uint8_t* allowed = problem_->constraints.allowed_parents(v, n());
    const auto take = [&](int u) {
        if (u != v && fit.columns().find(u) < 0 && (allowed == nullptr || allowed[u] != 0))
            found.push_back(u);
    };
    std::vector<int> near;
    std::vector<int> farther;
    list_neighbours(v, near);
    for (int u : near) {
        take(u);
        farther.clear();
        list_neighbours(u, farther);
        if (farther.size() <= most_neighbours)
            std::for_each(farther.begin(), farther.end(), take);
    }
}

void ParentSets::list_neighbours(int v, std::vector<int>& found) const {
    found.insert(found.end(), fit(v).parents().begin(), fit(v).parents().end());
    for_each_bit(children_.row(v), children_.words(), [&](int u) { found.push_back(u); });
}

// Takes the bits of v's wishes back.
void ParentSets::forget(int v) {
    std::uint64_t* row = wants_.row(v);
    for_each_bit(row, wants_.words(),
                 [&](int column) { wanted_by_.clear(fit(v).columns().variable(column), v); });
    std::fill_n(row, wants_.words(), 0);
}

void ParentSets::find_wanted(const ParentFit& fit, std::uint64_t* words) const {
    // Candidates are all allowed.
    const std::uint8_t* allowed =
        fit.columns().all() ? problem_->constraints.allowed_parents(fit.child(), n()) : nullptr;
    fit.wanted(work_.worth_adding, allowed, is_full(fit), words);
}

void ParentSets::index(int u) {
    const ParentFit& fit = fits_[static_cast<std::size_t>(u)];
    std::uint64_t* row = wants_.row(u);
    fit_wants_.assign(wants_.words(), 0);
    find_wanted(fit, fit_wants_.data());
    for (std::size_t w = 0; w < wants_.words(); ++w) {
        for (std::uint64_t changed = row[w] ^ fit_wants_[w]; changed != 0; changed &= changed - 1) {
            const int column = static_cast<int>(w * 64) + std::countr_zero(changed);
            wanted_by_.flip(fit.columns().variable(column), u);
        }
        row[w] = fit_wants_[w];
    }
    std::vector<int>& known = indexed_parents_[static_cast<std::size_t>(u)];
    for (int p : known)
        children_.clear(p, u);
    known = fit.parents();
    for (int p : known)
        children_.set(p, u);
}

std::pair<int, int> ParentSets::permitted(int v) const {
    int lowest = 0;
    int highest = n() - 1;
    if (problem_->constraints.precedes.empty())
        return {lowest, highest};
    const int p = place(v);
    for (int k = p - 1; k >= 0; --k) {
        if (problem_->constraints.must_precede(order_[static_cast<std::size_t>(k)], v, n())) {
            lowest = k + 1;
            break;
        }
    }
    for (int k = p + 1; k < n(); ++k) {
        if (problem_->constraints.must_precede(v, order_[static_cast<std::size_t>(k)], n())) {
            highest = k - 1;
            break;
        }
    }
    return {lowest, highest};
}

bool ParentSets::wants(const ParentFit& fit, int candidate) const {
    if (!(fit.gain_r2(candidate) > work_.worth_adding) || is_full(fit))
        return false;
    const std::uint8_t* allowed = problem_->constraints.allowed_parents(fit.child(), n());
    return allowed == nullptr || allowed[candidate] != 0;
}

bool ParentSets::wishes(int v, int candidate) const {
    const int column = fit(v).columns().find(candidate);
    return column >= 0 && wants_.test(v, column);
}

void ParentSets::lose(ParentFit& fit, int candidate, int limit) {
    const int index = fit.index_of(candidate);
    if (index < 0)
        return;
    fit.drop(*kernels_, work_, index);
    fit.grow_shrink(*problem_, *kernels_, work_, place_.data(), limit);
}

void ParentSets::gain(ParentFit& fit, int candidate, int limit) {
    if (!wants(fit, candidate))
        return;
    fit.add(*problem_, *kernels_, work_, candidate);
    fit.grow_shrink(*problem_, *kernels_, work_, place_.data(), limit);
}

// The way of v to the left: from one place to the next where a fit changes. Of few variables each
// is asked in turn; of many, those that will say yes are put into a heap of places beforehand.
class ParentSets::WayLeft {
  public:
    WayLeft(ParentSets& sets, int v, int lowest)
        : sets_(sets), v_(v), lowest_(lowest), place_(sets.place(v)) {
        if (sets.walks_)
            return;
        std::vector<int>& places = sets.visits_;
        places.clear();
        for_each_bit(sets.wanted_by_.row(v), sets.wanted_by_.words(), [&](int u) {
            if (sets.place(u) < place_ && sets.place(u) >= lowest)
                places.push_back(sets.place(u));
        });
        std::make_heap(places.begin(), places.end());
    }

    bool next(const ParentFit& own) { return sets_.walks_ ? walk(own) : leap(own); }
    int place() const { return place_; }
    bool is_parent() const { return is_parent_; }   // of v
    bool is_wanting() const { return is_wanting_; } // v as a parent

  private:
    bool walk(const ParentFit& own) {
        while (--place_ >= lowest_) {
            const int u = sets_.order_[static_cast<std::size_t>(place_)];
            is_parent_ = own.index_of(u) >= 0;
            is_wanting_ = sets_.wanted_by_.test(v_, u);
            if (is_parent_ || is_wanting_)
                return true;
        }
        return false;
    }

    bool leap(const ParentFit& own) {
        std::vector<int>& places = sets_.visits_;
        int parent = before_all;
        for (int p : own.parents()) {
            const int at = sets_.place(p);
            if (at < place_ && at > parent)
                parent = at;
        }
        const int wanting = places.empty() ? before_all : places.front();
        place_ = std::max(parent, wanting);
        is_parent_ = place_ == parent;
        is_wanting_ = place_ == wanting;
        if (place_ < lowest_)
            return false;
        if (is_wanting_) {
            std::pop_heap(places.begin(), places.end());
            places.pop_back();
        }
        return true;
    }

    ParentSets& sets_;
    int v_, lowest_, place_;
    bool is_parent_ = false, is_wanting_ = false;
};

// The same to the right, where v's wishes are known until its fit changes.
class ParentSets::WayRight {
  public:
    WayRight(ParentSets& sets, int v, int highest)
        : sets_(sets), v_(v), highest_(highest), place_(sets.place(v)) {
        if (sets.walks_)
            return;
        sets.visits_.clear();
        for_each_bit(sets.children_.row(v), sets.children_.words(),
                     [&](int u) { note(u, sets.visits_); });
        std::make_heap(sets.visits_.begin(), sets.visits_.end(), std::greater<>());
        note_wanted(sets.fit(v), sets.wants_.row(v));
    }

    bool next(const ParentFit& own) { return sets_.walks_ ? walk(own) : leap(); }
    int place() const { return place_; }
    bool is_child() const { return is_child_; }   // of v
    bool is_wanted() const { return is_wanted_; } // by v

    // To be told that the fit of v has changed.
    void change(const ParentFit& own) {
        changed_ = true;
        if (sets_.walks_)
            return;
        sets_.fit_wants_.assign(sets_.wants_.words(), 0);
        sets_.find_wanted(own, sets_.fit_wants_.data());
        note_wanted(own, sets_.fit_wants_.data());
    }

  private:
    bool walk(const ParentFit& own) {
        while (++place_ <= highest_) {
            const int u = sets_.order_[static_cast<std::size_t>(place_)];
            is_child_ = sets_.children_.test(v_, u);
            is_wanted_ = changed_ ? sets_.wants(own, u) : sets_.wishes(v_, u);
            if (is_child_ || is_wanted_)
                return true;
        }
        return false;
    }

    bool leap() {
        const int child = top(sets_.visits_), wanted = top(sets_.visits_of_own_);
        place_ = std::min(child, wanted);
        is_child_ = place_ == child;
        is_wanted_ = place_ == wanted;
        if (place_ == after_all)
            return false;
        if (is_child_) {
            std::pop_heap(sets_.visits_.begin(), sets_.visits_.end(), std::greater<>());
            sets_.visits_.pop_back();
        }
        return true;
    }

    static int top(const std::vector<int>& places) {
        return places.empty() ? after_all : places.front();
    }
    void note(int u, std::vector<int>& places) const {
        const int at = sets_.place(u);
        if (at > place_ && at <= highest_)
            places.push_back(at);
    }
    void note_wanted(const ParentFit& own, const std::uint64_t* words) {
        std::vector<int>& places = sets_.visits_of_own_;
        places.clear();
        for_each_bit(words, sets_.wants_.words(),
                     [&](int column) { note(own.columns().variable(column), places); });
        std::make_heap(places.begin(), places.end(), std::greater<>());
    }

    ParentSets& sets_;
    int v_, highest_, place_;
    bool changed_ = false, is_child_ = false, is_wanted_ = false;
};

// While v travels it belongs to no place: it counts as standing after all others in its own fit and
// in the fits of those it has left behind, and before all others in the fits of those it now
// precedes. All others keep their places until it has arrived.
template <class Traveller>
void ParentSets::go_left(int v, int lowest, Traveller& traveller) {
    const int p = place(v);
    WayLeft way(*this, v, lowest);
    while (way.next(traveller.own())) {
        const int j = way.place();
        const int u = order_[static_cast<std::size_t>(j)];
        if (way.is_parent()) {
            place_[static_cast<std::size_t>(v)] = after_all;
            traveller.lose_own(u, j);
        }
        if (way.is_wanting()) {
            place_[static_cast<std::size_t>(v)] = before_all;
            traveller.gain_other(u, j);
        }
        if (!traveller.arrive(j))
            break;
    }
    place_[static_cast<std::size_t>(v)] = p;
}

template <class Traveller>
void ParentSets::go_right(int v, int highest, Traveller& traveller) {
    const int p = place(v);
    WayRight way(*this, v, highest);
    place_[static_cast<std::size_t>(v)] = after_all;
    while (way.next(traveller.own())) {
        const int j = way.place();
        const int u = order_[static_cast<std::size_t>(j)];
        if (way.is_child())
            traveller.lose_other(u, j);
        if (way.is_wanted()) {
            traveller.gain_own(u, j + 1);
            way.change(traveller.own());
        }
        if (!traveller.arrive(j))
            break;
    }
    place_[static_cast<std::size_t>(v)] = p;
}

// A traveller that leaves everything as it is and tells visit(place, change) what it would cost.
template <class Visit>
class ParentSets::Trial {
  public:
    Trial(ParentSets& sets, int v, Visit& visit)
        : sets_(sets), v_(v), visit_(visit), start_(sets.fit(v).cost()) {}

    const ParentFit& own() const { return is_copy_ ? sets_.own_ : sets_.fit(v_); }
    void lose_own(int u, int limit) {
        sets_.lose(copy(), u, limit);
        change_of_own_ = own().cost() - start_;
    }
    void gain_own(int u, int limit) {
        sets_.gain(copy(), u, limit);
        change_of_own_ = own().cost() - start_;
    }
    void lose_other(int u, int limit) {
        sets_.other_.borrow(sets_.fit(u));
        sets_.lose(sets_.other_, v_, limit);
        change_of_passed_ += sets_.other_.cost() - sets_.fit(u).cost();
    }
    void gain_other(int u, int limit) {
        sets_.other_.borrow(sets_.fit(u));
        sets_.gain(sets_.other_, v_, limit);
        change_of_passed_ += sets_.other_.cost() - sets_.fit(u).cost();
    }
    bool arrive(int place) { return visit_(place, change_of_own_ + change_of_passed_); }

  private:
    ParentFit& copy() {
        if (!is_copy_)
            sets_.own_.borrow(sets_.fit(v_));
        is_copy_ = true;
        return sets_.own_;
    }

    ParentSets& sets_;
    int v_;
    Visit& visit_;
    double start_;
    double change_of_own_ = 0.0, change_of_passed_ = 0.0;
    bool is_copy_ = false;
};

// A traveller that changes the fits on its way.
class ParentSets::Move {
  public:
    Move(ParentSets& sets, int v)
        : sets_(sets), v_(v), own_(sets.fits_[static_cast<std::size_t>(v)]), before_(own_.cost()) {
        sets.save(v);
        sets.touch(own_);
    }

    const ParentFit& own() const { return own_; }
    void lose_own(int u, int limit) { sets_.lose(own_, u, limit); }
    void gain_own(int u, int limit) { sets_.gain(own_, u, limit); }
    void lose_other(int u, int limit) {
        change_other(u, [&](ParentFit& fit) { sets_.lose(fit, v_, limit); });
    }
    void gain_other(int u, int limit) {
        change_other(u, [&](ParentFit& fit) { sets_.gain(fit, v_, limit); });
    }
    bool arrive(int) { return true; }

    // The change of the total cost, once v stands at its new place.
    double finish() {
        sets_.settle(own_);
        return change_ + own_.cost() - before_;
    }

  private:
    template <class Change>
    void change_other(int u, Change change) {
        ParentFit& fit = sets_.fits_[static_cast<std::size_t>(u)];
        sets_.save(u);
        sets_.touch(fit);
        change_ -= fit.cost();
        change(fit);
        sets_.settle(fit);
        change_ += fit.cost();
    }

    ParentSets& sets_;
    int v_;
    ParentFit& own_;
    double before_;
    double change_ = 0.0; // of the costs of the others
};

void ParentSets::settle(ParentFit& fit) {
    fit.refresh(*problem_, *kernels_, work_);
    touch(fit);
    index(fit.child());
}

template <class Visit>
void ParentSets::go_both_ways(int v, Visit visit) {
    const auto [lowest, highest] = permitted(v);
    Trial<Visit> left(*this, v, visit);
    go_left(v, lowest, left);
    Trial<Visit> right(*this, v, visit);
    go_right(v, highest, right);
}

void ParentSets::scan(int v, double* changes) {
    const auto [lowest, highest] = permitted(v);
    const int p = place(v);
    std::fill_n(changes, n(), std::numeric_limits<double>::infinity());
    std::fill(changes + lowest, changes + highest + 1, 0.0);
    // From each place that is visited the change holds on to the next.
    go_both_ways(v, [&, lowest = lowest, highest = highest](int place, double change) {
        if (place < p) {
            std::fill(changes + lowest, changes + place + 1, change);
        } else {
            std::fill(changes + place, changes + highest + 1, change);
        }
        return true;
    });
}

Insertion ParentSets::best_insertion(int v, double give_up) {
    Insertion best{place(v), 0.0};
    go_both_ways(v, [&](int place, double change) {
        if (change < best.change)
            best = {place, change};
        return change <= give_up;
    });
    return best;
}

void ParentSets::move(int v, int target) {
    const int p = place(v);
    if (p == target)
        return;
    assert(permitted(v).first <= target && target <= permitted(v).second);
    Move move(*this, v);
    if (target < p) {
        go_left(v, target, move);
    } else {
        go_right(v, target, move);
    }
    const int step = target < p ? -1 : 1;
    for (int j = p; j != target; j += step)
        put(order_[static_cast<std::size_t>(j + step)], j);
    put(v, target);
    cost_ += move.finish();
}

void ParentSets::put(int v, int place) {
    order_[static_cast<std::size_t>(place)] = v;
    place_[static_cast<std::size_t>(v)] = place;
}

void ParentSets::touch(const ParentFit& fit) {
    touched_.push_back(fit.child());
    touched_.insert(touched_.end(), fit.parents().begin(), fit.parents().end());
}

std::vector<int> ParentSets::take_touched() {
    std::vector<int> taken;
    taken.swap(touched_);
    return taken;
}

void ParentSets::save(int v) {
    if (marks_.empty() || saved_in_[static_cast<std::size_t>(v)] == marks_.back().id)
        return;
    saved_in_[static_cast<std::size_t>(v)] = marks_.back().id;
    if (spare_.empty()) {
        journal_.emplace_back();
    } else {
        journal_.push_back(std::move(spare_.back()));
        spare_.pop_back();
    }
    journal_.back().assign(fit(v));
}

std::size_t ParentSets::mark() {
    marks_.push_back({next_mark_++, journal_.size(), cost_, order_});
    return marks_.size() - 1;
}

void ParentSets::undo(std::size_t mark) {
    assert(mark < marks_.size());
    while (journal_.size() > marks_[mark].journal_size) {
        ParentFit& old = journal_.back();
        const int v = old.child();
        std::swap(fits_[static_cast<std::size_t>(v)], old);
        spare_.push_back(std::move(old));
        journal_.pop_back();
        index(v);
    }
    set_order(marks_[mark].order);
    cost_ = marks_[mark].cost;
    marks_.resize(mark);
}

void ParentSets::release(std::size_t mark) {
    assert(mark < marks_.size());
    marks_.resize(mark);
    if (marks_.empty()) {
        for (ParentFit& old : journal_)
            spare_.push_back(std::move(old));
        journal_.clear();
    }
}

} // namespace qwo
