#include "qwo/parent_sets.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <numeric>

#include "qwo/index.hpp"
#include "qwo/parallel.hpp"

namespace qwo {

namespace {

// Candidates that a fit takes in at a time. Where everything depends on everything, all variables
// would become candidates of each otherwise.
constexpr std::size_t most_missed = 256;

constexpr std::size_t most_neighbours = 50;

// Up to so many variables, all of them candidates, a journey asks each.
constexpr int most_walked = 500;

// The same problem without edges between some pairs.
std::shared_ptr<const BicProblem> keeping_apart(const BicProblem& problem,
                                                const std::vector<std::pair<int, int>>& apart) {
    const auto changed = std::make_shared<BicProblem>(problem);
    const Index n = problem.n();
    std::vector<std::uint8_t>& may_cause = changed->constraints.may_cause;
    may_cause.resize(n * n, 1);
    for (const auto& [a, b] : apart)
        may_cause[a * n + b] = may_cause[b * n + a] = 0;
    return changed;
}

} // namespace

ParentSets::ParentSets(std::shared_ptr<const BicProblem> given, const Kernels& kernels,
                       const CandidateLists::Lists& candidates, bool all_at_first)
    : context_(std::move(given), kernels), places_(n()),
      lists_(problem(), candidates, all_at_first), index_(n()), journal_(n()), checked_(n(), {-1}),
      walks_(candidates.empty() && n() <= most_walked), own_(make_fit(problem())),
      other_(make_fit(problem())), wide_(make_fit(problem())) {
    index_.resize(lists_.longest());
}

ParentSets::ParentSets(const ParentSets& other, std::shared_ptr<const BicProblem> problem)
    : context_(std::move(problem), other.context_.kernels), places_(other.places_),
      lists_(other.lists_), index_(other.index_), journal_(n()), cost_(other.cost_),
      checked_(other.checked_), walks_(other.walks_), own_(make_fit(this->problem())),
      other_(make_fit(this->problem())), wide_(make_fit(this->problem())) {
    for (const auto& fit : other.fits_) {
        fits_.emplace_back(make_fit(this->problem()))->assign(*fit);
        fits_.back()->belong_to(this->problem());
    }
}

ParentSets::ParentSets(const ParentSets& other) : ParentSets(other, other.context_.problem) {}

ParentSets::ParentSets(const ParentSets& other, const std::vector<std::pair<int, int>>& apart)
    : ParentSets(other, keeping_apart(other.problem(), apart)) {
    assert(!has_lists());
    for (const auto& [a, b] : apart) {
        for (const auto& [child, parent] : {std::pair(a, b), std::pair(b, a)}) {
            ParentFit& fit = own_fit(child);
            if (const int k = fit.index_of(parent); k >= 0) {
                touch(fit);
                cost_ -= fit.cost();
                fit.drop(context_, k);
                fit.grow_shrink(context_, places_.places(), place(child));
                refresh(fit);
                cost_ += fit.cost();
            } else {
                index(child);
            }
        }
    }
}

ParentSets::ParentSets(const ParentSets& other, const CandidateLists::Lists& candidates)
    : ParentSets(other.context_.problem, other.context_.kernels, candidates) {
    load(other.state());
}

void ParentSets::swap(ParentSets& other) noexcept {
    std::swap(places_, other.places_);
    std::swap(lists_, other.lists_);
    std::swap(fits_, other.fits_);
    std::swap(index_, other.index_);
    std::swap(journal_, other.journal_);
    std::swap(cost_, other.cost_);
    std::swap(checked_, other.checked_);
    std::swap(foreseen_, other.foreseen_);
    std::swap(touched_, other.touched_);
    std::swap(walks_, other.walks_);
    std::swap(own_, other.own_);
    std::swap(other_, other.other_);
    std::swap(wide_, other.wide_);
    std::swap(visits_, other.visits_);
    std::swap(visits_of_own_, other.visits_of_own_);
}

void ParentSets::begin(const std::vector<int>& order) {
    journal_.clear();
    touched_.clear();
    foreseen_.clear();
    places_.set(order);
    fits_.clear();
}

// Calls visit(context, v) for all variables, with a context for each thread.
template <class Visit>
void ParentSets::share(int threads, Visit visit) const {
    constexpr int each = 256; // so few variables are not worth a thread
    const std::size_t shares = (n() + each - 1) / each;
    for_each_parallel(shares, threads, [&](std::size_t k) {
        FitContext context(context_);
        const int first = static_cast<int>(k) * each;
        for (int v = first; v < std::min(first + each, n()); ++v)
            visit(context, v);
    });
}

template <class Fill>
void ParentSets::make_fits(int threads, Fill fill) {
    fits_.resize(n());
    share(threads, [&](FitContext& context, int v) {
        std::unique_ptr<ParentFit>& fit = fits_[v];
        fit = make_fit(problem());
        fit->start(problem(), lists_.of(v), v);
        fit->add_required(context);
        fill(context, *fit);
        // As after every move: the numbers are those of the parents, however they were found.
        fit->refresh(context);
    });
    for (int v = 0; v < n(); ++v)
        index(v);
}

double ParentSets::cost_of(const std::vector<int>& order, int threads) const {
    OrderPlaces places(n());
    places.set(order);
    std::vector<double> costs(n());
    share(threads, [&](FitContext& context, int v) {
        const std::unique_ptr<ParentFit> fit = make_fit(problem());
        fit->start(problem(), lists_.of(v), v);
        fit->add_required(context);
        fit->grow_shrink(context, places.places(), places.place(v));
        costs[v] = fit->cost();
    });
    return std::accumulate(costs.begin(), costs.end(), 0.0);
}

void ParentSets::reset(const std::vector<int>& order, int threads) {
    begin(order);
    make_fits(threads, [&](FitContext& context, ParentFit& fit) {
        fit.grow_shrink(context, places_.places(), place(fit.child()));
    });
    cost_ = 0.0;
    for (int v = 0; v < n(); ++v)
        cost_ += fit(v).cost();
}

ParentSetsState ParentSets::state() const {
    ParentSetsState state{order(), {}, checked_, cost_};
    for (const auto& fit : fits_)
        state.parents.push_back(fit->parents());
    return state;
}

void ParentSets::load(const ParentSetsState& state, int threads) {
    begin(state.order);
    checked_ = state.checked;
    make_fits(threads, [&](FitContext& context, ParentFit& fit) {
        const std::vector<int>& parents = state.parents[fit.child()];
        for (std::size_t k = fit.parents().size(); k < parents.size(); ++k)
            fit.add(context, parents[k]);
    });
    cost_ = state.cost;
}

void ParentSets::narrow() {
    assert(marks() == 0);
    if (has_narrowed())
        return;
    for (int v = 0; v < n(); ++v) {
        std::unique_ptr<ParentFit>& fit = fits_[v];
        index_.forget(*fit);
        const CandidateLists::Shared columns =
            lists_.joined(problem(), v, {fit->parents().begin(), fit->parents().end()});
        std::unique_ptr<ParentFit> narrowed = make_fit(problem());
        narrowed->rebuild(context_, *fit, *columns);
        fit = std::move(narrowed);
        lists_.put(v, columns);
    }
    lists_.end_waiting();
    index_.resize(lists_.longest());
    for (int v = 0; v < n(); ++v)
        index(v);
}

bool ParentSets::renew(int v) {
    assert(marks() == 0);
    bool found = false;
    while (widen(v))
        found = true; // with new parents, others may be wanted
    return found;
}

bool ParentSets::widen(int v) {
    std::unique_ptr<ParentFit>& fit = fits_[v];
    if (!may_widen(v))
        return false;
    auto foreseen = foreseen_.extract(v);
    Missed missed = foreseen ? std::move(foreseen.mapped()) : find_missed(context_, *wide_, *fit);
    if (missed.is_all)
        checked_[v] = fit->parents();
    std::vector<std::int32_t> variables = std::move(missed.variables);
    find_neighbours(*fit, variables);
    if (variables.empty())
        return false;
    index_.forget(*fit);
    const CandidateLists::Shared wider = lists_.joined(problem(), v, std::move(variables));
    std::unique_ptr<ParentFit> renewed = make_fit(problem());
    renewed->rebuild(context_, *fit, *wider);
    renewed->grow_shrink(context_, places_.places(), place(v));
    const bool changed = renewed->parents() != fit->parents();
    if (changed)
        touch(*fit);
    cost_ += renewed->cost() - fit->cost();
    fit = std::move(renewed);
    lists_.put(v, wider);
    index_.widen(wider->size());
    fit->refresh(context_);
    if (changed)
        touch(*fit);
    index(v);
    return true;
}

// Those that the fit would take as parents if they were candidates and stood before its child.
// Those that do stand there come first, and the strongest; no more than `most_missed`. Unless there
// are more in the prefix, this has nothing more to find for the same parents.
ParentSets::Missed ParentSets::find_missed(FitContext& context, ParentFit& wide,
                                           const ParentFit& fit) const {
    const int v = fit.child();
    wide.rebuild(context, fit, lists_.everyone());
    std::vector<std::uint64_t> wanted((Index{n()} + 63) / 64);
    index_.find(context, wide, wanted.data());
    Missed missed;
    std::size_t in_prefix = 0;
    for_each_bit(wanted.data(), wanted.size(), [&](int u) {
        if (fit.columns().find(u) < 0) {
            missed.variables.push_back(u);
            in_prefix += place(u) < place(v) ? 1 : 0;
        }
    });
    missed.is_all = in_prefix <= most_missed;
    if (missed.variables.size() <= most_missed)
        return missed;
    std::sort(missed.variables.begin(), missed.variables.end(), [&](int a, int b) {
        const bool first = place(a) < place(v), second = place(b) < place(v);
        return first != second ? first : wide.strength(context, a) > wide.strength(context, b);
    });
    missed.variables.resize(most_missed);
    return missed;
}

void ParentSets::foresee(int first, int end, int threads) {
    std::vector<int> variables;
    for (int v = first; v < end; ++v) {
        if (may_widen(v))
            variables.push_back(v);
    }
    std::vector<Missed> found(variables.size());
    const std::size_t workers = std::max(threads, 1);
    for_each_parallel(workers, threads, [&](std::size_t worker) {
        FitContext context(context_);
        const std::unique_ptr<ParentFit> wide = make_fit(problem());
        for (std::size_t k = worker; k < variables.size(); k += workers)
            found[k] = find_missed(context, *wide, fit(variables[k]));
    });
    foreseen_.clear();
    for (std::size_t k = 0; k < variables.size(); ++k)
        foreseen_[variables[k]] = std::move(found[k]);
}

bool ParentSets::may_widen(int v) const {
    return !is_given(v) && !fit(v).columns().all() && checked_[v] != fit(v).parents();
}

// The neighbours of the child in the present DAG, and theirs: a parent that is lost is replaced by
// those that it has stood for. Hubs, which everyone is a neighbour of, are not asked for theirs.
void ParentSets::find_neighbours(const ParentFit& fit, std::vector<std::int32_t>& found) const {
    const int v = fit.child();
    const std::uint8_t* allowed = problem().constraints.allowed_parents(v, n());
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
    index_.for_each_child(v, [&](int u) { found.push_back(u); });
}

std::pair<int, int> ParentSets::permitted(int v) const {
    const int p = place(v);
    if (is_given(v))
        return {p, p};
    int lowest = problem().n_given;
    int highest = n() - 1;
    if (v == pinned_.first)
        highest = place(pinned_.second) - 1;
    if (v == pinned_.second)
        lowest = place(pinned_.first) + 1;
    if (problem().constraints.precedes.empty())
        return {lowest, highest};
    for (int k = p - 1; k >= lowest; --k) {
        if (problem().constraints.must_precede(places_.at(k), v, n())) {
            lowest = k + 1;
            break;
        }
    }
    for (int k = p + 1; k <= highest; ++k) {
        if (problem().constraints.must_precede(v, places_.at(k), n())) {
            highest = k - 1;
            break;
        }
    }
    return {lowest, highest};
}

bool ParentSets::is_permitted(const std::vector<int>& order) const {
    if (problem().constraints.precedes.empty())
        return true;
    for (auto late = order.begin(); late != order.end(); ++late) {
        const auto comes_late = [&](int u) {
            return problem().constraints.must_precede(*late, u, n());
        };
        if (std::any_of(order.begin(), late, comes_late))
            return false;
    }
    return true;
}

OrderedDag ParentSets::dag() const {
    return {order(), state().parents, problem().given};
}

bool ParentSets::may_have(int child, int parent) const {
    const std::uint8_t* allowed = problem().constraints.allowed_parents(child, n());
    return fit(child).columns().find(parent) >= 0 && (allowed == nullptr || allowed[parent] != 0);
}

double ParentSets::cost_with(int v, const std::vector<int>& parents) {
    const auto may = [&](int u) { return may_have(v, u); };
    if (!std::all_of(parents.begin(), parents.end(), may))
        return std::numeric_limits<double>::infinity();
    other_->borrow(fit(v));
    other_->take(context_, parents);
    return other_->cost();
}

std::vector<double> ParentSets::rivals() {
    constexpr double negligible = 20.0; // below a strength: 1 in 20,000
    BitMatrix below(n(), n());          // descendants
    for (auto v = order().rbegin(); v != order().rend(); ++v) {
        index_.for_each_child(*v, [&](int u) {
            below.set(*v, u);
            for (std::size_t w = 0; w < below.words(); ++w)
                below.row(*v)[w] |= below.row(u)[w];
        });
    }
    const double n_samples = problem().sets.front().score.n_samples;
    std::vector<double> odds;
    for (int v = 0; v < n(); ++v) {
        std::vector<int> parents = fit(v).parents();
        std::sort(parents.begin(), parents.end());
        for (int parent : parents) {
            other_->borrow(fit(v));
            other_->drop(context_, fit(v).index_of(parent));
            const double own = other_->strength(context_, parent);
            const double worth = -n_samples * std::log1p(-std::min(own, 1.0 - 1e-12));
            const double least = -std::expm1(-std::max(worth - negligible, 0.0) / n_samples);
            double sum = 0.0;
            for (int u = 0; u < n(); ++u) {
                const double other = other_->strength(context_, u);
                if (other <= least || u == v || u == parent || below.test(v, u) || !may_have(v, u))
                    continue;
                sum +=
                    std::exp((-n_samples * std::log1p(-std::min(other, 1.0 - 1e-12)) - worth) / 2);
            }
            odds.push_back(sum);
        }
    }
    return odds;
}

void ParentSets::arrange(const std::vector<int>& order) {
    const std::vector<int>& present = places_.order();
    const auto same = std::mismatch(order.begin(), order.end(), present.begin()).first;
    const std::size_t first = same - order.begin();
    std::size_t end = order.size();
    while (end > first && order[end - 1] == present[end - 1])
        --end;
    places_.set(order);
    for (std::size_t k = first; k < end; ++k)
        refit(order[k], false);
}

void ParentSets::take(const OrderedDag& dag) {
    places_.set(dag.order);
    for (int v = 0; v < n(); ++v) {
        ParentFit& fit = own_fit(v);
        const std::vector<int>& parents = dag.parents[v];
        const bool changes = !fit.has_parents(parents);
        if (changes) {
            save(v);
            touch(fit);
            cost_ -= fit.cost();
            fit.take(context_, parents);
            cost_ += fit.cost();
        }
        refit(v, changes);
    }
}

void ParentSets::refit(int v, bool has_changed) {
    ParentFit& fit = own_fit(v);
    const auto precedes = [&](int u) { return places_.precedes(u, v); };
    bool wishes = has_changed;
    for_each_bit(index_.wants(v), index_.words(),
                 [&](int column) { wishes = wishes || precedes(fit.columns().variable(column)); });
    if (!wishes && std::all_of(fit.parents().begin(), fit.parents().end(), precedes))
        return;
    save(v);
    touch(fit);
    cost_ -= fit.cost();
    for (int k = count_of(fit.parents()) - 1; k >= 0; --k) {
        if (!precedes(fit.parents()[k]))
            fit.drop(context_, k);
    }
    fit.grow_shrink(context_, places_.places(), place(v));
    refresh(fit);
    cost_ += fit.cost();
}

void ParentSets::refresh(ParentFit& fit) {
    fit.refresh(context_);
    touch(fit);
    index(fit.child());
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

bool ParentSets::is_back() const {
    return journal_.holds_since(marks() - 1, [&](const ParentFit& old) {
        return fit(old.child()).has_parents(old.parents());
    });
}

void ParentSets::undo(std::size_t mark) {
    const auto [cost, order] = journal_.undo(mark, [&](std::unique_ptr<ParentFit>& old) {
        const int v = old->child();
        std::swap(fits_[v], old);
        index(v);
    });
    places_.set(order);
    cost_ = cost;
}

} // namespace qwo
