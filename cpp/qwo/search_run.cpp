#include "qwo/search_run.hpp"

#include <algorithm>
#include <cmath>

#include "qwo/best_ball.hpp"
#include "qwo/best_dag.hpp"
#include "qwo/bridges.hpp"
#include "qwo/class_step.hpp"
#include "qwo/clock.hpp"
#include "qwo/index.hpp"
#include "qwo/parallel.hpp"

namespace qwo {

namespace {

// Edges between children: those from given variables say nothing about how the search goes on.
int n_edges(const ParentSets& engine) {
    int edges = 0;
    for (int v = 0; v < engine.n(); ++v) {
        for (int u : engine.fit(v).parents())
            edges += engine.is_given(u) ? 0 : 1;
    }
    return edges;
}

// How many restarts each chain makes; a function of their number alone.
std::vector<int> chain_lengths(int restarts) {
    const int wanted = (restarts + policy::restarts_per_chain - 1) / policy::restarts_per_chain;
    const int chains = std::min(policy::most_chains, wanted);
    std::vector<int> lengths;
    for (int k = 0; k < chains; ++k)
        lengths.push_back(restarts / chains + (k < restarts % chains ? 1 : 0));
    return lengths;
}

} // namespace

// Restarts one after the other: on an engine of their own, or, if they are alone, on the engine of
// the run, which they leave no worse.
struct SearchRun::Chain {
    std::uint64_t seed = 0;
    int length = 0, tries = 0;
    std::vector<int> centres;
    bool is_alone = true;
    std::unique_ptr<ParentSets> copy;
    std::unique_ptr<Shuffles> shuffles;
    bool is_done = false;

