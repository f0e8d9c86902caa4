#include "qwo/parent_fit.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "qwo/block_fit.hpp"
#include "qwo/column_fit.hpp"

namespace qwo {

std::unique_ptr<ParentFit> make_fit(const BicProblem& problem) {
    if (problem.blocks.empty())
        return std::make_unique<ColumnFit>();
    return std::make_unique<BlockFit>();
}

void ParentFit::start_head(const BicProblem& problem, const Columns& columns, int child) {
    moments_ = &problem.moments_of(child);
    columns_ = &columns;
    child_ = child;
    own_ = columns.find(child);
    assert(own_ >= 0);
    n_required_ = 0;
    parents_.clear();
}

void ParentFit::copy_head(const ParentFit& other) {
    moments_ = other.moments_;
    columns_ = other.columns_;
    child_ = other.child_;
    own_ = other.own_;
    n_required_ = other.n_required_;
    cost_ = other.cost_;
    parents_ = other.parents_;
}

const double* ParentFit::correlations(FitContext& context, int column) const {
    const double* row = moments_->correlation.row(column);
    const int width = columns_->width();
    if (columns_->all() && moments_->correlation.stride >= width)
        return row;
    if (context.correlations.size() < width)
        context.correlations = Array(width);
    double* picked = context.correlations.data();
    const int size = columns_->n_columns();
    if (columns_->all()) {
        std::copy_n(row, size, picked);
    } else {
        context.kernels.pick(size, row, columns_->columns(), picked);
    }
    std::fill(picked + size, picked + width, 0.0);
    return picked;
}

int ParentFit::index_of(int parent) const {
    for (std::size_t i = 0; i < parents_.size(); ++i) {
        if (parents_[i] == parent)
            return static_cast<int>(i);
    }
    return -1;
}

bool ParentFit::has_parents(const std::vector<int>& parents) const {
    return parents_ == parents ||
           (parents_.size() == parents.size() &&
            std::all_of(parents.begin(), parents.end(), [&](int p) { return index_of(p) >= 0; }));
}

void ParentFit::add_required(FitContext& context) {
    if (context.problem->constraints.required.empty())
        return;
    for (int p : context.problem->constraints.required[child_])
        add(context, p);
    n_required_ = size();
}

ParentFit::Candidates ParentFit::candidates(FitContext& context, const std::int32_t* place) const {
    // Candidates are all allowed; the constraints are asked only where there is no choice of them.
    if (columns_->all())
        return {place, context.problem->constraints.allowed_parents(child_, context.problem->n())};
    context.places.resize(columns_->size());
    for (int i = 0; i < columns_->size(); ++i)
        context.places[i] = place[columns_->variable(i)];
    return {context.places.data(), nullptr};
}

bool ParentFit::grow_around(FitContext& context, int parent, const std::int32_t* place,
                            std::int32_t limit) {
    add(context, parent);
    const Candidates among = candidates(context, place);
    if (best_candidate(context, among.place, limit, among.allowed) < 0)
        return false;
    grow_shrink(context, place, limit);
    return true;
}

void ParentFit::grow_shrink(FitContext& context, const std::int32_t* given, std::int32_t limit) {
    const auto [place, allowed] = candidates(context, given);
    double lowest = std::numeric_limits<double>::infinity();
    for (;;) {
        for (;;) {
            const int found = best_candidate(context, place, limit, allowed);
            if (found < 0)
                break;
            add_at(context, found);
        }
        bool dropped = false;
        for (;;) {
            const int index = least_needed(context);
            if (index < 0)
                break;
            drop(context, index);
            dropped = true;
        }
        update_cost(context);
        // Every step lowers the cost; where rounding has the last word, stop.
        if (!dropped || !(cost_ < lowest))
            return;
        lowest = cost_;
    }
}

void ParentFit::refresh(FitContext& context) {
    const std::vector<int> chosen = parents_;
    take(context, chosen);
}

void ParentFit::take(FitContext& context, const std::vector<int>& parents) {
    const int n_required = n_required_;
    start(*context.problem, *columns_, child_);
    for (int p : parents)
        add(context, p);
    n_required_ = n_required;
    update_cost(context);
}

void ParentFit::rebuild(FitContext& context, const ParentFit& other, const Columns& columns) {
    start(*context.problem, columns, other.child_);
    for (int p : other.parents_)
        add(context, p);
    n_required_ = other.n_required_;
    update_cost(context);
}

} // namespace qwo
