#include "qwo/row_draws.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "qwo/index.hpp"
#include "qwo/rotations.hpp"

namespace qwo {

namespace {

constexpr double does_not_count = 1e6; // more than any shares lose together
constexpr double rounding = 0.999;     // of the price, for zeros that rotations have not made

// The row of each column, such that the losses have the smallest sum: shortest augmenting paths
// (Jonker and Volgenant 1987).
std::vector<int> assignment(int n, const std::vector<double>& loss) {
    std::vector<double> row_price(n, 0.0), column_price(n + 1, 0.0), least(n);
    std::vector<int> row_of(n + 1, -1), before(n);
    std::vector<char> done(n + 1);
    for (int row = 0; row < n; ++row) {
        least.assign(n, std::numeric_limits<double>::infinity());
        done.assign(n + 1, 0);
        int column = n; // stands for the row that has none yet
        row_of[n] = row;
        while (row_of[column] >= 0) {
            done[column] = 1;
            const int at = row_of[column];
            int next = -1;
            for (int j = 0; j < n; ++j) {
                if (done[j])
                    continue;
                const double reduced = loss[Index{at} * n + j] - row_price[at] - column_price[j];
                if (reduced < least[j]) {
                    least[j] = reduced;
                    before[j] = column;
                }
                if (next < 0 || least[j] < least[next])
                    next = j;
            }
            const double step = least[next];
            for (int j = 0; j <= n; ++j) {
                if (done[j]) {
                    row_price[row_of[j]] += step;
                    column_price[j] -= step;
                } else if (j < n) {
                    least[j] -= step;
                }
            }
            column = next;
        }
        while (column != n) {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    row_of.pop_back();
    return row_of;
}

} // namespace

std::vector<char> graph_of_rows(const std::vector<double>& rows, const std::vector<double>& weights,
                                const EntryCosts& costs) {
    const int n = count_of(weights);
    std::vector<double> loss(rows.size(), does_not_count);
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < n; ++i) {
            const Index at = Index{k} * n + i;
            const double share = rows[at] * rows[at] * weights[i];
            if (costs.samples * (share + 0.5 * share * share) > rounding * costs.price)
                loss[at] = -std::log(share);
        }
    }
    const std::vector<int> row_of = assignment(n, loss);
    std::vector<char> graph(rows.size(), 0);
    for (int v = 0; v < n; ++v) {
        const double* own = loss.data() + Index{row_of[v]} * n;
        if (own[v] == does_not_count)
            return {};
        for (int u = 0; u < n; ++u)
            graph[Index{u} * n + v] = u != v && own[u] != does_not_count;
    }
    return graph;
}

RowDraws::RowDraws(std::vector<double> rows, const std::vector<char>& turned,
                   const EntryCosts& costs)
    : n_(count_of(turned)), rows_(std::move(rows)), weights_(n_) {
    for (int i = 0; i < n_; ++i) {
        double sum = 0.0;
        bool counts = false;
        for (int k = 0; k < n_; ++k) {
            const double entry = rows_[Index{k} * n_ + i];
            sum += entry * entry;
        }
        weights_[i] = 1.0 / sum;
        for (int k = 0; k < n_; ++k) {
            const double entry = rows_[Index{k} * n_ + i];
            counts |= turned[k] && costs.samples * entry * entry > 0.5 * costs.price * sum;
        }
        if (counts) {
            columns_.push_back(i);
            own_weights_.push_back(weights_[i]);
        }
        if (turned[i])
            turned_.push_back(i);
    }
}

RowDraws::Drawn RowDraws::draw(std::uint64_t seed, const EntryCosts& costs, long long steps,
                               double temperature, double seconds) {
    std::vector<double> own;
    for (const int k : turned_) {
        for (const int i : columns_)
            own.push_back(rows_[Index{k} * n_ + i]);
    }
    Rotations rotations(std::move(own), own_weights_, costs.samples, costs.price, seed);
    if (!rotations.anneal(steps * count_of(turned_), temperature, seconds))
        return Drawn::late;
    std::vector<double> rows = rows_;
    auto value = rotations.rows().begin();
    for (const int k : turned_) {
        for (const int i : columns_)
            rows[Index{k} * n_ + i] = *value++;
    }
    std::vector<char> graph = graph_of_rows(rows, weights_, costs);
    if (graph.empty() || !seen_.insert(graph).second)
        return Drawn::nothing_new;
    graph_ = std::move(graph);
    return Drawn::graph;
}

} // namespace qwo
