#include "qwo/parent_gibbs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace qwo {

ParentGibbs::ParentGibbs(const ScoreTables& tables)
    : tables_(tables), parents_(static_cast<std::size_t>(tables.n()), 0),
      fixed_followers_(tables.n(), tables.n()), seen_(fixed_followers_.words()),
      stack_(static_cast<std::size_t>(tables.n())) {
    for (int v = 0; v < tables.n(); ++v) {
        for (const int u : tables.lists().earlier(v))
            fixed_followers_.set(u, v);
    }
    followers_ = fixed_followers_;
}

void ParentGibbs::load(const std::vector<ParentMask>& parents) {
    followers_ = fixed_followers_;
    std::fill(parents_.begin(), parents_.end(), 0);
    edges_ = 0;
    for (int v = 0; v < tables_.n(); ++v)
        set_parents(v, parents[static_cast<std::size_t>(v)]);
}

double ParentGibbs::log_score() const {
    double sum = 0.0;
    for (int v = 0; v < tables_.n(); ++v)
        sum += tables_.best(v) + tables_.score(v, parents_[static_cast<std::size_t>(v)]);
    return sum;
}

void ParentGibbs::set_parents(int v, ParentMask parents) {
    const ParentLists& lists = tables_.lists();
    ParentMask& present = parents_[static_cast<std::size_t>(v)];
    for_each_place(present & ~parents, [&](int b) {
        const int u = lists.candidate(v, b);
        if (!fixed_followers_.test(u, v))
            followers_.clear(u, v);
    });
    for_each_place(parents & ~present, [&](int b) { followers_.set(lists.candidate(v, b), v); });
    edges_ += std::popcount(parents) - std::popcount(present);
    present = parents;
}

ParentMask ParentGibbs::allowed(int v) {
    std::fill(seen_.begin(), seen_.end(), 0);
    const auto bit = [](int u) { return std::uint64_t{1} << (static_cast<unsigned>(u) & 63u); };
    std::size_t waiting = 0;
    stack_[waiting++] = v;
    seen_[static_cast<std::size_t>(v) / 64] |= bit(v);
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
        if ((seen_[static_cast<std::size_t>(u) / 64] & bit(u)) == 0)
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

bool ParentGibbs::reverse(Random& random) {
    if (edges_ == 0)
        return false;
    const ParentLists& lists = tables_.lists();
    const int edges = edges_;
    int which = random.below(edges), j = 0;
    for (; which >= std::popcount(parents_[static_cast<std::size_t>(j)]); ++j)
        which -= std::popcount(parents_[static_cast<std::size_t>(j)]);
    ParentMask rest = parents_[static_cast<std::size_t>(j)];
    for (; which > 0; --which)
        rest &= rest - 1;
    const int i_in_j = std::countr_zero(rest), i = lists.candidate(j, i_in_j);
    const int j_in_i = lists.places(i)[j];
    if (j_in_i < 0)
        return false;

    const ParentMask old_i = parents_[static_cast<std::size_t>(i)];
    const ParentMask old_j = parents_[static_cast<std::size_t>(j)];
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
    if (forward < 0.5 * kNever)
        return restore();
    const ParentMask new_i = tables_.draw_with(i, free_i, j_in_i, random);
    set_parents(i, new_i);
    const ParentMask free_j_after = allowed(j);
    set_parents(j, tables_.draw(j, free_j_after, random));
    const double log_ratio = forward + tables_.sum(j, free_j_after) - backward -
                             tables_.sum(i, free_i_before) +
                             std::log(static_cast<double>(edges) / edges_);
    if (log_ratio >= 0.0 || random.uniform() < std::exp(log_ratio))
        return true;
    return restore();
}

} // namespace qwo
