// A small generator whose stream is the same with every compiler and standard library.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace qwo {

// Uniform in 0 .. bound - 1 from 32 random bits at a time, as NumPy has it: Lemire, Fast random
// integer generation in an interval, 2019.
template <class Bits>
int below_by_lemire(int bound, Bits bits) {
    if (bound == 1)
        return 0;
    const auto range = static_cast<std::uint32_t>(bound);
    std::uint64_t product = std::uint64_t{bits()} * range;
    const std::uint32_t least = -range % range;
    while (static_cast<std::uint32_t>(product) < least)
        product = std::uint64_t{bits()} * range;
    return static_cast<int>(product >> 32);
}

// SplitMix64 (Steele, Lea and Flood 2014).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }

    // Uniform in 0 .. bound - 1 (the bias of the modulus is below 2^-32 for int bounds).
    int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }

    // The same without a division.
    int quickly_below(int bound) {
        return static_cast<int>(((next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
    }

    // Uniform in [0, 1), a multiple of 2^-53.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i > 1; --i) {
            std::swap(items[i - 1], items[next() % i]);
        }
    }

  private:
    std::uint64_t state_;
};

} // namespace qwo
