// Gradients of networks of tanh layers.
#include "workload.h"

namespace workloads {

using namespace anadrome;

namespace {

struct Layer {
  Array w, b;
};
using Layers = std::vector<Layer>;

Array loss(const Layers& layers, Array x, const Array& y) {
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) x = tanh(matmul(x, layers[i].w) + layers[i].b);
  return mean(square(matmul(x, layers.back().w) + layers.back().b - y));
}

Figures mlp(const Bench& bench, const std::vector<Dim>& sizes, Dim batch, int calls) {
  Layers layers;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const std::string number = std::to_string(i);
    layers.push_back({bench.input("w" + number, {sizes[i], sizes[i + 1]}, 0.1),
                      bench.input("b" + number, {sizes[i + 1]}, 0.1)});
  }
  const Array x = bench.input("x", {batch, sizes.front()}), y = bench.input("y", {batch, sizes.back()});
  return bench.measure(grad(loss), {.calls = calls}, layers, x, y);
}

Figures mlp_small(const Bench& bench) {
  return mlp(bench, {16, 64, 64, 1}, 32, 200);
}
Figures mlp_mid(const Bench& bench) {
  return mlp(bench, {256, 512, 512, 10}, 256, 10);
}

}  // namespace

std::vector<Workload> networks() {
  return {{"mlp_small", mlp_small}, {"mlp_mid", mlp_mid}};
}

}  // namespace workloads
