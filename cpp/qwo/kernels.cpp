#include "qwo/kernels.hpp"

#include <stdexcept>

namespace qwo {

extern const Kernels kernels_portable;
#if QWO_HAVE_AVX2
extern const Kernels kernels_avx2;
#endif
#if QWO_HAVE_AVX512
extern const Kernels kernels_avx512;
#endif

namespace {

#if QWO_HAVE_AVX2 || QWO_HAVE_AVX512
#if defined(_MSC_VER) && !defined(__clang__)
} // namespace
} // namespace qwo
#include <immintrin.h>
#include <intrin.h>
namespace qwo {
namespace {

struct CpuFeatures {
    bool avx2 = false;
    bool avx512 = false;
};

CpuFeatures cpu_features() {
    int leaf1[4] = {0, 0, 0, 0};
    int leaf7[4] = {0, 0, 0, 0};
    __cpuid(leaf1, 1);
    __cpuidex(leaf7, 7, 0);
    const bool osxsave = (leaf1[2] >> 27) & 1;
    const bool fma = (leaf1[2] >> 12) & 1;
    const unsigned long long state = osxsave ? _xgetbv(0) : 0;
    const bool ymm = (state & 0x6) == 0x6;
    const bool zmm = (state & 0xE6) == 0xE6;
    const auto bit = [&](int k) { return ((leaf7[1] >> k) & 1) != 0; };
    const bool avx2 = ymm && fma && bit(5);
    return {avx2, avx2 && zmm && bit(16) && bit(17) && bit(30) && bit(31)};
}

bool has_avx2() {
    return cpu_features().avx2;
}
bool has_avx512() {
    return cpu_features().avx512;
}
#else
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif
#endif

std::vector<const Kernels*> usable() {
    std::vector<const Kernels*> found;
#if QWO_HAVE_AVX512
    if (has_avx512())
        found.push_back(&kernels_avx512);
#endif
#if QWO_HAVE_AVX2
    if (has_avx2())
        found.push_back(&kernels_avx2);
#endif
    found.push_back(&kernels_portable);
    return found;
}

} // namespace

std::vector<std::string> available_kernels() {
    std::vector<std::string> names;
    for (const Kernels* k : usable())
        names.emplace_back(k->name);
    return names;
}

const Kernels& kernels(const std::string& name) {
    for (const Kernels* k : usable()) {
        if (name.empty() || name == k->name)
            return *k;
    }
    std::string known;
    for (const auto& k : available_kernels())
        known += (known.empty() ? "" : ", ") + k;
    throw std::invalid_argument("no kernels named '" + name + "' on this processor; there are " +
                                known);
}

} // namespace qwo
