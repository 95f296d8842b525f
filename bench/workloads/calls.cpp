// Small calls and long arrays: what a call costs by itself, and what memory does.
#include "workload.h"

namespace workloads {

using namespace anadrome;

namespace {

Array line(const Array& x) {
  return x * 2 + 1;
}

/// The smallest useful call of a compiled function.
Figures dispatch(const Bench& bench) {
  return bench.measure(line, {.calls = 2000}, bench.input("x", {8}));
}

Array five_operations(const Array& x) {
  return sum(sin(x) * x);
}

Figures dispatch_grad(const Bench& bench) {
  return bench.measure(grad(five_operations), {.calls = 2000}, bench.input("x", {8}));
}

/// No jit anywhere: recorded and differentiated at each call.
Figures eager_grad(const Bench& bench) {
  const auto gradient = [](const Array& x) {
    return grad([](const Array& v) { return sum(sin(v) * v); })(x);
  };
  return bench.measure_eager(gradient, {.calls = 50, .repeats = 5}, bench.input("x", {8}));
}

constexpr Dim ten_million = 10'000'000;

/// Bound by memory: 40 MB read and 40 MB written.
Figures elementwise(const Bench& bench) {
  return bench.measure(line, {}, bench.input("x", {ten_million}));
}

Figures elementwise_grad(const Bench& bench) {
  const auto f = [](const Array& x) { return sum(tanh(x) * x); };
  return bench.measure(grad(f), {}, bench.input("x", {ten_million}));
}

}  // namespace

std::vector<Workload> small_calls() {
  return {{"dispatch", dispatch}, {"dispatch_grad", dispatch_grad}, {"eager_grad", eager_grad}};
}

std::vector<Workload> long_arrays() {
  return {{"elementwise", elementwise}, {"elementwise_grad", elementwise_grad}};
}

}  // namespace workloads
