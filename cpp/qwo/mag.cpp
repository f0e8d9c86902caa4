#include "qwo/mag.hpp"

#include <algorithm>
#include <numeric>

namespace qwo {

Mag::Mag(const MarkedGraph& graph) : Mag(graph.size()) {
    for (int i = 0; i < n_; ++i) {
        for (int j = 0; j < n_; ++j) {
            if (graph.directed(i, j))
                set(i, j, Link::forth);
            else if (graph.at(i, j) == arrowhead && graph.at(j, i) == arrowhead)
                set(i, j, Link::spouses);
        }
    }
}

void Mag::set(int i, int j, Link link) {
    for (BitMatrix* ends : {&parents_, &spouses_, &near_}) {
        ends->clear(i, j);
        ends->clear(j, i);
    }
    if (link != Link::none) {
        near_.set(i, j);
        near_.set(j, i);
    }
    if (link == Link::forth)
        parents_.set(j, i);
    else if (link == Link::back)
        parents_.set(i, j);
    else if (link == Link::spouses) {
        spouses_.set(i, j);
        spouses_.set(j, i);
    }
}

MarkedGraph Mag::marked() const {
    MarkedGraph graph(n_);
    for (int j = 0; j < n_; ++j) {
        for_each_bit(parents_.row(j), parents_.words(), [&](int i) {
            graph.set(i, j, arrowhead);
            graph.set(j, i, tail);
        });
        for_each_bit(spouses_.row(j), spouses_.words(), [&](int i) { graph.set(i, j, arrowhead); });
    }
    return graph;
}

std::vector<int> Mag::district(int v) const {
    std::vector<int> found{v};
    const std::uint64_t* own = spouses_.row(v);
    if (std::all_of(own, own + spouses_.words(), [](std::uint64_t w) { return w == 0; }))
        return found;
    std::vector<std::uint64_t> seen(spouses_.words(), 0);
    seen[v >> 6] |= std::uint64_t{1} << (v & 63);
    for (std::size_t k = 0; k < found.size(); ++k) {
        for_each_bit(spouses_.row(found[k]), spouses_.words(), [&](int u) {
            std::uint64_t& word = seen[u >> 6];
            const std::uint64_t bit = std::uint64_t{1} << (u & 63);
            if (!(word & bit)) {
                word |= bit;
                found.push_back(u);
            }
        });
    }
    std::sort(found.begin(), found.end());
    return found;
}

AncestralCheck::AncestralCheck(int n, const std::vector<char>& never)
    : n_(n), above_(n, n), into_(n, n), never_(n, n), limited_(!never.empty()), state_(n, 0) {
    words_ = above_.words();
    allowed_.resize(words_);
    seen_.resize(words_);
    front_.resize(words_);
    next_.resize(words_);
    for (int j = 0; limited_ && j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            if (never[Index{j} * n + i])
                never_.set(j, i);
        }
    }
}

// Fills the ancestors of j and of all above it; false if there is a cycle.
bool AncestralCheck::climb(const Mag& mag, int j) {
    if (state_[j] != 0)
        return state_[j] == 2;
    state_[j] = 1;
    std::uint64_t* own = above_.row(j);
    std::fill_n(own, words_, 0);
    bool acyclic = true;
    for_each_bit(mag.parents().row(j), words_, [&](int p) {
        if (!acyclic || !climb(mag, p)) {
            acyclic = false;
            return;
        }
        const std::uint64_t* theirs = above_.row(p);
        for (std::size_t w = 0; w < words_; ++w)
            own[w] |= theirs[w];
    });
    above_.set(j, j);
    state_[j] = 2;
    return acyclic;
}

bool AncestralCheck::is_legal(const Mag& mag) {
    rows_.resize(n_);
    std::iota(rows_.begin(), rows_.end(), 0);
    return judge(mag, rows_);
}

