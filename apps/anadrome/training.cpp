// A two-layer tanh classifier of handwritten digits, trained by the gradient of its loss.
#include "training.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "anadrome/jit.h"
#include "anadrome/ops.h"
#include "anadrome/random.h"
#include "anadrome/transform.h"
#include "input_error.h"
#include "npy.h"

namespace {

using namespace anadrome;

constexpr std::int64_t classes = 10, hidden_units = 256, batch_rows = 64;
constexpr double peak_rate = 0.3, momentum = 0.9;

struct Layer {
  Array w, b;
};
struct Net {
  Layer hidden, output;
};
struct State {
  Net net, velocity;
};
struct Step {
  State state;
  Array loss;
};

Array logits(const Net& net, const Array& images) {
  const Array h = tanh(dot(images, net.hidden.w) + net.hidden.b);
  return dot(h, net.output.w) + net.output.b;
}

/// Cross-entropy.
Array loss(const Net& net, const Array& images, const Array& labels) {
  return -mean(sum(one_hot(labels, classes) * log_softmax(logits(net, images)), 1));
}

Step momentum_step(const State& state, const Array& images, const Array& labels, const Array& rate) {
  const auto result = value_and_grad(loss)(state.net, images, labels);
  const Net velocity = map_leaves(state.velocity, result.grad,
                                  [](const Array& v, const Array& g) { return momentum * v + g; });
  const Net net = map_leaves(state.net, velocity, [&](const Array& p, const Array& v) { return p - rate * v; });
  return {{net, velocity}, result.value};
}

Array accuracy(const Net& net, const Array& images, const Array& labels) {
  return mean(argmax(logits(net, images), 1) == labels);
}

/// The hidden units start with large weights: most of them then see a sharp edge somewhere, which the small data set
/// would not make them find.
Net random_net(const Array& key, std::int64_t pixels) {
  const Array keys = random::split(key);
  return {{0.5 * random::normal(keys[0], {pixels, hidden_units}), zeros({hidden_units})},
          {random::normal(keys[1], {hidden_units, classes}) / std::sqrt(hidden_units), zeros({classes})}};
}

/// From the peak down to zero along a half cosine.
double learning_rate(int step, int steps) {
  return peak_rate * (1 + std::cos(std::numbers::pi * step / steps)) / 2;
}

/// Rows of `x` whose number modulo 5 is 4 (or is not).
Array rows(const Array& x, bool every_fifth) {
  std::vector<std::int32_t> chosen;
  for (std::int32_t i = 0; i < x.shape()[0]; ++i)
    if ((i % 5 == 4) == every_fifth) chosen.push_back(i);
  return x[array(chosen)];
}

}  // namespace

Digits load_digits(const std::filesystem::path& path) {
  const Array table = read_npy(path);
  if (table.rank() != 2 || table.shape()[1] < 2 || table.shape()[0] < 10)
    throw InputError(path.string() + ": has shape " + to_string(table.shape()) +
                     "; digits are a matrix of at least 10 rows: pixels, then the label");
  const Array numbers = convert(table, f32);
  const Array labels = numbers[{all, -1}];
  if (!all(is_finite(numbers)).item<bool>()) throw InputError(path.string() + ": holds infinite or missing numbers");
  if (any(logical_or(logical_or(labels < 0, labels > 9), labels != floor(labels))).item<bool>())
    throw InputError(path.string() + ": its last column must hold labels 0 ... 9");
  const Array images = numbers[{all, slice(0, -1)}] / 16, targets = convert(labels, i32);
  return {{rows(images, false), rows(targets, false)}, {rows(images, true), rows(targets, true)}};
}

std::vector<EpochResult> train_classifier(const Digits& digits, const TrainingOptions& options,
                                          const Progress& progress) {
  const auto step = jit(momentum_step);
  const auto test = jit(accuracy);
  const std::int64_t train_rows = digits.train.images.shape()[0], pixels = digits.train.images.shape()[1];
  const std::int64_t batch = std::min(batch_rows, train_rows), batches = train_rows / batch;
  const int steps = options.epochs * static_cast<int>(batches);
  std::vector<EpochResult> results;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) results.push_back({epoch, 0, 0});

  for (int seed = 0; seed < options.seeds; ++seed) {
    const Array key = random::prng_key(seed);
    const Net net = random_net(key, pixels);
    State state{net, zeros_like(net)};
    int done = 0;
    for (EpochResult& result : results) {
      progress("training: seed " + std::to_string(seed + 1) + " of " + std::to_string(options.seeds) + ", epoch " +
               std::to_string(result.epoch) + " of " + std::to_string(options.epochs));
      const Array order = random::permutation(random::fold_in(key, result.epoch), train_rows);
      double total = 0;
      for (std::int64_t k = 0; k < batches; ++k) {
        const Array chosen = order[slice(k * batch, (k + 1) * batch)];
        const Array rate = scalar(learning_rate(done++, steps));
        Step next = step(state, digits.train.images[chosen], digits.train.labels[chosen], rate);
        state = std::move(next.state);
        total += next.loss.item<double>();
      }
      result.loss += total / static_cast<double>(batches) / options.seeds;
      result.accuracy += test(state.net, digits.test.images, digits.test.labels).item<double>() / options.seeds;
    }
  }
  return results;
}
