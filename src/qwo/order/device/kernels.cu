// The order factor on the device: coefficients, scan, rotations and costs of many moves at once.
//
// Row k of L belongs to the variable at place k, and so do rows of D (running sums of the squares of
// L) and of G = L S, the covariances of all variables with the residual of place k. Columns belong
// to variables, in an order of their own: column[v]. All are row-major with stride ld.
//
// With v on its way from place p, and c, s the coefficients of mover v at place j (see
// `coefficients`), the row x of v and the row l of the variable that it passes become
//   y = c l - s x   and   x' = c x + s l,
// which is a rotation. See docs/concepts/order-engine.md, section 4, for where it comes from.
//
// Sums are taken in a fixed order: the same input gives the same bits.

constexpr int threads = 128;  // of a block of `scan`, one for each column
constexpr int warps = threads / 32;
constexpr int rows = 8;       // of a tile of `scan`
constexpr int strip = 16;     // rows that `rotate` reads ahead
constexpr int together = 2;   // movers that share a pass of `scan` over L and D
constexpr double tiny = 1e-100;  // keeps 0 / 0 at 0; an entry of D that counts is at least 1

struct Coefficients {
    double g;       // left of p: G[j, v]; right: L[j, v]; at p: L[p, v]
    double scale;   // left: 1 / sqrt(res_j)
    double scale1;  // left: 1 / sqrt(res_(j+1)); right: 1 / sqrt(D_j[v])
    double c, s;    // of the rotation
};

// A reciprocal with 40 correct bits: the hardware's guess and one step of Newton's method.
__device__ __forceinline__ double reciprocal(double d) {
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
    return fma(r, fma(-d, r, 1.0), r);
}

// What a pair costs whose squared partial correlation is square / d.
template <bool count>
__device__ __forceinline__ double pair_cost(double square, double d, double tau) {
    if (count)
        return square > tau * d ? 1.0 : 0.0;
    const double ratio = square * reciprocal(d);
    const double x = ratio < tau ? ratio : tau;
    return fma(0.5 * x, x, x);
}

// The sum over the threads of a block, in all of them; `shared` holds blockDim.x numbers.
__device__ double block_sum(double value, double* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    const double sum = shared[0];
    __syncthreads();
    return sum;
}

// The sum over all threads before this one.
__device__ double block_sum_before(double value, double* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        const double other = threadIdx.x >= step ? shared[threadIdx.x - step] : 0.0;
        __syncthreads();
        shared[threadIdx.x] += other;
        __syncthreads();
    }
    const double before = threadIdx.x > 0 ? shared[threadIdx.x - 1] : 0.0;
    __syncthreads();
    return before;
}

// One block for each mover. The variance of v that places 0 .. j - 1 leave is
// res_j = sum over i = j .. p of G[i, v]^2, a sum that cannot cancel.
extern "C" __global__ void coefficients(int n, long ld, const double* L, const double* D,
                                        const double* G, const int* place, const int* column,
                                        Coefficients* table) {
    extern __shared__ double shared[];
    const int p = place[blockIdx.x], own = column[blockIdx.x];
    Coefficients* mine = table + blockIdx.x * long(n);
    // Threads take runs of places, the first thread the last of them.
    const int run = (p + 1 + blockDim.x - 1) / blockDim.x;
    const int last = p - run * int(threadIdx.x);
    double sum = 0.0;
    for (int j = last; j > last - run && j >= 0; --j)
        sum += G[j * ld + own] * G[j * ld + own];
    double later = block_sum_before(sum, shared);
    for (int j = last; j > last - run && j >= 0; --j) {
        const double g = G[j * ld + own];
        const double res = fma(g, g, later);
        if (j < p) {
            const double scale = 1.0 / sqrt(res);
            mine[j] = {g, scale, 1.0 / sqrt(later), sqrt(later) * scale, g * scale};
        } else {
            mine[j] = {L[p * ld + own], 0.0, 0.0, 0.0, 0.0};
        }
        later = res;
    }
    for (int j = p + 1 + threadIdx.x; j < n; j += blockDim.x) {
        const double h = L[j * ld + own], d = D[j * ld + own];
        const double scale1 = 1.0 / sqrt(d);
        mine[j] = {h, 0.0, scale1, sqrt(D[(j - 1) * ld + own]) * scale1, h * scale1};
    }
}

