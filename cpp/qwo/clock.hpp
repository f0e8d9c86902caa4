// Seconds on a clock that never goes back.
#pragma once

#include <chrono>

namespace qwo {

inline double seconds_now() {
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

} // namespace qwo
