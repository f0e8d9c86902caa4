#include "qwo/best_dag.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

namespace {

constexpr double least_variance = 1e-9;
constexpr double never = std::numeric_limits<double>::infinity();

using Set = std::uint32_t; // of variables, or of all but one: then those above it are a bit lower

Set only(int v) {
    return Set{1} << v;
}

Set without(Set set, int v) {
    const Set below = only(v) - 1;
    return (set & below) | ((set >> 1) & ~below);
}

Set set_of(const std::vector<int>& variables) {
    Set set = 0;
    for (int v : variables)
        set |= only(v);
    return set;
}

// The columns of each variable, one at least.
struct Layout {
    explicit Layout(const BicProblem& problem) : n(problem.n()) {
        for (int v = 0; v < n; ++v) {
            sizes.push_back(problem.blocks.empty() ? 1 : problem.blocks.size(v));
            leading.push_back(problem.blocks.empty() ? 1 : problem.blocks.leading(v));
            firsts.push_back(firsts.back() + sizes.back());
        }
        for (int c = 0; c < firsts.back(); ++c)
            columns.push_back(c);
    }
    // The same with a child at the front, which has its leading columns alone.
    Layout before_all(int child) const {
        Layout own;
        own.n = n;
        const auto add = [&](int v, int size) {
            own.sizes.push_back(size);
            own.firsts.push_back(own.firsts.back() + size);
            for (int c = 0; c < size; ++c)
                own.columns.push_back(firsts[v] + c);
        };
        add(child, leading[child]);
        for (int v = 0; v < n; ++v) {
            if (v != child)
                add(v, sizes[v]);
        }
        return own;
    }
    int n = 0;
    std::vector<int> sizes, leading, firsts{0}, columns;

  private:
    Layout() = default;
};

// Determinants of the correlation matrices of all sets of at most so many variables.
//
// Decide the variables from the last to the first: a node of that recursion with j undecided ones
// holds the Schur complement of their columns. "In" pivots, "out" drops the rows. Near the leaves,
// where nearly all nodes are, there are few.
class Determinants {
  public:
    Determinants(const MomentSet& moments, const Layout& layout, int most)
        : layout_(layout), most_(most), width_(layout.firsts.back()),
          values_(std::size_t{1} << layout.n, 1.0), levels_((layout.n + 1) * width_ * width_) {
        double* top = level(layout.n);
        for (int a = 0; a < width_; ++a) {
            const double* row = moments.correlation.row(layout.columns[a]);
            for (int b = 0; b < width_; ++b)
                top[a * width_ + b] = row[layout.columns[b]];
            // What is constant in these rows explains nothing.
            top[a * width_ + a] = 1.0;
        }
        decide(layout.n, top, 0, 1.0);
    }

    bool is_certain() const { return is_certain_; }
    const double* values() const { return values_.data(); }

  private:
    double* level(int j) { return levels_.data() + j * width_ * width_; }

    void decide(int j, const double* matrix, Set set, double determinant) {
        if (j == 0 || std::popcount(set) == most_) {
            values_[set] = determinant;
            return;
        }
        decide(j - 1, matrix, set, determinant);
        // That has written to the levels below j - 1 only, and is done with them.
        double* next = level(j - 1);
        const double* from = matrix;
        for (int c = layout_.firsts[j] - 1; c >= layout_.firsts[j - 1]; --c) {
            const double* row = from + c * width_;
            const double pivot = row[c];
            if (!(pivot > least_variance)) {
                is_certain_ = false;
                return;
            }
            for (int a = 0; a < c; ++a) {
                const double factor = row[a] / pivot;
                for (int b = 0; b <= a; ++b)
                    next[a * width_ + b] = from[a * width_ + b] - factor * row[b];
            }
            determinant *= pivot;
            from = next;
        }
        decide(j - 1, next, set | only(j - 1), determinant);
    }

    const Layout& layout_;
    int most_;
    Index width_;
    std::vector<double> values_, levels_;
    bool is_certain_ = true;
};

// What the constraints and the moments leave of the parents of a variable.
struct Limits {
    Limits(const BicProblem& problem, const Layout& layout, int v)
        : moments(problem.moments_of(v)) {
        const Constraints& constraints = problem.constraints;
        const std::uint8_t* may = constraints.allowed_parents(v, layout.n);
        for (int u = 0; u < layout.n; ++u) {
            if (u != v && (may == nullptr || may[u] != 0))
                allowed |= only(u);
            if (constraints.must_precede(u, v, layout.n))
                before |= only(u);
        }
        if (!constraints.required.empty())
            required = set_of(constraints.required[v]);
        allowed |= required;
        most = std::max(moments.max_parents, std::popcount(required));
        if (!problem.blocks.empty())
            most_columns = moments.max_columns + 1 - layout.leading[v];
    }

