// Every number that the search was given by experience, with its reason and where it shows.
//
// One row a number: type, name, value, reason, and the benchmark on which a change of it shows
// (`python -m benchmarks.NAME`; docs/concepts/search.md tells what was measured). The core takes
// the values from here, Python lists them by `search_policy()`. "Like a tree" is measured in edges
// a variable: what an order from the spanning tree, as it stands, costs more than the best known.
#pragma once

#include <limits>

// clang-format off
#define QWO_SEARCH_POLICY(ROW)                                                                      \
    /* How wide to search, by the number of variables */                                           \
    ROW(int, proved_up_to, 16,                                                                      \
        "up to so many variables all DAGs are gone through, in less time than restarts take",       \
        "small")                                                                                    \
    ROW(int, all_tucked_up_to, 50,                                                                  \
        "up to so many a search near a known order tucks all edges, half of its time",              \
        "bootstrap")                                                                                \
    ROW(int, thorough_up_to, 200,                                                                   \
        "up to so many there are many starts, and more restarts than asked for",                    \
        "thin")                                                                                     \
    ROW(int, every_tuck_up_to, 400,                                                                 \
        "up to so many every tuck is repaired; beyond, that takes a third of the time and gains a " \
        "few points on some data, while on small dense graphs with few samples it gains much",      \
        "peers.flop")                                                                               \
    ROW(int, few_starts_up_to, 500,                                                                 \
        "up to so many there are few starts; beyond, one, at the cheaper of two orders, and "       \
        "restarts tuck less",                                                                       \
        "wide")                                                                                     \
    ROW(int, thin_up_to, 1000,                                                                      \
        "up to so many, graphs much like a tree get more restarts than asked for",                  \
        "thin")                                                                                     \
    ROW(int, turns_up_to, 1000,                                                                     \
        "beyond so many there are no turns (51 s with, 7 s without at n = 3000, for a few points), " \
        "sweeps look again only at what has changed, and attempts are tried out many at a time",    \
        "wide")                                                                                     \
    ROW(int, every_pair_up_to, 100,                                                                 \
        "up to so many a sweep asks of every two variables whether they pay together",              \
        "seeds")                                                                                    \
    ROW(double, half_a_pair, 0.1,                                                                   \
        "beyond, and in other members of the class, one of two must be worth so much of its price " \
        "alone: two that are worth less need r^2 above .8 given the other parents to pay",          \
        "seeds")                                                                                    \
    ROW(double, chance_pairs, 0.15,                                                                 \
        "if chance offers a variable more pairs that pay, as with few rows, none are looked for: "  \
        "they would add a third to the false edges (n = 40, N = 60)",                               \
        "price")                                                                                    \
    ROW(int, many_parents, 4,                                                                       \
        "beyond, only who has so many asks for two: most have fewer, and it is among many that "    \
        "those that came first keep out better ones (degree 8, n = 500: 431 points)",               \
        "seeds")                                                                                    \
    ROW(int, proved_dense_up_to, 18,                                                                \
        "up to so many all DAGs are gone through if there are two edges a variable: restarts "      \
        "take half as long or longer, and end short on one of fifty",                                         \
        "proof")                                                                                   \
    ROW(int, crowded_up_to, 20,                                                                     \
        "up to so many all DAGs are gone through if more than half of all pairs are joined: 300 "   \
        "restarts take as long, and still end short on one of twelve",                              \
        "seeds")                                                                                    \
    ROW(int, turned_among_all_up_to, 100,                                                           \
        "beyond, arrows are turned over candidates at most two edges away: half of the time at "    \
        "n = 300, and 1 % of worths higher by more than 1",                                         \
        "arrows")                                                                                   \
    ROW(int, attempts_at_once, 128,                                                                 \
        "attempts tried out at a time there, enough to keep threads busy",                          \
        "wide")                                                                                     \
    /* Descent, tucks and repairs: when to give up, in prices of an edge */                         \
    ROW(double, give_up_descent, 20.0,                                                              \
        "the further the wrong way, the more edges it takes to explain the data",                   \
        "peers.flop")                                                                               \
    ROW(double, give_up_repair, 2.0,                                                                \
        "what a tuck has touched finds its place nearby",                                           \
        "peers.flop")                                                                               \
    ROW(int, most_misled, 4,                                                                        \
        "moves for each variable that cost no less although that was expected, as where columns are "  \
        "nearly dependent, before nothing more is followed up",                                     \
        "curved_kinds")                                                                             \
    ROW(double, give_up_turn, 1.0,                                                                  \
        "the same after an arrow is turned to see what it is worth: 2 takes a quarter more time "   \
        "and lowers 1 % of worths by more than 1",                                                  \
        "arrows")                                                                                   \
    ROW(double, repaired_turn, 4.0,                                                                 \
        "an arrow whose turn costs more before its repair is worth much in any case: of 321, 4 were " \
        "worth less than two edges, and their repairs took a third of the time",                    \
        "arrows")                                                                                   \
    ROW(double, give_up_tuck_of_many, 4.0,                                                          \
        "a tuck of many variables that costs more before its repair is taken back at once",         \
        "peers.flop")                                                                               \
    ROW(double, give_up_tuck_in_haste, 2.0,                                                         \
        "the same near a known order, and after a restart that was a near miss",                    \
        "bootstrap")                                                                                \
    /* Starts */                                                                                    \
    ROW(int, many_starts, 12,                                                                       \
        "the most further starts up to the thorough size; nearly all end earlier by agreement",     \
        "thin")                                                                                     \
    ROW(int, few_starts, 3,                                                                         \
        "the most above it",                                                                        \
        "thin")                                                                                     \
    ROW(int, agreeing_starts, 3,                                                                    \
        "starts that must agree on a variable where the graph is like a tree: there they differ",   \
        "thin")                                                                                     \
    ROW(int, agreeing_starts_elsewhere, 1,                                                          \
        "the same elsewhere, and where few variables are in doubt: starts take longer and find "    \
        "less",                                                                                     \
        "thin")                                                                                     \
    ROW(double, like_a_tree, 2.5,                                                                   \
        "up to so many edges a variable a graph is like a tree",                                    \
        "thin")                                                                                     \
    ROW(double, unlike_a_tree, 5.0,                                                                 \
        "above so many there are no further starts: random graphs with strong effects, where they " \
        "find nothing",                                                                             \
        "thin")                                                                                     \
    ROW(double, thin, 1.0,                                                                          \
        "up to so many it is so much like a tree that all starts may agree on an error: twice as "  \
        "many restarts around what is in doubt, in any case (n = 700, ladders: 2,230 points)",      \
        "thin")                                                                                     \
    ROW(double, few_in_doubt, 0.25,                                                                 \
        "share of doubtful variables up to which one agreeing start is enough; restarts around "    \
        "them do the rest",                                                                         \
        "thin")                                                                                     \
    ROW(int, fruitless_starts, 5,                                                                   \
        "so many starts in a row without success end them",                                         \
        "thin")                                                                                     \
    ROW(double, dense, 3.5,                                                                         \
        "edges a variable from which on there are no further starts and no more restarts than "     \
        "asked for: they take much longer than in sparse graphs, and find nothing",                 \
        "peers.flop")                                                                               \
    ROW(int, rounds, 2,                                                                             \
        "where starts do not agree, starts and restarts are made once more",                        \
        "thin")                                                                                     \
    /* Restarts */                                                                                  \
    ROW(int, restarts_per_chain, 20,                                                                \
        "fewer are not worth a copy of the engine",                                                 \
        "peers.flop")                                                                               \
    ROW(int, most_chains, 8,                                                                        \
        "chains do not learn from each other; longer ones find more",                               \
        "peers.flop")                                                                               \
    ROW(int, smallest_ball, 2,                                                                      \
        "a variable and a neighbour",                                                               \
        "thin")                                                                                     \
    ROW(int, largest_ball_at_first, 12,                                                             \
        "larger balls cost more and find no more, except where small ones have failed",             \
        "thin")                                                                                     \
    ROW(int, largest_ball, 20,                                                                      \
        "around what is in doubt, where small ones have failed",                                    \
        "thin")                                                                                     \
    ROW(int, quiet_restarts, 10,                                                                    \
        "if so many all lead back, or none ends near where no edge is weak, so will the rest",      \
        "peers.flop")                                                                               \
    ROW(double, nearly, 0.5,                                                                        \
        "a restart that ends worse by less, in prices of an edge, was nearly as good",              \
        "thin")                                                                                     \
    ROW(double, rugged, 0.05,                                                                       \
        "share of such restarts from which on there are many optima, worth more restarts",          \
        "thin")                                                                                     \
    ROW(int, tries, 1,                                                                              \
        "restarts around each doubtful variable, if there is reason for more",                      \
        "thin")                                                                                     \
    ROW(double, sure, 10.0,                                                                         \
        "an edge worth more than so many times its price is beyond doubt: of 38 graphs that more "  \
        "restarts improved, 37 by one around a doubtful variable",                                  \
        "thin")                                                                                     \
    ROW(double, near_miss, 1.0,                                                                     \
        "a restart that ends worse by less, in prices of an edge, tucks what it has touched",       \
        "thin")                                                                                     \
    ROW(double, near_miss_of_turns, 3.0,                                                            \
        "the same after a turned arrow is let go, in the end: 1 leaves .84 % short instead of .78", \
        "seeds")                                                                                    \
    ROW(int, ball_proved, 10,                                                                       \
        "variables around a doubtful one that get the best of all DAGs in the end",                 \
        "seeds")                                                                                    \
    ROW(int, ball_with_parents, 12,                                                                 \
        "the same with their parents from elsewhere",                                               \
        "seeds")                                                                                    \
    ROW(int, balls_enough, 3,                                                                       \
        "who was in so many of these has none around itself: neighbours have much the same",        \
        "seeds")                                                                                    \
    ROW(double, near_miss_of_many, 0.3,                                                             \
        "the same above the size of few starts, where tucks take most of the time",                 \
        "thin")
