// The two types that things are numbered with.
//
// Variables, places and columns are `int`, and containers take them as they are: there are at most
// some ten thousand, and none is negative where it is an index. A place in a matrix, which is a
// product, is an `Index`; `Index{i} * n` widens before it multiplies, and never cuts off.
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

namespace qwo {

using Index = std::ptrdiff_t;

// How many items a container has, as a number of variables or places.
template <class Container>
int count_of(const Container& items) {
    return static_cast<int>(std::size(items));
}

// The place of each variable in an order of all of them.
inline std::vector<int> places_of(const std::vector<int>& order) {
    std::vector<int> places(order.size());
    for (int k = 0; k < count_of(order); ++k)
        places[order[k]] = k;
    return places;
}

} // namespace qwo
