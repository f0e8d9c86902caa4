// Ancestral graphs as sets of parents and spouses, and whether one is a MAG.
#pragma once

#include <cstdint>
#include <vector>

#include "qwo/bit_matrix.hpp"
#include "qwo/marked_graph.hpp"

namespace qwo {

// What an edge between i and j can be.
enum class Link : std::uint8_t { none, forth, back, spouses };

class Mag {
  public:
    explicit Mag(int n) : n_(n), parents_(n, n), spouses_(n, n), near_(n, n) {}
    explicit Mag(const MarkedGraph& graph);

    int size() const { return n_; }
    const BitMatrix& parents() const { return parents_; }
    const BitMatrix& spouses() const { return spouses_; }
    Link link(int i, int j) const {
        return parents_.test(j, i)   ? Link::forth
               : parents_.test(i, j) ? Link::back
               : spouses_.test(i, j) ? Link::spouses
                                     : Link::none;
    }
    bool linked(int i, int j) const { return near_.test(i, j); }
    // Calls visit(z) for every z that is linked with both i and j, ascending.
    template <class Visit>
    void for_each_common(int i, int j, Visit visit) const {
        const std::uint64_t *a = near_.row(i), *b = near_.row(j);
        for (std::size_t w = 0; w < near_.words(); ++w) {
            const std::uint64_t both = a[w] & b[w];
            for_each_bit(&both, 1, [&](int z) { visit(static_cast<int>(w * 64) + z); });
        }
    }
    void set(int i, int j, Link link);
    MarkedGraph marked() const;
    // The vertices joined with v by <->, v among them, ascending.
    std::vector<int> district(int v) const;

  private:
    int n_;
    BitMatrix parents_;
    BitMatrix spouses_;
    BitMatrix near_; // whatever is linked
};

// Asks graphs of n vertices whether they are MAGs. The inner vertices of an inducing path between
// vertices without an edge are two at least, all of one district; the first is an ancestor of one
// end, the last of the other: only pairs around a district are looked at.
class AncestralCheck {
  public:
    // never[j * n + i]: i must not be an ancestor of j; empty for none.
    explicit AncestralCheck(int n, const std::vector<char>& never = {});

    bool is_legal(const Mag& mag);
    // The same of a graph whose edges differ from those of the last one asked about, which was
    // legal, among some vertices alone; that one is still the last one then.
    bool is_legal_near(const Mag& mag, const std::vector<int>& touched);
    // Row j: the ancestors of j in the graph asked about last, j among them.
    const BitMatrix& ancestors() const { return above_; }

  private:
    bool judge(const Mag& mag, const std::vector<int>& rows);
    bool climb(const Mag& mag, int j);
    bool district_is_maximal(const Mag& mag, const std::vector<int>& district);
    bool induced(const Mag& mag, int x, int y);

    int n_;
    std::size_t words_;
    BitMatrix above_;
    BitMatrix into_; // row x: the vertices of a district with an arrowhead from x
    BitMatrix never_;
    bool limited_;
    std::vector<char> state_;
    std::vector<std::uint64_t> allowed_, seen_, front_, next_, kept_;
    std::vector<int> rows_;
};

} // namespace qwo
