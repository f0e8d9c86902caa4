#include "qwo/mag_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "qwo/clock.hpp"

namespace qwo {

namespace {

// All subsets of so many common neighbours are tried as colliders; of more, the best ones alone.
constexpr int most_common = 4;
// A sweep of a fit that gains less, in units of the cost, is the last one: of a graph on trial, and
// of the present one.
constexpr double trial_tolerance = 1e-2, tolerance = 1e-4;
// What colliders between vertices without an edge must save: there are far more of these to choose
// from than edges.
constexpr double least_of_colliders = 3.0;
// Passes that repair what a forced change has done around it.
constexpr int most_repairs = 3;

std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

std::vector<int> touched_by(int i, int j, const std::vector<int>& colliders) {
    std::vector<int> touched{i, j};
    touched.insert(touched.end(), colliders.begin(), colliders.end());
    return touched;
}

constexpr double never = std::numeric_limits<double>::infinity();

} // namespace

MagSearch::MagSearch(const double* correlation, const Mag& start, MagPrices prices,
                     const std::vector<char>& candidates, MarkLimits limits,
                     const std::vector<char>& never, int most_sweeps)
    : n_(start.size()), mag_(start), prices_(prices), candidates_(candidates),
      limits_(std::move(limits)), check_(n_, never), fit_(correlation, n_, most_sweeps),
      parameters_(n_), first_(n_), fits_(n_) {
    std::vector<int> all(n_);
    for (int v = 0; v < n_; ++v) {
        all[v] = v;
        parameters_.covariance(v, v) = 1.0;
    }
    settle(all);
    int edges = 0;
    for (int i = 0; i < n_; ++i) {
        for (int j = 0; j < i; ++j)
            edges += mag_.linked(i, j);
    }
    cost_ = prices_.samples * present_fit(all) + prices_.edge * edges;
}

bool MagSearch::allowed(int i, int j, Link link) const {
    const auto said = [&](const std::vector<char>& flags, int from, int to) {
        return MarkLimits::said(flags, n_, from, to);
    };
    if (link == Link::spouses && said(limits_.clear, i, j))
        return false;
    if (said(limits_.required, i, j) || said(limits_.required, j, i))
        return link == (said(limits_.required, i, j) ? Link::forth : Link::back);
    return !(link == Link::forth && said(limits_.no_tail, i, j)) &&
           !(link == Link::back && said(limits_.no_tail, j, i));
}

// Changes the edge of a pair, and gives its edges with the colliders an arrowhead there.
void MagSearch::apply(int i, int j, Link link, const std::vector<int>& colliders) {
    const auto change = [&](int a, int b, Link to) {
        undo_.push_back({a, b, mag_.link(a, b)});
        mag_.set(a, b, to);
    };
    undo_.clear();
    change(i, j, link);
    for (const int z : colliders) {
        for (const int end : {i, j}) {
            if (mag_.link(z, end) == Link::forth)
                change(z, end, Link::spouses);
        }
    }
}

void MagSearch::revert() {
    for (auto step = undo_.rbegin(); step != undo_.rend(); ++step)
        mag_.set(step->i, step->j, step->link);
}

std::uint64_t MagSearch::key_of(const std::vector<int>& district) const {
    const std::size_t words = mag_.parents().words();
    std::uint64_t key = 0;
    for (const int v : district) {
        std::uint64_t own = mixed(static_cast<std::uint64_t>(v) + 1);
        const std::uint64_t *parents = mag_.parents().row(v), *spouses = mag_.spouses().row(v);
        for (std::size_t w = 0; w < words; ++w)
            own = mixed(mixed(own + parents[w]) ^ (spouses[w] + 0x9e3779b97f4a7c15u));
        key += own;
    }
    return key;
}

double MagSearch::fit_of(const std::vector<int>& district) {
    const std::uint64_t key = key_of(district);
    const auto known = memo_.find(key);
    if (known != memo_.end())
        return known->second;
    const double value = fit_.fit(mag_, district, parameters_, trial_tolerance / prices_.samples);
    memo_.emplace(key, value);
    return value;
}

double MagSearch::fit_around(const std::vector<int>& vertices) {
    double total = 0.0;
    std::vector<int> done;
    for (const int v : vertices) {
        if (std::find(done.begin(), done.end(), v) != done.end())
            continue;
        const std::vector<int> district = mag_.district(v);
        done.insert(done.end(), district.begin(), district.end());
        total += fit_of(district);
    }
    return total;
}

double MagSearch::present_fit(const std::vector<int>& vertices) const {
    double total = 0.0;
    for (auto v = vertices.begin(); v != vertices.end(); ++v) {
        const bool anew = std::none_of(vertices.begin(), v,
                                       [&](int earlier) { return first_[earlier] == first_[*v]; });
        total += anew ? fits_[first_[*v]] : 0.0;
    }
    return total;
}

void MagSearch::settle(const std::vector<int>& vertices) {
    std::vector<char> done(n_, 0);
    for (const int v : vertices) {
        if (done[v])
            continue;
        const std::vector<int> district = mag_.district(v);
        fits_[district[0]] = fit_.fit(mag_, district, parameters_, tolerance / prices_.samples);
        fit_.store(parameters_);
        for (const int u : district) {
            first_[u] = district[0];
            done[u] = 1;
        }
    }
    check_.is_legal(mag_);
}

bool MagSearch::leads_around(int from, int to) const {
    bool leads = false;
    for_each_bit(mag_.parents().row(to), mag_.parents().words(),
                 [&](int p) { leads = leads || (p != from && check_.ancestors().test(p, from)); });
    return leads;
}

double MagSearch::rise_of(int i, int j, Link link, const std::vector<int>& colliders,
                          double bound) {
    const Link before = mag_.link(i, j);
    const bool links = link != Link::none;
    const int doubted = trusted_.empty() ? 0 : doubtful_near(i, j, colliders);
    if (!allowed(i, j, link) || (links && link != Link::back && leads_around(j, i)) ||
        (links && link != Link::forth && leads_around(i, j)))
        return never;
    apply(i, j, link, colliders);
    const std::vector<int> touched = touched_by(i, j, colliders);
    bool legal = true;
    for (std::size_t s = 1; s < undo_.size(); ++s)
        legal = legal && allowed(undo_[s].i, undo_[s].j, Link::spouses);
    // A fit with spouses takes longer than to see that the graph is no MAG; one without, less.
    const bool slow = link == Link::spouses || undo_.size() > 1;
    const int more = trusted_.empty() ? 0 : doubtful_near(i, j, colliders) - doubted;
    legal = legal && (trusted_.empty() || more < 0);
    double rise = never;
    if (legal && (!slow || check_.is_legal_near(mag_, touched))) {
        const int added = links - (before != Link::none);
        rise = prices_.samples * (fit_around(touched) - present_fit(touched)) +
               prices_.edge * added + doubt_ * more;
        if (!slow && rise < bound && !check_.is_legal_near(mag_, touched))
            rise = never;
    }
    revert();
    return std::isnan(rise) ? never : rise;
}

double MagSearch::change(int i, int j, Link link) {
    return rise_of(i, j, link, {}, never);
}

void MagSearch::consider(int i, int j, Link link, const std::vector<int>& colliders, Change& best) {
    const double rise = rise_of(i, j, link, colliders, best.rise);
    if (rise < best.rise)
        best = {link, colliders, rise, 0};
}

void MagSearch::consider_deletions(int i, int j, Change& best) {
    std::vector<std::pair<double, int>> common;
    mag_.for_each_common(i, j, [&](int z) {
        const Link to_i = mag_.link(z, i), to_j = mag_.link(z, j);
        const auto may = [&](Link link, int end) {
            return link != Link::forth || allowed(z, end, Link::spouses);
        };
        if ((to_i == Link::forth || to_j == Link::forth) && may(to_i, i) && may(to_j, j))
            common.emplace_back(0.0, z);
    });
    const int n_common = count_of(common);
    if (n_common > most_common) {
        for (auto& [rise, z] : common)
            rise = rise_of(i, j, Link::none, {z}, never);
        std::stable_sort(common.begin(), common.end());
        common.resize(most_common);
    }
    std::vector<int> colliders;
    for (unsigned chosen = !mag_.linked(i, j); chosen < 1u << common.size(); ++chosen) {
        colliders.clear();
        for (std::size_t b = 0; b < common.size(); ++b) {
            if (chosen >> b & 1u)
                colliders.push_back(common[b].second);
        }
        consider(i, j, Link::none, colliders, best);
    }
    if (best.link == Link::none)
        best.common = n_common;
}

void MagSearch::find_doubtful(int at, std::vector<std::array<int, 3>>& found) const {
    std::vector<int> into;
    for (const BitMatrix* ends : {&mag_.parents(), &mag_.spouses()})
        for_each_bit(ends->row(at), ends->words(), [&](int a) { into.push_back(a); });
    for (const int a : into) {
        for (const int b : into) {
            const bool sure = trusted_[Index{a} * n_ + at] && trusted_[Index{b} * n_ + at];
            if (a < b && !sure && !mag_.linked(a, b))
                found.push_back({at, a, b});
        }
    }
}

// An edge or its end changes colliders at its own vertices, and at those that both are linked with.
int MagSearch::doubtful_near(int i, int j, const std::vector<int>& colliders) const {
    std::vector<std::array<int, 3>> found;
    for (int v = 0; v < n_; ++v) {
        if (v == i || v == j || (mag_.linked(v, i) && mag_.linked(v, j)) ||
            std::find(colliders.begin(), colliders.end(), v) != colliders.end())
            find_doubtful(v, found);
    }
    return count_of(found);
}

void MagSearch::doubt(std::vector<char> trusted, double price) {
    trusted_ = std::move(trusted);
    doubt_ = price;
    doubtful_.clear();
    changed_ = true;
}

bool MagSearch::undo_doubtful(double until) {
    while (changed_ || !doubtful_.empty()) {
        if (doubtful_.empty()) {
            for (int v = 0; v < n_; ++v)
                find_doubtful(v, doubtful_);
            std::reverse(doubtful_.begin(), doubtful_.end());
            changed_ = false;
        }
        while (!doubtful_.empty()) {
            const auto [v, a, b] = doubtful_.back();
            doubtful_.pop_back();
            const std::array<std::array<int, 2>, 3> pairs{{{a, b}, {a, v}, {b, v}}};
            Change best;
            best.rise = -prices_.least_saving;
            std::array<int, 2> chosen{};
            for (const auto& [x, y] : pairs) {
                const double before = best.rise;
                for (const Link link : {Link::forth, Link::back}) {
                    if (link != mag_.link(x, y))
                        consider(x, y, link, {}, best);
                }
                if (best.rise < before)
                    chosen = {x, y};
            }
            if (best.rise < -prices_.least_saving) {
                make(chosen[0], chosen[1], best);
                changed_ = true;
            }
            if (seconds_now() >= until)
                return false;
        }
    }
    return true;
}

bool MagSearch::improve(int i, int j) {
    const Link before = mag_.link(i, j);
    Change best;
    best.rise = -prices_.least_saving;
    if (before != Link::none || candidates_[Index{i} * n_ + j]) {
        for (const Link link : {Link::forth, Link::back, Link::spouses}) {
            if (link != before)
                consider(i, j, link, {}, best);
        }
    }
    const bool relinked = best.rise < -prices_.least_saving;
    if (before == Link::none)
        best.rise = std::min(best.rise, -least_of_colliders);
    const double least = best.rise;
    consider_deletions(i, j, best);
    if (!relinked && best.rise == least)
        return false;
    make(i, j, best);
    return true;
}

void MagSearch::make(int i, int j, const Change& change) {
    const Link before = mag_.link(i, j);
    const std::vector<int> touched = touched_by(i, j, change.colliders);
    const double old = present_fit(touched);
    apply(i, j, change.link, change.colliders);
    settle(touched);
    const int added = (change.link != Link::none) - (before != Link::none);
    const double rise = prices_.samples * (present_fit(touched) - old) + prices_.edge * added;
    cost_ += rise;
    steps_.push_back({i, j, before, change.link, change.colliders, -rise, change.common});
}

// Improves the pairs around i and j until nothing changes; their own edge stays.
void MagSearch::repair(int i, int j) {
    std::vector<int> around;
    for (int v = 0; v < n_; ++v) {
        if (v == i || v == j || mag_.linked(i, v) || mag_.linked(j, v))
            around.push_back(v);
    }
    bool changed = true;
    for (int pass = 0; changed && pass < most_repairs; ++pass) {
        changed = false;
        for (const int a : around) {
            for (const int b : around) {
                if (a < b && !(a == std::min(i, j) && b == std::max(i, j)))
                    changed = improve(a, b) || changed;
            }
        }
    }
}

std::vector<double> MagSearch::mark_worths(double most) {
    const Mag best = mag_;
    const double cost = cost_;
    const std::vector<int> first = first_;
    const std::vector<double> fits = fits_;
    const std::size_t n_steps = steps_.size();
    const MarkedGraph pag = pag_of_mag(best.marked(), limits_);
    const auto near = pag.neighbours();
    std::vector<double> worths(Index{n_} * n_, never);
    const auto meet = [&] {
        const MarkedGraph other = pag_of_mag(mag_.marked(), limits_);
        for (int a = 0; a < n_; ++a) {
            for (const int b : near[a]) {
                double& worth = worths[Index{a} * n_ + b];
                if (pag.at(a, b) != circle && other.linked(a, b) && other.at(a, b) != pag.at(a, b))
                    worth = std::min(worth, cost_ - cost);
            }
        }
    };
    const auto force = [&](int i, int j, const Change& change) {
        if (!(change.rise < most))
            return;
        apply(i, j, change.link, change.colliders);
        cost_ += change.rise;
        if (best.linked(i, j)) {
            settle(touched_by(i, j, change.colliders));
            repair(i, j);
        }
        meet();
        mag_ = best;
        cost_ = cost;
        first_ = first;
        fits_ = fits;
        check_.is_legal(mag_);
    };
    for (int i = 0; i < n_; ++i) {
        std::vector<char> met(n_, 0); // pairs with a common neighbour, whose edge hides a collider
        for (const int z : near[i]) {
            met[z] = 1;
            for (const int j : near[z])
                met[j] = 1;
        }
        for (int j = i + 1; j < n_; ++j) {
            for (const Link link : {Link::forth, Link::back, Link::spouses}) {
                if (met[j] && link != best.link(i, j)) {
                    Change turned;
                    turned.link = link;
                    turned.rise = rise_of(i, j, link, {}, most);
                    force(i, j, turned);
                }
            }
            if (best.linked(i, j)) {
                Change gone;
                gone.rise = most;
                consider_deletions(i, j, gone);
                force(i, j, gone);
            }
        }
    }
    steps_.resize(n_steps);
    std::vector<int> all(n_);
    std::iota(all.begin(), all.end(), 0);
    settle(all);
    return worths;
}

bool MagSearch::run(double seconds) {
    const double until = seconds_now() + seconds;
    if (!trusted_.empty())
        return undo_doubtful(until);
    while (true) {
        for (; i_ < n_; ++i_, j_ = i_ + 1) {
            for (j_ = std::max(j_, i_ + 1); j_ < n_; ++j_) {
                if (improve(i_, j_))
                    changed_ = true;
                if (seconds_now() >= until) {
                    ++j_;
                    return false;
                }
            }
        }
        if (!changed_)
            return true;
        changed_ = false;
        i_ = j_ = 0;
    }
}

} // namespace qwo
