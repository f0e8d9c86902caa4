// A square matrix of bits, one row after the other, for questions asked far more often than
// answered anew.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qwo {

class BitMatrix {
  public:
    BitMatrix() = default;
    explicit BitMatrix(int n)
        : words_((static_cast<std::size_t>(n) + 63) / 64),
          bits_(words_ * static_cast<std::size_t>(n), 0) {}

    bool test(int row, int column) const {
        return (word(row, column) >> (static_cast<unsigned>(column) & 63u)) & 1u;
    }
    void set(int row, int column) { word(row, column) |= bit(column); }
    void clear(int row, int column) { word(row, column) &= ~bit(column); }
    void flip(int row, int column) { word(row, column) ^= bit(column); }

    std::size_t words() const { return words_; }
    std::uint64_t* row(int i) { return bits_.data() + static_cast<std::size_t>(i) * words_; }

  private:
    static std::uint64_t bit(int column) {
        return std::uint64_t{1} << (static_cast<unsigned>(column) & 63u);
    }
    std::uint64_t& word(int row, int column) {
        return bits_[static_cast<std::size_t>(row) * words_ +
                     static_cast<std::size_t>(column) / 64];
    }
    std::uint64_t word(int row, int column) const {
        return bits_[static_cast<std::size_t>(row) * words_ +
                     static_cast<std::size_t>(column) / 64];
    }

    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;
};

} // namespace qwo
