#include "qwo/district_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "qwo/small_matrix.hpp"

namespace qwo {

namespace {

constexpr double least_pivot = 1e-10;
constexpr int sweeps_between_inverses = 25;

// Solves G x = b, G overwritten by its factor.
bool solve(int k, double* gram, const double* right, double* x) {
    if (k > 0 && !(cholesky(k, gram) > least_pivot))
        return false;
    std::copy_n(right, k, x);
    solve_lower(k, gram, x);
    for (int i = k - 1; i >= 0; --i) {
        for (int h = i + 1; h < k; ++h)
            x[i] -= gram[h * k + i] * x[h];
        x[i] /= gram[i * k + i];
    }
    return true;
}

} // namespace

void DistrictFit::gather(const Mag& mag, const std::vector<int>& district) {
    m_ = count_of(district);
    variables_ = district;
    for (int i = 0; i < m_; ++i)
        place_[district[i]] = i;
    members_.resize(std::max(members_.size(), district.size()));
    const std::size_t words = mag.parents().words();
    for (int i = 0; i < m_; ++i) {
        members_[i].parents.clear();
        members_[i].spouses.clear();
        for_each_bit(mag.parents().row(district[i]), words, [&](int p) {
            if (place_[p] < 0) {
                place_[p] = count_of(variables_);
                variables_.push_back(p);
            }
            members_[i].parents.push_back(place_[p]);
        });
        for_each_bit(mag.spouses().row(district[i]), words,
                     [&](int p) { members_[i].spouses.push_back(place_[p]); });
    }
    k_ = count_of(variables_);
    sv_.resize(Index{k_} * k_);
    for (int x = 0; x < k_; ++x) {
        const double* row = s_ + Index{variables_[x]} * n_;
        for (int y = 0; y < k_; ++y)
            sv_[Index{x} * k_ + y] = row[variables_[y]];
    }
    for (const int v : variables_)
        place_[v] = -1;
    a_.assign(Index{m_} * k_, 0.0);
    omega_.assign(Index{m_} * m_, 0.0);
    for (int i = 0; i < m_; ++i)
        a(i, i) = 1.0;
}

// Least squares of a member on its parents, which is its fit if it has no spouses.
bool DistrictFit::regress(int i) {
    const std::vector<int>& parents = members_[i].parents;
    const int q = count_of(parents);
    gram_.resize(Index{q} * q);
    right_.resize(q);
    solution_.resize(q);
    for (int x = 0; x < q; ++x) {
        right_[x] = s(parents[x], i);
        for (int y = 0; y < q; ++y)
            gram_[Index{x} * q + y] = s(parents[x], parents[y]);
    }
    if (!solve(q, gram_.data(), right_.data(), solution_.data()))
        return false;
    double rest = s(i, i);
    for (int x = 0; x < q; ++x) {
        a(i, parents[x]) = -solution_[x];
        rest -= solution_[x] * right_[x];
    }
    omega_[Index{i} * m_ + i] = rest;
    return rest > least_pivot;
}

bool DistrictFit::start_from(MagParameters& start) {
    for (int i = 0; i < m_; ++i) {
        for (const int p : members_[i].parents)
            a(i, p) = -start.coefficient(variables_[p], variables_[i]);
        omega_[Index{i} * m_ + i] = start.covariance(variables_[i], variables_[i]);
        for (const int j : members_[i].spouses)
            omega_[Index{i} * m_ + j] = start.covariance(variables_[i], variables_[j]);
    }
    return invert();
}

bool DistrictFit::start_alone() {
    std::fill(omega_.begin(), omega_.end(), 0.0);
    for (int i = 0; i < m_; ++i) {
        if (!regress(i))
            return false;
    }
    return invert();
}

// W = Omega^-1 and log det Omega.
bool DistrictFit::invert() {
    gram_ = omega_;
    if (!(cholesky(m_, gram_.data()) > least_pivot))
        return false;
    log_det_ = 0.0;
    w_.assign(Index{m_} * m_, 0.0);
    for (int i = 0; i < m_; ++i)
        log_det_ += 2.0 * std::log(gram_[Index{i} * m_ + i]);
    right_.assign(m_, 0.0);
    for (int i = 0; i < m_; ++i) {
        double* x = w_.data() + Index{i} * m_;
        x[i] = 1.0;
        solve_lower(m_, gram_.data(), x);
        for (int b = m_ - 1; b >= 0; --b) {
            for (int h = b + 1; h < m_; ++h)
                x[b] -= gram_[Index{h} * m_ + b] * x[h];
            x[b] /= gram_[Index{b} * m_ + b];
        }
    }
    return true;
}

// The covariances of a member's residual: with all variables, and with all residuals.
void DistrictFit::refresh(int i) {
    double* row = c_.data() + Index{i} * k_;
    for (int z = 0; z < k_; ++z)
        row[z] = s(i, z);
    for (const int p : members_[i].parents) {
        const double weight = a(i, p);
        for (int z = 0; z < k_; ++z)
            row[z] += weight * s(p, z);
    }
    for (int b = 0; b < m_; ++b) {
        double sum = row[b];
        for (const int p : members_[b].parents)
            sum += a(b, p) * row[p];
        r_[Index{i} * m_ + b] = r_[Index{b} * m_ + i] = sum;
    }
}

// Regresses a member on its parents and on K e at its spouses, K the inverse of the errors'
// covariance without it.
bool DistrictFit::update(int i) {
    const auto& [parents, spouses] = members_[i];
    const int q1 = count_of(parents), q2 = count_of(spouses), q = q1 + q2, m = m_;
    old_.assign(w_.begin() + Index{i} * m, w_.begin() + Index{i + 1} * m);
    const double w_ii = old_[i];
    rows_.resize(Index{q2} * m);    // K at the spouses
    product_.resize(Index{q2} * m); // K R
    for (int x = 0; x < q2; ++x) {
        double* row = rows_.data() + Index{x} * m;
        const double* w = w_.data() + Index{spouses[x]} * m;
        const double share = w[i] / w_ii;
        for (int b = 0; b < m; ++b)
            row[b] = w[b] - share * old_[b];
        row[i] = 0.0;
        double* kr = product_.data() + Index{x} * m;
        std::fill_n(kr, m, 0.0);
        for (int b = 0; b < m; ++b) {
            const double* r = r_.data() + Index{b} * m;
            const double weight = row[b];
            for (int c = 0; c < m; ++c)
                kr[c] += weight * r[c];
        }
    }
    gram_.assign(Index{q} * q, 0.0);
    right_.assign(q, 0.0);
    solution_.resize(q);
    for (int x = 0; x < q1; ++x) {
        right_[x] = s(parents[x], i);
        for (int y = 0; y <= x; ++y)
            gram_[Index{x} * q + y] = s(parents[x], parents[y]);
    }
    for (int x = 0; x < q2; ++x) {
        const double* k = rows_.data() + Index{x} * m;
        double* row = gram_.data() + Index{q1 + x} * q;
        for (int b = 0; b < m; ++b) {
            const double* c = c_.data() + Index{b} * k_;
            for (int y = 0; y < q1; ++y)
                row[y] += k[b] * c[parents[y]];
            right_[q1 + x] += k[b] * c[i];
        }
        const double* kr = product_.data() + Index{x} * m;
        for (int y = 0; y <= x; ++y) {
            const double* other = rows_.data() + Index{y} * m;
            for (int b = 0; b < m; ++b)
                row[q1 + y] += kr[b] * other[b];
        }
    }
    if (!solve(q, gram_.data(), right_.data(), solution_.data()))
        return false;
    double rest = s(i, i);
    for (int x = 0; x < q; ++x)
        rest -= solution_[x] * right_[x];
    if (!(rest > least_pivot))
        return false;
    for (int x = 0; x < q1; ++x)
        a(i, parents[x]) = -solution_[x];
    kc_.assign(m, 0.0);
    double explained = 0.0;
    for (int x = 0; x < q2; ++x) {
        const double* k = rows_.data() + Index{x} * m;
        const double weight = solution_[q1 + x];
        for (int b = 0; b < m; ++b)
            kc_[b] += weight * k[b];
    }
    for (int x = 0; x < q2; ++x) {
        const int b = spouses[x];
        explained += solution_[q1 + x] * kc_[b];
        omega_[Index{i} * m + b] = omega_[Index{b} * m + i] = solution_[q1 + x];
    }
    omega_[Index{i} * m + i] = rest + explained;
    for (int b = 0; b < m; ++b) {
        double* w = w_.data() + Index{b} * m;
        const double lost = old_[b] / w_ii, won = kc_[b] / rest;
        for (int c = 0; c < m; ++c)
            w[c] += won * kc_[c] - lost * old_[c];
        w[i] = -won;
    }
    double* own = w_.data() + Index{i} * m;
    for (int b = 0; b < m; ++b)
        own[b] = -kc_[b] / rest;
    own[i] = 1.0 / rest;
    log_det_ += std::log(rest * w_ii);
    refresh(i);
    return true;
}

double DistrictFit::value() const {
    double trace = 0.0;
    for (std::size_t x = 0; x < w_.size(); ++x)
        trace += w_[x] * r_[x];
    return log_det_ + trace - m_;
}

double DistrictFit::fit(const Mag& mag, const std::vector<int>& district, MagParameters& start,
                        double tolerance) {
    constexpr double failed = std::numeric_limits<double>::quiet_NaN();
    gather(mag, district);
    if (m_ == 1)
        return regress(0) ? std::log(omega_[0]) : failed;
    if (!start_from(start) && !start_alone())
        return failed;
    c_.resize(Index{m_} * k_);
    r_.resize(Index{m_} * m_);
    for (int i = 0; i < m_; ++i)
        refresh(i);
    double old = std::numeric_limits<double>::infinity();
    for (int sweep = 1;; ++sweep) {
        for (int i = 0; i < m_; ++i) {
            if (!update(i))
                return failed;
        }
        if (sweep % sweeps_between_inverses == 0 && !invert())
            return failed;
        const double now = value();
        if (!(old - now >= tolerance) || sweep == most_sweeps_)
            return now;
        old = now;
    }
}

void DistrictFit::store(MagParameters& into) const {
    for (int i = 0; i < m_; ++i) {
        const int v = variables_[i];
        for (const int p : members_[i].parents)
            into.coefficient(variables_[p], v) = -a_[Index{i} * k_ + p];
        into.covariance(v, v) = omega_[Index{i} * m_ + i];
        for (const int j : members_[i].spouses)
            into.covariance(v, variables_[j]) = omega_[Index{i} * m_ + j];
    }
}

} // namespace qwo
