#include "qwo/parent_sets.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace qwo {

namespace {

// Candidates that a fit takes in at a time. Where everything depends on everything, all variables
// would become candidates of each otherwise.
constexpr std::size_t most_missed = 256;

constexpr std::size_t most_neighbours = 50;

// Up to so many variables, all of them candidates, a journey asks each.
constexpr int most_walked = 500;

std::shared_ptr<const Columns> columns_of(std::vector<std::int32_t> variables,
                                          const Blocks& blocks) {
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    return std::make_shared<const Columns>(std::move(variables), blocks);
}

} // namespace

ParentSets::ParentSets(std::shared_ptr<const BicProblem> problem, const Kernels& kernels,
                       const std::vector<std::vector<std::int32_t>>& candidates, bool all_at_first)
    : context_(std::move(problem), kernels),
      everyone_(std::make_shared<const Columns>(context_.problem->n(), context_.problem->blocks)),
      place_(static_cast<std::size_t>(context_.problem->n()), after_all), wanted_by_(n(), n()),
      children_(n(), n()), indexed_parents_(static_cast<std::size_t>(n())),
      checked_(static_cast<std::size_t>(n()), {-1}), own_(make_fit(*context_.problem)),
      other_(make_fit(*context_.problem)), wide_(make_fit(*context_.problem)), journal_(n()) {
    for (std::size_t v = 0; v < candidates.size(); ++v) {
        std::vector<std::int32_t> variables = candidates[v];
        variables.push_back(static_cast<std::int32_t>(v));
        columns_.push_back(columns_of(std::move(variables), context_.problem->blocks));
    }
    if (all_at_first)
        later_.swap(columns_);
    if (columns_.empty())
        columns_.assign(static_cast<std::size_t>(n()), everyone_);
    for (int v = 0; v < n(); ++v) {
        if (!is_given(v))
            continue;
        columns_[static_cast<std::size_t>(v)] = columns_of({v}, context_.problem->blocks);
        if (!later_.empty())
            later_[static_cast<std::size_t>(v)] = columns_[static_cast<std::size_t>(v)];
    }
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
    : context_(other.context_), everyone_(other.everyone_), place_(other.place_),
      columns_(other.columns_), later_(other.later_), walks_(other.walks_), cost_(other.cost_),
      wants_(other.wants_), wanted_by_(other.wanted_by_), children_(other.children_),
      indexed_parents_(other.indexed_parents_), checked_(other.checked_), own_(make_fit(problem())),
      other_(make_fit(problem())), wide_(make_fit(problem())), journal_(n()) {
    for (const auto& fit : other.fits_)
        fits_.emplace_back(make_fit(problem()))->assign(*fit);
    set_order(other.order_);
}

void ParentSets::set_order(const std::vector<int>& order) {
    order_ = order;
    for (std::size_t k = 0; k < order_.size(); ++k) {
        place_[static_cast<std::size_t>(order_[k])] = static_cast<std::int32_t>(k);
    }
}

void ParentSets::begin(const std::vector<int>& order) {
    journal_.clear();
    touched_.clear();
    set_order(order);
    fits_.clear();
}

ParentFit& ParentSets::begin_fit(int v) {
    ParentFit& fit = *fits_.emplace_back(make_fit(problem()));
    fit.start(problem(), *columns_[static_cast<std::size_t>(v)], v);
    fit.add_required(context_);
    return fit;
}

void ParentSets::reset(const std::vector<int>& order) {
    begin(order);
    cost_ = 0.0;
    for (int v = 0; v < n(); ++v) {
        ParentFit& fit = begin_fit(v);
        fit.grow_shrink(context_, place_.data(), place(v));
        // As after every move: the numbers are those of the parents, however they were found.
        fit.refresh(context_);
        cost_ += fit.cost();
        index(v);
    }
}

ParentSetsState ParentSets::state() const {
    ParentSetsState state{order_, {}, checked_, cost_};
    for (const auto& fit : fits_)
        state.parents.push_back(fit->parents());
    return state;
}

void ParentSets::load(const ParentSetsState& state) {
    begin(state.order);
    checked_ = state.checked;
    for (int v = 0; v < n(); ++v) {
        ParentFit& fit = begin_fit(v);
        const std::vector<int>& parents = state.parents[static_cast<std::size_t>(v)];
        for (std::size_t k = fit.parents().size(); k < parents.size(); ++k)
            fit.add(context_, parents[k]);
        fit.refresh(context_);
        index(v);
    }
    cost_ = state.cost;
}

void ParentSets::narrow() {
    assert(marks() == 0);
    if (has_narrowed())
        return;
    for (int v = 0; v < n(); ++v) {
        forget(v);
        std::unique_ptr<ParentFit>& fit = fits_[static_cast<std::size_t>(v)];
        const Columns& listed = candidates(v);
        std::vector<std::int32_t> variables(listed.variables(), listed.variables() + listed.size());
        variables.insert(variables.end(), fit->parents().begin(), fit->parents().end());
        std::shared_ptr<const Columns>& columns = columns_[static_cast<std::size_t>(v)];
        columns = columns_of(std::move(variables), problem().blocks);
        std::unique_ptr<ParentFit> narrowed = make_fit(problem());
        narrowed->rebuild(context_, *fit, *columns);
        fit = std::move(narrowed);
    }
    later_.clear();
    make_room_for_wishes();
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
    std::unique_ptr<ParentFit>& fit = fits_[static_cast<std::size_t>(v)];
    if (is_given(v) || fit->columns().all() ||
        checked_[static_cast<std::size_t>(v)] == fit->parents())
        return false;
    std::vector<std::int32_t> variables;
    find_missed(*fit, variables);
    find_neighbours(*fit, variables);
    if (variables.empty())
        return false;
    forget(v);
    std::shared_ptr<const Columns>& columns = columns_[static_cast<std::size_t>(v)];
    variables.insert(variables.end(), columns->variables(), columns->variables() + columns->size());
    const std::shared_ptr<const Columns> wider = columns_of(std::move(variables), problem().blocks);
    std::unique_ptr<ParentFit> renewed = make_fit(problem());
    renewed->rebuild(context_, *fit, *wider);
    renewed->grow_shrink(context_, place_.data(), place(v));
    const bool changed = renewed->parents() != fit->parents();
    if (changed)
        touch(*fit);
    cost_ += renewed->cost() - fit->cost();
    fit = std::move(renewed);
    columns = wider;
    if (columns->size() > 64 * static_cast<int>(wants_.words()))
        wants_ = wants_.widened(columns->size() + columns->size() / 2);
    fit->refresh(context_);
    if (changed)
        touch(*fit);
    index(v);
    return true;
}

// Those that the fit would take as parents if they were candidates and stood before its child.
// Those that do stand there come first, and the strongest; no more than `most_missed`. Notes the
// parents unless there are more in the prefix, since then this has nothing more to find for them.
void ParentSets::find_missed(const ParentFit& fit, std::vector<std::int32_t>& missed) {
    const int v = fit.child();
    wide_->rebuild(context_, fit, *everyone_);
    std::vector<std::uint64_t> wanted(wanted_by_.words());
    find_wanted(*wide_, wanted.data());
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
        return first != second ? first
                               : wide_->strength(context_, a) > wide_->strength(context_, b);
    });
    missed.resize(most_missed);
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
    for_each_bit(children_.row(v), children_.words(), [&](int u) { found.push_back(u); });
}

