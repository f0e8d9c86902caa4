// The variables over which a fit keeps its arrays, ascending: all of them, or a choice.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "qwo/matrix.hpp"

namespace qwo {

class Columns {
  public:
    explicit Columns(int n) : size_(n) {}
    explicit Columns(std::vector<std::int32_t> ascending)
        : size_(static_cast<int>(ascending.size())), chosen_(std::move(ascending)) {
        assert(size_ > 0 && std::is_sorted(chosen_.begin(), chosen_.end()));
    }

    bool all() const { return chosen_.empty(); }
    int size() const { return size_; }
    int width() const { return padded(size_); }
    const std::int32_t* variables() const { return chosen_.data(); } // null for all
    int variable(int column) const {
        return all() ? column : chosen_[static_cast<std::size_t>(column)];
    }
    // The column of a variable, -1 if it has none.
    int find(int variable) const {
        if (all())
            return variable;
        const auto at = std::lower_bound(chosen_.begin(), chosen_.end(), variable);
        return at != chosen_.end() && *at == variable ? static_cast<int>(at - chosen_.begin()) : -1;
    }

  private:
    int size_;
    std::vector<std::int32_t> chosen_;
};

} // namespace qwo
