#include "qwo/family_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <unordered_map>

#include "qwo/index.hpp"

namespace qwo {

namespace {

constexpr double least_pivot = 1e-9;

WideSet only(int v) {
    return WideSet{1} << v;
}

// Row 0 is the variable, row i + 1 candidate i.
class Branches {
  public:
    Branches(std::vector<double> given, std::vector<int> candidates, WideSet required,
             double samples, double price, const TableLimits& limits)
        : m_(count_of(candidates)), width_(m_ + 1), candidates_(std::move(candidates)),
          samples_(samples), price_(price), limits_(limits),
          in_(width_, std::vector<double>(Index{width_} * width_)), out_(in_), open_(width_) {
        in_[0] = std::move(given);
        out_[0] = in_[0];
        for (int i = 1; i < width_ && certain_; ++i)
            sweep(out_[0], i);
        open_[0].resize(m_);
        std::iota(open_[0].begin(), open_[0].end(), 1);
        table_.is_complete = certain_;
        if (!certain_)
            return;
        const int size = std::popcount(required);
        const double cost = cost_of(in_[0], size);
        record(required, cost);
        visit(0, required, size, cost, 0, 0);
    }

    FamilyTable table() { return std::move(table_); }

  private:
    double cost_of(const std::vector<double>& matrix, int size) const {
        return samples_ * std::log(matrix[0]) + price_ * size;
    }

    // The sweep operator: row i goes from the responses to the predictors.
    void sweep(std::vector<double>& a, int i) {
        const double pivot = a[Index{i} * width_ + i];
        if (!(pivot > least_pivot)) {
            certain_ = false;
            return;
        }
        for (int r = 0; r < width_; ++r) {
            if (r == i)
                continue;
            const double times = a[Index{r} * width_ + i] / pivot;
            for (int c = 0; c < width_; ++c) {
                if (c != i)
                    a[Index{r} * width_ + c] -= times * a[Index{i} * width_ + c];
            }
        }
        for (int r = 0; r < width_; ++r) {
            if (r != i) {
                a[Index{r} * width_ + i] /= pivot;
                a[Index{i} * width_ + r] = a[Index{r} * width_ + i];
            }
        }
        a[Index{i} * width_ + i] = -1.0 / pivot;
    }

    // The undecided row that explains the most beside all others.
    int strongest(const std::vector<double>& out, const std::vector<int>& open) const {
        int chosen = open[0];
        double most = -1.0;
        for (const int j : open) {
            const double worth = -out[j] * out[j] / out[Index{j} * width_ + j];
            if (worth > most) {
                most = worth;
                chosen = j;
            }
        }
        return chosen;
    }

    // A row is decided: what is left of the variable and of those still open. The same for a
    // predictor that goes in and for one, swept in before, that goes out.
    bool decide(const std::vector<double>& from, std::vector<double>& to, int chosen,
                const std::vector<int>& open) {
        const double* row = from.data() + Index{chosen} * width_;
        const double pivot = row[chosen];
        if (!(std::abs(pivot) > least_pivot)) {
            table_.is_complete = false;
            return false;
        }
        to[0] = from[0] - row[0] * row[0] / pivot;
        for (const int r : open) {
            const double times = row[r] / pivot;
            const double* old = from.data() + Index{r} * width_;
            double* now = to.data() + Index{r} * width_;
            to[r] = now[0] = old[0] - times * row[0];
            for (const int c : open)
                now[c] = old[c] - times * row[c];
        }
        return true;
    }

