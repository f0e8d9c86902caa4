// The core without Python: rows of a linear model, their correlations, a search, and its graph.
//
// Prints the class of the graph found, and ends with an error unless it is that of the model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "qwo/index.hpp"
#include "qwo/matrix.hpp"
#include "qwo/search_run.hpp"

namespace {

constexpr int n_variables = 20, n_samples = 5000;

double normal(qwo::Random& random) { // Box and Muller
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    return radius * std::cos(2.0 * 3.14159265358979323846 * random.uniform());
}

// Each variable has two of the four before it as parents.
qwo::OrderedDag model(qwo::Random& random) {
    qwo::OrderedDag dag{std::vector<int>(n_variables), std::vector<std::vector<int>>(n_variables)};
    std::iota(dag.order.begin(), dag.order.end(), 0);
    for (int v = 4; v < n_variables; ++v) {
        std::vector<int> near{v - 4, v - 3, v - 2, v - 1};
        random.shuffle(near);
        dag.parents[v].assign(near.begin(), near.begin() + 2);
    }
    return dag;
}

qwo::Matrix correlations(const qwo::OrderedDag& dag, qwo::Random& random) {
    qwo::Matrix rows(n_samples, n_variables), products(n_variables, n_variables);
    for (int i = 0; i < n_samples; ++i) {
        for (int v = 0; v < n_variables; ++v) {
            rows.row(i)[v] = normal(random);
            for (int p : dag.parents[v])
                rows.row(i)[v] += 0.7 * rows.row(i)[p];
            for (int u = 0; u <= v; ++u)
                products.row(v)[u] += rows.row(i)[v] * rows.row(i)[u];
        }
    }
    std::vector<double> scales;
    for (int v = 0; v < n_variables; ++v)
        scales.push_back(std::sqrt(products.row(v)[v]));
    for (int v = 0; v < n_variables; ++v) {
        for (int u = 0; u <= v; ++u)
            products.row(v)[u] = products.row(u)[v] = products.row(v)[u] / (scales[u] * scales[v]);
        products.row(v)[v] = 1.0;
    }
    return products;
}

std::shared_ptr<const qwo::BicProblem> problem_of(qwo::Matrix correlation) {
    const auto owner = std::make_shared<const qwo::Matrix>(std::move(correlation));
    const qwo::CorrelationRows rows{owner, owner->row(0), n_variables, owner->stride()};
    const double price = 2.0 * std::log(n_samples); // the BIC, twice over
    auto problem = std::make_shared<qwo::BicProblem>();
    problem->sets.emplace_back(rows, qwo::Score{n_samples, price}, n_variables - 1);
    problem->penalty = problem->typical_penalty = price;
    return problem;
}

// Every count of a sum is the sum of the counts.
bool counts_add_up() {
    qwo::SearchCounts sum, one, other;
    std::int64_t number = 0;
    for (const auto& [name, count] : qwo::all_counts) {
        one.*count = ++number;
        other.*count = 100 * number;
    }
    sum += one;
    sum += other;
    sum -= one;
    return std::all_of(qwo::all_counts.begin(), qwo::all_counts.end(),
                       [&](const auto& row) { return sum.*row.second == other.*row.second; });
}

} // namespace

int main() {
    qwo::Random random(1);
    const qwo::OrderedDag truth = model(random);
    qwo::ParentSets engine(problem_of(correlations(truth, random)), qwo::kernels());
    std::vector<int> order(truth.order.rbegin(), truth.order.rend());
    engine.reset(order);

    const qwo::Draws draws{[&] { return random.next(); },
                           [&](int bound) { return random.below(bound); }};
    qwo::SearchRun run(engine, draws, {});
    while (!run.run(1.0)) {
    }
    const std::vector<std::int8_t> found = qwo::class_matrix(engine.dag());
    for (int i = 0; i < n_variables; ++i) {
        for (int j = 0; j < n_variables; ++j) {
            const std::int8_t mark = found[qwo::Index{i} * n_variables + j];
            if (mark == 1 || (mark == 2 && i < j))
                std::printf("%d %s %d\n", i, mark == 1 ? "-->" : "---", j);
        }
    }
    const bool is_right = found == qwo::class_matrix(truth);
    std::printf("cost %.3f, %s, counts %s\n", engine.cost(),
                is_right ? "the class of the model" : "NOT the class of the model",
                counts_add_up() ? "add up" : "DO NOT add up");
    return is_right && counts_add_up() ? 0 : 1;
}
