// A matrix of bits, one row after the other, for questions asked far more often than
// answered anew.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

// Calls visit(i) for every bit i that is set in an array of words, ascending.
template <class Visit>
void for_each_bit(const std::uint64_t* words, std::size_t count, Visit visit) {
    for (std::size_t w = 0; w < count; ++w) {
        for (std::uint64_t rest = words[w]; rest != 0; rest &= rest - 1)
            visit(static_cast<int>(w * 64) + std::countr_zero(rest));
    }
}

class BitMatrix {
  public:
    BitMatrix() = default;
    BitMatrix(int rows, int columns)
        : words_((Index{columns} + 63) / 64), bits_(words_ * Index{rows}, 0) {}

    // The same bits with more columns.
    BitMatrix widened(int columns) const {
        const int rows = static_cast<int>(bits_.size() / words_);
        BitMatrix wider(rows, columns);
        for (int i = 0; i < rows; ++i)
            std::copy_n(row(i), words_, wider.row(i));
        return wider;
    }

    bool test(int row, int column) const {
        return (word(row, column) >> (static_cast<unsigned>(column) & 63u)) & 1u;
    }
    void set(int row, int column) { word(row, column) |= bit(column); }
    void clear(int row, int column) { word(row, column) &= ~bit(column); }
    void flip(int row, int column) { word(row, column) ^= bit(column); }

    std::size_t words() const { return words_; }
    std::uint64_t* row(int i) { return bits_.data() + Index{i} * words_; }
    const std::uint64_t* row(int i) const { return bits_.data() + Index{i} * words_; }

  private:
    static std::uint64_t bit(int column) {
        return std::uint64_t{1} << (static_cast<unsigned>(column) & 63u);
    }
    std::uint64_t& word(int row, int column) { return bits_[Index{row} * words_ + (column >> 6)]; }
    std::uint64_t word(int row, int column) const {
        return bits_[Index{row} * words_ + (column >> 6)];
    }

    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;
};

} // namespace qwo
