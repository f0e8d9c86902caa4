#include "qwo/sink_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "qwo/index.hpp"

namespace qwo {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr int most_in_group = 16, most_in_part = 64;

WideSet only(int v) {
    return WideSet{1} << v;
}

WideSet first(int n) {
    return n == most_in_part ? ~WideSet{0} : only(n) - 1;
}

// Row and column i of a matrix are swept out of those up to `rows`: what is left of them given i.
void take_out(std::vector<double>& a, int n, int i) {
    const double pivot = a[Index{i} * n + i];
    const std::vector<double> row(a.begin() + Index{i} * n, a.begin() + Index{i} * n + n);
    for (int r = 0; r < n; ++r) {
        const double times = row[r] / pivot;
        for (int c = 0; c < n; ++c)
            a[Index{r} * n + c] -= times * row[c];
    }
}

// The variance of the first of some variables given each set of the others, by one elimination that
// all sets share.
class VarianceOfSets {
  public:
    VarianceOfSets(std::vector<double>& out, int m) : out_(out), m_(m), levels_(Index{m} * m * m) {}

    void fill(const std::vector<double>& matrix) {
        std::copy(matrix.begin(), matrix.end(), level(m_ - 1));
        decide(m_ - 1, level(m_ - 1), 0);
    }

  private:
    double* level(int j) { return levels_.data() + Index{j} * m_ * m_; }

    // Rows 0 … j are left in the matrix; row j is the next to be given, or not.
    void decide(int j, const double* matrix, WideSet set) {
        if (j == 0) {
            out_[set] = matrix[0];
            return;
        }
        decide(j - 1, matrix, set);
        const double* row = matrix + Index{j} * m_;
        double* next = level(j - 1);
        const double pivot = row[j];
        if (!(pivot > 1e-12)) { // it is among those given already
            decide(j - 1, matrix, set | only(j - 1));
            return;
        }
        for (int a = 0; a < j; ++a) {
            const double times = row[a] / pivot;
            for (int b = 0; b <= a; ++b)
                next[Index{a} * m_ + b] = matrix[Index{a} * m_ + b] - times * row[b];
        }
        decide(j - 1, next, set | only(j - 1));
    }

    std::vector<double>& out_;
    int m_;
    std::vector<double> levels_;
};

} // namespace

SinkSearch::Layer::Layer(std::size_t places) : sets(places), costs(places), last(places, free) {}

std::size_t SinkSearch::Layer::place(WideSet set) const {
    const std::size_t mask = capacity() - 1;
    // Mixed twice: neighbours in one layer must not lead to neighbours in the next.
    std::uint64_t mixed = set * std::uint64_t{0x9E3779B97F4A7C15};
    mixed = (mixed ^ (mixed >> 32)) * std::uint64_t{0xD6E8FEB86659FD93};
    std::size_t at = static_cast<std::size_t>(mixed >> 32) & mask;
    while (has(at) && sets[at] != set)
        at = (at + 1) & mask;
    return at;
}

void SinkSearch::Layer::keep(WideSet set, double cost, std::int8_t v) {
    if (4 * (count + 1) > 3 * capacity()) {
        Layer more(2 * capacity());
        for (std::size_t at = 0; at < capacity(); ++at) {
            if (has(at))
                more.keep(sets[at], costs[at], last[at]);
        }
        *this = std::move(more);
    }
    const std::size_t at = place(set);
    count += has(at) ? 0 : 1;
    sets[at] = set;
    costs[at] = cost;
    last[at] = v;
}

