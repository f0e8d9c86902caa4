#include "qwo/spanning_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "qwo/index.hpp"

namespace qwo {

Tree spanning_tree(const double* strengths, int n, int stride) {
    constexpr double inside = -1.0; // what is in the tree is never chosen again
    Tree tree(n);
    std::vector<double> best(n, 0.0);
    std::vector<int> nearest(n, 0);
    for (int v = 1; v < n; ++v)
        best[v] = std::abs(strengths[v]);
    if (n > 0)
        best[0] = inside;
    for (int k = 1; k < n; ++k) {
        const int v = static_cast<int>(std::max_element(best.begin(), best.end()) - best.begin());
        tree[nearest[v]].push_back(v);
        tree[v].push_back(nearest[v]);
        best[v] = inside;
        const double* row = strengths + Index{v} * stride;
        for (int u = 0; u < n; ++u) {
            if (best[u] != inside && std::abs(row[u]) > best[u]) {
                best[u] = std::abs(row[u]);
                nearest[u] = v;
            }
        }
    }
    return tree;
}

std::vector<int> tree_order(const Tree& tree, int root) {
    std::vector<int> order{root};
    std::vector<char> seen(tree.size(), 0);
    seen[root] = 1;
    for (std::size_t k = 0; k < order.size(); ++k) {
        for (int u : tree[order[k]]) {
            if (seen[u])
                continue;
            seen[u] = 1;
            order.push_back(u);
        }
    }
    return order;
}

} // namespace qwo
