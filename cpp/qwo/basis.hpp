// An orthonormal basis e_1 .. e_K of the span of some columns, under insertion and removal of them.
//
// Row k holds cov(e_k, i) for the columns i that a fit looks at, followed by the coefficients T_k
// of e_k on the columns that span. A new column appends its residual; to remove one the basis is
// turned, by a Householder reflection, until the residual of that column is its last vector, which
// is taken off. Either costs O(K) for each column, and every number in the rows is a correlation,
// so that rounding errors stay of the size of the machine's precision however collinear the columns
// are.
#pragma once

#include <cstddef>
#include <vector>

#include "qwo/fit_context.hpp"
#include "qwo/index.hpp"
#include "qwo/matrix.hpp"

namespace qwo {

class Basis {
  public:
    // A row that is still to be multiplied by a factor: whoever uses it does so on the way.
    struct Residual {
        double* row;
        double scale;
    };

    int size() const { return count_of(rows_); }
    int width() const { return width_; }
    const double* row(int k) const { return rows_[k]; }
    // Coefficients of columns that joined after the row was made are zero and not stored.
    int length(int k) const { return lengths_[k]; }
    double coefficient(int k, int j) const { return j < length(k) ? row(k)[width_ + j] : 0.0; }

    // Back to no columns, with rows of so many covariances.
    void clear(int width);
    // Takes over another basis; reuses the storage that is already there.
    void assign(const Basis& other);
    // The same for one that is only tried out: rows are shared with the other, which must stay as
    // it is, until they change.
    void borrow(const Basis& other);

    // Adds a column, given its correlations. Below `floor` its residual variance is raised to that.
    Residual add(FitContext& context, int column, const double* correlations, double floor);
    // Takes out the column that was added as number `index`; the last one gets its number. Returns
    // the covariances of the unit vector that is gone.
    double* drop(FitContext& context, int index);

  private:
    // Where this basis may write row k.
    double* place_for(int k) { return values_.data() + Index{k} * (width_ + capacity_); }
    void set_width(int width);
    void reserve(int size);
    double* own_direction(FitContext& context, int index) const; // a step of drop()

    int width_ = 0;
    int capacity_ = 0; // rows that `values_` has room for
    std::vector<const double*> rows_;
    std::vector<int> lengths_;
    Array values_;
};

} // namespace qwo
