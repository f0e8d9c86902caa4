// What a parent costs, and what it must be worth.
#pragma once

#include <cmath>
#include <cstddef>

namespace qwo {

// The cost of a child is N log(residual variance) + price * (number of parents): the BIC and all
// scores that charge each parent the same.
struct Score {
    double n_samples = 0.0;
    double price = 0.0;

    double cost(double variance, std::size_t parents) const {
        return n_samples * std::log(variance) + price * static_cast<double>(parents);
    }

    // An edge pays if the squared partial correlation exceeds the first, or, seen from the model
    // with it, if dropping it raises the residual variance by more than this share. The margins
    // keep rounding from adding and dropping the same edge for ever.
    double worth_adding() const { return -std::expm1(-price / n_samples) * (1.0 + 1e-10); }
    double worth_keeping() const { return std::expm1(price / n_samples) * (1.0 - 1e-10); }
};

// The same where an edge has several parameters: its price, and the least r^2 of a single pair of
// canonical variables that could pay for it.
struct BlockPrice {
    BlockPrice(double n_samples, double price)
        : price(price), least(Score{n_samples, price}.worth_adding()) {}

    double price, least;
};

} // namespace qwo
