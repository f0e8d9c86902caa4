// The insertion scan: what moving a variable to each other place would cost, in one pass over L, D.
//
// The row of a variable depends only on the set of variables before it. If v leaves its place p for
// another, only v itself and the variables that it passes get new rows, and each of them is a
// combination of two rows at hand. With e_j = l_j . X and g_j = cov(v, e_j) = l_j . S[:, v]:
//
// Leftwards, for j = 0 .. p - 1, from acc = e_v (the unit vector) and res = S[v, v]:
//   v at place j:               x = acc / sqrt(res),                  its D: D_(j-1) + x^2
//   acc' = acc - g_j l_j, res' = res - g_j^2, x' = acc' / sqrt(res')
//   order[j], v before it:      y = sqrt(res'/res) l_j - g_j/sqrt(res) x',    its D: D_j + x'^2
//
// Rightwards, for j = p + 1 .. n - 1, from acc = l_p[v] l_p, x = l_p; d = D_j[v], d0 = D_(j-1)[v]:
//   order[j], v gone:           y = sqrt(d0/d) l_j - l_j[v]/sqrt(d) x,        its D: D_j - x'^2
//   v at place j:               x' = acc' / sqrt(d), acc' = acc + l_j[v] l_j, its D: D_j
#pragma once

#include <span>

#include "qwo/order_factor.hpp"

namespace qwo {

// changes[m * n + q] is the change of factor.cost() if movers[m] went to place q: O(n^2) for each
// mover. Several of them share passes over L and D, and threads share the movers; the result
// depends on neither. The factor may pack its columns.
void scan_insertions(OrderFactor& factor, std::span<const int> movers, double* changes,
                     int threads = 1);

} // namespace qwo
