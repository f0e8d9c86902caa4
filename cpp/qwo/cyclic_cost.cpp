#include "qwo/cyclic_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "qwo/index.hpp"
#include "qwo/small_matrix.hpp"

namespace qwo {

namespace {

constexpr double least_pivot = 1e-10;
constexpr double search_points = 1e-3; // points of the score that a sweep must still gain
constexpr double last_digits = 1e-13;  // log-likelihood of a row that the final fit stops at
constexpr int most_sweeps = 500;
constexpr double far_sweeps = 100.0;
constexpr double never = std::numeric_limits<double>::infinity();

// Overwrites a square matrix by its inverse, by elimination with pivots; log |det|, or -infinity.
double invert(int k, std::vector<double>& a) {
    std::vector<double> right(Index{k} * k, 0.0);
    for (int i = 0; i < k; ++i)
        right[Index{i} * k + i] = 1.0;
    double log_det = 0.0;
    for (int j = 0; j < k; ++j) {
        int pivot = j;
        for (int i = j + 1; i < k; ++i) {
            if (std::abs(a[Index{i} * k + j]) > std::abs(a[Index{pivot} * k + j]))
                pivot = i;
        }
        const double head = a[Index{pivot} * k + j];
        if (!(std::abs(head) > 0.0))
            return -never;
        log_det += std::log(std::abs(head));
        for (int h = 0; h < k; ++h) {
            std::swap(a[Index{j} * k + h], a[Index{pivot} * k + h]);
            std::swap(right[Index{j} * k + h], right[Index{pivot} * k + h]);
        }
        for (int h = 0; h < k; ++h) {
            a[Index{j} * k + h] /= head;
            right[Index{j} * k + h] /= head;
        }
        for (int i = 0; i < k; ++i) {
            const double times = a[Index{i} * k + j];
            if (i == j || times == 0.0)
                continue;
            for (int h = 0; h < k; ++h) {
                a[Index{i} * k + h] -= times * a[Index{j} * k + h];
                right[Index{i} * k + h] -= times * right[Index{j} * k + h];
            }
        }
    }
    a = std::move(right);
    return log_det;
}

// Overwrites x by L^-T x.
void solve_upper(int k, const double* l, double* x) {
    for (int i = k - 1; i >= 0; --i) {
        for (int h = i + 1; h < k; ++h)
            x[i] -= l[h * k + i] * x[h];
        x[i] /= l[i * k + i];
    }
}

} // namespace

std::vector<std::vector<int>> strong_components(const ParentSetsOf& parents) {
    // Tarjan (1972), along the edges backwards, without recursion.
    const int n = count_of(parents);
    std::vector<int> index(n, -1), low(n, 0), next(n, 0), stack, path;
    std::vector<char> on_stack(n, 0);
    std::vector<std::vector<int>> found;
    int counter = 0;
    for (int root = 0; root < n; ++root) {
        if (index[root] >= 0)
            continue;
        path.push_back(root);
        while (!path.empty()) {
            const int v = path.back();
            if (index[v] < 0) {
                index[v] = low[v] = counter++;
                stack.push_back(v);
                on_stack[v] = 1;
            }
            if (next[v] < count_of(parents[v])) {
                const int u = parents[v][next[v]];
                if (index[u] < 0) {
                    path.push_back(u);
                    continue;
                }
                if (on_stack[u])
                    low[v] = std::min(low[v], index[u]);
                ++next[v];
                continue;
            }
            path.pop_back();
            if (!path.empty()) {
                const int above = path.back();
                low[above] = std::min(low[above], low[v]);
                ++next[above];
            }
            if (low[v] != index[v])
                continue;
            std::vector<int> members;
            int u = -1;
            do {
                u = stack.back();
                stack.pop_back();
                on_stack[u] = 0;
                members.push_back(u);
            } while (u != v);
            std::sort(members.begin(), members.end());
            found.push_back(std::move(members));
        }
    }
    return found;
}

CyclicCost::CyclicCost(std::vector<double> covariance, int n, double samples, double price)
    : covariance_(std::move(covariance)), n_(n), samples_(samples), price_(price) {}

std::size_t CyclicCost::Hash::operator()(const std::vector<int>& key) const {
    std::uint64_t hash = 1469598103934665603ull;
    for (const int value : key)
        hash = (hash ^ static_cast<std::uint64_t>(value + 2)) * 1099511628211ull;
    return static_cast<std::size_t>(hash ^ (hash >> 29));
}

double CyclicCost::cost(const ParentSetsOf& parents) {
    double sum = 0.0;
    for (const auto& members : strong_components(parents))
        sum += component(members, parents);
    return sum;
}

double CyclicCost::component(const std::vector<int>& members, const ParentSetsOf& parents,
                             double enough) {
    std::vector<int> key;
    int edges = 0;
    for (const int v : members) {
        key.push_back(v);
        key.insert(key.end(), parents[v].begin(), parents[v].end());
        key.push_back(-1);
        edges += count_of(parents[v]);
    }
    const auto [place, is_new] = memo_.try_emplace(std::move(key), Known{-never, false});
    Known& known = place->second;
    if (known.is_exact || known.cost >= enough)
        return known.is_exact ? known.cost : never;
    const double price = price_ * edges;
    if (members.size() > 1 && enough < never) {
        known.cost = samples_ * best_fit(members, parents) + price;
        if (known.cost >= enough)
            return never;
    }
    const double fitted =
        fit(members, parents, search_points / samples_, (enough - price) / samples_);
    known.is_exact = fitted < never || enough == never;
    known.cost = known.is_exact ? samples_ * fitted + price : enough;
    return known.is_exact ? known.cost : never;
}

// log |S| of a component given the parents that it has outside of it.
double CyclicCost::best_fit(const std::vector<int>& members, const ParentSetsOf& parents) {
    std::vector<int> all;
    for (const int v : members)
        all.insert(all.end(), parents[v].begin(), parents[v].end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::erase_if(all, [&](int u) { return std::ranges::binary_search(members, u); });
    const int outside = count_of(all);
    all.insert(all.end(), members.begin(), members.end());
    const int size = count_of(all);
    work_.resize(Index{size} * size);
    for (int a = 0; a < size; ++a) {
        for (int b = 0; b <= a; ++b)
            work_[Index{a} * size + b] = covariance_[Index{all[a]} * n_ + all[b]];
    }
    if (!(cholesky(size, work_.data()) > least_pivot))
        return -never;
    double sum = 0.0;
    for (int a = outside; a < size; ++a)
        sum += 2.0 * std::log(work_[Index{a} * size + a]);
    return sum;
}

void CyclicCost::coefficients(const ParentSetsOf& parents, double* matrix) {
    std::fill_n(matrix, Index{n_} * n_, 0.0);
    for (const auto& members : strong_components(parents)) {
        fit(members, parents, last_digits, never);
        for (int i = 0; i < count_of(members); ++i) {
            const Row& row = rows_[i];
            for (std::size_t h = 1; h < row.family.size(); ++h)
                matrix[Index{members[i]} * n_ + row.family[h]] = -row.values[h];
        }
    }
}

double CyclicCost::fit(const std::vector<int>& members, const ParentSetsOf& parents,
                       double tolerance, double enough) {
    const int k = count_of(members);
    rows_.resize(std::max<std::size_t>(rows_.size(), k));
    std::vector<int> place(n_, -1);
    for (int i = 0; i < k; ++i)
        place[members[i]] = i;
    for (int i = 0; i < k; ++i) {
        Row& row = rows_[i];
        row.family.assign(1, members[i]);
        row.family.insert(row.family.end(), parents[members[i]].begin(), parents[members[i]].end());
        const int size = count_of(row.family);
        row.within.resize(size);
        row.factor.resize(Index{size} * size);
        for (int a = 0; a < size; ++a) {
            row.within[a] = place[row.family[a]];
            for (int b = 0; b < size; ++b)
                row.factor[Index{a} * size + b] =
                    covariance_[Index{row.family[a]} * n_ + row.family[b]];
        }
        if (!(cholesky(size, row.factor.data()) > least_pivot))
            return never;
        row.values.assign(size, 0.0);
        row.values[0] = 1.0;
    }
    double best = descend(k, tolerance, enough);
    if (k == 1)
        return best;
    // A likelihood with cycles may have several optima: a second start, from the regressions.
    std::vector<std::vector<double>> kept(k);
    for (int i = 0; i < k; ++i) {
        Row& row = rows_[i];
        kept[i] = row.values;
        const int size = count_of(row.family);
        std::fill(row.values.begin(), row.values.end(), 0.0);
        row.values[0] = 1.0;
        solve_lower(size, row.factor.data(), row.values.data());
        solve_upper(size, row.factor.data(), row.values.data());
        for (int h = size - 1; h >= 0; --h)
            row.values[h] /= row.values[0];
    }
    const double second = descend(k, tolerance, enough);
    if (second < best)
        return second;
    for (int i = 0; i < k; ++i)
        rows_[i].values = kept[i];
    return best;
}

double CyclicCost::refresh(int k) {
    inverse_.assign(Index{k} * k, 0.0);
    for (int i = 0; i < k; ++i) {
        const Row& row = rows_[i];
        for (std::size_t h = 0; h < row.family.size(); ++h) {
            if (row.within[h] >= 0)
                inverse_[Index{i} * k + row.within[h]] = row.values[h];
        }
    }
    return invert(k, inverse_);
}

// Sweeps over the rows; Σ log variances - 2 log |det| in the end, infinite if it fails or if many
// sweeps as good as the last would not bring it below `enough`.
double CyclicCost::descend(int k, double tolerance, double enough) {
    double last = never;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double log_det = refresh(k), log_variances = 0.0;
        if (!(log_det > -never))
            return never;
        for (int i = 0; i < k; ++i) {
            if (!improve(k, i, log_det, log_variances))
                return never;
        }
        const double now = log_variances - 2.0 * log_det;
        if (k == 1 || last - now < tolerance)
            return now;
        if (now - enough > far_sweeps * (last - now))
            return never;
        last = now;
    }
    return last;
}

bool CyclicCost::improve(int k, int i, double& log_det, double& log_variances) {
    Row& row = rows_[i];
    const int size = count_of(row.family);
    // Cofactors are proportional to column i of the inverse.
    work_.assign(size + 2 * k, 0.0);
    double* x = work_.data();
    for (int h = 0; h < size; ++h)
        x[h] = row.within[h] < 0 ? 0.0 : inverse_[Index{row.within[h]} * k + i];
    solve_lower(size, row.factor.data(), x);
    double square = 0.0;
    for (int h = 0; h < size; ++h)
        square += x[h] * x[h];
    solve_upper(size, row.factor.data(), x);
    const double own = x[0];
    if (!(std::abs(own) > 1e-9 * std::sqrt(square))) {
        // The best row leaves its own variable out: another graph is meant.
        return false;
    }
    // The variance of x · X is |L^T x|², which is `square` before x is scaled.
    log_variances += std::log(square) - 2.0 * std::log(std::abs(own));
    double* change = x + size;
    for (int h = 0; h < size; ++h) {
        const double value = x[h] / own;
        if (row.within[h] >= 0)
            change[row.within[h]] = value - row.values[h];
        row.values[h] = value;
    }
    if (k == 1)
        return true;
    // I - B gains e_i d^T: Sherman and Morrison.
    double ratio = 1.0;
    double* along = change + k;
    for (int h = 0; h < k; ++h) {
        ratio += change[h] * inverse_[Index{h} * k + i];
        if (change[h] == 0.0)
            continue;
        for (int j = 0; j < k; ++j)
            along[j] += change[h] * inverse_[Index{h} * k + j];
    }
    if (!(std::abs(ratio) > 1e-12))
        return false;
    log_det += std::log(std::abs(ratio));
    for (int h = 0; h < k; ++h) {
        const double times = inverse_[Index{h} * k + i] / ratio;
        for (int j = 0; j < k; ++j)
            inverse_[Index{h} * k + j] -= times * along[j];
    }
    return true;
}

} // namespace qwo
