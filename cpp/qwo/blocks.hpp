// Which columns each variable owns: a nominal one has several, which enter and leave together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

class Blocks {
  public:
    // One column for each variable.
    Blocks() = default;
    // So many for each, one variable after the other.
    explicit Blocks(const std::vector<int>& sizes) {
        firsts_.push_back(0);
        for (int size : sizes) {
            firsts_.push_back(firsts_.back() + size);
            widest_ = std::max(widest_, size);
        }
    }

    bool empty() const { return firsts_.empty(); }
    int n() const { return count_of(firsts_) - 1; }
    int first(int v) const { return firsts_[v]; }
    int size(int v) const { return first(v + 1) - first(v); }
    int n_columns() const { return firsts_.back(); }
    int widest() const { return widest_; }

  private:
    std::vector<int> firsts_;
    int widest_ = 1;
};

} // namespace qwo
