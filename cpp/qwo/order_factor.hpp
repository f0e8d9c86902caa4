// The order factor: the inverse Cholesky factor of a correlation matrix in a given order of the
// variables, and all that the graph G^pi of this order needs, kept up to date as the order changes.
//
// Row k belongs to the variable order[k] at place k, columns to variables:
//   L  row k, l_k: coefficients of the residual of order[k] on its predecessors, scaled to variance
//      1. Zero in the columns of variables that stand after place k.
//   D  row k: sum over j <= k of l_j^2, the diagonal of the inverse covariance of the first k + 1.
// l_k[i]^2 / D_k[i] is the squared partial correlation of i and order[k] given the other
// predecessors; it is an edge of G^pi where it exceeds tau. (For i = order[k] itself it is 1.)
//
// Exchanging the neighbours at places k and k + 1 is one Givens rotation of l_k and l_(k+1), and
// every other change of the order is a chain of exchanges.
//
// The columns stand in the order of the last packing, which makes the rows triangular then: row k
// ends after k + 1 columns. As the order changes, rows grow longer than they need be; once as much
// work was lost on zeros as packing costs, the columns are packed anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwo/kernels.hpp"
#include "qwo/matrix.hpp"

namespace qwo {

class OrderFactor {
  public:
    // The cost is `weight` times the sum of the pair costs of all pairs (k, i), i before order[k].
    // `correlation` is n x n, row-major.
    OrderFactor(const double* correlation, int n, PairCost pair_cost, double weight,
                const Kernels& kernels);

    // Starts anew from an order and the inverse Cholesky factor of the correlation matrix in it:
    // n x n, row-major, lower triangular, columns by place. Marks are forgotten.
    void load(const std::vector<int>& order, const double* inverse_cholesky);

    int n() const { return n_; }
    double cost() const { return weight_ * total_; }
    double weight() const { return weight_; }
    const std::vector<int>& order() const { return order_; }
    int place(int v) const { return place_[v]; }
    const Kernels& kernels() const { return *kernels_; }
    const PairCost& pair_cost() const { return pair_cost_; }
    // The cost of an edge, which the diagonal of every row is charged by the kernels.
    double ceiling() const { return ceiling_; }

    // The column of a variable. Column 0 is no one's, and zero in every row.
    int column(int v) const { return column_[v]; }
    // Row k is zero from column width(k) on; widths are whole cache lines and grow with k.
    int width(int k) const { return width_[k]; }
    int full_width() const { return factor_.stride(); }
    const double* correlation(int v) const { return correlation_.row(v); }
    const double* row(int k) const { return factor_.row(k); }
    const double* precisions(int k) const { return precisions_.row(k + 1); }
    // D_(k-1); a row of zeros for k = 0.
    const double* precisions_before(int k) const { return precisions_.row(k); }
    // The cost of row k without its diagonal and without the weight.
    double row_cost(int k) const { return row_costs_[k]; }

    // Whether i -> order[k] is an edge of G^pi; i must not be order[k].
    bool is_parent(int k, int i) const {
        const double l = row(k)[column(i)];
        return l * l > pair_cost_.tau * precisions(k)[column(i)];
    }
    std::vector<int> parents(int v) const;
    int count_edges() const;

    // Each takes as many exchanges as pairs change sides.
    void move(int v, int place);
    void swap(int first, int second);
    void permute(int start, const std::vector<int>& block);
    // y and its ancestors after x, in their order, go before x; nothing if x is no ancestor of y.
    void tuck(int x, int y);

    // Exchanges since the last load on the way to the present state: what rounding has grown with.
    std::uint64_t exchanges() const { return exchanges_; }

    // Marks nest. undo(m) restores the state at the mark bit for bit, release(m) keeps the present
    // one; either ends the mark m and all after it.
    std::size_t mark();
    void undo(std::size_t mark);
    void release(std::size_t mark);
    std::size_t marks() const { return marks_.size(); }

    // To be told of `passes` over all rows: packs the columns if it is time.
    void note_passes(std::size_t passes);

  private:
    struct Mark {
        std::uint64_t id;
        std::size_t saved;
        double total;
        std::uint64_t exchanges;
    };
    struct SavedRow {
        int k;
        int variable;
        int width;
        double cost;
        std::uint64_t previous_id; // saved_under_[k] before
    };

    void exchange(int k, int width);
    void charge_rows(int first, int last, int width);
    void charge_row(int k, int width, bool new_precisions);
    void place_at(int k, int v);
    void save(int first, int last);
    void restore(const SavedRow& saved, const double* values);
    void pack_if_due();
    void pack();
    void pack_row(double* row, int columns);

    int n_;
    PairCost pair_cost_;
    double ceiling_;
    double weight_;
    const Kernels* kernels_;

    Matrix correlation_; // rows by variable, columns as in L
    Matrix factor_;
    Matrix precisions_; // row k + 1 is D_k; row 0 is zero
    std::vector<int> order_, place_, column_, width_;
    std::vector<double> row_costs_;
    double total_ = 0.0;
    std::uint64_t exchanges_ = 0;
    std::size_t wasted_ = 0; // zeros visited since the last packing that it would have spared
    std::vector<double> packed_;

    // The journal: a row is copied before its first change after the latest mark. Rows of L and D
    // lie one after the other in `saved_values_`, in the order of `saved_`. Columns stay while
    // there is a mark.
    std::vector<Mark> marks_;
    std::vector<SavedRow> saved_;
    std::vector<double> saved_values_;
    std::vector<std::uint64_t> saved_under_; // id of the mark under which row k was copied last
    std::uint64_t next_id_ = 1;
};

} // namespace qwo
