// The variables that a fit looks at, ascending: all of them, or a choice; and their columns.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "qwo/blocks.hpp"
#include "qwo/index.hpp"
#include "qwo/matrix.hpp"

namespace qwo {

class Columns {
  public:
    explicit Columns(int n, const Blocks& blocks = {}) : size_(n), n_columns_(n) {
        if (!blocks.empty())
            list_columns(blocks);
    }
    explicit Columns(std::vector<std::int32_t> ascending, const Blocks& blocks = {})
        : size_(count_of(ascending)), n_columns_(size_), chosen_(std::move(ascending)) {
        assert(size_ > 0 && std::is_sorted(chosen_.begin(), chosen_.end()));
        if (!blocks.empty())
            list_columns(blocks);
    }

    bool all() const { return chosen_.empty(); }
    int size() const { return size_; }
    // Of rows with one number for each column.
    int width() const { return padded(n_columns_); }
    const std::int32_t* variables() const { return chosen_.data(); } // null for all
    int variable(int index) const { return all() ? index : chosen_[index]; }
    // The number of a variable among those chosen, -1 if it is none of them.
    int find(int variable) const {
        if (all())
            return variable;
        const auto at = std::lower_bound(chosen_.begin(), chosen_.end(), variable);
        return at != chosen_.end() && *at == variable ? static_cast<int>(at - chosen_.begin()) : -1;
    }

    // Where variables own blocks of columns: how many columns there are, which of them come first
    // for each variable, and which they are among those of all variables.
    int n_columns() const { return n_columns_; }
    int first(int index) const { return firsts_[index]; }
    int block_size(int index) const { return first(index + 1) - first(index); }
    // Band d of their covariances has those of columns i and i + d, from the first i for which both
    // are of one variable to the last; the bands stand one after the other, the diagonal first.
    struct Band {
        int first, count, offset;
    };
    int n_bands() const { return count_of(bands_); }
    const Band& band(int d) const { return bands_[d]; }
    int bands_length() const { return bands_.back().offset + bands_.back().count; }
    const std::int32_t* columns() const {
        return firsts_.empty() ? chosen_.data() : columns_.data();
    }

  private:
    void list_columns(const Blocks& blocks) {
        for (int i = 0; i < size_; ++i) {
            firsts_.push_back(static_cast<std::int32_t>(columns_.size()));
            for (int k = 0; k < blocks.size(variable(i)); ++k)
                columns_.push_back(blocks.first(variable(i)) + k);
        }
        firsts_.push_back(static_cast<std::int32_t>(columns_.size()));
        n_columns_ = count_of(columns_);
        bands_.push_back({0, width(), 0});
        for (int d = 1;; ++d) {
            int begin = -1, end = -1;
            for (int i = 0; i < size_; ++i) {
                if (block_size(i) <= d)
                    continue;
                begin = begin < 0 ? first(i) : begin;
                end = first(i + 1);
            }
            if (begin < 0)
                return;
            bands_.push_back({begin, end - d - begin, bands_length()});
        }
    }

    int size_, n_columns_;
    std::vector<std::int32_t> chosen_;
    std::vector<std::int32_t> firsts_, columns_;
    std::vector<Band> bands_;
};

} // namespace qwo
