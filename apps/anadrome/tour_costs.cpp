// `anadrome tour costs`: which direction of differentiation costs what, by the library's own count.
#include "tour_costs.h"

#include "anadrome/jit.h"
#include "anadrome/ops.h"
#include "anadrome/transform.h"

namespace {

using namespace anadrome;

template <class F>
std::int64_t flops(const F& f, const Array& x, bool structured_tangents) {
  const auto compiled = jit(f).lower(x).compile({.structured_tangents = structured_tangents});
  return static_cast<std::int64_t>(compiled.cost_analysis().flops);
}

WidthCosts width_costs(std::int64_t n) {
  const Array w = full({n, n}, 0.01), x = ones({n});
  const auto f = [w](const Array& v) { return sum(tanh(dot(v, w))); };
  return {n,
          flops(f, x, false),
          flops(grad(f), x, false),
          flops(jacfwd(f), x, false),
          flops(jacrev(f), x, false),
          flops(jacfwd(f), x, true)};
}

WideCosts wide_costs() {
  const Array w = full({4, 256}, 0.01), x = ones({4});
  const auto g = [w](const Array& v) { return tanh(dot(v, w)); };
  return {flops(g, x, false), flops(jacfwd(g), x, false), flops(jacrev(g), x, false), jacfwd(g)(x).shape()};
}

/// The derivative of `depth` tanh layers on 32 examples of 128 numbers, as a linear function.
auto linearized_layers(int depth) {
  const Array w = full({128, 128}, 0.01), x = ones({32, 128});
  const auto block = [w, depth](Array v) {
    for (int i = 0; i < depth; ++i) v = tanh(dot(v, w));
    return sum(v);
  };
  return linearize(block, x).linear;
}

Residuals residuals_of(int depth) {
  Residuals out{depth, 0, 0};
  const auto linear = linearized_layers(depth);
  for (const Array& kept : linear.residuals()) {
    ++out.count;
    out.bytes += static_cast<std::int64_t>(kept.type().bytes());
  }
  return out;
}

}  // namespace

CostTour tour_costs(const Digits& digits, const TrainingOptions& options, const Progress& progress) {
  CostTour tour;
  for (int n : {16, 64, 256}) {
    progress("costs: width " + std::to_string(n));
    tour.widths.push_back(width_costs(n));
  }
  progress("costs: 4 inputs, 256 outputs");
  tour.wide = wide_costs();
  for (int depth : {1, 2, 4, 8}) {
    progress("residuals: depth " + std::to_string(depth));
    tour.residuals.push_back(residuals_of(depth));
  }
  tour.linearized = to_string(linearized_layers(2).program());
  tour.training = train_classifier(digits, options, progress);
  return tour;
}
