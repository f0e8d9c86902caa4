// An order of variables, and the place of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "qwo/index.hpp"

namespace qwo {

class OrderPlaces {
  public:
    // Places of a variable on its way, which belongs to no place of its own.
    static constexpr std::int32_t before_all = -1;
    static constexpr std::int32_t after_all = std::numeric_limits<std::int32_t>::max();

    explicit OrderPlaces(int n) : places_(n, after_all) {}

    const std::vector<int>& order() const { return order_; }
    int at(int place) const { return order_[place]; }
    int place(int v) const { return places_[v]; }
    bool precedes(int u, int v) const { return place(u) < place(v); }
    const std::int32_t* places() const { return places_.data(); }

    void set(const std::vector<int>& order) {
        order_ = order;
        for (int k = 0; k < count_of(order_); ++k)
            send(order_[k], k);
    }
    // Says where a variable is, without putting it into the order there.
    void send(int v, std::int32_t place) { places_[v] = place; }
    // Takes v out and puts it in at another place; those between shift by one.
    void move(int v, int target) {
        const int step = target < place(v) ? -1 : 1;
        for (int k = place(v); k != target; k += step)
            put(at(k + step), k);
        put(v, target);
    }

  private:
    void put(int v, int place) {
        order_[place] = v;
        send(v, place);
    }

    std::vector<int> order_;
    std::vector<std::int32_t> places_;
};

} // namespace qwo
