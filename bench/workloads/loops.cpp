// Loops of a few operations a step: a damped pendulum, forward and differentiated.
#include "workload.h"

namespace workloads {

using namespace anadrome;

namespace {

/// The sum of the angles of pendulums after `steps` steps, from their first angles.
auto pendulums(std::int64_t steps) {
  return [steps](const Array& angles) {
    const auto step = [](const std::pair<Array, Array>& state) {
      const auto& [x, v] = state;
      const Array faster = v + 0.001 * (-sin(x) - 0.1 * v);
      return std::pair{std::pair{Array(x + 0.001 * faster), faster}, std::tuple<>{}};
    };
    return sum(scan(std::pair{angles, zeros_like(angles)}, {.length = steps}, step).first.first);
  };
}

template <std::int64_t n> Figures forward(const Bench& bench) {
  return bench.measure(pendulums(1'000'000), {.repeats = 3}, bench.input("angles", {n}, 0, 1));
}
template <std::int64_t n> Figures gradient(const Bench& bench) {
  return bench.measure(grad(pendulums(100'000)), {.repeats = 3}, bench.input("angles", {n}, 0, 1));
}

}  // namespace

std::vector<Workload> loops() {
  return {{"scan_fwd_1", forward<1>}, {"scan_fwd_64", forward<64>}, {"scan_grad_1", gradient<1>}, {"scan_grad_64", gradient<64>}};
}

}  // namespace workloads
