#include "qwo/parent_gibbs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "qwo/index.hpp"

namespace qwo {
namespace {

// What rounding may take from a bound.
constexpr double kSlack = 1e-6;

} // namespace

ParentGibbs::ParentGibbs(const ScoreTables& tables)
    : tables_(tables), parents_(tables.n(), 0), n_parents_(parents_.size(), 0),
      fixed_followers_(tables.n(), tables.n()), seen_(fixed_followers_.words()),
      stack_(tables.n()) {
    for (int v = 0; v < tables.n(); ++v) {
        for (const int u : tables.lists().earlier(v))
            fixed_followers_.set(u, v);
    }
    followers_ = fixed_followers_;
}

void ParentGibbs::load(const std::vector<ParentMask>& parents) {
    followers_ = fixed_followers_;
    std::fill(parents_.begin(), parents_.end(), 0);
    std::fill(n_parents_.begin(), n_parents_.end(), 0);
    edges_ = 0;
    for (int v = 0; v < tables_.n(); ++v)
        set_parents(v, parents[v]);
}

double ParentGibbs::log_score() const {
    double sum = 0.0;
    for (int v = 0; v < tables_.n(); ++v)
        sum += tables_.best(v) + tables_.score(v, parents_[v]);
    return sum;
}

void ParentGibbs::set_parents(int v, ParentMask parents) {
    const ParentLists& lists = tables_.lists();
    ParentMask& present = parents_[v];
    for_each_place(present & ~parents, [&](int b) {
        const int u = lists.candidate(v, b);
        if (!fixed_followers_.test(u, v))
            followers_.clear(u, v);
    });
    for_each_place(parents & ~present, [&](int b) { followers_.set(lists.candidate(v, b), v); });
    int& number = n_parents_[v];
    edges_ -= number;
    number = count_places(parents);
    edges_ += number;
    present = parents;
}

ParentMask ParentGibbs::allowed(int v, const int* sources, std::size_t count) {
    std::fill(seen_.begin(), seen_.end(), 0);
    const auto bit = [](int u) { return std::uint64_t{1} << (static_cast<unsigned>(u) & 63u); };
    std::size_t waiting = 0;
    for (std::size_t k = 0; k < count; ++k) {
        stack_[waiting++] = sources[k];
        seen_[Index{sources[k]} / 64] |= bit(sources[k]);
    }
    while (waiting > 0) {
        const std::uint64_t* row = followers_.row(stack_[--waiting]);
        for (std::size_t w = 0; w < seen_.size(); ++w) {
            std::uint64_t fresh = row[w] & ~seen_[w];
            seen_[w] |= fresh;
            for (; fresh != 0; fresh &= fresh - 1)
                stack_[waiting++] = static_cast<int>(w * 64) + std::countr_zero(fresh);
        }
    }
    ParentMask mask = 0;
    const std::vector<int>& candidates = tables_.lists().candidates(v);
    for (std::size_t b = 0; b < candidates.size(); ++b) {
        const int u = candidates[b];
        if ((seen_[(u >> 6)] & bit(u)) == 0)
            mask |= ParentMask{1} << b;
    }
    return mask;
}

void ParentGibbs::draw(int v, Random& random, double* probabilities) {
    const ParentMask mask = allowed(v);
    if (probabilities != nullptr) {
        const double* sums = tables_.sums(v);
        for_each_place(mask, [&](int b) {
            probabilities[b] -= std::expm1(sums[mask & ~(ParentMask{1} << b)] - sums[mask]);
        });
    }
    set_parents(v, tables_.draw(v, mask, random));
}

std::pair<int, int> ParentGibbs::draw_edge(Random& random) const {
    int which = random.below(edges_);
    std::size_t v = 0;
    for (; which >= n_parents_[v]; ++v)
        which -= n_parents_[v];
    ParentMask rest = parents_[v];
    for (; which > 0; --which)
        rest &= rest - 1;
    const int child = static_cast<int>(v);
    return {tables_.lists().candidate(child, std::countr_zero(rest)), child};
}

bool ParentGibbs::reverse(Random& random) {
    if (edges_ == 0)
        return false;
    const ParentLists& lists = tables_.lists();
    const int edges = edges_;
    const auto [i, j] = draw_edge(random);
    const int i_in_j = lists.places(j)[i];
    const int j_in_i = lists.places(i)[j];
    if (j_in_i < 0)
        return false;

    const ParentMask old_i = parents_[i];
    const ParentMask old_j = parents_[j];
    // Sums grow with what is allowed, and no sum is below the score of a set in it: most turns are
    // refused here, before any search for descendants.
    const double wanted = least_log_ratio(random) - kSlack;
    const double fewest = edges - count_places(old_i) - count_places(old_j) + 1;
    const double most_edges = std::log(edges / fewest);
    const ParentMask without_i = ~(ParentMask{1} << i_in_j);
    if (tables_.most_with(i, j_in_i) + tables_.sum(j, tables_.all(j) & without_i) -
            tables_.score(i, old_i) - tables_.score(j, old_j) + most_edges <
        wanted)
        return false;
    const auto restore = [&] {
        set_parents(i, old_i);
        set_parents(j, old_j);
        return false;
    };
    set_parents(i, 0);
    const ParentMask free_i_before = allowed(i); // given the old parents of j
    set_parents(j, 0);
    const ParentMask free_i = allowed(i), free_j = allowed(j);
    if (((free_i >> j_in_i) & 1u) == 0)
        return restore(); // i comes before j for certain
    const double forward = tables_.sum_with(i, free_i, j_in_i);
    const double backward = tables_.sum_with(j, free_j, i_in_j);
    const double total_i = tables_.sum(i, free_i_before);
    if (forward < 0.5 * kNever ||
        forward + tables_.sum(j, free_j & without_i) - backward - total_i + most_edges < wanted)
        return restore();
    const ParentMask new_i = tables_.draw_with(i, free_i, j_in_i, forward, random);
    set_parents(i, new_i);
    const ParentMask free_j_after = allowed(j);
    set_parents(j, tables_.draw(j, free_j_after, random));
    const double log_ratio = forward + tables_.sum(j, free_j_after) - backward - total_i +
                             std::log(static_cast<double>(edges) / edges_);
    return log_ratio > wanted + kSlack || restore();
}

void ParentGibbs::find_children(int v) {
    children_.clear();
    const std::int8_t* of_v = tables_.lists().places_in(v);
    for_each_bit(followers_.row(v), followers_.words(), [&](int u) {
        if (of_v[u] >= 0 && ((parents_[u] >> of_v[u]) & 1u) != 0)
            children_.push_back(u);
    });
}

bool ParentGibbs::draw_path(int edges, Random& random) {
    const auto [first, second] = draw_edge(random);
    path_.assign({first, second});
    while (count_of(path_) <= edges) {
        find_children(path_.back());
        if (children_.empty())
            return false;
        path_.push_back(children_[random.below(count_of(children_))]);
    }
    return true;
}

double ParentGibbs::path_log_probability() {
    double log_p = -std::log(static_cast<double>(edges_));
    for (std::size_t k = 1; k + 1 < path_.size(); ++k) {
        find_children(path_[k]);
        log_p -= std::log(static_cast<double>(children_.size()));
    }
    return log_p;
}

double ParentGibbs::lay_path(Random& random, const std::vector<ParentMask>* given) {
    double log_sum = 0.0;
    for (std::size_t k = 0; k < path_.size(); ++k) {
        const int v = path_[k];
        // Whatever comes later on the path must not come before v, which is to lead to it.
        const ParentMask free = allowed(v, path_.data() + k, path_.size() - k);
        const int place = k == 0 ? -1 : tables_.lists().places(v)[path_[k - 1]];
        if (k > 0 && (place < 0 || ((free >> place) & 1u) == 0))
            return kNever;
        const double own = k == 0 ? tables_.sum(v, free) : tables_.sum_with(v, free, place);
        log_sum += own;
        if (log_sum < 0.5 * kNever)
            return kNever;
        set_parents(v, given != nullptr ? (*given)[k]
                       : k == 0         ? tables_.draw(v, free, random)
                                        : tables_.draw_with(v, free, place, own, random));
    }
    return log_sum;
}

double ParentGibbs::most_of_turned_path() const {
    double log_sum = 0.0;
    for (std::size_t k = 0; k < path_.size(); ++k) {
        const int v = path_[k];
        if (k + 1 == path_.size())
            return log_sum + tables_.sum(v, tables_.all(v));
        const int place = tables_.lists().places(v)[path_[k + 1]];
        if (place < 0)
            break;
        log_sum += tables_.most_with(v, place);
    }
    return kNever;
}

bool ParentGibbs::turn_path(int edges, Random& random) {
    if (edges_ == 0 || !draw_path(edges, random))
        return false;
    old_.clear();
    double present = 0.0;
    int fewest = edges_ + edges;
    for (const int v : path_) {
        old_.push_back(parents_[v]);
        present += tables_.score(v, old_.back());
        fewest -= count_places(old_.back());
    }
    const double selected = path_log_probability();
    const double wanted = least_log_ratio(random) + selected;
    // What can be had at most: as for a single edge.
    const double most = most_of_turned_path() - std::log(static_cast<double>(fewest)) + kSlack;
    if (most - present < wanted)
        return false;
    const auto clear = [&] {
        for (const int v : path_)
            set_parents(v, 0);
    };
    clear();
    const double backward = lay_path(random, &old_);
    if (most - backward < wanted)
        return false;
    clear();
    std::reverse(path_.begin(), path_.end());
    const double forward = lay_path(random, nullptr);
    if (forward > 0.5 * kNever && forward - backward + path_log_probability() > wanted)
        return true;
    for (std::size_t k = 0; k < path_.size(); ++k)
        set_parents(path_[k], old_[path_.size() - 1 - k]);
    return false;
}

} // namespace qwo
