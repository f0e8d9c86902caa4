// The best DAG of variables that hang together, by branch and bound over which of them comes last.
//
// States are sets of variables that are left, after those that come last have been taken away; what
// matters of a state is the least that those have cost (Silander and Myllymäki 2006), and one layer
// of states follows the other (Malone, Yuan, Hansen and Bridges 2011). Costs are counted above what
// all predecessors explain: variable v with parents P before the set U that is left costs
// cost(v, P) - N log var(v | U) ≥ 0, and N log det is the same for every order. A state is dropped
// where that, and a bound on what is left, reach what the best graph known costs. Two bounds:
// - The pieces that the edges of a DAG leave unjoined lose what they tell of each other: a maximum
//   spanning tree of min(price, -N log(1 - r²)) (Chow and Liu's).
// - Databases of groups of variables (pattern databases, Yuan and Malone 2012): v after the set W
// of
//   its own group costs at least min over P of price |P| + N log (var(v | P) / var(v | P and W)),
//   whatever is before besides; the least sum over the orders of a group, by dynamic programming.
//   P has up to two variables; more cost three prices at least.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "qwo/family_table.hpp"

namespace qwo {

class SinkSearch {
  public:
    // The part is some of n variables; the tables are those of its members, of all n. Parents that
    // are not in the part stand before it. Only what costs less than the best known by more than
    // the tolerance is looked for.
    SinkSearch(const std::vector<double>& correlation, int n, const std::vector<int>& part,
               const std::vector<FamilyTable>& tables, double samples, double price,
               double best_known, double tolerance);

    // Builds the databases, then goes on until the end, or until `may_go_on` says no, which is
    // asked every few milliseconds; whether it has ended. It ends as well where a layer would have
    // more states than `most`: then nothing is proved.
    bool run(std::size_t most, const std::function<bool()>& may_go_on);

    bool is_proved() const { return is_proved_; }
    // No DAG costs less.
    double bound() const { return bound_ + all_explained_; }
    // The parent sets of a DAG that costs less than the best known, by member of the part; none if
    // there is no such DAG.
    const std::vector<WideSet>& chosen() const { return chosen_; }
    std::int64_t states() const { return states_; }

  private:
    // States of one size, by open addressing.
    struct Layer {
        explicit Layer(std::size_t places = 64);
        // The place of a set, or the free one where it belongs.
        std::size_t place(WideSet set) const;
        void keep(WideSet set, double cost, std::int8_t last);
        bool has(std::size_t place) const { return last[place] != free; }
        std::size_t capacity() const { return sets.size(); }

        static constexpr std::int8_t free = -1;
        std::size_t count = 0;
        std::vector<WideSet> sets;
        std::vector<double> costs;
        std::vector<std::int8_t> last;
    };
    // What leads back from states, by set.
    struct Trail {
        std::vector<WideSet> sets;
        std::vector<std::int8_t> last;
    };

    bool build_databases(const std::function<bool()>& may_go_on);
    std::vector<double> least_in_group(const std::vector<int>& group, int v) const;
    std::vector<int> next_group(WideSet left, int size) const;
    double left_to_pay(WideSet set) const;
    double tree(WideSet set) const;
    void expand(WideSet set, double cost, Layer& next);
    void finish();
    int cheapest_within(int v, WideSet set) const;

    // Of a variable of the part: what is chosen by bits of the part and of all, ascending in cost.
    struct Families {
        std::vector<WideSet> inside, whole;
        std::vector<double> costs;
        // For each 64 of them which have each variable; that of the variable itself has the places
        // behind the last.
        std::vector<std::uint64_t> with;
    };
    Families families_of(int v, const FamilyTable& table, const std::vector<int>& part) const;

    int n_;
    double samples_, price_, all_explained_ = 0.0, budget_ = 0.0, bound_ = 0.0;
    std::vector<double> covariance_;
    double tolerance_;
    std::vector<double> links_; // min(price, -N log(1 - r²))
    std::vector<Families> families_;
    struct Group {
        std::vector<int> variables;
        std::vector<float> least; // by set of them
    };
    std::vector<Group> groups_;
    std::vector<Trail> trails_;
    std::vector<double> factor_, inverse_; // room for expand
    std::vector<WideSet> chosen_;
    std::int64_t states_ = 0;
    bool is_proved_ = false;
};

} // namespace qwo
