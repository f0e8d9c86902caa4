// What a search has done, counted.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace qwo {

struct SearchCounts {
    std::int64_t scans = 0;
    std::int64_t moves = 0;
    std::int64_t tucks = 0;
    std::int64_t improving_tucks = 0;
    std::int64_t turns = 0;
    std::int64_t improving_turns = 0;
    std::int64_t sweeps = 0;
    std::int64_t exchanges = 0;
    std::int64_t renewed = 0;

    SearchCounts& operator+=(const SearchCounts& other);
    SearchCounts& operator-=(const SearchCounts& other);
};

// Every count and its name: sums and listings go through this table, so that none is left out.
inline constexpr std::array<std::pair<const char*, std::int64_t SearchCounts::*>, 9> all_counts{{
    {"scans", &SearchCounts::scans},
    {"moves", &SearchCounts::moves},
    {"tucks", &SearchCounts::tucks},
    {"improving_tucks", &SearchCounts::improving_tucks},
    {"turns", &SearchCounts::turns},
    {"improving_turns", &SearchCounts::improving_turns},
    {"sweeps", &SearchCounts::sweeps},
    {"exchanges", &SearchCounts::exchanges},
    {"renewed", &SearchCounts::renewed},
}};
static_assert(sizeof(SearchCounts) == all_counts.size() * sizeof(std::int64_t),
              "every count must be in the table");

inline SearchCounts& SearchCounts::operator+=(const SearchCounts& other) {
    for (const auto& [name, count] : all_counts)
        this->*count += other.*count;
    return *this;
}

inline SearchCounts& SearchCounts::operator-=(const SearchCounts& other) {
    for (const auto& [name, count] : all_counts)
        this->*count -= other.*count;
    return *this;
}

} // namespace qwo
