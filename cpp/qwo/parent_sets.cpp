#include "qwo/parent_sets.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace qwo {

namespace {

constexpr std::int32_t before_all = -1;
constexpr std::int32_t after_all = std::numeric_limits<std::int32_t>::max();

} // namespace

ParentSets::ParentSets(std::shared_ptr<const BicProblem> problem, const Kernels& kernels)
    : problem_(std::move(problem)), kernels_(&kernels), work_(*problem_),
      place_(static_cast<std::size_t>(problem_->n()), after_all), wants_(problem_->n()),
      wanted_by_(problem_->n()), children_(problem_->n()),
      indexed_parents_(static_cast<std::size_t>(problem_->n())),
      saved_in_(static_cast<std::size_t>(problem_->n()), 0) {}

ParentSets::ParentSets(const ParentSets& other) : ParentSets(other.problem_, *other.kernels_) {
    set_order(other.order_);
    fits_ = other.fits_;
    cost_ = other.cost_;
    wants_ = other.wants_;
    wanted_by_ = other.wanted_by_;
    children_ = other.children_;
    indexed_parents_ = other.indexed_parents_;
}

void ParentSets::set_order(const std::vector<int>& order) {
    order_ = order;
    for (std::size_t k = 0; k < order_.size(); ++k) {
        place_[static_cast<std::size_t>(order_[k])] = static_cast<std::int32_t>(k);
    }
}

void ParentSets::reset(const std::vector<int>& order) {
    marks_.clear();
    journal_.clear();
    touched_.clear();
    set_order(order);
    fits_.clear();
    cost_ = 0.0;
    for (int v = 0; v < n(); ++v) {
        fits_.emplace_back(*problem_, v);
        ParentFit& fit = fits_.back();
        fit.add_required(*problem_, *kernels_, work_);
        fit.grow_shrink(*problem_, *kernels_, work_, place_.data(), place(v));
        cost_ += fit.cost();
        index(v);
    }
}