// Sixteen sums with fifteen exchanges: in each step a lane keeps one half of its numbers and sends
// the other, so that lane i ends with the sum of number i mod 16 over half of the lanes.
template <int half>
__device__ __forceinline__ void fold(double (&numbers)[2 * rows], int lane) {
    const bool upper = lane & half;
#pragma unroll
    for (int i = 0; i < half; ++i) {
        const double sent = upper ? numbers[i] : numbers[i + half];
        const double kept = upper ? numbers[i + half] : numbers[i];
        numbers[i] = kept + __shfl_xor_sync(0xffffffffu, sent, half);
    }
    if constexpr (half > 1)
        fold<half / 2>(numbers, lane);
}

// Sums over the lanes of a warp of two numbers for each row of a tile: lane i < 16 returns sum number
// i, the rows of `alone` first.
template <bool count>
__device__ __forceinline__ double warp_sums(const double (&alone)[rows],
                                            const double (&passed)[rows], int lane) {
    if (count) {
        // The numbers are 0 or 1: one vote counts them.
        int found = 0;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const int first = __popc(__ballot_sync(0xffffffffu, alone[r] != 0.0));
            const int second = __popc(__ballot_sync(0xffffffffu, passed[r] != 0.0));
            found = lane == r ? first : lane == rows + r ? second : found;
        }
        return found;
    }
    double numbers[2 * rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        numbers[r] = alone[r];
        numbers[rows + r] = passed[r];
    }
    fold<rows>(numbers, lane);
    return numbers[0] + __shfl_xor_sync(0xffffffffu, numbers[0], 16);
}

// What one column says of one mover.
struct Column {
    double acc = 0.0, x = 0.0;
    bool own = false;

    // The mover stands at place j, left of its own; then it has passed the variable there.
    template <bool count>
    __device__ __forceinline__ void left(const Coefficients& k, double l, double d0, double d,
                                         double tau, double& alone, double& passed) {
        const double here = k.scale * acc;
        alone = pair_cost<count>(here * here, fma(here, here, d0 + tiny), tau);
        acc = fma(-k.g, l, acc);
        const double x1 = k.scale1 * acc;
        const double y = fma(k.c, l, -k.s * x1);
        passed = pair_cost<count>(y * y, fma(x1, x1, d + tiny), tau);
    }

    // The variable at place j, right of the mover's own, after the mover has passed it.
    template <bool count>
    __device__ __forceinline__ void right(const Coefficients& k, double l, double d, double tau,
                                          double& alone, double& passed) {
        const double y = fma(k.c, l, -k.s * x);
        acc = fma(k.g, l, acc);
        x = k.scale1 * acc;
        // The difference is above zero but for rounding.
        const double cost = pair_cost<count>(y * y, fmax(fma(-x, x, d), 0.0) + tiny, tau);
        const double diagonal = own ? 0.0 : 1.0;
        passed = diagonal * cost;
        alone = diagonal * pair_cost<count>(x * x, d + tiny, tau);
    }

    __device__ __forceinline__ void arrive(const Coefficients& k, double l) {
        x = l;
        acc = k.g * l;
    }
};

