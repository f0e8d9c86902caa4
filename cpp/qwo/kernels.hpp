// The inner loops of the core, compiled once per instruction set and chosen at run time.
//
// Every kernel works on contiguous rows of doubles. None of them allocates, none knows what the
// numbers mean beyond what its comment says. Variants differ only in rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace qwo {

// What a squared partial correlation x costs: 1 above tau (edge count), or min(x, tau) passed
// through h(x) = x + x^2/2, which follows -log(1 - x) (capped likelihood).
struct PairCost {
    double tau = 0.0;
    bool count = true;
};

struct ScanCosts {
    double mover;  // cost of the moving variable's row at this place
    double passed; // cost of the passed variable's row once the mover has changed sides
};

struct Kernels {
    const char* name;

    double (*dot)(int n, const double* x, const double* y);

    // out[i] = x[index[i]]
    void (*pick)(int n, const double* x, const std::int32_t* index, double* out);

    // out = x - sum_k z[k] rows[k]; out may be x, and x may be null for zero
    void (*residual_row)(int n, const double* x, int k, const double* const* rows, const double* z,
                         double* out);

    // r *= scale,  c += a r,  s += b r^2
    void (*sweep)(int n, double scale, double a, double b, double* r, double* c, double* s);

    // out += a x y
    void (*add_products)(int n, double a, const double* x, const double* y, double* out);

    // sums += a t,  squares += t^2
    void (*gather)(int n, double a, const double* t, double* sums, double* squares);

    // Index of the largest c^2 / s among the i with place[i] < limit, s[i] > floor,
    // c[i]^2 > threshold * s[i] and, where `allowed` is given, allowed[i] != 0; -1 if none.
    int (*best_candidate)(int n, const double* c, const double* s, const std::int32_t* place,
                          std::int32_t limit, const std::uint8_t* allowed, double floor,
                          double threshold);

    // Adjacent exchange, one Givens rotation: u' = c w - s u, w' = c u + s w.
    void (*exchange)(int n, double c, double s, double* u, double* w);

    // sum over i of the cost of l[i]^2 / d[i]
    double (*row_cost)(int n, const double* l, const double* d, PairCost cost);

    // d = before + l^2; returns the row cost.
    double (*new_row_cost)(int n, const double* l, const double* before, double* d, PairCost cost);

    // One step of the insertion scan to the left of the mover (see insertion_scan.hpp). The rows l
    // and d of the next step lie `ahead` of these; 0 for none, or for ones that need no fetching.
    //   x = scale acc; mover = cost(x^2 / (before + x^2));
    //   acc -= g l; x1 = scale1 acc; y = a l - b x1; passed = cost(y^2 / (d + x1^2)).
    ScanCosts (*scan_left)(int n, double g, double scale, double scale1, double a, double b,
                           const double* l, const double* before, const double* d, double* acc,
                           std::ptrdiff_t ahead, PairCost cost);

    // One step to the right of the mover:
    //   y = a l - b x; acc += h l; x = scale1 acc; passed = cost(y^2 / (d - x^2));
    //   mover = cost(x^2 / d).
    ScanCosts (*scan_right)(int n, double h, double scale1, double a, double b, const double* l,
                            const double* d, double* acc, double* x, std::ptrdiff_t ahead,
                            PairCost cost);

    // whole[i] less each of kLanes numbers own[i kLanes ...].
    void (*take_away)(int count, const double* whole, const double* own, double* out);

    // Cholesky's elimination of the first `given` columns of kLanes symmetric m × m matrices side
    // by side: entry (i, j <= i) of all of them stands at a + (i (i + 1) / 2 + j) kLanes. What is
    // left of entries given the columns before them is put in their place, in that of a pivot its
    // inverse, or 0 where a pivot over `rows` is up to `nothing`: such a column explains nothing.
    void (*eliminate)(int m, int given, const double* rows, double nothing, double* a);

    // The log-determinant of the last `own` of given + own columns that `eliminate` has seen, over
    // `rows`, given those before them and `more` columns whose rows are in `tail`, the entries with
    // the columns of `a` first; no pivot counts for less than `least`. `tail` is overwritten,
    // `work` has room for a triangle of more + own.
    void (*extend)(int given, int own, int more, const double* rows, double nothing, double least,
                   const double* a, double* tail, double* work, double* logs);
};

// Matrices that `eliminate` and `extend` take side by side.
constexpr int kLanes = 8;

// The variants this build has and this processor can run, the fastest first.
std::vector<std::string> available_kernels();

// A variant by name, or the fastest one for an empty name; throws std::invalid_argument otherwise.
const Kernels& kernels(const std::string& name = {});

} // namespace qwo
