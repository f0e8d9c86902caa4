// Fits as they were before they changed, so that marked states can be returned to.
//
// Marks nest. A fit is copied before its first change after the latest mark; what was copied serves
// all marks that are left.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "qwo/parent_fit.hpp"

namespace qwo {

class FitJournal {
  public:
    explicit FitJournal(int n) : saved_in_(n, 0) {}

    std::size_t marks() const { return marks_.size(); }

    std::size_t mark(double cost, const std::vector<int>& order) {
        marks_.push_back({next_mark_++, fits_.size(), cost, order});
        return marks_.size() - 1;
    }

    // To be told of a fit that is about to change.
    void save(const ParentFit& fit) {
        std::uint64_t* saved_in = &saved_in_[fit.child()];
        if (marks_.empty() || *saved_in == marks_.back().id)
            return;
        *saved_in = marks_.back().id;
        if (spare_.empty()) {
            fits_.push_back(fit.blank());
        } else {
            fits_.push_back(std::move(spare_.back()));
            spare_.pop_back();
        }
        fits_.back()->assign(fit);
    }

    // Hands back the fits since a mark, the last first: restore(fit) may swap it for the present
    // one. Returns the cost and the order at the mark, which ends with all after it.
    template <class Restore>
    std::pair<double, std::vector<int>> undo(std::size_t mark, Restore restore) {
        assert(mark < marks_.size());
        Mark target = std::move(marks_[mark]);
        while (fits_.size() > target.journal_size) {
            restore(fits_.back());
            spare_.push_back(std::move(fits_.back()));
            fits_.pop_back();
        }
        marks_.resize(mark);
        return {target.cost, std::move(target.order)};
    }

    // Whether something holds for all fits that have been copied since a mark.
    template <class Holds>
    bool holds_since(std::size_t mark, Holds holds) const {
        assert(mark < marks_.size());
        const auto first = static_cast<std::ptrdiff_t>(marks_[mark].journal_size);
        return std::all_of(fits_.begin() + first, fits_.end(),
                           [&](const std::unique_ptr<ParentFit>& fit) { return holds(*fit); });
    }
    template <class Visit>
    void for_each_since(std::size_t mark, Visit visit) const {
        assert(mark < marks_.size());
        for (std::size_t k = marks_[mark].journal_size; k < fits_.size(); ++k)
            visit(*fits_[k]);
    }

    // Ends a mark and all after it.
    void release(std::size_t mark) {
        assert(mark < marks_.size());
        marks_.resize(mark);
        if (!marks_.empty())
            return;
        for (std::unique_ptr<ParentFit>& old : fits_)
            spare_.push_back(std::move(old));
        fits_.clear();
    }

    void clear() {
        marks_.clear();
        fits_.clear();
    }

  private:
    struct Mark {
        std::uint64_t id = 0;
        std::size_t journal_size = 0;
        double cost = 0.0;
        std::vector<int> order;
    };

    std::vector<Mark> marks_;
    std::vector<std::unique_ptr<ParentFit>> fits_, spare_;
    std::vector<std::uint64_t> saved_in_; // id of the mark under which a fit was copied last
    std::uint64_t next_mark_ = 1;
};

} // namespace qwo