bool AncestralCheck::is_legal_near(const Mag& mag, const std::vector<int>& touched) {
    rows_.clear();
    kept_.clear();
    // Ancestors change below the vertices touched alone.
    for (int v = 0; v < n_; ++v) {
        const std::uint64_t* above = above_.row(v);
        if (std::any_of(touched.begin(), touched.end(),
                        [&](int t) { return (above[t >> 6] >> (t & 63)) & 1u; })) {
            rows_.push_back(v);
            kept_.insert(kept_.end(), above, above + words_);
        }
    }
    const bool legal = judge(mag, rows_);
    for (std::size_t r = 0; r < rows_.size(); ++r)
        std::copy_n(kept_.data() + r * words_, words_, above_.row(rows_[r]));
    return legal;
}

// Whether a graph is legal if it can only fail to be so at these vertices, or around districts.
bool AncestralCheck::judge(const Mag& mag, const std::vector<int>& rows) {
    std::fill(state_.begin(), state_.end(), 2);
    for (const int j : rows)
        state_[j] = 0;
    for (const int j : rows) {
        if (!climb(mag, j))
            return false;
        const std::uint64_t *above = above_.row(j), *spouses = mag.spouses().row(j);
        for (std::size_t w = 0; w < words_; ++w) {
            if (above[w] & (spouses[w] | never_.row(j)[w]))
                return false;
        }
    }
    std::fill(state_.begin(), state_.end(), 0);
    for (int j = 0; j < n_; ++j) {
        const std::uint64_t* spouses = mag.spouses().row(j);
        if (state_[j] || std::all_of(spouses, spouses + words_, [](auto w) { return w == 0; }))
            continue;
        const std::vector<int> district = mag.district(j);
        for (const int v : district)
            state_[v] = 1;
        if (!district_is_maximal(mag, district))
            return false;
    }
    return true;
}

bool AncestralCheck::district_is_maximal(const Mag& mag, const std::vector<int>& district) {
    std::vector<int> around;
    const auto enter = [&](int x, int v) {
        std::uint64_t* row = into_.row(x);
        if (std::all_of(row, row + words_, [](std::uint64_t w) { return w == 0; }))
            around.push_back(x);
        into_.set(x, v);
    };
    for (const int v : district) {
        for_each_bit(mag.parents().row(v), words_, [&](int x) { enter(x, v); });
        for_each_bit(mag.spouses().row(v), words_, [&](int x) { enter(x, v); });
    }
    bool maximal = true;
    for (std::size_t a = 0; maximal && a < around.size(); ++a) {
        for (std::size_t b = 0; maximal && b < a; ++b)
            maximal = !induced(mag, around[a], around[b]);
    }
    for (const int x : around)
        std::fill_n(into_.row(x), words_, 0);
    return maximal;
}

// Whether an inducing path joins two vertices that have no edge.
bool AncestralCheck::induced(const Mag& mag, int x, int y) {
    const std::uint64_t *above_x = above_.row(x), *above_y = above_.row(y);
    const std::uint64_t *into_x = into_.row(x), *into_y = into_.row(y);
    bool begins = false, ends = false;
    for (std::size_t w = 0; w < words_; ++w) {
        begins |= (into_x[w] & above_y[w]) != 0;
        ends |= (into_y[w] & above_x[w]) != 0;
    }
    if (!begins || !ends || mag.linked(x, y))
        return false;
    for (std::size_t w = 0; w < words_; ++w) {
        allowed_[w] = above_x[w] | above_y[w];
        front_[w] = into_x[w] & above_y[w];
    }
    for (const int end : {x, y}) {
        allowed_[end >> 6] &= ~(std::uint64_t{1} << (end & 63));
        front_[end >> 6] &= ~(std::uint64_t{1} << (end & 63));
    }
    seen_ = front_;
    for (bool more = true; more;) {
        for (std::size_t w = 0; w < words_; ++w) {
            if (seen_[w] & into_y[w] & above_x[w])
                return true;
        }
        std::fill(next_.begin(), next_.end(), 0);
        for_each_bit(front_.data(), words_, [&](int v) {
            const std::uint64_t* spouses = mag.spouses().row(v);
            for (std::size_t w = 0; w < words_; ++w)
                next_[w] |= spouses[w] & allowed_[w];
        });
        more = false;
        for (std::size_t w = 0; w < words_; ++w) {
            front_[w] = next_[w] & ~seen_[w];
            seen_[w] |= front_[w];
            more |= front_[w] != 0;
        }
    }
    return false;
}

} // namespace qwo
