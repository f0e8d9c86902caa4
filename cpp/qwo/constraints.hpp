// Background knowledge in the form that the order engines use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

// Empty tables mean that nothing is constrained.
struct Constraints {
    // may_cause[child * n + parent] is 0 where the edge parent -> child is forbidden.
    std::vector<std::uint8_t> may_cause;
    // precedes[a * n + b] is 1 where a must stand before b in every order.
    std::vector<std::uint8_t> precedes;
    // required[child] lists the parents that must not be dropped.
    std::vector<std::vector<int>> required;

    const std::uint8_t* allowed_parents(int child, int n) const {
        if (may_cause.empty())
            return nullptr;
        return may_cause.data() + Index{child} * n;
    }
    bool must_precede(int a, int b, int n) const {
        return !precedes.empty() && precedes[Index{a} * n + b] != 0;
    }
};

} // namespace qwo
