#include "qwo/score_tables.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "qwo/index.hpp"
#include "qwo/parallel.hpp"
#include "qwo/schur_table.hpp"

namespace qwo {

namespace {

// Weights below exp(-40) of the sum are passed over: all of 2^20 such would not make 1e-11.
constexpr double kFaint = -40.0;

// c0 + x (c1 + x (c2 + ...))
inline double horner(double, double c) {
    return c;
}
template <class... Rest>
inline double horner(double x, double c, Rest... rest) {
    return c + x * horner(x, rest...);
}

// log(1 + exp(-d)) for d >= 0, to 1e-12, in plain arithmetic that compilers vectorise.
inline double log1p_exp_minus(double d) {
    // exp(-d) = 2^k exp(r), k the nearest integer: adding 1.5 2^52 leaves it in the last bits.
    constexpr double kShift = 0x1.8p52, kLog2 = 0.69314718055994530942;
    const double x = -(d < 600.0 ? d : 600.0);
    const double shifted = x * (1.0 / kLog2) + kShift;
    const double r = x - (shifted - kShift) * kLog2;
    const double e = horner(r, 1.0, 1.0, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                            1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800);
    const std::uint64_t power =
        (std::bit_cast<std::uint64_t>(shifted) << 52) + std::bit_cast<std::uint64_t>(1.0);
    const double y = e * std::bit_cast<double>(power);
    // log(1 + y) = 2 atanh(z), z = y / (2 + y) <= 1/3
    const double z = y / (2.0 + y), zz = z * z;
    return 2.0 * z *
           horner(zz, 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15,
                  1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25);
}

// a[i] = log(exp a[i] + exp b[i])
void log_add(double* a, const double* b, std::size_t count) {
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) {
        const double larger = a[i] > b[i] ? a[i] : b[i];
        const double smaller = a[i] > b[i] ? b[i] : a[i];
        a[i] = larger + log1p_exp_minus(larger - smaller);
    }
}

// Sums over the subsets of bits first .. last - 1, in log space: linear sums would underflow.
void sum_over_subsets(double* table, int bits, int first, int last, std::vector<double>& scratch) {
    const std::size_t size = std::size_t{1} << bits;
    constexpr int kShort = 4; // strides below 2^4 are gathered first, to be added in one go
    scratch.resize(size);
    for (int b = first; b < last; ++b) {
        const std::size_t stride = std::size_t{1} << b;
        if (b >= kShort) {
            for (std::size_t i = 0; i < size; i += 2 * stride)
                log_add(table + i + stride, table + i, stride);
            continue;
        }
        double *with = scratch.data(), *without = with + size / 2;
        for (std::size_t i = 0, k = 0; i < size; i += 2 * stride) {
            for (std::size_t j = i; j < i + stride; ++j, ++k) {
                without[k] = table[j];
                with[k] = table[j + stride];
            }
        }
        log_add(with, without, size / 2);
        for (std::size_t i = 0, k = 0; i < size; i += 2 * stride) {
            for (std::size_t j = i; j < i + stride; ++j, ++k)
                table[j + stride] = with[k];
        }
    }
}

// A subset of `allowed`, drawn with weights exp(table[fixed | subset] - log_total).
ParentMask draw_subset(const double* table, ParentMask fixed, ParentMask allowed, double log_total,
                       Random& random) {
    const double target = random.uniform();
    double sum = 0.0, largest = 2.0 * kNever;
    ParentMask best = 0;
    for (ParentMask subset = allowed;; subset = (subset - 1) & allowed) {
        const double weight = table[fixed | subset] - log_total;
        if (weight > kFaint) {
            sum += std::exp(weight);
            if (sum > target)
                return subset;
        }
        if (weight > largest) {
            largest = weight;
            best = subset;
        }
        if (subset == 0)
            return best; // rounding has left a gap below one
    }
}

} // namespace

ScoreTables::ScoreTables(FamilyScore score, ParentLists lists, int threads,
                         std::vector<double> given)
    : score_(std::move(score)), lists_(std::move(lists)), starts_{0}, place_starts_{0} {
    for (int v = 0; v < n(); ++v) {
        starts_.push_back(starts_.back() + (std::size_t{1} << lists_.size(v)));
        place_starts_.push_back(place_starts_.back() + Index{lists_.size(v)});
    }
    most_with_.resize(place_starts_.back());
    const bool known = !given.empty();
    raw_ = std::move(given);
    for (auto* table : {&raw_, &low_, &high_, &full_})
        table->resize(starts_.back());
    best_.resize(n());
    for_each_parallel(n(), threads, [&](std::size_t v) {
        if (!known)
            fill(static_cast<int>(v));
        sum_up(static_cast<int>(v));
    });
}

