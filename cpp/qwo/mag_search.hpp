// A descent over MAGs by N times the fit of their districts plus a penalty for each edge.
//
// Passes over pairs until nothing changes; the best change of each pair is made at once. A linked
// pair may have another kind of edge, or lose it; a subset of the common neighbours of a pair that
// is not linked, or no longer, may become colliders; an unlinked pair that depends given all others
// may be linked. A change must save at least so much.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "qwo/district_fit.hpp"

namespace qwo {

struct MagPrices {
    double samples;
    double edge;
    double least_saving;
};

// One change of the descent: what the edge of a pair became, who was made a collider, what it
// saved, and of how many common neighbours the colliders were chosen.
struct MagStep {
    int first, second;
    Link before, after;
    std::vector<int> colliders;
    double saving;
    int common = 0;
};

class MagSearch {
  public:
    // candidates[i * n + j]: the pair may be linked; limits: what knowledge says of marks;
    // never[j * n + i]: i is no ancestor of j.
    MagSearch(const double* correlation, const Mag& start, MagPrices prices,
              const std::vector<char>& candidates, MarkLimits limits,
              const std::vector<char>& never, int most_sweeps);

    // Goes on for about so many seconds; whether the descent has ended.
    bool run(double seconds);
    // From now on each doubtful collider costs so much, and only changes that leave fewer of them
    // are made: of two vertices without an edge, not both of whose arrowheads are trusted.
    // trusted[i * n + j]: the arrowhead at j of the edge with i.
    void doubt(std::vector<char> trusted, double price);

    double cost() const { return cost_; }
    const Mag& mag() const { return mag_; }
    const std::vector<MagStep>& steps() const { return steps_; }
    const MagParameters& parameters() const { return parameters_; }
    // By how much the cost rises if the edge of a pair is another one, all else as it is; infinite
    // if the graph were no MAG or not allowed.
    double change(int i, int j, Link link);
    std::size_t districts_fitted() const { return memo_.size(); }
    // For each arrowhead and tail of the class, at [i * n + j] for the end at j: by how much more
    // the best graph near by costs whose class has the edge, but not that mark; infinite above
    // `most`. A graph near by differs in one edge, which stays, and in what repairs that around it.
    std::vector<double> mark_worths(double most);

  private:
    struct Undo {
        int i, j;
        Link link;
    };
    struct Change {
        Link link = Link::none;
        std::vector<int> colliders;
        double rise = std::numeric_limits<double>::infinity();
        int common = 0;
    };
    bool allowed(int i, int j, Link link) const;
    void apply(int i, int j, Link link, const std::vector<int>& colliders);
    void revert();
    // Whether other parents of `to` have `from` among their ancestors.
    bool leads_around(int from, int to) const;
    // By how much the cost rises; a number of the bound or more may be that of a graph that is no
    // MAG.
    double rise_of(int i, int j, Link link, const std::vector<int>& colliders, double bound);
    void consider(int i, int j, Link link, const std::vector<int>& colliders, Change& best);
    void consider_deletions(int i, int j, Change& best);
    bool improve(int i, int j);
    void repair(int i, int j);
    // The fit of all districts around some vertices: in a graph on trial, and in the present one.
    double fit_around(const std::vector<int>& vertices);
    double present_fit(const std::vector<int>& vertices) const;
    // Appends the doubtful colliders at a vertex; how many there are near a change.
    void find_doubtful(int at, std::vector<std::array<int, 3>>& found) const;
    int doubtful_near(int i, int j, const std::vector<int>& colliders) const;
    void make(int i, int j, const Change& change);
    // Goes through the doubtful colliders; whether the end was reached in time.
    bool undo_doubtful(double until);
    // Makes the graph on trial, changed around some vertices, the present one.
    void settle(const std::vector<int>& vertices);
    double fit_of(const std::vector<int>& district);
    std::uint64_t key_of(const std::vector<int>& district) const;

    int n_;
    Mag mag_;
    MagPrices prices_;
    std::vector<char> candidates_;
    MarkLimits limits_;
    AncestralCheck check_;
    DistrictFit fit_;
    MagParameters parameters_;
    std::unordered_map<std::uint64_t, double> memo_;
    // For each vertex the first one of its district, and there the district's fit.
    std::vector<int> first_;
    std::vector<double> fits_;
    std::vector<Undo> undo_;
    std::vector<MagStep> steps_;
    // What is trusted, what a doubtful collider costs, and those of this pass: the vertex and two
    // that point at it.
    std::vector<char> trusted_;
    double doubt_ = 0.0;
    std::vector<std::array<int, 3>> doubtful_;
    double cost_ = 0.0;
    int i_ = 0, j_ = 0;
    bool changed_ = false;
};

} // namespace qwo
