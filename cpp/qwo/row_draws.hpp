// Graphs of rows M with M S M^T = I that are rotated towards few entries, each graph once.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace qwo {

// Points that an entry is worth, and what one costs: see Rotations.
struct EntryCosts {
    double samples, price;
};

// The graph of the entries that count, each row an equation: entry u * n + v is u → v. Rows go to
// variables by an assignment, such that their shares of the columns' squares have the largest
// product. Empty if some variable has no row.
std::vector<char> graph_of_rows(const std::vector<double>& rows, const std::vector<double>& weights,
                                const EntryCosts& costs);

class RowDraws {
  public:
    // Some rows of n are turned among themselves, in the columns that count in them.
    RowDraws(std::vector<double> rows, const std::vector<char>& turned, const EntryCosts& costs);

    enum class Drawn { late, nothing_new, graph };

    // From the rows given, so many rotations of each that is turned.
    Drawn draw(std::uint64_t seed, const EntryCosts& costs, long long steps, double temperature,
               double seconds);

    const std::vector<char>& graph() const { return graph_; }

  private:
    int n_;
    std::vector<double> rows_, weights_, own_weights_;
    std::vector<int> turned_, columns_;
    std::vector<char> graph_;
    std::set<std::vector<char>> seen_;
};

} // namespace qwo