void ScoreTables::fill(int v) {
    const int bits = lists_.size(v);
    const std::size_t width = Index{bits} + 1, size = std::size_t{1} << bits;
    double *raw = raw_.data() + start(v), *low = low_.data() + start(v);

    FamilyFactor core(score_);
    core.load(lists_.core(v));
    const int n_core = count_of(lists_.core(v));
    std::vector<std::vector<double>> explained(width);
    const auto variable = [&](std::size_t a) {
        return a == 0 ? v : lists_.candidate(v, static_cast<int>(a) - 1);
    };
    SchurTable schur(bits, raw, low);
    for (std::size_t a = 0; a < width; ++a) {
        core.project(variable(a), explained[a]);
        for (std::size_t b = 0; b <= a; ++b) {
            double rest = score_.at(variable(a), variable(b));
            for (std::size_t k = 0; k < explained[a].size(); ++k)
                rest -= explained[a][k] * explained[b][k];
            schur.top()[a * width + b] = rest;
        }
    }
    schur.run();

    for (std::size_t set = 0; set < size; ++set) {
        const double determinant =
            score_.determinant == 0.0 ? 0.0 : core.log_determinant() + std::log(low[set]);
        raw[set] = score_.value(n_core + count_places(static_cast<ParentMask>(set)),
                                std::log(raw[set]), determinant);
    }
}

void ScoreTables::sum_up(int v) {
    const int bits = lists_.size(v);
    const std::size_t size = std::size_t{1} << bits;
    double *raw = raw_.data() + start(v), *low = low_.data() + start(v),
           *high = high_.data() + start(v), *full = full_.data() + start(v);
    double& best = best_[v];
    best = 2.0 * kNever;
    for (std::size_t set = 0; set < size; ++set)
        best = std::max(best, raw[set]);
    for (std::size_t set = 0; set < size; ++set)
        raw[set] -= best;

    std::vector<double> scratch;
    std::copy_n(raw, size, low);
    sum_over_subsets(low, bits, 0, bits / 2, scratch);
    std::copy_n(low, size, full);
    sum_over_subsets(full, bits, bits / 2, bits, scratch);
    std::copy_n(raw, size, high);
    sum_over_subsets(high, bits, bits / 2, bits, scratch);
    for (int b = 0; b < bits; ++b)
        most_with_[place_starts_[v] + b] = sum_with(v, all(v), b);
}

ParentMask ScoreTables::draw(int v, ParentMask allowed, Random& random) const {
    const ParentMask below = allowed & lower_half(v), above = allowed & ~lower_half(v);
    const ParentMask upper =
        draw_subset(low_.data() + start(v), below, above, sum(v, allowed), random);
    const double total = low_[start(v) + (upper | below)];
    return upper | draw_subset(raw_.data() + start(v), upper, below, total, random);
}

double ScoreTables::sum_with(int v, ParentMask allowed, int place) const {
    const ParentMask bit = ParentMask{1} << place, half = lower_half(v);
    const bool is_low = (bit & half) != 0;
    const double* table = (is_low ? high_ : low_).data() + start(v);
    const ParentMask same = allowed & (is_low ? half : ~half) & ~bit;
    const ParentMask fixed = (allowed & (is_low ? ~half : half)) | bit;
    double largest = 2.0 * kNever, sum = 0.0;
    for (ParentMask subset = same;; subset = (subset - 1) & same) {
        largest = std::max(largest, table[fixed | subset]);
        if (subset == 0)
            break;
    }
    for (ParentMask subset = same;; subset = (subset - 1) & same) {
        const double weight = table[fixed | subset] - largest;
        if (weight > kFaint)
            sum += std::exp(weight);
        if (subset == 0)
            break;
    }
    return largest + std::log(sum);
}

ParentMask ScoreTables::draw_with(int v, ParentMask allowed, int place, double log_sum,
                                  Random& random) const {
    const ParentMask bit = ParentMask{1} << place, half = lower_half(v);
    const bool is_low = (bit & half) != 0;
    const double* table = (is_low ? high_ : low_).data() + start(v);
    const ParentMask same = allowed & (is_low ? half : ~half) & ~bit;
    const ParentMask other = allowed & (is_low ? ~half : half);
    const ParentMask first = bit | draw_subset(table, other | bit, same, log_sum, random);
    return first | draw_subset(raw_.data() + start(v), first, other, table[first | other], random);
}

} // namespace qwo
