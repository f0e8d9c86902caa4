// Aligned storage: rows of doubles that start on a cache line and are padded to whole ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "qwo/index.hpp"

namespace qwo {

constexpr std::size_t cache_line = 64;

inline int padded(int n) {
    constexpr int per_line = static_cast<int>(cache_line / sizeof(double));
    return (n + per_line - 1) / per_line * per_line;
}

// A zero-filled aligned array of doubles.
class Array {
  public:
    Array() = default;
    explicit Array(Index size) : size_(size) {
        if (size == 0)
            return;
        data_ = static_cast<double*>(
            ::operator new(size * sizeof(double), std::align_val_t{cache_line}));
        std::fill_n(data_, size, 0.0);
    }
    Array(const Array& other) : Array(other.size_) {
        if (size_ > 0)
            std::memcpy(data_, other.data_, size_ * sizeof(double));
    }
    Array(Array&& other) noexcept { swap(other); }
    Array& operator=(Array other) noexcept {
        swap(other);
        return *this;
    }
    ~Array() {
        if (data_ != nullptr)
            ::operator delete(data_, std::align_val_t{cache_line});
    }

    void swap(Array& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    double* data() { return data_; }
    const double* data() const { return data_; }
    Index size() const { return size_; }
    double& operator[](Index i) { return data_[i]; }
    double operator[](Index i) const { return data_[i]; }

  private:
    double* data_ = nullptr;
    Index size_ = 0;
};

// A row-major matrix whose rows are padded with zeros to whole cache lines.
class Matrix {
  public:
    Matrix() = default;
    Matrix(int rows, int columns)
        : rows_(rows), columns_(columns), stride_(padded(columns)),
          values_(Index{rows} * padded(columns)) {}

    // Copies a dense row-major block.
    static Matrix copy_of(const double* values, int rows, int columns) {
        Matrix m(rows, columns);
        for (int i = 0; i < rows; ++i) {
            std::memcpy(m.row(i), values + Index{i} * columns, Index{columns} * sizeof(double));
        }
        return m;
    }

    double* row(int i) { return values_.data() + Index{i} * stride_; }
    const double* row(int i) const { return values_.data() + Index{i} * stride_; }
    int rows() const { return rows_; }
    int columns() const { return columns_; }
    int stride() const { return stride_; }

  private:
    int rows_ = 0;
    int columns_ = 0;
    int stride_ = 0;
    Array values_;
};

} // namespace qwo