// Takes the bits of v's wishes back.
void ParentSets::forget(int v) {
    std::uint64_t* row = wants_.row(v);
    for_each_bit(row, wants_.words(),
                 [&](int column) { wanted_by_.clear(fit(v).columns().variable(column), v); });
    std::fill_n(row, wants_.words(), 0);
}

void ParentSets::find_wanted(const ParentFit& fit, std::uint64_t* words) {
    // Candidates are all allowed.
    const std::uint8_t* allowed =
        fit.columns().all() ? problem().constraints.allowed_parents(fit.child(), n()) : nullptr;
    fit.wanted(context_, allowed, words);
}

void ParentSets::index(int u) {
    const ParentFit& fit = this->fit(u);
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
    const int p = place(v);
    if (is_given(v))
        return {p, p};
    int lowest = problem().n_given;
    int highest = n() - 1;
    if (problem().constraints.precedes.empty())
        return {lowest, highest};
    for (int k = p - 1; k >= lowest; --k) {
        if (problem().constraints.must_precede(order_[static_cast<std::size_t>(k)], v, n())) {
            lowest = k + 1;
            break;
        }
    }
    for (int k = p + 1; k < n(); ++k) {
        if (problem().constraints.must_precede(v, order_[static_cast<std::size_t>(k)], n())) {
            highest = k - 1;
            break;
        }
    }
    return {lowest, highest};
}

OrderedDag ParentSets::dag() const {
    return {order_, state().parents};
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

void ParentSets::arrange(const std::vector<int>& order) {
    const auto same = std::mismatch(order.begin(), order.end(), order_.begin()).first;
    const auto first = static_cast<std::size_t>(same - order.begin());
    std::size_t end = order.size();
    while (end > first && order[end - 1] == order_[end - 1])
        --end;
    set_order(order);
    for (std::size_t k = first; k < end; ++k)
        refit(order[k], false);
}

void ParentSets::take(const OrderedDag& dag) {
    set_order(dag.order);
    std::vector<int> old_parents, new_parents;
    for (int v = 0; v < n(); ++v) {
        ParentFit& fit = own_fit(v);
        const std::vector<int>& parents = dag.parents[static_cast<std::size_t>(v)];
        old_parents = fit.parents();
        new_parents = parents;
        std::sort(old_parents.begin(), old_parents.end());
        std::sort(new_parents.begin(), new_parents.end());
        const bool changes = old_parents != new_parents;
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
    const auto precedes = [&](int u) { return place(u) < place(v); };
    bool wishes = has_changed;
    for_each_bit(wants_.row(v), wants_.words(),
                 [&](int column) { wishes = wishes || precedes(fit.columns().variable(column)); });
    if (!wishes && std::all_of(fit.parents().begin(), fit.parents().end(), precedes))
        return;
    save(v);
    touch(fit);
    cost_ -= fit.cost();
    for (int k = static_cast<int>(fit.parents().size()) - 1; k >= 0; --k) {
        if (!precedes(fit.parents()[static_cast<std::size_t>(k)]))
            fit.drop(context_, k);
    }
    fit.grow_shrink(context_, place_.data(), place(v));
    settle(fit);
    cost_ += fit.cost();
}

void ParentSets::settle(ParentFit& fit) {
    fit.refresh(context_);
    touch(fit);
    index(fit.child());
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

bool ParentSets::is_back() const {
    return journal_.holds_since(marks() - 1, [&](const ParentFit& old) {
        const ParentFit& now = fit(old.child());
        const std::vector<int>& parents = old.parents();
        return now.parents().size() == parents.size() &&
               std::all_of(parents.begin(), parents.end(),
                           [&](int p) { return now.index_of(p) >= 0; });
    });
}

void ParentSets::undo(std::size_t mark) {
    const auto [cost, order] = journal_.undo(mark, [&](std::unique_ptr<ParentFit>& old) {
        const int v = old->child();
        std::swap(fits_[static_cast<std::size_t>(v)], old);
        index(v);
    });
    set_order(order);
    cost_ = cost;
}

} // namespace qwo
