// What every update of a fit needs: the problem, the kernels, and room to work in. One for each
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "qwo/kernels.hpp"
#include "qwo/matrix.hpp"
#include "qwo/problem.hpp"

namespace qwo {

struct FitContext {
    FitContext(std::shared_ptr<const BicProblem> given, const Kernels& kern)
        : problem(std::move(given)), kernels(kern) {}
    // The same problem with room of its own.
    FitContext(const FitContext& other) : FitContext(other.problem, other.kernels) {}
    FitContext& operator=(const FitContext&) = delete;

    const std::shared_ptr<const BicProblem> problem;
    const Kernels& kernels;

    std::vector<double> z, losses, precisions, turned;
    std::vector<std::int32_t> places;
    Array direction, correlations;
    // Of fits with blocks of columns: rows over all columns, and small matrices.
    Array white, squares;
    std::vector<const double*> rows;
    std::vector<double> block, cross, whitened, small, scratch;
    std::vector<int> numbers;
};

} // namespace qwo