void ParentSets::index(int u) {
    const ParentFit& fit = fits_[static_cast<std::size_t>(u)];
    std::uint64_t* row = wants_.row(u);
    fit_wants_.resize(wants_.words());
    const bool full = static_cast<int>(fit.parents().size()) >= problem_->max_parents;
    fit.wanted(work_.worth_adding, problem_->constraints.allowed_parents(u, n()), full, n(),
               fit_wants_.data());
    for (std::size_t w = 0; w < wants_.words(); ++w) {
        for (std::uint64_t changed = row[w] ^ fit_wants_[w]; changed != 0; changed &= changed - 1) {
            wanted_by_.flip(static_cast<int>(w * 64) + std::countr_zero(changed), u);
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
    if (!(fit.gain_r2(candidate) > work_.worth_adding))
        return false;
    if (static_cast<int>(fit.parents().size()) >= problem_->max_parents)
        return false;
    const std::uint8_t* allowed = problem_->constraints.allowed_parents(fit.child(), n());
    return allowed == nullptr || allowed[candidate] != 0;
}

bool ParentSets::lose(ParentFit& fit, int candidate, int limit) {
    const int index = fit.index_of(candidate);
    if (index < 0)
        return false;
    fit.drop(*kernels_, work_, index);
    fit.grow_shrink(*problem_, *kernels_, work_, place_.data(), limit);
    return true;
}

bool ParentSets::gain(ParentFit& fit, int candidate, int limit) {
    if (!wants(fit, candidate))
        return false;
    fit.add(*problem_, *kernels_, work_, candidate);
    fit.grow_shrink(*problem_, *kernels_, work_, place_.data(), limit);
    return true;
}

// While v travels it belongs to no place: it counts as standing after all others in its own fit and
// in the fits of those it has left behind, and before all others in the fits of those it now
// precedes. visit(place, change) returns false to stop.
template <class Visit>
void ParentSets::scan_left(int v, int lowest, Visit visit) {
    const int p = place(v);
    const double start = fit(v).cost();
    double own = 0.0;
    double passed = 0.0;
    bool own_is_copy = false;
    for (int j = p - 1; j >= lowest; --j) {
        const int u = order_[static_cast<std::size_t>(j)];
        if ((own_is_copy ? own_ : fit(v)).index_of(u) >= 0) {
            if (!own_is_copy)
                own_.borrow(fit(v));
            own_is_copy = true;
            place_[static_cast<std::size_t>(v)] = after_all;
            lose(own_, u, j);
            own = own_.cost() - start;
        }
        if (wanted_by_.test(v, u)) {
            other_.borrow(fit(u));
            place_[static_cast<std::size_t>(v)] = before_all;
            gain(other_, v, j);
            passed += other_.cost() - fit(u).cost();
        }
        if (!visit(j, own + passed))
            break;
    }
    place_[static_cast<std::size_t>(v)] = p;
}

template <class Visit>
void ParentSets::scan_right(int v, int highest, Visit visit) {
    const int p = place(v);
    const double start = fit(v).cost();
    double own = 0.0;
    double passed = 0.0;
    bool own_is_copy = false;
    place_[static_cast<std::size_t>(v)] = after_all;
    for (int j = p + 1; j <= highest; ++j) {
        const int u = order_[static_cast<std::size_t>(j)];
        if (children_.test(v, u)) {
            other_.borrow(fit(u));
            lose(other_, v, j);
            passed += other_.cost() - fit(u).cost();
        }
        if (own_is_copy ? wants(own_, u) : wants_.test(v, u)) {
            if (!own_is_copy)
                own_.borrow(fit(v));
            own_is_copy = true;
            gain(own_, u, j + 1);
            own = own_.cost() - start;
        }
        if (!visit(j, own + passed))
            break;
    }
    place_[static_cast<std::size_t>(v)] = p;
}

void ParentSets::scan(int v, double* changes) {
    std::fill_n(changes, n(), std::numeric_limits<double>::infinity());
    const auto [lowest, highest] = permitted(v);
    changes[place(v)] = 0.0;
    const auto record = [&](int place, double change) {
        changes[place] = change;
        return true;
    };
    scan_left(v, lowest, record);
    scan_right(v, highest, record);
}

Insertion ParentSets::best_insertion(int v, double give_up) {
    Insertion best{place(v), 0.0};
    const auto [lowest, highest] = permitted(v);
    const auto consider = [&](int place, double change) {
        if (change < best.change)
            best = {place, change};
        return change <= give_up;
    };
    scan_left(v, lowest, consider);
    scan_right(v, highest, consider);
    return best;
}

void ParentSets::move(int v, int target) {
    const int p = place(v);
    if (p == target)
        return;
    assert(permitted(v).first <= target && target <= permitted(v).second);
    save(v);
    ParentFit& own = fits_[static_cast<std::size_t>(v)];
    const double before = own.cost();
    double change = 0.0;
    touch(own);
    const int step = target < p ? -1 : 1;
    if (step > 0)
        place_[static_cast<std::size_t>(v)] = after_all;
    for (int j = p + step; j != target + step; j += step) {
        const int u = order_[static_cast<std::size_t>(j)];
        ParentFit& fit = fits_[static_cast<std::size_t>(u)];
        if (step < 0) {
            place_[static_cast<std::size_t>(v)] = after_all;
            lose(own, u, j);
            place_[static_cast<std::size_t>(v)] = before_all;
        }
        if (step < 0 ? wanted_by_.test(v, u) : children_.test(v, u)) {
            save(u);
            touch(fit);
            change -= fit.cost();
            if (step < 0) {
                gain(fit, v, j);
            } else {
                lose(fit, v, j);
            }
            fit.refresh(*problem_, *kernels_, work_);
            change += fit.cost();
            touch(fit);
            index(u);
        }
        if (step > 0)
            gain(own, u, j + 1);
        order_[static_cast<std::size_t>(j - step)] = u;
        place_[static_cast<std::size_t>(u)] = j - step;
    }
    order_[static_cast<std::size_t>(target)] = v;
    place_[static_cast<std::size_t>(v)] = target;
    own.refresh(*problem_, *kernels_, work_);
    touch(own);
    index(v);
    cost_ += change + own.cost() - before;
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
