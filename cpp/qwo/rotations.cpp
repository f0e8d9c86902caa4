#include "qwo/rotations.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "qwo/clock.hpp"
#include "qwo/index.hpp"

namespace qwo {

namespace {

constexpr int one_in = 16;    // steps of a small angle, which make nothing zero
constexpr int three_rows = 4; // of these many steps turn three rows
constexpr double small_angle = 0.1;
constexpr double never = 37.0;     // exp of minus that is below 2^-53
constexpr double rounding = 1e-12; // an entry of that share of its column is zero
constexpr int steps_a_look = 4096; // between two looks at the clock

void rotate(int n, double* u, double* w, double c, double s) {
    for (int i = 0; i < n; ++i) {
        const double a = u[i], b = w[i];
        u[i] = c * a + s * b;
        w[i] = c * b - s * a;
    }
}

} // namespace

Rotations::Rotations(std::vector<double> rows, std::vector<double> weights, double samples,
                     double price, std::uint64_t seed)
    : samples_(samples), price_(price), state_(seed), rows_(std::move(rows)),
      weights_(std::move(weights)), n_(count_of(weights_)), n_rows_(count_of(rows_) / n_),
      costs_(n_rows_), tried_(Index{3} * n_), counted_(rows_.size()), totals_(n_) {
    for (int k = 0; k < n_rows_; ++k) {
        costs_[k] = row_cost(rows_.data() + Index{k} * n_);
        cost_ += costs_[k];
        note(k);
    }
    best_ = rows_;
    best_cost_ = cost_;
}

double Rotations::row_cost(const double* row) const {
    double sum = 0.0;
    for (int i = 0; i < n_; ++i)
        sum += entry(row[i], i);
    return sum;
}

void Rotations::note(int row) {
    for (int i = 0; i < n_; ++i) {
        char& own = counted_[Index{i} * n_rows_ + row];
        const bool now = counts(rows_[Index{row} * n_ + i], i);
        totals_[i] += now - own;
        own = now;
    }
}

// Makes an entry of one of the tried rows zero by a rotation with another.
void Rotations::turn(int one, int other, int column) {
    double* u = tried_.data() + Index{one} * n_;
    double* w = tried_.data() + Index{other} * n_;
    const double length = std::sqrt(u[column] * u[column] + w[column] * w[column]);
    if (!(length > 0.0))
        return;
    rotate(n_, u, w, u[column] / length, w[column] / length);
    w[column] = 0.0;
}

// A column that counts in a row, all alike; -1 if none does.
int Rotations::draw_column(int row, Random& random) const {
    int many = 0;
    for (int i = 0; i < n_; ++i)
        many += counted_[Index{i} * n_rows_ + row];
    if (many == 0)
        return -1;
    int left = random.quickly_below(many), column = 0;
    while (left -= counted_[Index{column} * n_rows_ + row], left >= 0)
        ++column;
    return column;
}

// Two of the rows in which a column counts, in random order; how many there are.
int Rotations::draw_rows(int column, std::array<int, 2>& rows, Random& random) const {
    const char* own = counted_.data() + Index{column} * n_rows_;
    const int many = totals_[column];
    if (many == 0)
        return 0;
    const int first = random.quickly_below(many);
    int second = many > 1 ? random.quickly_below(many - 1) : first;
    second += many > 1 && second >= first;
    const int last = first < second ? second : first;
    for (int row = 0, seen = 0; seen <= last; ++row) {
        if (!own[row])
            continue;
        if (seen == first)
            rows[0] = row;
        if (seen == second && many > 1)
            rows[1] = row;
        ++seen;
    }
    return many;
}

// Puts the tried rows in the place of the given ones, unless they cost too much more.
bool Rotations::accept(std::span<const int> rows, double heat, Random& random) {
    std::array<double, 3> costs{};
    double change = 0.0;
    for (int j = 0; j < count_of(rows); ++j) {
        costs[j] = row_cost(tried_.data() + Index{j} * n_);
        change += costs[j] - costs_[rows[j]];
    }
    if (change > never * heat || (change > 0.0 && random.uniform() >= std::exp(-change / heat)))
        return false;
    for (int j = 0; j < count_of(rows); ++j) {
        const double* from = tried_.data() + Index{j} * n_;
        double* to = rows_.data() + Index{rows[j]} * n_;
        for (int i = 0; i < n_; ++i)
            to[i] = from[i] * from[i] * weights_[i] > rounding * rounding ? from[i] : 0.0;
        costs_[rows[j]] = costs[j];
        note(rows[j]);
    }
    cost_ += change;
    return true;
}

bool Rotations::anneal(long long steps, double temperature, double seconds) {
    Random random(state_);
    state_ = random.next();
    const double end = seconds_now() + seconds;
    for (long long step = 0; step < steps; ++step) {
        if (step % steps_a_look == 0 && seconds_now() > end)
            return false;
        const double left = 1.0 - static_cast<double>(step) / static_cast<double>(steps);
        const double heat = (temperature * left + 1e-12) * price_;
        std::array<int, 2> pair{-1, -1};
        const int column = random.quickly_below(n_);
        if (draw_rows(column, pair, random) < 2)
            continue;
        std::array<int, 3> rows{pair[0], pair[1], -1};
        int n_rows = 2, second = -1;
        const int kind = random.quickly_below(one_in);
        if (kind >= one_in - three_rows) {
            second = draw_column(rows[1], random);
            draw_rows(second, pair, random);
            rows[2] = pair[0] == rows[0] || pair[0] == rows[1] ? pair[1] : pair[0];
            if (rows[2] < 0 || rows[2] == rows[0] || rows[2] == rows[1])
                continue;
            n_rows = 3;
        }
        for (int j = 0; j < n_rows; ++j)
            std::copy_n(rows_.data() + Index{rows[j]} * n_, n_, tried_.data() + Index{j} * n_);
        if (n_rows == 3) {
            turn(0, 1, column);
            turn(0, 2, column);
            turn(1, 2, second);
            turn(0, 1, draw_column(rows[random.quickly_below(3)], random));
        } else if (kind == 0) {
            const double angle = (random.uniform() - 0.5) * 2.0 * small_angle;
            rotate(n_, tried_.data(), tried_.data() + n_, std::cos(angle), std::sin(angle));
        } else {
            turn(0, 1, column);
        }
        if (!accept({rows.data(), static_cast<std::size_t>(n_rows)}, heat, random))
            continue;
        if (cost_ < best_cost_ - 1e-9 * price_) {
            best_cost_ = cost_;
            best_ = rows_;
        }
    }
    return true;
}

} // namespace qwo
