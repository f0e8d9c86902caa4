// What happens to the parent sets while a variable travels: scans, and moves.
#include "qwo/index.hpp"
#include "qwo/parent_sets.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "qwo/policy.hpp"

namespace qwo {

bool ParentSets::wants(const ParentFit& fit, int candidate) {
    if (!fit.would_pay(context_, candidate) || fit.is_full())
        return false;
    const std::uint8_t* allowed = problem().constraints.allowed_parents(fit.child(), n());
    return allowed == nullptr || allowed[candidate] != 0;
}

bool ParentSets::wishes(int v, int candidate) const {
    const int column = fit(v).columns().find(candidate);
    return column >= 0 && index_.wants(v, column);
}

void ParentSets::lose(ParentFit& fit, int candidate, int limit) {
    const int index = fit.index_of(candidate);
    if (index < 0)
        return;
    fit.drop(context_, index);
    fit.grow_shrink(context_, places_.places(), limit);
}

void ParentSets::gain(ParentFit& fit, int candidate, int limit) {
    if (!wants(fit, candidate))
        return;
    fit.add(context_, candidate);
    fit.grow_shrink(context_, places_.places(), limit);
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
        sets.index_.for_each_wanting(v, [&](int u) {
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
            const int u = sets_.places_.at(place_);
            is_parent_ = own.index_of(u) >= 0;
            is_wanting_ = sets_.index_.is_wanted(v_, u);
            if (is_parent_ || is_wanting_)
                return true;
        }
        return false;
    }

    bool leap(const ParentFit& own) {
        std::vector<int>& places = sets_.visits_;
        int parent = OrderPlaces::before_all;
        for (int p : own.parents()) {
            const int at = sets_.place(p);
            if (at < place_ && at > parent)
                parent = at;
        }
        const int wanting = places.empty() ? OrderPlaces::before_all : places.front();
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
        sets.index_.for_each_child(v, [&](int u) { note(u, sets.visits_); });
        std::make_heap(sets.visits_.begin(), sets.visits_.end(), std::greater<>());
        note_wanted(sets.fit(v), sets.index_.wants(v));
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
        note_wanted(own, sets_.index_.found(sets_.context_, own).data());
    }

  private:
    bool walk(const ParentFit& own) {
        while (++place_ <= highest_) {
            const int u = sets_.places_.at(place_);
            is_child_ = sets_.index_.is_parent(v_, u);
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
        if (place_ == OrderPlaces::after_all)
            return false;
        if (is_child_) {
            std::pop_heap(sets_.visits_.begin(), sets_.visits_.end(), std::greater<>());
            sets_.visits_.pop_back();
        }
        return true;
    }

    static int top(const std::vector<int>& places) {
        return places.empty() ? OrderPlaces::after_all : places.front();
    }
    void note(int u, std::vector<int>& places) const {
        const int at = sets_.place(u);
        if (at > place_ && at <= highest_)
            places.push_back(at);
    }
    void note_wanted(const ParentFit& own, const std::uint64_t* words) {
        std::vector<int>& places = sets_.visits_of_own_;
        places.clear();
        for_each_bit(words, sets_.index_.words(),
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
        const int u = places_.at(j);
        if (way.is_parent()) {
            places_.send(v, OrderPlaces::after_all);
            traveller.lose_own(u, j);
        }
        if (way.is_wanting()) {
            places_.send(v, OrderPlaces::before_all);
            traveller.gain_other(u, j);
        }
        if (!traveller.arrive(j))
            break;
    }
    places_.send(v, p);
}

template <class Traveller>
void ParentSets::go_right(int v, int highest, Traveller& traveller) {
    const int p = place(v);
    WayRight way(*this, v, highest);
    places_.send(v, OrderPlaces::after_all);
    while (way.next(traveller.own())) {
        const int j = way.place();
        const int u = places_.at(j);
        if (way.is_child())
            traveller.lose_other(u, j);
        if (way.is_wanted()) {
            traveller.gain_own(u, j + 1);
            way.change(traveller.own());
        }
        if (!traveller.arrive(j))
            break;
    }
    places_.send(v, p);
}

// A traveller that leaves everything as it is and tells visit(place, change) what it would cost.
template <class Visit>
class ParentSets::Trial {
  public:
    Trial(ParentSets& sets, int v, Visit& visit)
        : sets_(sets), v_(v), visit_(visit), start_(sets.fit(v).cost()) {}

    const ParentFit& own() const { return is_copy_ ? *sets_.own_ : sets_.fit(v_); }
    void lose_own(int u, int limit) {
        sets_.lose(copy(), u, limit);
        change_of_own_ = own().cost() - start_;
    }
    void gain_own(int u, int limit) {
        sets_.gain(copy(), u, limit);
        change_of_own_ = own().cost() - start_;
    }
    void lose_other(int u, int limit) {
        sets_.other_->borrow(sets_.fit(u));
        sets_.lose(*sets_.other_, v_, limit);
        change_of_passed_ += sets_.other_->cost() - sets_.fit(u).cost();
    }
    void gain_other(int u, int limit) {
        sets_.other_->borrow(sets_.fit(u));
        sets_.gain(*sets_.other_, v_, limit);
        change_of_passed_ += sets_.other_->cost() - sets_.fit(u).cost();
    }
    bool arrive(int place) { return visit_(place, change_of_own_ + change_of_passed_); }

  private:
    ParentFit& copy() {
        if (!is_copy_)
            sets_.own_->borrow(sets_.fit(v_));
        is_copy_ = true;
        return *sets_.own_;
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
        : sets_(sets), v_(v), own_(sets.own_fit(v)), before_(own_.cost()) {
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
        sets_.refresh(own_);
        return change_ + own_.cost() - before_;
    }

  private:
    template <class Change>
    void change_other(int u, Change change) {
        ParentFit& fit = sets_.own_fit(u);
        sets_.save(u);
        sets_.touch(fit);
        change_ -= fit.cost();
        change(fit);
        sets_.refresh(fit);
        change_ += fit.cost();
    }

    ParentSets& sets_;
    int v_;
    ParentFit& own_;
    double before_;
    double change_ = 0.0; // of the costs of the others
};

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

// By variable, 1 for the first of a stretch that goes to the end of an order, and its descendants.
template <class ParentsOf>
std::vector<std::int32_t> ParentSets::followers(std::vector<int>::const_iterator first,
                                                std::vector<int>::const_iterator end,
                                                ParentsOf parents_of) const {
    std::vector<std::int32_t> follows(n(), 0);
    follows[*first] = 1;
    for (auto u = first + 1; u != end; ++u) {
        for (int p : parents_of(*u))
            follows[*u] |= follows[p];
    }
    return follows;
}

bool ParentSets::exchange(int v, double least_gain, bool pairs) {
    const auto follows = followers(order().begin() + place(v), order().end(),
                                   [&](int u) { return std::span(fit(u).parents()); });
    own_->borrow(fit(v));
    const bool few = n() <= policy::every_pair_up_to;
    pairs = pairs && (few || count_of(fit(v).parents()) >= policy::many_parents);
    const bool found =
        find_better(v, follows, least_gain) || (pairs && find_pair(v, follows, least_gain, few));
    return found && take_better(v, follows, dag());
}

bool ParentSets::exchange(int v, const OrderedDag& member, double least_gain) {
    const auto begin = std::find(member.order.begin(), member.order.end(), v);
    const auto follows =
        followers(begin, member.order.end(), [&](int u) { return std::span(member.parents[u]); });
    own_->borrow(fit(v));
    own_->take(context_, member.parents[v]);
    const bool found =
        find_better(v, follows, least_gain) ||
        (n() <= policy::every_pair_up_to && find_pair(v, follows, least_gain, false));
    return found && take_better(v, follows, member);
}

bool ParentSets::find_better(int v, const std::vector<std::int32_t>& follows, double least_gain) {
    if (is_given(v))
        return false;
    const auto is_better = [&] {
        other_->grow_shrink(context_, follows.data(), 1);
        return own_->cost() - other_->cost() > least_gain;
    };
    for (int k = own_->n_required(); k < count_of(own_->parents()); ++k) {
        other_->borrow(*own_);
        other_->drop(context_, k);
        if (is_better())
            return true;
    }
    other_->start(problem(), lists_.of(v), v);
    other_->add_required(context_);
    return is_better();
}

// By chance a pair is worth its price twice over with a probability of exp(-price).
bool ParentSets::may_pair(int v) const {
    const double pairs = 0.5 * n() * n();
    return pairs * std::exp(-problem().penalty_of(v)) < policy::chance_pairs;
}

// Two parents may pay where neither does. With a and b the partial correlations of the child with
// them, both below t = worth_adding, that takes a partial correlation between the two of more than
// 1 - (a^2 + b^2) / 2t.
bool ParentSets::find_pair(int v, const std::vector<std::int32_t>& follows, double least_gain,
                           bool all) {
    if (is_given(v) || own_->is_full() || !may_pair(v))
        return false;
    for (int i = 0; i < own_->columns().size(); ++i) {
        const int u = own_->columns().variable(i);
        if (follows[u] != 0 || own_->index_of(u) >= 0 || !may_have(v, u) || u == v ||
            !(all || own_->nearly_pays(context_, u, policy::half_a_pair)))
            continue;
        other_->borrow(*own_);
        if (other_->grow_around(context_, u, follows.data(), 1) &&
            own_->cost() - other_->cost() > least_gain)
            return true;
    }
    return false;
}

bool ParentSets::invite(int v, int u, double least_gain) {
    ParentFit& fit = own_fit(v);
    if (!may_pair(v) || is_given(v) || !places_.precedes(u, v) || fit.is_full() ||
        fit.index_of(u) >= 0 || !may_have(v, u))
        return false;
    other_->borrow(fit);
    if (!other_->grow_around(context_, u, places_.places(), place(v)) ||
        !(fit.cost() - other_->cost() > least_gain))
        return false;
    save(v);
    touch(fit);
    cost_ -= fit.cost();
    fit.take(context_, other_->parents());
    refresh(fit);
    cost_ += fit.cost();
    return true;
}

bool ParentSets::take_better(int v, const std::vector<std::int32_t>& follows, OrderedDag dag) {
    dag.parents[v] = other_->parents();
    const auto stays = [&](int u) { return follows[u] == 0; };
    std::stable_partition(dag.order.begin(), dag.order.end(), stays);
    if (!is_permitted(dag.order))
        return false;
    take(dag);
    return true;
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
    places_.move(v, target);
    cost_ += move.finish();
}

} // namespace qwo
