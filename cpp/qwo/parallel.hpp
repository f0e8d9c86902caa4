// Independent tasks in threads of their own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace qwo {

// Calls task(i) for i = 0 .. count - 1 in up to `threads` threads, this one among them. Tasks must
// not depend on each other. The first exception that one of them throws is passed on.
template <class Task>
void for_each_parallel(std::size_t count, int threads, Task task) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto work = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++)
                task(i);
        } catch (...) {
            next = count;
            const std::lock_guard<std::mutex> lock(guard);
            if (!failure)
                failure = std::current_exception();
        }
    };
    const std::size_t wanted = threads > 1 ? threads : 1;
    std::vector<std::thread> others;
    others.reserve(wanted);
    try {
        for (std::size_t k = 1; k < std::min(wanted, count); ++k)
            others.emplace_back(work);
    } catch (const std::system_error&) {
        // The system has no more threads to give; those that there are do it all.
    }
    work();
    for (std::thread& other : others)
        other.join();
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace qwo