SinkSearch::SinkSearch(const std::vector<double>& correlation, int n, const std::vector<int>& part,
                       const std::vector<FamilyTable>& tables, double samples, double price,
                       double best_known, double tolerance)
    : n_(count_of(part)), samples_(samples), price_(price), covariance_(Index{n_} * n_),
      tolerance_(tolerance), links_(covariance_), factor_(covariance_), inverse_(covariance_) {
    WideSet before = 0;
    for (int v = 0; v < n_; ++v) {
        families_.push_back(families_of(v, tables[v], part));
        for (const WideSet set : tables[v].sets)
            before |= set;
    }
    for (const int v : part)
        before &= ~only(v);
    std::vector<double> given = correlation;
    for (; before != 0; before &= before - 1)
        take_out(given, n, std::countr_zero(before));
    for (int v = 0; v < n_; ++v) {
        for (int u = 0; u < n_; ++u)
            covariance_[Index{v} * n_ + u] = given[Index{part[v]} * n + part[u]];
    }
    std::vector<double> left = covariance_;
    for (int v = 0; v < n_; ++v) {
        all_explained_ += samples_ * std::log(left[Index{v} * n_ + v]);
        take_out(left, n_, v);
        for (int u = 0; u < n_; ++u) {
            const double product = covariance_[Index{v} * n_ + v] * covariance_[Index{u} * n_ + u];
            const double r = covariance_[Index{v} * n_ + u];
            links_[Index{v} * n_ + u] =
                u == v ? 0.0 : std::min(price_, -samples_ * std::log1p(-r * r / product));
        }
    }
    budget_ = best_known - tolerance - all_explained_;
    bound_ = std::min(budget_, tree(first(n_)));
}

SinkSearch::Families SinkSearch::families_of(int v, const FamilyTable& table,
                                             const std::vector<int>& part) const {
    std::vector<std::size_t> ranks(table.sets.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](std::size_t a, std::size_t b) { return table.costs[a] < table.costs[b]; });
    Families own;
    for (const std::size_t k : ranks) {
        WideSet inside = 0;
        for (int u = 0; u < n_; ++u)
            inside |= (table.sets[k] >> part[u] & 1U) << u;
        own.inside.push_back(inside);
        own.whole.push_back(table.sets[k]);
        own.costs.push_back(table.costs[k]);
        if (inside == 0)
            break; // no other can be the cheapest
    }
    const std::size_t words = (own.inside.size() + 63) / 64;
    own.with.resize(words * n_);
    for (std::size_t k = 0; k < 64 * words; ++k) {
        WideSet set = k < own.inside.size() ? own.inside[k] : only(v);
        for (; set != 0; set &= set - 1)
            own.with[k / 64 * n_ + std::countr_zero(set)] |= std::uint64_t{1} << k % 64;
    }
    return own;
}

// min over P of price |P| + N log (var(v | P) / var(v | P and W)), for each set W of a group, P
// being of up to two variables, or three prices.
std::vector<double> SinkSearch::least_in_group(const std::vector<int>& group, int v) const {
    std::vector<int> rows{v};
    std::copy_if(group.begin(), group.end(), std::back_inserter(rows),
                 [=](int u) { return u != v; });
    const int m = count_of(rows);
    // exp(-cost / N), the largest over all P.
    const std::size_t size = std::size_t{1} << (m - 1);
    std::vector<double> most(size, std::exp(-3.0 * price_ / samples_)), variances(size);
    VarianceOfSets sets(variances, m);
    std::vector<double> matrix(Index{m} * m);
    const auto look = [&](const std::vector<double>& given, int parents) {
        for (int a = 0; a < m; ++a) {
            for (int b = 0; b < m; ++b)
                matrix[Index{a} * m + b] = given[Index{rows[a]} * n_ + rows[b]];
        }
        sets.fill(matrix);
        const double weight = std::exp(-price_ * parents / samples_) / matrix[0];
        for (std::size_t k = 0; k < size; ++k)
            most[k] = std::max(most[k], variances[k] * weight);
    };
    look(covariance_, 0);
    for (int p = 0; p < n_; ++p) {
        if (p == v)
            continue;
        std::vector<double> given = covariance_;
        take_out(given, n_, p);
        look(given, 1);
        for (int q = 0; q < p; ++q) {
            if (q == v)
                continue;
            std::vector<double> both = given;
            take_out(both, n_, q);
            look(both, 2);
        }
    }
    for (double& value : most)
        value = std::max(0.0, -samples_ * std::log(value));
    return most;
}