// One block for `threads` columns and `together` movers. partial[b, m, 0, j] is what block b finds
// mover m to cost at place j, and [.., 1, j] what it finds the variable at j to cost once m has
// passed it; for rows from first[b] on, before which the columns of the block are zero. Matrices are
// padded with zeros: columns to a multiple of `threads`, rows to one of `rows`.
template <bool count>
__device__ void scan(int n, long ld, const double* __restrict__ L, const double* __restrict__ D,
                     const Coefficients* __restrict__ table, const int* place, const int* column,
                     int movers, const int* first, double tau, double* partial) {
    __shared__ Coefficients steps[together][rows];
    __shared__ double sums[warps][together][2 * rows];
    const int c = blockIdx.x * threads + threadIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int leader = blockIdx.y * together;
    int p[together];
    Column mine[together];
#pragma unroll
    for (int m = 0; m < together; ++m) {
        const int mover = min(leader + m, movers - 1);
        p[m] = place[mover];
        mine[m].own = c == column[mover];
    }
    const int begin = first[blockIdx.x] / rows * rows;
    double before = begin > 0 ? D[(begin - 1) * ld + c] : 0.0;
    for (int tile = begin; tile < n; tile += rows) {
        if (threadIdx.x < together * rows) {
            const int m = min(leader + int(threadIdx.x) / rows, movers - 1);
            const int j = min(tile + int(threadIdx.x) % rows, n - 1);
            steps[threadIdx.x / rows][threadIdx.x % rows] = table[m * long(n) + j];
        }
        double l[rows], d[rows];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            l[r] = L[(tile + r) * ld + c];
            d[r] = D[(tile + r) * ld + c];
        }
        __syncthreads();
#pragma unroll
        for (int m = 0; m < together; ++m) {
            double alone[rows], passed[rows];
            // One decision for a whole tile lets the rows of it be computed side by side.
            if (tile + rows <= p[m]) {
#pragma unroll
                for (int r = 0; r < rows; ++r)
                    mine[m].template left<count>(steps[m][r], l[r], r ? d[r - 1] : before, d[r],
                                                 tau, alone[r], passed[r]);
            } else if (tile > p[m]) {
#pragma unroll
                for (int r = 0; r < rows; ++r)
                    mine[m].template right<count>(steps[m][r], l[r], d[r], tau, alone[r],
                                                  passed[r]);
            } else {
#pragma unroll
                for (int r = 0; r < rows; ++r) {
                    alone[r] = passed[r] = 0.0;
                    if (tile + r < p[m])
                        mine[m].template left<count>(steps[m][r], l[r], r ? d[r - 1] : before,
                                                     d[r], tau, alone[r], passed[r]);
                    else if (tile + r > p[m])
                        mine[m].template right<count>(steps[m][r], l[r], d[r], tau, alone[r],
                                                      passed[r]);
                    else
                        mine[m].arrive(steps[m][r], l[r]);
                }
            }
            const double sum = warp_sums<count>(alone, passed, lane);
            if (lane < 2 * rows)
                sums[warp][m][lane] = sum;
        }
        before = d[rows - 1];
        __syncthreads();
        if (threadIdx.x < together * 2 * rows) {
            const int m = threadIdx.x / (2 * rows), i = threadIdx.x % (2 * rows);
            const int j = tile + i % rows;
            if (j < n && leader + m < movers) {
                double sum = 0.0;
                for (int w = 0; w < warps; ++w)
                    sum += sums[w][m][i];
                const long at = (blockIdx.x * long(movers) + leader + m) * 2 + i / rows;
                partial[at * n + j] = sum;
            }
        }
    }
}

extern "C" __global__ void scan_likelihood(int n, long ld, const double* L, const double* D,
                                           const Coefficients* table, const int* place,
                                           const int* column, int movers, const int* first,
                                           double tau, double* partial) {
    scan<false>(n, ld, L, D, table, place, column, movers, first, tau, partial);
}

extern "C" __global__ void scan_edges(int n, long ld, const double* L, const double* D,
                                      const Coefficients* table, const int* place,
                                      const int* column, int movers, const int* first, double tau,
                                      double* partial) {
    scan<true>(n, ld, L, D, table, place, column, movers, first, tau, partial);
}

// One thread for each mover (y) and place (x): partial[0, m, ., j] becomes the sum over the blocks
// of columns, and for passed variables the change from what they cost now. The edge between mover
// and passed variable, which `scan` leaves out on the way left, is added; the diagonal, of which the
// squared correlation is 1, is taken off.
extern "C" __global__ void gather(int n, int movers, int blocks, int count, double tau,
                                  double ceiling, const int* first, const int* place,
                                  const Coefficients* table, const double* row_cost,
                                  double* partial) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
    if (j >= n)
        return;
    double alone = 0.0, passed = 0.0;
    for (int b = 0; b < blocks && first[b] / rows * rows <= j; ++b) {
        const long at = (b * long(movers) + m) * 2;
        alone += partial[at * n + j];
        passed += partial[(at + 1) * n + j];
    }
    const double s = table[m * long(n) + j].s;
    if (j < place[m])
        passed += count ? pair_cost<true>(s * s, 1.0, tau) : pair_cost<false>(s * s, 1.0, tau);
    partial[m * 2L * n + j] = alone;
    partial[(m * 2L + 1) * n + j] = j == place[m] ? 0.0 : passed - ceiling - row_cost[j];
}

// One block for each mover: changes[m, q], the change of the cost if m went to place q.
extern "C" __global__ void changes(int n, const int* place, const double* row_cost,
                                   const double* partial, double weight, double* result) {
    extern __shared__ double shared[];
    __shared__ double sum_to_p;
    const int m = blockIdx.x, p = place[m];
    const double* alone = partial + m * 2L * n;
    const double* passed = alone + n;
    const int run = (n + blockDim.x - 1) / blockDim.x;
    const int begin = run * threadIdx.x, end = min(begin + run, n);
    double sum = 0.0;
    for (int j = begin; j < end; ++j)
        sum += passed[j];
    double before = block_sum_before(sum, shared);
    if (begin <= p && p < end) {
        sum_to_p = before;
        for (int j = begin; j < p; ++j)
            sum_to_p += passed[j];
    }
    __syncthreads();
    for (int j = begin; j < end; ++j) {
        const double after = before + passed[j];
        const double way = j < p ? sum_to_p - before : after - sum_to_p;
        result[m * long(n) + j] = j == p ? 0.0 : weight * (alone[j] + way - row_cost[p]);
        before = after;
    }
}

