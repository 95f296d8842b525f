// An LSTM learns to say, at the end of a sequence, whether it held an odd number of ones.
#include <anadrome/anadrome.h>

#include <iostream>

using namespace anadrome;

constexpr Dim hidden = 16, length = 8;

struct Lstm {
  Array wx, wh, b, out;
};
struct Memory {
  Array h, c;
};

/// The last output for one sequence of numbers.
Array run(const Lstm& p, const Array& sequence) {
  const auto step = [&](const Memory& m, const Array& x) {
    const auto gates = split(x * p.wx + matmul(m.h, p.wh) + p.b, 4);
    const Array c = logistic(gates[1] + 1) * m.c + logistic(gates[0]) * tanh(gates[2]);
    return std::pair{Memory{logistic(gates[3]) * tanh(c), c}, std::tuple<>{}};
  };
  const Memory last = scan(Memory{zeros({hidden}), zeros({hidden})}, sequence, step).first;
  return dot(last.h, p.out);
}

/// Cross-entropy of the answers "odd" for a batch.
Array loss(const Lstm& p, const Array& sequences, const Array& odd) {
  const Array answers = vmap(run, {.in = {none, 0}})(p, sequences);
  return mean(softplus(answers) - odd * answers);
}

struct Training {
  Lstm net, mean, square;
};

int main() {
  const Array keys = random::split(random::prng_key(1), 4);
  const Lstm begin{random::normal(keys[0], {4 * hidden.value}), 0.3 * random::normal(keys[1], {hidden, 4 * hidden.value}), zeros({4 * hidden.value}),
                   random::normal(keys[2], {hidden})};
  const auto batch = [&](const Array& key) {
    const Array bits = convert(random::bernoulli(key, 0.5, Shape{64, length}), f32);
    return std::pair{bits, sum(bits, 1) % 2};
  };
  const auto learn = jit([&](const Training& s, const Array& key) {
    const auto [sequences, odd] = batch(key);
    const Lstm g = grad(loss)(s.net, sequences, odd);
    const Lstm m = map_leaves(s.mean, g, [](const Array& a, const Array& b) { return 0.9 * a + 0.1 * b; });
    const Lstm q = map_leaves(s.square, g, [](const Array& a, const Array& b) { return 0.99 * a + 0.01 * b * b; });
    const Lstm way = map_leaves(m, q, [](const Array& a, const Array& b) { return 0.01 * a / (sqrt(b) + 1e-8); });
    return Training{map_leaves(s.net, way, [](const Array& p, const Array& d) { return p - d; }), m, q};
  });

  Training state{begin, zeros_like(begin), zeros_like(begin)};
  for (int i = 0; i < 1500; ++i) state = learn(state, random::fold_in(keys[3], i));
  const auto [sequences, odd] = batch(random::prng_key(7));
  const Array answers = vmap(run, {.in = {none, 0}})(state.net, sequences) > 0;
  std::cout << "right answers of 64: " << sum(answers == (odd > 0.5)) << '\n';
  std::cout << "an LSTM step keeps, per sequence, "
            << linearize([&](const Lstm& p) { return run(p, sequences[0]); }, state.net).linear.residuals().size() << " arrays for its gradient\n";
}
