// Nets whose reverse rule rebuilds earlier states from the last one.
#include "conformance/program_table.h"

namespace anadrome::conformance {

namespace {

using Two = std::pair<Array, Array>;

/// Derivatives of a loss of weights and a state, under a name.
template <class Loss> void report(Outputs& out, const Inputs& in, const std::string& name, const Loss& loss, const Two& weights, const Two& state) {
  const auto [value, gradient] = compiled(in, value_and_grad<0, 1>(loss))(weights, state);
  const auto& [dw, ds] = gradient;
  out[name + "_loss"] = value;
  out[name + "_dM"] = dw.first;
  out[name + "_db"] = dw.second;
  out[name + "_dx0"] = ds.first;
  out[name + "_dv0"] = ds.second;
}

constexpr double momentum = 0.9;
Array push(const Two& p, const Array& x) { return (1 - momentum) * tanh(dot(p.first, x) + p.second); }
Two momentum_step(const Two& p, const Two& s) {
  const Array v = momentum * s.second + push(p, s.first);
  return {s.first + v, v};
}
Two momentum_back(const Two& p, const Two& s) {
  const Array x = s.first - s.second;
  return {x, (s.second - push(p, x)) / momentum};
}

Outputs momentum_residual_net(const Inputs& in) {
  constexpr int depth = 16;
  const Two weights{in["M"], in["b"]}, start{in["x0"], in["v0"]};
  const auto run = [](const Two& p, const Two& from) {
    return fori_loop(0, depth, from, [&](const Array&, const Two& s) { return momentum_step(p, s); });
  };
  using Kept = std::pair<Two, Two>;
  struct Walk {
    Two state, ds, dp;
  };
  const auto backward = [](const Kept& kept, const Two& g) {
    const Two& p = kept.first;
    const Walk end = fori_loop(0, depth, Walk{kept.second, g, zeros_like(p)}, [&](const Array&, const Walk& w) {
      const Two before = momentum_back(p, w.state);
      const auto [dp, ds] = vjp(momentum_step, p, before).pullback(w.ds);
      return Walk{before, ds, map_leaves(w.dp, dp, [](const Array& a, const Array& b) { return a + b; })};
    });
    return std::pair{end.dp, end.ds};
  };
  std::function<Two(const Two&, const Two&)> rewound;
  rewound = custom_vjp(run, [&rewound](const Two& p, const Two& s) {
    const Two last = rewound(p, s);
    return std::pair{last, Kept{p, last}};
  }, backward);
  const auto loss_of = [y = in["y"]](const auto& f) {
    return [f, y](const Two& p, const Two& s) {
      const Array error = f(p, s).first - y;
      return 0.5 * sum(error * error);
    };
  };
  Outputs out;
  report(out, in, "stored", loss_of(run), weights, start);
  report(out, in, "reversible", loss_of(rewound), weights, start);
  const Two last = compiled(in, run)(weights, start);
  const auto undo = [](const Two& p, const Two& from) {
    return fori_loop(0, depth, from, [&](const Array&, const Two& s) { return momentum_back(p, s); });
  };
  const Two first = compiled(in, undo)(weights, last);
  out["xN"] = last.first;
  out["vN"] = last.second;
  out["inverse_x0"] = first.first;
  out["inverse_v0"] = first.second;
  return out;
}

Array force(const Two& w, const Array& x) { return -dot(transpose(w.first), tanh(dot(w.first, x) + w.second)); }
constexpr double squared_step = 0.09;
Two leapfrog_step(const Two& w, const Two& s) { return {s.second, 2 * s.second - s.first + squared_step * force(w, s.second)}; }
Two leapfrog_back(const Two& w, const Two& s) { return {2 * s.first - s.second + squared_step * force(w, s.first), s.first}; }

Outputs leapfrog_net(const Inputs& in) {
  const Two layers{in["K"], in["b"]};
  const Array x0 = in["x0"];
  const auto run = [](const Two& w, const Two& from) {
    return scan(from, w, [](const Two& s, const Two& layer) { return std::pair{leapfrog_step(layer, s), std::tuple<>{}}; }).first;
  };
  using Kept = std::pair<Two, Two>;
  const auto backward = [](const Kept& kept, const Two& g) {
    const auto [last, dw] = scan(std::pair{kept.second, g}, kept.first, {.reverse = true}, [](const std::pair<Two, Two>& c, const Two& layer) {
      const Two before = leapfrog_back(layer, c.first);
      const auto [dlayer, ds] = vjp(leapfrog_step, layer, before).pullback(c.second);
      return std::pair{std::pair{before, ds}, dlayer};
    });
    return std::pair{dw, last.second};
  };
  std::function<Two(const Two&, const Two&)> rewound;
  rewound = custom_vjp(run, [&rewound](const Two& w, const Two& s) {
    const Two last = rewound(w, s);
    return std::pair{last, Kept{w, last}};
  }, backward);
  Outputs out;
  const auto report_as = [&](const std::string& name, const auto& f) {
    const auto loss = [f](const Two& w, const Array& x) { return sum(cos(f(w, Two{x, x}).second)); };
    const auto [value, gradient] = compiled(in, value_and_grad<0, 1>(loss))(layers, x0);
    const auto& [dw, dx] = gradient;
    out[name + "_loss"] = value;
    out[name + "_dK"] = dw.first;
    out[name + "_db"] = dw.second;
    out[name + "_dx0"] = dx;
  };
  report_as("stored", run);
  report_as("reversible", rewound);
  const Two last = compiled(in, run)(layers, Two{x0, x0});
  out["x9"] = last.first;
  out["x10"] = last.second;
  return out;
}

}  // namespace

void add_rewinding(ProgramTable& table) {
  table["momentum_residual_net"] = momentum_residual_net;
  table["leapfrog_net"] = leapfrog_net;
}

}  // namespace anadrome::conformance
