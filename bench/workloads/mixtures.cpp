// The gradient of the log likelihood of a Gaussian mixture: k components in d dimensions, n observations,
// float64.
#include "workload.h"

namespace workloads {

using namespace anadrome;

namespace {

/// Rows and columns of the entries below the diagonal of a d x d matrix, row by row.
std::pair<Array, Array> below_diagonal(std::int64_t d) {
  std::vector<std::int32_t> rows, columns;
  for (std::int32_t i = 0; i < d; ++i)
    for (std::int32_t j = 0; j < i; ++j) rows.push_back(i), columns.push_back(j);
  return {array(rows), array(columns)};
}

/// `alpha` are the weights, `mu` the means; `icf` holds the logarithms of the diagonals and then the lower
/// entries of the inverse factors of the covariances.
auto log_likelihood(const Array& x, std::int64_t k) {
  const std::int64_t n = x.shape()[0], d = x.shape()[1];
  const auto [rows, columns] = below_diagonal(d);
  return [=, rows = rows, columns = columns](const Array& alpha, const Array& mu, const Array& icf) {
    const Array log_diagonal = icf[{all, until(d)}], below = icf[{all, from(d)}];
    const Array lower = zeros({k, d, d}, f64).at({all, rows, columns}).set(below);
    const Array c = x[{all, newaxis, all}] - mu;
    const Array q = exp(log_diagonal) * c + einsum("kij,nkj->nki", lower, c);
    const Array inner = alpha + sum(log_diagonal, 1) - 0.5 * sum(q * q, 2);
    const Array prior = 0.5 * (sum(exp(2 * log_diagonal)) + sum(square(below)));
    return sum(logsumexp(inner, 1)) - n * logsumexp(alpha) + prior;
  };
}

Figures gmm(const Bench& bench, std::int64_t d, std::int64_t k, std::int64_t n) {
  const Array alpha = bench.input("alpha", {k}, 0.3, 0, f64), mu = bench.input("mu", {k, d}, 0.3, 0, f64);
  const Array icf = bench.input("icf", {k, d * (d + 1) / 2}, 0.3, 0, f64);
  const Array x = bench.input("x", {n, d}, 0.3, 0, f64);
  return bench.measure(grad<0, 1, 2>(log_likelihood(x, k)), {}, alpha, mu, icf);
}

Figures gmm_d10_k25(const Bench& bench) {
  return gmm(bench, 10, 25, 1000);
}
Figures gmm_d64_k25(const Bench& bench) {
  return gmm(bench, 64, 25, 1000);
}

}  // namespace

std::vector<Workload> mixtures() {
  return {{"gmm_d10_k25", gmm_d10_k25}, {"gmm_d64_k25", gmm_d64_k25}};
}

}  // namespace workloads
