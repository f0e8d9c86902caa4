#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "qwo/index.hpp"

namespace qwo::bindings {

Lists to_lists(const OrderIn& items, const OrderIn& ends) {
    Lists lists(ends.shape(0));
    const auto size = static_cast<std::int64_t>(items.shape(0));
    std::int64_t first = 0;
    for (std::size_t v = 0; v < lists.size(); ++v) {
        const std::int64_t end = checked("the end of a list", ends.data()[v], first, size);
        lists[v].assign(items.data() + first, items.data() + end);
        first = end;
    }
    return lists;
}

Lists checked_lists(const char* what, const OrderIn& items, const OrderIn& ends, int n) {
    for (std::size_t i = 0; i < items.shape(0); ++i)
        checked(what, items.data()[i], 0, n - 1LL);
    Lists lists = to_lists(items, ends);
    if (count_of(lists) != n) {
        throw Refusal("ShapeError", "wanted " + std::to_string(n) + " lists; got " +
                                        std::to_string(lists.size()));
    }
    return lists;
}

namespace {

std::vector<std::uint8_t> to_bytes(const char* what, const std::optional<MaskIn>& mask, int n) {
    if (!mask.has_value())
        return {};
    check_square(what, *mask, n);
    return {mask->data(), mask->data() + mask->size()};
}

// The matrix as it is for fits over candidates; for fits over all variables they take whole rows of
// it, and want them aligned.
CorrelationRows correlation_rows(const MatrixIn& matrix, bool whole) {
    const int n = static_cast<int>(matrix.shape(0));
    if (whole) {
        auto copy = std::make_shared<const Matrix>(Matrix::copy_of(matrix.data(), n, n));
        return {copy, copy->row(0), n, copy->stride()};
    }
    std::shared_ptr<MatrixIn> owner(new MatrixIn(matrix), [](MatrixIn* array) {
        nb::gil_scoped_acquire acquired;
        delete array;
    });
    return {owner, matrix.data(), n, n};
}

// Required parents of each variable, if there are any.
void check_required(const Lists& required, const Lists& candidates, int n) {
    if (required.empty())
        return;
    if (count_of(required) != n)
        throw Refusal("ShapeError", "required must have one list for each of the variables");
    for (std::size_t v = 0; v < required.size(); ++v) {
        checked_variables("required parent", required[v].data(), required[v].size(), n);
        for (int p : required[v]) {
            const auto is_listed = [&](const std::vector<int>& list) {
                return std::find(list.begin(), list.end(), p) != list.end();
            };
            if (p == static_cast<int>(v) || !(candidates.empty() || is_listed(candidates[v]))) {
                throw Refusal("KnowledgeError",
                              "variable " + std::to_string(p) +
                                  " is required, but no candidate, as a parent of " +
                                  std::to_string(v));
            }
        }
    }
}

// The variances of the variables; none if all are 1.
std::vector<double> diagonal_of(const MatrixIn& matrix, int n) {
    std::vector<double> diagonal(n);
    for (std::size_t v = 0; v < diagonal.size(); ++v)
        diagonal[v] = matrix.data()[v * (diagonal.size() + 1)];
    const bool plain =
        std::all_of(diagonal.begin(), diagonal.end(), [](double x) { return x == 1.0; });
    return plain ? std::vector<double>{} : diagonal;
}

MomentSet moment_set(const MomentsIn& given, int n, int n_columns, bool whole) {
    const auto& [matrix, n_samples, price, max_parents] = given;
    if (checked_correlation(matrix) != n_columns)
        throw Refusal("ShapeError", "all sets of moments must have the same variables");
    const Score score{checked_number("n_samples", n_samples, 1.0),
                      checked_number("price", price, 0.0)};
    MomentSet set(correlation_rows(matrix, whole), score,
                  checked_index("max_parents", max_parents, n));
    set.variances = diagonal_of(matrix, n_columns);
    return set;
}

// Blocks that share out the columns of a matrix whose diagonal blocks are identities; none if there
// are no sizes.
Blocks checked_blocks(const OrderIn& sizes, const OrderIn& leading, const MatrixIn& matrix) {
    if (sizes.shape(0) == 0)
        return {};
    const auto n_columns = static_cast<long long>(matrix.shape(0));
    std::vector<int> given;
    long long sum = 0;
    for (std::size_t v = 0; v < sizes.shape(0); ++v) {
        given.push_back(static_cast<int>(checked("block size", sizes.data()[v], 1, n_columns)));
        sum += given.back();
    }
    if (sum != n_columns) {
        throw Refusal("ShapeError", "the blocks have " + std::to_string(sum) +
                                        " columns in all, the matrix " + std::to_string(n_columns));
    }
    if (leading.shape(0) != sizes.shape(0))
        throw Refusal("ShapeError", "there must be leading columns of each of the variables");
    std::vector<int> own;
    for (std::size_t v = 0; v < given.size(); ++v)
        own.push_back(static_cast<int>(checked("leading columns", leading.data()[v], 1, given[v])));
    const Blocks blocks(given, std::move(own));
    for (int v = 0; v < blocks.n(); ++v) {
        const int first = blocks.first(v), end = first + blocks.size(v);
        for (int i = first; i < end; ++i) {
            for (int j = first; j < end; ++j) {
                const double* row = matrix.data() + i * n_columns;
                if (!(std::abs(row[j] - (i == j ? 1.0 : 0.0)) < 1e-6)) {
                    throw Refusal("CovarianceError",
                                  "the columns of variable " + std::to_string(v) +
                                      " must have unit variances and no correlations");
                }
            }
        }
    }
    return blocks;
}

// Takes up the prices of blocks. They come after the moments.
void set_block_prices(BicProblem& problem, const std::vector<double>& prices, Whole max_columns,
                      const std::vector<double>& bonus) {
    const Blocks& blocks = problem.blocks;
    if (problem.sets.size() > 1)
        throw Refusal("ArgumentError", "variables with blocks of columns need one set of moments");
    MomentSet& set = problem.sets.front();
    const std::size_t widest = blocks.widest();
    if (prices.size() <= widest * widest)
        throw Refusal("ShapeError", "there must be a price for each number of parameters");
    for (const double price : prices)
        checked_number("price", price, 0.0);
    set.max_columns = checked_index("max_columns", max_columns, INT_MAX);
    if (!bonus.empty() && std::ssize(bonus) != Index{blocks.n()} * blocks.n())
        throw Refusal("ShapeError", "there must be a bonus for each pair of variables, or none");
    set.bonus = bonus;
    problem.price_blocks(prices);
}

// Notes which variables are given. The constraints come before.
void set_given(BicProblem& problem, const OrderIn& given) {
    if (given.shape(0) == 0)
        return;
    const int n = problem.n();
    problem.given.assign(n, 0);
    for (int v : checked_variables("given variable", given.data(), given.shape(0), n)) {
        problem.given[v] = 1;
        ++problem.n_given;
        if (!problem.constraints.required.empty() && !problem.constraints.required[v].empty()) {
            throw Refusal("KnowledgeError",
                          "variable " + std::to_string(v) + " is given and can have no parents");
        }
    }
    if (problem.n_given == n)
        throw Refusal("ArgumentError", "one variable at least must not be given");
}

} // namespace

ParentSets make_parent_sets(const std::vector<MomentsIn>& moments, const OrderIn& which,
                            const std::optional<MaskIn>& may_cause,
                            const std::optional<MaskIn>& precedes, Lists required,
                            const std::string& kernel, const OrderIn& candidates,
                            const OrderIn& ends, bool all_at_first, const BlocksIn& given_blocks,
                            const OrderIn& given) {
    if (moments.empty())
        throw Refusal("ShapeError", "there must be one set of moments at least");
    const MatrixIn& matrix = std::get<0>(moments.front());
    const int n_columns = checked_correlation(matrix);
    const auto& [sizes, leading, prices, max_columns, bonus] = given_blocks;
    auto problem = std::make_shared<BicProblem>();
    problem->blocks = checked_blocks(sizes, leading, matrix);
    const int n = problem->blocks.empty() ? n_columns : problem->blocks.n();
    Lists lists;
    if (ends.shape(0) > 0)
        lists = checked_lists("candidate", candidates, ends, n);
    check_required(required, lists, n);
    for (const MomentsIn& given : moments)
        problem->sets.push_back(moment_set(given, n, n_columns, lists.empty()));
    if (which.shape(0) != 0 && std::cmp_not_equal(which.shape(0), n))
        throw Refusal("ShapeError", "which must name one set for each of the variables, or none");
    for (std::size_t v = 0; v < which.shape(0); ++v) {
        problem->which.push_back(checked_index("set", Whole{which.data()[v]}, count_of(moments)));
    }
    problem->penalty = problem->typical_penalty = problem->sets.front().score.price;
    if (!problem->blocks.empty())
        set_block_prices(*problem, prices, max_columns, bonus);
    problem->constraints.may_cause = to_bytes("may_cause", may_cause, n);
    problem->constraints.precedes = to_bytes("precedes", precedes, n);
    problem->constraints.required = std::move(required);
    set_given(*problem, given);
    return ParentSets(std::move(problem), checked_kernels(kernel), lists,
                      all_at_first && !lists.empty());
}

void check_ready(const ParentSets& sets) {
    if (sets.order().empty())
        throw Refusal("EngineError", "the engine has no order yet: reset() or load() comes first");
}

void check_unmarked(const ParentSets& sets) {
    check_ready(sets);
    if (sets.marks() > 0)
        throw Refusal("EngineError", "marks must have ended; " + std::to_string(sets.marks()) +
                                         " are outstanding");
}

int checked_variable(const ParentSets& sets, Whole v) {
    check_ready(sets);
    return checked_index("variable", v, sets.n());
}

} // namespace qwo::bindings