// clang-format on

namespace qwo {

namespace policy {

#define QWO_VALUE(type, name, value, reason, benchmark) inline constexpr type name = value;
QWO_SEARCH_POLICY(QWO_VALUE)
#undef QWO_VALUE

inline constexpr double never = std::numeric_limits<double>::infinity();

// The most further starts, and restarts around each doubtful variable, where nobody asks for
// others.
constexpr int starts_for(int n) {
    return n <= thorough_up_to ? many_starts : n <= few_starts_up_to ? few_starts : 0;
}
constexpr int tries_for(int n, bool is_thin) {
    return n <= (is_thin ? thin_up_to : thorough_up_to) ? tries : 0;
}
// How many starts that agree on a variable are enough, so far from a tree.
constexpr int enough_starts(double away) {
    return away <= like_a_tree     ? agreeing_starts
           : away <= unlike_a_tree ? agreeing_starts_elsewhere
                                   : 0;
}

} // namespace policy

struct PolicyRow {
    const char* name;
    double value;
    const char* reason;
    const char* benchmark;
};

inline constexpr PolicyRow search_policy[] = {
#define QWO_ROW(type, name, value, reason, benchmark) {#name, value, reason, benchmark},
    QWO_SEARCH_POLICY(QWO_ROW)
#undef QWO_ROW
};

} // namespace qwo