    void run(ParentSets& engine, double seconds) {
        if (!shuffles) {
            if (!is_alone)
                copy = std::make_unique<ParentSets>(engine);
            shuffles =
                std::make_unique<Shuffles>(is_alone ? engine : *copy, seed, length, tries, centres);
        }
        is_done = shuffles->run(seconds);
    }
};

SearchRun::SearchRun(ParentSets& engine, Draws draws, RunOptions options)
    : engine_(engine), draws_(std::move(draws)), options_(std::move(options)), n_(engine.n()),
      children_(engine.problem().n_children()),
      starts_(options_.starts.value_or(policy::starts_for(children_))),
      noise_(engine.problem().noise()), agreed_(n_, 0), begun_(seconds_now()) {
    trace_.emplace_back(0.0, engine.cost());
}

SearchRun::~SearchRun() = default;

double SearchRun::seconds() const {
    return seconds_now() - begun_;
}

void SearchRun::note(const char* step, int number) {
    steps_.emplace_back(step, number);
}

void SearchRun::note_cost() {
    if (engine_.cost() < trace_.back().second)
        trace_.emplace_back(seconds(), engine_.cost());
}

bool SearchRun::run(double seconds) {
    const double end = seconds_now() + seconds;
    while (next_ != nullptr) {
        if (!work(end - seconds_now()))
            return false;
        const Next next = std::exchange(next_, nullptr);
        (this->*next)();
        if (next_ != nullptr && seconds_now() >= end)
            return false;
    }
    return true;
}

bool SearchRun::is_restarting() const {
    return chains_.size() == 1 && chains_.front()->is_alone && chains_.front()->shuffles &&
           chains_.front()->shuffles->search().is_restarting();
}

// Whether what is under way is done.
bool SearchRun::work(double seconds) {
    if (descent_) {
        if (!descent_->run(seconds))
            return false;
        end_descent();
    }
    return chains_.empty() || run_chains(seconds);
}

bool SearchRun::run_chains(double seconds) {
    const double end = seconds_now() + seconds;
    std::vector<Chain*> left;
    for (const auto& chain : chains_) {
        if (!chain->is_done)
            left.push_back(chain.get());
    }
    for_each_parallel(left.size(), options_.jobs, [&](std::size_t k) {
        const double rest = end - seconds_now();
        if (k == 0 || rest > 0.0)
            left[k]->run(engine_, rest);
    });
    return std::all_of(left.begin(), left.end(), [](const Chain* chain) { return chain->is_done; });
}

void SearchRun::stop() {
    next_ = nullptr;
    if (descent_)
        end_descent();
    if (challenger_ && challenger_->cost() < engine_.cost())
        engine_.swap(*challenger_);
    challenger_.reset();
    if (!chains_.empty())
        end_chains();
    note_cost();
}

void SearchRun::descend(ParentSets& engine, SearchOptions options, Next next) {
    options.tucks = options_.tucks;
    options.threads = options_.threads;
    descent_begun_ = seconds();
    descent_ = std::make_unique<InsertionSearch>(engine, draws_.seed(), std::move(options));
    next_ = next;
}

void SearchRun::end_descent() {
    const double best = trace_.back().second;
    for (std::size_t k = 1; k < descent_->trace().size(); ++k) {
        const auto [after, cost] = descent_->trace()[k];
        if (cost < best)
            trace_.emplace_back(descent_begun_ + after, cost);
    }
    counts_ += descent_->counts();
    descent_.reset();
}

void SearchRun::begin() {
    if (options_.nearby || options_.restarts > 0) {
        prove(policy::proved_up_to);
        if (is_proved_)
            return;
    }
    if (options_.restarts > 0 && !options_.nearby && !options_.starts &&
        children_ > policy::few_starts_up_to)
        begin_at_cheaper();
    SearchOptions options = search_options(children_, options_.nearby);
    options.nearby = options_.nearby && children_ > policy::all_tucked_up_to;
    note("descent", n_edges(engine_));
    descend(engine_, options,
            options_.restarts == 0 ? &SearchRun::finish
            : options_.nearby      ? &SearchRun::restart_near
                                   : &SearchRun::begin_rounds);
}

void SearchRun::prove(int most) {
    is_proved_ = take_best(engine_, most);
    note("best of all", is_proved_);
    note_cost();
}

void SearchRun::begin_at_cheaper() {
    const std::vector<int> order = next_tree_order();
    cost_of_tree_ = engine_.cost_of(order, options_.threads);
    if (cost_of_tree_ < engine_.cost())
        engine_.reset(order, options_.threads);
    note_cost();
}

void SearchRun::restart_near() {
    restart(&SearchRun::finish);
}

void SearchRun::begin_rounds() {
    const int edges = n_edges(engine_);
    if ((n_ <= policy::proved_dense_up_to && edges >= 2 * children_) ||
        (n_ <= policy::crowded_up_to && 4 * edges > children_ * (children_ - 1))) {
        prove(policy::crowded_up_to);
        if (is_proved_)
            return;
    }
    if (cost_of_tree_ < policy::never)
        distance_from_tree(cost_of_tree_);
    begin_round();
}

// How much more than the best an order from the spanning tree costs, as it stands, in edges a
// variable; notes if that is little.
double SearchRun::distance_from_tree(double cost) {
    const double away = (cost - engine_.cost()) / (engine_.problem().typical_penalty * children_);
    is_thin_ |= away <= policy::thin;
    return away;
}

bool SearchRun::is_sparse() const {
    return n_edges(engine_) <= policy::dense * children_;
}

// From a random root, as the constraints allow it, given variables first.
std::vector<int> SearchRun::next_tree_order() {
    if (tree_.empty()) {
        const CorrelationRows& rows = engine_.problem().sets.front().correlation;
        tree_ = options_.association.empty() ? spanning_tree(rows.values, n_, rows.stride)
                                             : spanning_tree(options_.association.data(), n_, n_);
    }
    int root = draws_.below(n_);
    while (engine_.is_given(root))
        root = draws_.below(n_);
    note("tree order", root);
    std::vector<int> order = permitted_order(engine_, tree_order(tree_, root));
    std::stable_partition(order.begin(), order.end(), [&](int v) { return engine_.is_given(v); });
    return order;
}

void SearchRun::begin_round() {
    ++rounds_;
    if (compared_) {
        const std::vector<char> differs = unlike_in(engine_, engine_.dag(), *compared_);
        for (int v = 0; v < n_; ++v)
            agreed_[v] = differs[v] ? 0 : agreed_[v];
    }
    fruitless_ = 0;
    enough_ = policy::agreeing_starts;
    starts_left_ = is_sparse() ? starts_ : 0;
    next_start();
}

// Errors in other places do not count: starts agree on a variable if they do on its neighbours and
// colliders.
void SearchRun::next_start() {
    if (starts_left_ == 0 || fruitless_ == policy::fruitless_starts ||
        *std::min_element(agreed_.begin(), agreed_.end()) >= enough_)
        return end_starts();
    --starts_left_;
    cost_before_start_ = engine_.cost();
    challenger_ = std::make_unique<ParentSets>(engine_);
    challenger_->reset(next_tree_order(), options_.threads);
    const double away = distance_from_tree(challenger_->cost());
    enough_ = std::min(enough_, policy::enough_starts(away));
    if (enough_ == 0) {
        challenger_.reset();
        starts_agree_ = true;
        return restart(&SearchRun::follow_up);
    }
    SearchOptions options = search_options(children_, false);
    options.sweep = false;
    options.known = engine_.dag();
    descend(*challenger_, std::move(options), &SearchRun::compare_start);
}

// Goes over to what is better, and takes from the other what is better there.
void SearchRun::compare_start() {
    differing_ = unlike_in(engine_, engine_.dag(), challenger_->dag());
    if (std::abs(challenger_->cost() - cost_before_start_) > noise_) {
        if (challenger_->cost() < engine_.cost())
            engine_.swap(*challenger_);
        if (cross(engine_, challenger_->dag(), noise_)) {
            challenger_.reset();
            note("crossed", n_edges(engine_));
            SearchOptions options = search_options(children_, false);
            options.sweep = false;
            return descend(engine_, options, &SearchRun::count_start);
        }
    }
    challenger_.reset();
    count_start();
}

void SearchRun::count_start() {
    note_cost();
    const bool better = engine_.cost() < cost_before_start_ - noise_;
    fruitless_ = better ? 0 : fruitless_ + 1;
    for (int v = 0; v < n_; ++v)
        agreed_[v] = !differing_[v] ? agreed_[v] + 1 : better ? 0 : agreed_[v];
    if (count_of(doubtful(engine_)) <= policy::few_in_doubt * children_)
        enough_ = policy::agreeing_starts_elsewhere;
    next_start();
}

void SearchRun::end_starts() {
    disputed_.clear();
    for (int v = 0; v < n_; ++v) {
        if (starts_ > 0 && agreed_[v] < enough_)
            disputed_.push_back(v);
    }
    starts_agree_ = disputed_.empty();
    if (!starts_agree_)
        compared_ = engine_.dag();
    restart(&SearchRun::follow_up);
}

void SearchRun::restart(Next next) {
    note("restarts", options_.restarts);
    const std::vector<int> lengths = chain_lengths(options_.restarts);
    for (int length : lengths) {
        Chain& chain = *chains_.emplace_back(std::make_unique<Chain>());
        chain.seed = draws_.seed();
        chain.length = length;
        chain.is_alone = lengths.size() == 1;
    }
    next_ = next;
}

// Of equals the first, so that threads do not matter.
void SearchRun::end_chains() {
    n_near_ = 0;
    Chain* best = nullptr;
    double least = policy::never;
    for (const auto& chain : chains_) {
        if (!chain->shuffles)
            continue;
        chain->shuffles->end();
        n_near_ += chain->shuffles->near();
        const double cost = chain->copy ? chain->copy->cost() : engine_.cost();
        if (best == nullptr || cost < least) {
            best = chain.get();
            least = cost;
        }
    }
    improved_ = best != nullptr && best->shuffles->improved() > 0;
    if (best != nullptr && best->copy)
        engine_.swap(*best->copy);
    chains_.clear();
    note_cost();
}

void SearchRun::follow_up() {
    end_chains();
    const int tries = options_.tries.value_or(policy::tries_for(children_, is_thin_));
    if (improved_ || is_thin_ || n_near_ >= policy::rugged * options_.restarts)
        insist(starts_agree_ && !is_thin_ ? tries : 2 * tries, false);
    else if (!starts_agree_)
        insist(2 * tries, true);
    else
        end_round();
}

// Restarts around what is in doubt, or disputed, until so many have failed. Where they have all
// failed before, and nothing has improved since, they would fail again.
void SearchRun::insist(int tries, bool around_disputed) {
    if (cost_in_vain_ - engine_.cost() <= noise_ || !is_sparse())
        return end_round();
    note("insisting", tries);
    Chain& chain = *chains_.emplace_back(std::make_unique<Chain>());
    chain.seed = draws_.seed();
    chain.tries = tries;
    if (tries > 0)
        chain.centres = around_disputed ? disputed_ : doubtful(engine_);
    next_ = &SearchRun::end_insisting;
}

void SearchRun::end_insisting() {
    const bool improved_before = improved_;
    end_chains();
    if (!improved_)
        cost_in_vain_ = engine_.cost();
    improved_ |= improved_before;
    end_round();
}

void SearchRun::end_round() {
    if (!improved_)
        return next_round();
    SearchOptions options = search_options(children_, false);
    options.nearby = children_ > policy::few_starts_up_to;
    options.sweep = !options.nearby;
    note("descent", n_edges(engine_));
    descend(engine_, options, &SearchRun::next_round);
}

void SearchRun::next_round() {
    if (!starts_agree_ && is_sparse() && rounds_ < policy::rounds)
        begin_round();
    else
        polish();
}

// Puts the surroundings of what is in doubt in their best DAG, and goes on from there.
void SearchRun::polish() {
    const BicProblem& problem = engine_.problem();
    if (children_ > policy::thorough_up_to || !(is_sparse() || n_ <= policy::crowded_up_to) ||
        !problem.blocks.empty() || problem.sets.size() > 1 || engine_.has_lists())
        return;
    const double before = engine_.cost();
    // Bridges first: they take all of a tree at once.
    if (!direct_bridges(engine_)) {
        ClassMembers members(engine_.dag());
        std::vector<int> covered(n_, 0);
        for (int v : doubtful(engine_)) {
            if (take_best_around(engine_, members, v, covered))
                break;
        }
    }
    note("around", before - engine_.cost() > noise_);
    if (before - engine_.cost() <= noise_)
        note("turned", turn_arrows());
    if (before - engine_.cost() <= noise_)
        return;
    SearchOptions options = search_options(children_, false);
    options.sweep = false;
    descend(engine_, options, &SearchRun::polish);
}

// Restarts from each arrow of the class, turned; whether one was better, which ends them.
bool SearchRun::turn_arrows() {
    SearchOptions options;
    options.sweep = false;
    options.near_miss = policy::near_miss_of_turns;
    InsertionSearch search(engine_, draws_.seed(), options, true);
    ClassMembers members(engine_.dag());
    for (int y : members.dag().order) {
        const std::vector<int>& parents = members.dag().parents[y];
        for (int k = 0; k < count_of(parents); ++k) {
            if (!members.compelled()[y][k] || engine_.is_given(parents[k]))
                continue;
            search.begin_turned(members, parents[k], y);
            search.run(policy::never);
            if (search.end_restart(false))
                return true;
        }
    }
    return false;
}

void SearchRun::finish() {
    if (!chains_.empty())
        end_chains();
}

} // namespace qwo