// So many of those left, grown from the first along the strongest links.
std::vector<int> SinkSearch::next_group(WideSet left, int size) const {
    std::vector<int> group{std::countr_zero(left)};
    std::vector<double> sums(links_.begin() + Index{group[0]} * n_,
                             links_.begin() + Index{group[0]} * n_ + n_);
    for (left &= left - 1; count_of(group) < size; left &= ~only(group.back())) {
        int next = std::countr_zero(left);
        for (WideSet rest = left; rest != 0; rest &= rest - 1) {
            if (sums[std::countr_zero(rest)] > sums[next])
                next = std::countr_zero(rest);
        }
        group.push_back(next);
        for (int v = 0; v < n_; ++v)
            sums[v] += links_[Index{next} * n_ + v];
    }
    return group;
}

bool SinkSearch::build_databases(const std::function<bool()>& may_go_on) {
    const int parts = n_ <= 8 ? 1 : std::max(2, (n_ + most_in_group - 1) / most_in_group);
    WideSet left = first(n_);
    for (int part = 0; part < parts; ++part) {
        Group group{next_group(left, (n_ + part) / parts), {}};
        const int m = count_of(group.variables);
        std::vector<std::vector<double>> costs;
        for (const int v : group.variables) {
            left &= ~only(v);
            if (!may_go_on())
                return false;
            costs.push_back(least_in_group(group.variables, v));
        }
        std::vector<double> least(std::size_t{1} << m, never);
        least[0] = 0.0;
        for (WideSet set = 1; set < least.size(); ++set) {
            for (WideSet rest = set; rest != 0; rest &= rest - 1) {
                const int k = std::countr_zero(rest);
                const WideSet others = set ^ only(k), below = only(k) - 1;
                const double cost = costs[k][(others & below) | ((others >> 1) & ~below)];
                least[set] = std::min(least[set], least[others] + cost);
            }
        }
        for (const double value : least) // rounded down
            group.least.push_back(static_cast<float>(value * (1.0 - 1e-6)));
        groups_.push_back(std::move(group));
    }
    return true;
}

double SinkSearch::tree(WideSet set) const {
    if (set == 0)
        return 0.0;
    std::array<double, most_in_part> most{};
    int now = std::countr_zero(set);
    double sum = 0.0;
    for (WideSet left = set & (set - 1); left != 0; left &= ~only(now)) {
        const double* row = links_.data() + Index{now} * n_;
        int next = -1;
        for (WideSet rest = left; rest != 0; rest &= rest - 1) {
            const int v = std::countr_zero(rest);
            most[v] = std::max(most[v], row[v]);
            if (next < 0 || most[v] > most[next])
                next = v;
        }
        sum += most[next];
        now = next;
    }
    return sum;
}

double SinkSearch::left_to_pay(WideSet set) const {
    double sum = 0.0;
    for (const Group& group : groups_) {
        WideSet own = 0;
        for (int k = 0; k < count_of(group.variables); ++k)
            own |= (set >> group.variables[k] & 1U) << k;
        sum += group.least[own];
    }
    return sum;
}

// 64 families at a time: those with a variable that is not in the set are out.
int SinkSearch::cheapest_within(int v, WideSet set) const {
    const std::vector<std::uint64_t>& with = families_[v].with;
    const WideSet gone = ~set & first(n_) & ~only(v);
    const std::size_t words = with.size() / n_;
    for (std::size_t word = 0; word < words; ++word) {
        const std::uint64_t* own = with.data() + word * n_;
        std::uint64_t out = own[v]; // places behind the last family
        for (WideSet rest = gone; rest != 0; rest &= rest - 1)
            out |= own[std::countr_zero(rest)];
        if (out != ~std::uint64_t{0})
            return static_cast<int>(64 * word) + std::countr_one(out);
    }
    return -1;
}