    const MomentSet& moments;
    Set allowed = 0, required = 0, before = 0;
    int most = 0, most_columns = std::numeric_limits<int>::max();
};

// What an edge costs for nothing but ties, in units of N: more than rounding does.
double tie_unit(const BicProblem& problem) {
    const double n_samples = problem.sets.front().score.n_samples;
    return std::max(1e-9 * problem.penalty / n_samples, 1e-13 * problem.n());
}

// The least value of all subsets of each set. Half by half, so that small parts stay near.
void spread(double* values, std::size_t size) {
    constexpr std::size_t near = 2048;
    if (size > near) {
        spread(values, size / 2);
        spread(values + size / 2, size / 2);
    }
    for (std::size_t bit = size > near ? size / 2 : 1; bit < size; bit *= 2) {
        for (double* less = values; less < values + size; less += 2 * bit) {
            for (std::size_t k = 0; k < bit; ++k)
                less[bit + k] = std::min(less[bit + k], less[k]);
        }
    }
}

// One variable with the best parents among each set: exp(cost / N), where required ones are free.
class Families {
  public:
    Families(const BicProblem& problem, const Layout& layout, int v)
        : problem_(problem), layout_(layout), v_(v), limits_(problem, layout, v) {}

    const Limits& limits() const { return limits_; }

    // N is the largest of all sets of moments; `present` is a set of parents. The determinants are
    // those of all sets, this variable being the one at a place.
    void fill(const double* determinants, int place, double n_samples, Set present) {
        weigh();
        const std::size_t below = only(place);
        for (std::size_t first = 0; first < values_.size(); first += below) {
            const double* out = determinants + 2 * first;
            const double* in = out + below;
            double* values = values_.data() + first;
            for (std::size_t k = 0; k < below; ++k)
                values[k] *= in[k] / out[k];
        }
        if (const double power = limits_.moments.score.n_samples / n_samples; power != 1.0) {
            for (double& value : values_)
                value = std::pow(value, power);
        }
        present_ = values_[without(present, v_)];
        spread(values_.data(), values_.size());
    }

    double best_among(Set set) const { return values_[without(set, v_)]; }
    double of_present() const { return present_; }
    double fixed_price() const {
        double sum = 0.0;
        for (Set rest = limits_.required; rest != 0; rest &= rest - 1)
            sum += price_of(std::countr_zero(rest));
        return sum;
    }

    // The best parents among a set: the smallest set that costs no more. Required ones come first.
    std::vector<int> parents_among(Set set) const {
        for (Set rest = set; rest != 0; rest &= rest - 1) {
            const Set smaller = set & ~(rest & -rest);
            if (best_among(smaller) <= best_among(set))
                set = smaller;
        }
        std::vector<int> parents;
        for (Set part : {set & limits_.required, set & ~limits_.required}) {
            for (; part != 0; part &= part - 1)
                parents.push_back(std::countr_zero(part));
        }
        return parents;
    }

  private:
    // exp(price / N) for each set, slightly more for ties; infinite where it may not be.
    void weigh() {
        values_.assign(std::size_t{1} << (layout_.n - 1), 1.0);
        Set bit = 1;
        for (int u = 0; u < layout_.n; ++u) {
            if (u == v_)
                continue;
            const bool required = (limits_.required & only(u)) != 0;
            const double weight = required ? 1.0 : weight_of(u);
            for (Set set = 0; set < bit; ++set) {
                values_[set | bit] = values_[set] * weight;
                values_[set] = required ? never : values_[set];
            }
            bit *= 2;
        }
        const int n_columns = layout_.firsts.back() - layout_.sizes[v_];
        if (limits_.most >= layout_.n - 1 && limits_.most_columns >= n_columns)
            return;
        for (Set set = 0; set < values_.size(); ++set) {
            if (std::popcount(set) > limits_.most || columns_of(set) > limits_.most_columns)
                values_[set] = never;
        }
    }

    double weight_of(int u) const {
        if ((limits_.allowed & only(u)) == 0)
            return never;
        const MomentSet& moments = limits_.moments;
        const double r = problem_.blocks.empty() ? moments.correlation.row(u)[v_] : 0.0;
        return std::exp(price_of(u) / moments.score.n_samples + tie_unit(problem_) * (2.0 - r * r));
    }

    double price_of(int u) const {
        const MomentSet& moments = limits_.moments;
        return problem_.blocks.empty()
                   ? moments.score.price
                   : moments.price(layout_.sizes[u] * layout_.leading[v_], u, v_, layout_.n).price;
    }

