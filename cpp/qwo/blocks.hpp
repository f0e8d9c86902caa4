// Which columns each variable owns: a nominal one, or the basis of a curve, has several, which
// enter and leave together. As a child a variable is explained in its leading columns: all of them,
// or the first alone where the others are functions of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

class Blocks {
  public:
    // One column for each variable.
    Blocks() = default;
    // So many for each, one variable after the other.
    explicit Blocks(const std::vector<int>& sizes) : Blocks(sizes, sizes) {}
    Blocks(const std::vector<int>& sizes, std::vector<int> leading) : leading_(std::move(leading)) {
        firsts_.push_back(0);
        for (int size : sizes) {
            firsts_.push_back(firsts_.back() + size);
            widest_ = std::max(widest_, size);
        }
        all_lead_ = leading_ == sizes;
    }

    bool empty() const { return firsts_.empty(); }
    int n() const { return count_of(firsts_) - 1; }
    int first(int v) const { return firsts_[v]; }
    int size(int v) const { return first(v + 1) - first(v); }
    // Columns in which a variable is explained.
    int leading(int v) const { return leading_[v]; }
    // Whether these are all columns of all variables: then members of an equivalence class cost the
    // same.
    bool all_lead() const { return all_lead_; }
    int n_columns() const { return firsts_.back(); }
    int widest() const { return widest_; }

  private:
    std::vector<int> firsts_, leading_;
    int widest_ = 1;
    bool all_lead_ = true;
};

} // namespace qwo
