// Descent over directed graphs with cycles by single edges, added, removed or turned.
#pragma once

#include <vector>

#include "qwo/cyclic_cost.hpp"

namespace qwo {

class CyclicSearch {
  public:
    // may[u * n + v]: u → v may be drawn; must[u * n + v]: it may not be left out.
    CyclicSearch(CyclicCost& cost, std::vector<char> may, std::vector<char> must);

    void start(ParentSetsOf parents);
    // Takes the best change while there is one, for about so many seconds; whether it has ended.
    bool descend(double seconds);

    double cost() const { return total_; }
    const ParentSetsOf& parents() const { return parents_; }

  private:
    struct Change {
        int cause = -1, effect = -1;
        bool turned = false;
        double gain = 0.0;
    };

    void flip(int cause, int effect);
    void rebuild();
    double gain(int cause, int effect, bool turned, double least);
    double change(int cause, int effect, double least);
    bool reaches(int from, int to);
    bool has(int cause, int effect) const;

    CyclicCost& cost_;
    int n_;
    std::vector<char> may_, must_;
    ParentSetsOf parents_;
    std::vector<std::vector<int>> components_;
    std::vector<int> component_of_;
    std::vector<double> costs_;
    std::vector<char> seen_;
    std::vector<int> stack_;
    double total_ = 0.0;
};

} // namespace qwo