// One block for each mover: the permitted place of least change, the first of several.
extern "C" __global__ void best(int n, const double* changes, const int* lowest,
                                const int* highest, int* place, double* change) {
    __shared__ double values[256];
    __shared__ int places[256];
    const int m = blockIdx.x, t = threadIdx.x;
    double value = 0.0;
    int at = -1;
    for (int j = lowest[m] + t; j <= highest[m]; j += blockDim.x) {
        const double other = changes[m * long(n) + j];
        if (at < 0 || other < value) {
            value = other;
            at = j;
        }
    }
    values[t] = value;
    places[t] = at;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            const double other = values[t + half];
            const int there = places[t + half];
            const bool better = other < values[t] || (other == values[t] && there < places[t]);
            if (there >= 0 && (places[t] < 0 || better)) {
                values[t] = other;
                places[t] = there;
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        place[m] = places[0];
        change[m] = values[0];
    }
}

// One thread for each column (x) and move (y): the rotations of a move, from place `from` to place
// `to`, of L and D (z = 0) or of G (z = 1). Moves of one launch must not overlap. place_of_column[c]
// is the place, before the moves, of the variable of column c. Entries that are zero in theory are
// set to zero; columns that are zero in all rows concerned are left alone.
extern "C" __global__ void rotate(int n, long ld, double* L, double* D, double* G,
                                  const Coefficients* __restrict__ table, const int* row_of_table,
                                  const int* from, const int* to, const int* place_of_column) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n)
        return;
    const bool factor = blockIdx.z == 0;
    const int p = from[blockIdx.y], q = to[blockIdx.y], mine = place_of_column[c];
    if (factor ? mine > max(p, q) : mine < min(p, q))
        return;
    const bool left = q < p;
    const Coefficients* steps = table + row_of_table[blockIdx.y] * long(n);
    const int direction = left ? -1 : 1, length = abs(q - p);
    double* matrix = factor ? L : G;
    double x = matrix[p * ld + c];
    double d = factor && !left && p > 0 ? D[(p - 1) * ld + c] : 0.0;
    for (int done = 0; done < length; done += strip) {
        double row[strip], d0[strip], cosine[strip], sine[strip];
#pragma unroll
        for (int r = 0; r < strip; ++r) {
            const int j = p + direction * min(done + r + 1, length);
            row[r] = matrix[j * ld + c];
            d0[r] = factor && left && j > 0 ? D[(j - 1) * ld + c] : 0.0;
            cosine[r] = steps[j].c;
            sine[r] = steps[j].s;
        }
#pragma unroll
        for (int r = 0; r < strip; ++r) {
            if (done + r >= length)
                break;
            const int j = p + direction * (done + r + 1);
            double y = fma(cosine[r], row[r], -sine[r] * x);
            x = fma(cosine[r], x, sine[r] * row[r]);
            // Of L: a row is free of those that come after it. Of G: a residual is uncorrelated
            // with all variables before it.
            if (mine == (factor == left ? j : -1))
                x = 0.0;
            if (mine == (factor == left ? -1 : p))
                y = 0.0;
            if (factor) {
                d = left ? fma(x, x, d0[r]) : fma(y, y, d);
                D[(left ? j : j - 1) * ld + c] = d;
            }
            matrix[(j - direction) * ld + c] = y;
        }
    }
    matrix[q * ld + c] = x;
}

// One block for each row from `first` on: what it costs, without its diagonal.
extern "C" __global__ void row_costs(int n, long ld, const double* L, const double* D, int first,
                                     const int* width, int count, double tau, double ceiling,
                                     double* result) {
    extern __shared__ double shared[];
    const int k = first + blockIdx.x;
    double sum = 0.0;
    for (int c = threadIdx.x; c < width[k]; c += blockDim.x) {
        const double l = L[k * ld + c], d = D[k * ld + c] + tiny;
        sum += count ? pair_cost<true>(l * l, d, tau) : pair_cost<false>(l * l, d, tau);
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        result[k] = sum - ceiling;
}

// Columns in another order: column c of the result is column from[c].
extern "C" __global__ void reorder(int n, long ld, const double* matrix, const int* from,
                                   double* result) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < n)
        result[blockIdx.y * ld + c] = matrix[blockIdx.y * ld + from[c]];
}
