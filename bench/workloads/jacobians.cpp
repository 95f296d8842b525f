// Jacobians and a Hessian of a layer of 256.
#include "workload.h"

namespace workloads {

using namespace anadrome;

namespace {

constexpr Dim n = 256;

auto layer(const Bench& bench) {
  return [w = bench.input("w", {n, n}, 0.01)](const Array& x) { return tanh(matmul(x, w)); };
}

Figures jacfwd_256(const Bench& bench) {
  return bench.measure(jacfwd(layer(bench)), {.calls = 20}, bench.input("x", {n}));
}

Figures jacrev_256(const Bench& bench) {
  return bench.measure(jacrev(layer(bench)), {.calls = 20}, bench.input("x", {n}));
}

Figures hessian_256(const Bench& bench) {
  const auto f = [y = layer(bench)](const Array& x) { return sum(square(y(x))); };
  return bench.measure(hessian(f), {.calls = 20}, bench.input("x", {n}));
}

}  // namespace

std::vector<Workload> jacobians() {
  return {{"jacfwd_256", jacfwd_256}, {"jacrev_256", jacrev_256}, {"hessian_256", hessian_256}};
}

}  // namespace workloads