    // Whether some of the undecided may cost less than the best so far: one, two, or, if each of
    // three edges is paid for, all together.
    bool can_gain(const std::vector<int>& open, int size, double best,
                  const std::vector<double>& in, const std::vector<double>& out) const {
        if (cost_of(out, size + 1) >= best)
            return false;
        if (cost_of(out, size + 3) < best)
            return true;
        // The least residual variances with one more and with two more.
        const double enough[] = {std::exp((best - price_ * (size + 1)) / samples_),
                                 std::exp((best - price_ * (size + 2)) / samples_)};
        for (auto place = open.begin(); place != open.end(); ++place) {
            const int j = *place;
            const double* row = in.data() + Index{j} * width_;
            const double a = in[j], c = row[j];
            if (in[0] - a * a / c < enough[0])
                return true;
            for (auto other = place + 1; other != open.end(); ++other) {
                const double b = in[*other], d = in[Index{*other} * width_ + *other];
                const double e = row[*other], area = c * d - e * e;
                if (!(area > least_pivot * c * d))
                    return true; // rounding would decide
                if (in[0] - (a * a * d - 2.0 * a * b * e + b * b * c) / area < enough[1])
                    return true;
            }
        }
        return false;
    }

    // `best` is the least cost of the set and its subsets; the matrices are those of two levels.
    void visit(int depth, WideSet set, int size, double best, int in, int out) {
        const std::vector<int>& open = open_[depth];
        if (open.empty() || size >= limits_.most_parents || !table_.is_complete)
            return;
        if (++nodes_ > limits_.most_nodes) {
            table_.is_complete = false;
            return;
        }
        if (!can_gain(open, size, best, in_[in], out_[out]))
            return;
        const int chosen = strongest(out_[out], open);
        std::vector<int>& left = open_[depth + 1];
        left.clear();
        std::copy_if(open.begin(), open.end(), std::back_inserter(left),
                     [=](int j) { return j != chosen; });
        if (!decide(out_[out], out_[depth + 1], chosen, left))
            return;
        visit(depth + 1, set, size, best, in, depth + 1);
        if (!decide(in_[in], in_[depth + 1], chosen, left))
            return;
        const WideSet more = set | only(candidates_[chosen - 1]);
        const double cost = cost_of(in_[depth + 1], size + 1);
        for (WideSet rest = more; rest != 0; rest &= rest - 1) {
            const auto known = least_.find(more & ~(rest & (~rest + 1)));
            if (known != least_.end())
                best = std::min(best, known->second);
        }
        if (cost < best) {
            best = cost;
            record(more, cost);
        }
        least_[more] = best;
        visit(depth + 1, more, size + 1, best, depth + 1, out);
    }

    void record(WideSet set, double cost) {
        table_.sets.push_back(set);
        table_.costs.push_back(cost);
    }

    int m_, width_;
    std::vector<int> candidates_;
    double samples_, price_;
    TableLimits limits_;
    std::vector<std::vector<double>> in_, out_; // a matrix for each depth
    std::vector<std::vector<int>> open_;        // rows that are not decided there
    std::unordered_map<WideSet, double> least_;
    std::int64_t nodes_ = 0;
    bool certain_ = true;
    FamilyTable table_;
};

} // namespace

FamilyTable family_table(const std::vector<double>& correlation, int n, int variable,
                         const std::vector<int>& candidates, const std::vector<int>& required,
                         double samples, double price, const TableLimits& limits) {
    std::vector<int> rows{variable};
    rows.insert(rows.end(), candidates.begin(), candidates.end());
    const int width = count_of(rows);
    // What the required ones leave.
    std::vector<double> whole = correlation;
    WideSet set = 0;
    FamilyTable none;
    none.is_complete = false;
    for (const int u : required) {
        set |= only(u);
        const double pivot = whole[Index{u} * n + u];
        if (!(pivot > least_pivot))
            return none;
        const std::vector<double> row(whole.begin() + Index{u} * n,
                                      whole.begin() + Index{u} * n + n);
        for (int r = 0; r < n; ++r) {
            for (int c = 0; c < n; ++c)
                whole[Index{r} * n + c] -= row[r] * row[c] / pivot;
        }
    }
    std::vector<double> given(Index{width} * width);
    for (int r = 0; r < width; ++r) {
        for (int c = 0; c < width; ++c)
            given[Index{r} * width + c] = whole[Index{rows[r]} * n + rows[c]];
    }
    if (!(given[0] > least_pivot))
        return none;
    return Branches(std::move(given), candidates, set, samples, price, limits).table();
}

} // namespace qwo
