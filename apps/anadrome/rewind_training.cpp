#include "rewind_training.h"

#include <limits>

#include "rewind_nets.h"

using namespace anadrome;

namespace {

constexpr int depth = 64;
constexpr std::int64_t batch = 64;
constexpr double rate = 2e-3, clip_at = 1;

struct Model {
  Block block;
  Array w, b;  // the readout
};
struct Adam {
  Model model, mean, square;
  Array step;
};

struct Variant {
  Keeping keeping;
  ReversibleScanOptions options;
};

Array logits(const Variant& variant, const Model& m, const Array& images) {
  const MomentumNet net{.momentum = 0.9, .step = 0.05};
  const NetState last = run_layers(net, variant.keeping, depth, m.block, {images, zeros_like(images)}, variant.options);
  return matmul(last.x, m.w) + m.b;
}
Array loss(const Variant& variant, const Model& m, const Array& images, const Array& labels) {
  return -mean(sum(one_hot(labels, 10) * log_softmax(logits(variant, m, images)), 1));
}

/// The gradient, shortened to length 1; one with numbers that are none counts as zero.
Model clipped(const Model& g) {
  Array squares = scalar(0.0);
  for (const Array& leaf : {g.block.w1, g.block.b1, g.block.w2, g.block.b2, g.w, g.b}) squares = squares + sum(leaf * leaf);
  const Array length = sqrt(squares), usable = is_finite(length);
  return map_leaves(g, [&](const Array& leaf) { return where(usable, leaf * min(1, clip_at / max(length, 1e-12)), zeros_like(leaf)); });
}

Adam adam_step(const Variant& variant, const Adam& s, const Array& images, const Array& labels) {
  const auto of_model = [&](const Model& m) { return loss(variant, m, images, labels); };
  const Model g = clipped(grad(of_model)(s.model));
  const auto average = [](double keep, bool squared) {
    return [=](const Array& a, const Array& b) { return keep * a + (1 - keep) * (squared ? b * b : b); };
  };
  Adam out{s.model, map_leaves(s.mean, g, average(0.9, false)), map_leaves(s.square, g, average(0.999, true)), s.step + 1};
  const Array first = 1 - pow(scalar(0.9), out.step), second = 1 - pow(scalar(0.999), out.step);
  const Model direction = map_leaves(out.mean, out.square, [&](const Array& m, const Array& v) { return (m / first) / (sqrt(v / second) + 1e-8); });
  out.model = map_leaves(s.model, direction, [](const Array& p, const Array& d) { return p - rate * d; });
  return out;
}

/// Accuracies on the test rows, by epoch.
std::vector<double> train(const Digits& digits, const Variant& variant, int seed, int epochs, const std::string& what, const Progress& progress) {
  const Array key = random::prng_key(seed), keys = random::split(key, 3);
  const MomentumNet net;
  const Model start{net.random_block(keys[0]), random::normal(keys[1], {64, 10}) / 8, zeros({10})};
  Adam state{start, zeros_like(start), zeros_like(start), scalar(0.0)};
  const auto step = jit([variant](const Adam& s, const Array& x, const Array& y) { return adam_step(variant, s, x, y); });
  const auto test = jit([variant](const Model& m, const Array& x, const Array& y) { return mean(argmax(logits(variant, m, x), 1) == y); });
  const std::int64_t rows = digits.train.images.shape()[0], size = std::min(batch, rows);
  std::vector<double> out;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    progress("training " + what + ": seed " + std::to_string(seed) + ", epoch " + std::to_string(epoch) + " of " + std::to_string(epochs));
    const Array order = random::permutation(random::fold_in(keys[2], epoch), rows);
    for (std::int64_t k = 0; k + size <= rows; k += size) {
      const Array chosen = order[slice(k, k + size)];
      state = step(state, digits.train.images[chosen], digits.train.labels[chosen]);
    }
    out.push_back(test(state.model, digits.test.images, digits.test.labels).item<double>());
  }
  return out;
}

}  // namespace

RewindTraining train_rewound(const Digits& digits, int seed, int epochs, const Progress& progress) {
  RewindTraining out;
  out.seed = seed;
  const double anything = std::numeric_limits<double>::infinity();
  out.stored_curve = train(digits, {Keeping::stored, {}}, seed, epochs, "with stored layers", progress);
  out.rewound_curve = train(digits, {Keeping::reversible_scan, {}}, seed, epochs, "rewound", progress);
  const std::vector<double> plain = train(digits, {Keeping::reversible_scan, {.anchors = none, .tolerance = anything}}, seed, epochs, "rewound without anchors", progress);
  out.stored_accuracy = out.stored_curve.back();
  out.rewound_accuracy = out.rewound_curve.back();
  out.plain_accuracy = plain.back();
  return out;
}
