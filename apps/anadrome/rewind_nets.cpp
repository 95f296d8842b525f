#include "rewind_nets.h"

#include <cmath>

using namespace anadrome;

Array apply(const Block& p, const Array& x) {
  return matmul(tanh(matmul(x, p.w1) + p.b1), p.w2) + p.b2;
}

Block MomentumNet::random_block(const Array& key) const {
  const Array keys = random::split(key);
  const double in = static_cast<double>(width), inside = static_cast<double>(hidden);
  return {random::normal(keys[0], {width, hidden}) * (0.5 / std::sqrt(in)), zeros({hidden}),
          random::normal(keys[1], {hidden, width}) * (0.5 / std::sqrt(inside)), zeros({width})};
}

Array MomentumNet::random_batch(const Array& key) const {
  return random::normal(key, {batch, width});
}

NetState MomentumNet::layer(const Block& p, const NetState& s) const {
  const Array v = momentum * s.v + apply(p, s.x);
  return {s.x + step * v, v};
}

std::string name_of(Keeping keeping) {
  switch (keeping) {
    case Keeping::stored: return "stored";
    case Keeping::minimum_cut: return "minimum_cut";
    case Keeping::checkpointed: return "checkpointed";
    case Keeping::rewound: return "rewound";
    default: return "reversible_scan";
  }
}

namespace {

template <class Layer> NetState looped(const Layer& layer, int depth, const Block& p, const NetState& start) {
  return fori_loop(0, depth, start, [&](const Array&, const NetState& s) { return layer(p, s); });
}

/// From the last state back, one layer at a time, with the derivative of the block at each.
NetState rewound_by_hand(const MomentumNet& net, int depth, const Block& block, const NetState& from) {
  struct Walk {
    NetState state, ct;
    Block gradient;
  };
  using Kept = std::pair<Block, NetState>;
  const auto run = [net, depth](const Block& p, const NetState& s) {
    return looped([net](const Block& q, const NetState& t) { return net.layer(q, t); }, depth, p, s);
  };
  const auto forward = [run](const Block& p, const NetState& s) {
    const NetState last = run(p, s);
    return std::pair{last, Kept{p, last}};
  };
  const auto backward = [net, depth](const Kept& kept, const NetState& ct) {
    const Block& p = kept.first;
    const Walk end = fori_loop(0, depth, Walk{kept.second, ct, zeros_like(p)}, [&](const Array&, const Walk& w) {
      const Array x = w.state.x - net.step * w.state.v;
      const auto [value, pull] = vjp(apply, p, x);
      const Array v = (w.state.v - value) / net.momentum, gv = w.ct.v + net.step * w.ct.x;
      const auto [dp, dx] = pull(gv);
      const auto sum = [](const Array& a, const Array& b) { return a + b; };
      return Walk{{x, v}, {w.ct.x + dx, net.momentum * gv}, map_leaves(w.gradient, dp, sum)};
    });
    return std::pair{end.gradient, end.ct};
  };
  return custom_vjp(run, forward, backward)(block, from);
}

}  // namespace

NetState run_layers(const MomentumNet& net, Keeping keeping, int depth, const Block& p, const NetState& start,
                    const ReversibleScanOptions& options) {
  const auto layer = [net](const Block& q, const NetState& s) { return net.layer(q, s); };
  switch (keeping) {
    case Keeping::stored: return looped(layer, depth, p, start);
    case Keeping::minimum_cut: return looped(checkpoint(layer, save_dots), depth, p, start);
    case Keeping::checkpointed: return looped(checkpoint(layer), depth, p, start);
    case Keeping::rewound: return rewound_by_hand(net, depth, p, start);
    default: break;
  }
  ReversibleScanOptions with_length = options;
  with_length.length = depth;
  return reversible_scan(start, with_length, [&](const NetState& s) { return std::pair{layer(p, s), std::tuple<>{}}; }).first;
}
