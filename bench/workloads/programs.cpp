// Long straight-line programs: compile time, and many small steps.
#include "workload.h"

namespace workloads {

using namespace anadrome;

namespace {

/// `steps` times three operations on [128], one after the other.
auto chain(int steps) {
  return [steps](Array x) {
    for (int i = 0; i < steps; ++i) x = sin(x) * 1.01 + 0.1 * i;
    return sum(x);
  };
}

Figures unrolled_1500(const Bench& bench) {
  const Array x = bench.input("x", {128});
  const Figures figures = bench.measure(grad(chain(500)), {.calls = 10}, x);
  // The product of 500 cosines underflows: the gradient is 0 in float32. A shorter chain shows that it is
  // right.
  bench.write(jit(grad(chain(20)))(x));
  return figures;
}

/// Compile time against the number of equations of the function as it is written.
template <int equations> Figures chain_of(const Bench& bench) {
  return bench.measure(chain(equations / 3), {.calls = 10}, bench.input("x", {128}));
}

}  // namespace

std::vector<Workload> long_programs() {
  return {{"unrolled_1500", unrolled_1500},
          {"equations_500", chain_of<500>},
          {"equations_5000", chain_of<5000>},
          {"equations_50000", chain_of<50000>}};
}

}  // namespace workloads