void SinkSearch::expand(WideSet set, double cost, Layer& next) {
    std::array<int, most_in_part> at{};
    int d = 0;
    for (WideSet rest = set; rest != 0; rest &= rest - 1)
        at[d++] = std::countr_zero(rest);
    // Cholesky's factor and its inverse: 1 / var(v | the others) is on the diagonal of S⁻¹.
    for (int i = 0; i < d; ++i) {
        double* row = factor_.data() + Index{i} * n_;
        for (int j = 0; j <= i; ++j) {
            const double* other = factor_.data() + Index{j} * n_;
            double sum = 0.0;
#pragma omp simd reduction(+ : sum)
            for (int k = 0; k < j; ++k)
                sum += row[k] * other[k];
            const double left = covariance_[Index{at[i]} * n_ + at[j]] - sum;
            row[j] = i == j ? std::sqrt(left) : left / other[j];
        }
    }
    for (int c = 0; c < d; ++c) {
        double* column = inverse_.data() + Index{c} * n_;
        column[c] = 1.0 / factor_[Index{c} * n_ + c];
        double precision = column[c] * column[c];
        for (int i = c + 1; i < d; ++i) {
            const double* row = factor_.data() + Index{i} * n_;
            double sum = 0.0;
#pragma omp simd reduction(+ : sum)
            for (int k = c; k < i; ++k)
                sum += row[k] * column[k];
            column[i] = -sum / row[i];
            precision += column[i] * column[i];
        }
        const WideSet others = set & ~only(at[c]);
        const int family = cheapest_within(at[c], others);
        if (family < 0)
            continue;
        const double sum = cost + families_[at[c]].costs[family] + samples_ * std::log(precision);
        if (sum >= budget_)
            continue;
        const std::size_t place = next.place(others);
        if (next.has(place)) {
            if (sum < next.costs[place])
                next.keep(others, sum, static_cast<std::int8_t>(at[c]));
            continue;
        }
        if (sum + left_to_pay(others) < budget_ && sum + tree(others) < budget_)
            next.keep(others, sum, static_cast<std::int8_t>(at[c]));
    }
}

bool SinkSearch::run(std::size_t most, const std::function<bool()>& may_go_on) {
    const WideSet all = first(n_);
    if (!build_databases(may_go_on))
        return false;
    bound_ = std::min(budget_, std::max(tree(all), left_to_pay(all)));
    Layer layer;
    if (bound_ < budget_)
        layer.keep(all, 0.0, 0);
    for (int size = n_; size > 0; --size) {
        Layer next;
        Trail trail;
        double bound = budget_;
        for (std::size_t at = 0; at < layer.capacity(); ++at) {
            if (at % 4096 == 0 && !may_go_on())
                return false;
            if (!layer.has(at))
                continue;
            ++states_;
            const WideSet set = layer.sets[at];
            trail.sets.push_back(set);
            trail.last.push_back(layer.last[at]);
            bound = std::min(bound, layer.costs[at] + std::max(left_to_pay(set), tree(set)));
            expand(set, layer.costs[at], next);
            if (next.count > most) {
                is_proved_ = false;
                return true;
            }
        }
        bound_ = std::max(bound_, bound);
        trails_.push_back(std::move(trail));
        layer = std::move(next);
    }
    is_proved_ = true;
    bound_ = budget_ + tolerance_;
    const std::size_t end = layer.place(0);
    if (layer.has(end)) {
        bound_ = layer.costs[end];
        trails_.push_back({{0}, {layer.last[end]}});
        finish();
    }
    return true;
}

// Backwards from the empty set: what came last of the set before.
void SinkSearch::finish() {
    chosen_.assign(n_, 0);
    WideSet set = 0;
    for (int size = 0; size < n_; ++size) {
        const Trail& trail = trails_[n_ - size];
        const auto found = std::find(trail.sets.begin(), trail.sets.end(), set);
        const int v = trail.last[found - trail.sets.begin()];
        chosen_[v] = families_[v].whole[cheapest_within(v, set)];
        set |= only(v);
    }
}

} // namespace qwo
