// Gradients of a deep net of momentum layers that share one block of two products: with the values of all layers kept, with the
// layers computed again, and with the states rebuilt from the last one by a rule of the user's. And reads of a large table.
#include "workload.h"

namespace workloads {

using namespace anadrome;

namespace {

struct Block {
  Array w1, b1, w2, b2;
};
struct State {
  Array x, v;
};
constexpr int deep = 512;     // timed; the net is chaotic at this depth
constexpr int shallow = 8;    // compared
constexpr double momentum = 0.9;

Array apply(const Block& p, const Array& x) { return matmul(tanh(matmul(x, p.w1) + p.b1), p.w2) + p.b2; }
State layer(const Block& p, const State& s) {
  const Array v = momentum * s.v + apply(p, s.x);
  return {s.x + v, v};
}
State run(int depth, const Block& p, const State& start) {
  return fori_loop(0, depth, start, [&](const Array&, const State& s) { return layer(p, s); });
}
State run_again(int depth, const Block& p, const State& start) {
  const auto again = checkpoint(layer);
  return fori_loop(0, depth, start, [&](const Array&, const State& s) { return again(p, s); });
}

/// What the backward loop hands on: the state, its cotangents, the gradient.
struct Walk {
  State state, ct;
  Block gradient;
};
using Kept = std::pair<Block, State>;
std::pair<Block, State> rewind(int depth, const Kept& kept, const State& ct) {
  const Block& p = kept.first;
  const Walk start{kept.second, ct, zeros_like(p)};
  const Walk first = fori_loop(0, depth, start, [&](const Array&, const Walk& w) {
    const Array x = w.state.x - w.state.v;
    const auto [value, pull] = vjp(apply, p, x);
    const Array v = (w.state.v - value) / momentum, gv = w.ct.v + w.ct.x;
    const auto [dp, dx] = pull(gv);
    const auto sum = [](const Array& a, const Array& b) { return a + b; };
    return Walk{{x, v}, {w.ct.x + dx, momentum * gv}, map_leaves(w.gradient, dp, sum)};
  });
  return {first.gradient, first.ct};
}

State run_rewound(int depth, const Block& p, const State& start) {
  const auto forward = [depth](const Block& q, const State& s) {
    const State last = run(depth, q, s);
    return std::pair{last, Kept{q, last}};
  };
  const auto net = custom_vjp([depth](const Block& q, const State& s) { return run(depth, q, s); }, forward,
                              [depth](const Kept& kept, const State& ct) { return rewind(depth, kept, ct); });
  return net(p, start);
}

Figures gradient(const Bench& bench, State (*net)(int, const Block&, const State&)) {
  const Dim width = 256, hidden = 512, batch = 256;
  const Block p{bench.input("w1", {width, hidden}, 0.5 / 16), bench.input("b1", {hidden}, 0),
                bench.input("w2", {hidden, width}, 0.0220970869), bench.input("b2", {width}, 0)};
  const Array x0 = bench.input("x0", {batch, width}), v0 = zeros({batch, width});
  const auto gradient_at = [&](int depth) {
    return grad([=](const Block& q) { return mean(square(net(depth, q, State{x0, v0}).x)); });
  };
  const Figures figures = bench.measure(gradient_at(deep), {.repeats = 3, .compared = false}, p);
  bench.write(jit(gradient_at(shallow))(p));
  return figures;
}

Figures momentum_stored(const Bench& bench) {
  return gradient(bench, run);
}
Figures momentum_remat(const Bench& bench) {
  return gradient(bench, run_again);
}
Figures momentum_reversible(const Bench& bench) {
  return gradient(bench, run_rewound);
}

Figures sparse_reads(const Bench& bench) {
  const Array table = bench.input("table", {100000, 8});
  const Array rows = arange(1000) * 7919 % 100000;
  const auto f = [&](const Array& t) {
    return scan(scalar(0), rows, [&](const Array& c, const Array& i) { return std::pair{c + sum(sin(t[i])), std::tuple<>{}}; }).first;
  };
  return bench.measure(grad(f), {.calls = 5}, table);
}

}  // namespace

std::vector<Workload> rewinding() {
  return {{"momentum_stored", momentum_stored}, {"momentum_remat", momentum_remat}, {"momentum_reversible", momentum_reversible}, {"sparse_reads", sparse_reads}};
}

}  // namespace workloads
