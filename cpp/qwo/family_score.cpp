#include "qwo/family_score.hpp"

#include <algorithm>

#include "qwo/index.hpp"

namespace qwo {

namespace {
// Parents that explain one of their own entirely make the factor singular; the score is then of no
// account, but has to be a number.
constexpr double kLeastPivot = 1e-300;
} // namespace

void FamilyFactor::load(const std::vector<int>& parents) {
    parents_ = parents;
    const std::size_t p = parents_.size();
    lower_.assign(p * p, 0.0);
    log_determinant_ = 0.0;
    for (std::size_t a = 0; a < p; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            double rest = score_.at(parents_[a], parents_[b]);
            for (std::size_t k = 0; k < b; ++k)
                rest -= lower_[a * p + k] * lower_[b * p + k];
            if (a == b) {
                rest = std::max(rest, kLeastPivot);
                log_determinant_ += std::log(rest);
                lower_[a * p + a] = std::sqrt(rest);
            } else {
                lower_[a * p + b] = rest / lower_[b * p + b];
            }
        }
    }
}

void FamilyFactor::project(int w, std::vector<double>& out) const {
    const std::size_t p = parents_.size();
    out.resize(p);
    for (std::size_t a = 0; a < p; ++a) {
        double rest = score_.at(parents_[a], w);
        for (std::size_t k = 0; k < a; ++k)
            rest -= lower_[a * p + k] * out[k];
        out[a] = rest / lower_[a * p + a];
    }
}

double FamilyFactor::score(int v) {
    project(v, scratch_);
    double variance = score_.at(v, v);
    for (const double x : scratch_)
        variance -= x * x;
    return score_.value(count_of(parents_), std::log(std::max(variance, kLeastPivot)),
                        log_determinant_);
}

} // namespace qwo
