// Programs that are models with loops: an LSTM, bundle adjustment, a differential equation, prefix products.
#include "conformance/program_table.h"

namespace anadrome::conformance {

namespace {

struct Weights {
  Array Wx, Wh, b;
};
struct Memory {
  Array h, c;
};

Array lstm_states(const Weights& p, const Array& xs) {
  const auto step = [p](const Memory& s, const Array& x) {
    const auto z = split(dot(p.Wx, x) + dot(p.Wh, s.h) + p.b, 4);
    const Array c = logistic(z[1]) * s.c + logistic(z[0]) * tanh(z[2]);
    const Array h = logistic(z[3]) * tanh(c);
    return std::pair{Memory{h, c}, h};
  };
  const Array start = zeros({3}, xs.dtype());
  return scan(Memory{start, start}, xs, step).second;
}

Outputs lstm(const Inputs& in) {
  const Weights p{in["Wx"], in["Wh"], in["b"]};
  const auto states = [](const Weights& w, const Array& xs) { return lstm_states(w, xs); };
  const auto loss = [](const Weights& w, const Array& xs, const Array& ys) {
    const Array error = lstm_states(w, xs) - ys;
    return mean(error * error);
  };
  const auto [value, gradient] = compiled(in, value_and_grad<0, 1>(loss))(p, in["xs"], in["ys"]);
  const auto& [dp, dxs] = gradient;
  const auto batched = vmap(loss, {.in = {none, 0, 0}});
  return {{"h", compiled(in, states)(p, in["xs"])},
          {"loss", value},
          {"dWx", dp.Wx},
          {"dWh", dp.Wh},
          {"db", dp.b},
          {"dxs", dxs},
          {"batch", compiled(in, batched)(p, in["xb"], in["yb"])}};
}

/// y turned by the rotation vector r, by the formula of Rodrigues; near no rotation to first order.
Array rotated(const Array& r, const Array& y) {
  const Array squared = dot(r, r);
  const auto by_angle = [r, y, squared] {
    const Array angle = sqrt(squared), axis = r / angle;
    return y * cos(angle) + cross(axis, y) * sin(angle) + axis * dot(axis, y) * (1 - cos(angle));
  };
  return cond(squared > 0, by_angle, [r, y] { return y + cross(r, y); });
}

/// The error of the image of a point, from the camera's 11 numbers, the point's 3, and a weight.
Array reprojection_error(const Array& q, const Array& measured) {
  const Array r = q[until(3)], centre = q[slice(3, 6)], focal = q[6], principal = q[slice(7, 9)];
  const Array radial = q[slice(9, 11)], point = q[slice(11, 14)], weight = q[14];
  const Array y = rotated(r, point - centre);
  const Array u = y[until(2)] / y[2];
  const Array s = dot(u, u);
  const Array distortion = 1 + radial[0] * s + radial[1] * s * s;
  return weight * (focal * distortion * u + principal - measured);
}

Outputs bundle_adjustment(const Inputs& in) {
  const Array &c = in["c"], &X = in["X"], w = in["w"], m = in["m"], Xb = in["Xb"];
  const auto joined = [w](const Array& camera, const Array& point) {
    return concatenate({camera, point, w[newaxis]});
  };
  const auto residual = [m](const Array& q) { return reprojection_error(q, m); };
  const auto of_points = [=](const Array& camera) {
    return vmap([=](const Array& point) { return residual(joined(camera, point)); })(Xb);
  };
  const auto cost = [of_points](const Array& camera) {
    const Array errors = of_points(camera);
    return 0.5 * sum(errors * errors);
  };
  const Array q = joined(c, X);
  return {{"res", compiled(in, residual)(q)},
          {"jac_fwd", compiled(in, jacfwd(residual))(q)},
          {"jac_rev", compiled(in, jacrev(residual))(q)},
          {"jac_r0", compiled(in, jacfwd(residual))(q.at(until(3)).set(0))},
          {"batch", compiled(in, of_points)(c)},
          {"batch_grad", compiled(in, grad(cost))(c)}};
}

Array lotka_volterra(const Array& p, const Array& s) {
  return stack({p[0] * s[0] - p[1] * s[0] * s[1], -p[2] * s[1] + p[3] * s[0] * s[1]});
}

/// The states after each of 60 steps of the classical Runge-Kutta method.
Array trajectory(const Array& p, const Array& start) {
  constexpr double h = 0.05;
  const auto step = [p](const Array& s) {
    const Array k1 = lotka_volterra(p, s), k2 = lotka_volterra(p, s + h / 2 * k1);
    const Array k3 = lotka_volterra(p, s + h / 2 * k2), k4 = lotka_volterra(p, s + h * k3);
    const Array next = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    return std::pair{next, next};
  };
  return scan(start, {.length = 60}, step).second;
}

Outputs lotka_volterra_rk4(const Inputs& in) {
  const Array &p = in["p"], &s0 = in["s0"];
  const auto last = [](const Array& rates, const Array& start) { return trajectory(rates, start)[-1]; };
  const auto loss = [](const Array& rates, const Array& start) {
    const Array distance = trajectory(rates, start) - 1;
    return mean(sum(distance * distance, {1}));
  };
  const auto [value, gradient] = compiled(in, value_and_grad<0, 1>(loss))(p, s0);
  const auto& [grad_p, grad_s0] = gradient;
  return {{"final", compiled(in, last)(p, s0)},
          {"loss", value},
          {"grad_p", grad_p},
          {"jacfwd_p", compiled(in, jacfwd(loss))(p, s0)},
          {"grad_s0", grad_s0},
          {"hess_p", compiled(in, hessian(loss))(p, s0)}};
}

Outputs map_and_prefix(const Inputs& in) {
  const auto rows = [](const Array& X) { return map([](const Array& row) { return sum(sin(row)); }, X); };
  const auto squares = [rows](const Array& X) {
    const Array y = rows(X);
    return sum(y * y);
  };
  const auto product = [](const Array& x, const Array& y) { return matmul(x, y); };
  const auto prefixes = [product](const Array& A) { return associative_scan(product, A); };
  const auto last_trace = [prefixes](const Array& A) { return trace(prefixes(A)[-1]); };
  return {{"map", compiled(in, rows)(in["X"])},
          {"map_grad", compiled(in, grad(squares))(in["X"])},
          {"P", compiled(in, prefixes)(in["A"])},
          {"trace_grad", compiled(in, grad(last_trace))(in["A"])}};
}

}  // namespace

void add_loop_models(ProgramTable& table) {
  table["lstm"] = lstm;
  table["bundle_adjustment"] = bundle_adjustment;
  table["lotka_volterra_rk4"] = lotka_volterra_rk4;
  table["map_and_prefix"] = map_and_prefix;
}

}  // namespace anadrome::conformance