    int columns_of(Set set) const {
        if (problem_.blocks.empty())
            return 0;
        int columns = 0;
        for (; set != 0; set &= set - 1) {
            const int u = std::countr_zero(set);
            columns += layout_.sizes[u < v_ ? u : u + 1];
        }
        return columns;
    }

    const BicProblem& problem_;
    const Layout& layout_;
    int v_;
    Limits limits_;
    std::vector<double> values_;
    double present_ = 0.0;
};

double most_samples(const BicProblem& problem) {
    double most = 0.0;
    for (const MomentSet& set : problem.sets)
        most = std::max(most, set.score.n_samples);
    return most;
}

// False where a variable is all but determined.
bool fill_all(std::vector<Families>& of, const BicProblem& problem, const Layout& layout,
              const OrderedDag& present) {
    for (const MomentSet& set : problem.sets) {
        int most = 0;
        for (const Families& own : of)
            most = &own.limits().moments == &set ? std::max(most, own.limits().most) : most;
        std::optional<Determinants> shared;
        if (problem.is_equivalent())
            shared.emplace(set, layout, most + 1);
        for (int v = 0; v < layout.n; ++v) {
            if (&of[v].limits().moments != &set || problem.is_given(v))
                continue;
            if (!set.variances.empty() && !(set.variances[layout.firsts[v]] > 0.0))
                return false;
            const Set parents = set_of(present.parents[v]);
            if (shared) {
                if (!shared->is_certain())
                    return false;
                of[v].fill(shared->values(), v, most_samples(problem), parents);
                continue;
            }
            const Layout own = layout.before_all(v);
            const Determinants determinants(set, own, most + 1);
            if (!determinants.is_certain())
                return false;
            of[v].fill(determinants.values(), 0, most_samples(problem), parents);
        }
    }
    return true;
}

// The least product for each set that may come first.
class Orders {
  public:
    Orders(const std::vector<Families>& of, Set given)
        : of_(of), given_(given), best_(std::size_t{1} << of.size(), never) {
        best_[given] = 1.0;
        for (std::size_t k = given + std::size_t{1}; k < best_.size(); ++k) {
            const Set set = static_cast<Set>(k);
            if ((set & given) != given)
                continue;
            double least = never;
            for (Set rest = set & ~given; rest != 0; rest &= rest - 1)
                least = std::min(least, with_last(set, std::countr_zero(rest)));
            best_[set] = least;
        }
    }

    double least() const { return best_.back(); }

    OrderedDag dag(const OrderedDag& present) const {
        const int n = count_of(of_);
        OrderedDag dag{present.order, std::vector<std::vector<int>>(n)};
        Set set = static_cast<Set>(best_.size() - 1);
        for (int k = n - 1; k >= std::popcount(given_); --k) {
            Set rest = set & ~given_;
            while (with_last(set, std::countr_zero(rest)) > best_[set])
                rest &= rest - 1;
            const int v = std::countr_zero(rest);
            set ^= only(v);
            dag.order[k] = v;
            dag.parents[v] = of_[v].parents_among(set);
        }
        return dag;
    }

  private:
    double with_last(Set set, int v) const {
        const Set others = set ^ only(v);
        const bool may = (of_[v].limits().before & ~others) == 0;
        return may ? best_[others] * of_[v].best_among(others) : never;
    }

    const std::vector<Families>& of_;
    Set given_;
    std::vector<double> best_;
};

} // namespace

std::optional<BestDag> best_dag(const BicProblem& problem, const OrderedDag& present) {
    const Layout layout(problem);
    assert(layout.n <= most_proved);
    std::vector<Families> of;
    Set given = 0;
    for (int v = 0; v < layout.n; ++v) {
        of.emplace_back(problem, layout, v);
        given |= problem.is_given(v) ? only(v) : 0;
    }
    if (!fill_all(of, problem, layout, present))
        return std::nullopt;
    const Orders orders(of, given);
    if (!(orders.least() < never))
        return std::nullopt;
    double here = 1.0, cost = most_samples(problem) * std::log(orders.least());
    for (int v = 0; v < layout.n; ++v) {
        here *= problem.is_given(v) ? 1.0 : of[v].of_present();
        cost += of[v].fixed_price();
    }
    const bool stays = here <= orders.least() * (1.0 + 0.1 * tie_unit(problem));
    return BestDag{stays ? present : orders.dag(present), cost};
}

bool take_best(ParentSets& sets, int most) {
    if (sets.n() > std::min(most, most_proved) || sets.has_lists())
        return false;
    const OrderedDag present = sets.dag();
    const std::optional<BestDag> best = best_dag(sets.problem(), present);
    if (!best)
        return false;
    if (best->dag.parents != present.parents)
        sets.take(best->dag);
    return sets.cost() <= best->cost + sets.problem().noise();
}

} // namespace qwo
