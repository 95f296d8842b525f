// Programs with derivative rules of their own, and checkpoints.
#include "conformance/program_table.h"

namespace anadrome::conformance {

namespace {

using Two = std::pair<Array, Array>;

Outputs custom_jvp_log1pexp(const Inputs& in) {
  const auto function = [](const Array& x) { return log(1 + exp(x)); };
  const auto rule = [function](const Array& x, const Array& dx) { return std::pair{function(x), (1 - 1 / (1 + exp(x))) * dx}; };
  const auto s = custom_jvp(function, rule);
  const Array x = in["x"];
  const auto tangent = [s](const Array& at_x) { return jvp(s, at(at_x), along(ones_like(at_x))).tangent; };
  return {{"s", vmap(s)(x)}, {"d1", vmap(grad(s))(x)}, {"d2", compiled(in, vmap(grad(grad(s))))(x)}, {"tangent", compiled(in, tangent)(x)}};
}

Array power(const Array& x, int k) {
  Array out = ones_like(x);
  for (int i = 0; i < k; ++i) out = out * x;
  return out;
}

Outputs custom_jvp_nondiff_and_trees(const Inputs& in) {
  const auto function = [](int k, const Two& p) { return Two{power(p.first, k), p.first * p.second}; };
  const auto rule = [function](const std::tuple<int, Two>& p, const std::tuple<int, Two>& t) {
    const auto& [k, x] = p;
    const Two dx = std::get<1>(t);
    return std::pair{function(k, x), Two{static_cast<double>(k) * power(x.first, k - 1) * dx.first, 10 * x.first * dx.second}};
  };
  const auto f = custom_jvp(function, rule);
  const Array x = in["x"], y = in["y"];
  const auto total = [f](const Two& p) {
    const Two out = f(3, p);
    return out.first + out.second;
  };
  const Two g = compiled(in, grad(total))(Two{x, y});
  const auto with_three = [f](const Two& p) { return f(3, p); };
  const Two t = jvp(with_three, at(Two{x, y}), along(Two{ones_like(x), ones_like(y)})).tangent;
  const auto looped = [f](const Array& from, const Array& fixed) {
    return scan(from, {.length = 3}, [&](const Array& c) {
             const Two o = f(3, Two{c, fixed});
             return std::pair{o.first * 0.1 + o.second, std::tuple<>{}};
           }).first;
  };
  const auto [dx, dy] = compiled(in, grad<0, 1>(looped))(x, y);
  return {{"dx", g.first}, {"dy", g.second}, {"t0", t.first}, {"t1", t.second}, {"scan", compiled(in, looped)(x, y)}, {"scan_dx", dx}, {"scan_dy", dy}};
}

/// x, whose cotangents are kept between lo and hi.
auto clipped(double lo, double hi) {
  return custom_vjp([](const Array& x) { return x; }, [](const Array& x) { return std::pair{x, std::tuple<>{}}; },
                    [lo, hi](const std::tuple<>&, const Array& g) { return clip(g, lo, hi); });
}

Outputs custom_vjp_clip_gradient(const Inputs& in) {
  const auto cube = [clip = clipped(-1, 1)](const Array& x) { return power(clip(x), 3); };
  const auto f = [cube](const Array& x) { return sum(cube(x)); };
  const auto looped = [clip = clipped(-0.3, 0.3)](const Array& x) {
    return fori_loop(0, 4, x, [&](const Array&, const Array& c) { return sin(clip(c * 2)); });
  };
  return {{"grad", compiled(in, grad(f))(in["x"])},
          {"vmap_grad", compiled(in, vmap(grad(cube)))(in["x"])},
          {"scan", compiled(in, looped)(in["x0"])},
          {"scan_grad", compiled(in, grad(looped))(in["x0"])}};
}

Outputs custom_vjp_rule_is_used(const Inputs& in) {
  const auto function = [](const Array& x, const Array& y) { return x * sin(y); };
  const auto forward = [function](const Array& x, const Array& y) { return std::pair{function(x, y), Two{x, y}}; };
  const auto backward = [](const Two& r, const Array& g) { return Two{100 * g * sin(r.second), -g * r.first * cos(r.second)}; };
  const auto q = custom_vjp(function, forward, backward);
  const Array x = in["x"], y = in["y"];
  const auto [dx, dy] = grad<0, 1>(q)(x, y);
  return {{"value", q(x, y)},
          {"dx", dx},
          {"dy", dy},
          {"jit_dx", compiled(in, grad(q))(x, y)},
          {"vmap_dy", compiled(in, vmap(grad<1>(q), {.in = {none, 0}}))(x, in["yb"])},
          {"dxdy", compiled(in, grad<1>(grad(q)))(x, y)},
          {"dydx", compiled(in, grad(grad<1>(q)))(x, y)},
          {"remat_dx", compiled(in, grad(checkpoint(q)))(x, y)}};
}

Outputs custom_vjp_vmap(const Inputs& in) {
  const auto function = [](const Array& A, const Array& b) { return dot(A, b); };
  const auto forward = [function](const Array& A, const Array& b) { return std::pair{function(A, b), Two{A, b}}; };
  const auto backward = [](const Two& r, const Array& g) { return Two{2 * outer(g, r.second), 3 * dot(transpose(r.first), g)}; };
  const auto n = custom_vjp(function, forward, backward);
  Outputs out;
  const auto report = [&](const std::string& name, const VmapOptions& axes, const Array& A, const Array& b) {
    const auto v = vmap(n, axes);
    const auto loss = [v](const Array& a, const Array& c) { return sum(v(a, c)); };
    const auto [dA, db] = compiled(in, grad<0, 1>(loss))(A, b);
    out[name + "_value"] = compiled(in, v)(A, b);
    out[name + "_dA"] = dA;
    out[name + "_db"] = db;
  };
  const Array A = in["A"], b = in["b"];
  report("A", {.in = {0, none}}, A, b[0]);
  report("b", {.in = {none, 0}}, A[0], b);
  report("both", {.in = {0, 0}}, A, b);
  return out;
}

Outputs custom_vjp_forward_mode_rejected(const Inputs& in) {
  const auto function = [](const Array& x) { return x * x; };
  const auto q = custom_vjp(function, [](const Array& x) { return std::pair{x * x, x}; },
                            [](const Array& x, const Array& g) { return 2 * x * g; });
  const Array x = in["x"];
  return {{"jvp", refused_derivative([&] { jvp(q, at(x), along(ones_like(x))); }, {"custom_vjp", "custom_jvp"},
                                     [&] { jvp(function, at(x), along(ones_like(x))); })},
          {"jacfwd", refused_derivative([&] { (void)jacfwd(q)(x); }, {"custom_vjp", "custom_jvp"}, [&] { (void)jacfwd(function)(x); })},
          {"grad", compiled(in, grad(q))(x)}};
}

Outputs custom_vjp_symbolic_zeros(const Inputs& in) {
  std::map<std::string, bool> flags;
  const auto u = custom_vjp([](const Array& x, const Array& y) { return Two{x * y, x + y}; },
                            [&](const Perturbed<Array>& x, const Perturbed<Array>& y) {
                              flags["x_perturbed"] = x.perturbed[0];
                              flags["y_perturbed"] = y.perturbed[0];
                              return std::pair{Two{x.value * y.value, x.value + y.value}, Two{x.value, y.value}};
                            },
                            [&](const Two& r, const Cotangent<Two>& g) {
                              flags["g0_zero"] = g.zero[0];
                              flags["g1_zero"] = g.zero[1];
                              const auto [g0, g1] = g.value;
                              return Two{g0 * r.second + g1, g0 * r.first + g1};
                            },
                            {.symbolic_zeros = true});
  const Array y = in["y"];
  Outputs out{{"grad_x", grad([&](const Array& x) { return u(x, y).first; })(in["x"])}};
  for (const auto& [name, flag] : flags) out[name] = array({flag ? 1 : 0}, i32)[0];
  return out;
}

Outputs implicit_newton(const Inputs& in) {
  const auto F = [](const Array& x, const Array& a) { return power(x, 3) + a[0] * x - a[1]; };
  const auto newton = [F](const Array& a) {
    return fori_loop(0, 20, ones({}, a.dtype()), [&](const Array&, const Array& x) { return x - F(x, a) / (3 * x * x + a[0]); });
  };
  const auto backward = [F](const Two& r, const Array& g) {
    const auto [x, a] = r;
    const auto of_a = [&F, &x](const Array& b) { return F(x, b); };
    return vjp(of_a, a).pullback(-g / grad(F)(x, a));
  };
  // The forward rule calls the function that has the rule, so that the rule serves its own derivative.
  std::function<Array(const Array&)> s;
  s = custom_vjp(newton, [&s](const Array& a) {
    const Array x = s(a);
    return std::pair{x, Two{x, a}};
  }, backward);
  const Array a = in["a"];
  return {{"x", s(a)},
          {"grad", compiled(in, grad(s))(a)},
          {"grad_unrolled", compiled(in, grad(newton))(a)},
          {"hess", compiled(in, jacrev(grad(s)))(a)}};
}

Outputs fixed_point_implicit(const Inputs& in) {
  const auto F = [](const Two& p, const Array& z) { return tanh(dot(p.first, z) + p.second); };
  const auto solve = [F](const Two& p) {
    return fori_loop(0, 200, zeros({3}, p.first.dtype()), [&](const Array&, const Array& z) { return F(p, z); });
  };
  using Kept = std::pair<Two, Array>;
  const auto backward = [F](const Kept& r, const Array& g) {
    const auto& [p, z] = r;
    const auto pull = vjp([&](const Array& x) { return F(p, x); }, z).pullback;
    const Array w = fori_loop(0, 200, g, [&](const Array&, const Array& v) { return g + pull(v); });
    return vjp([&](const Two& q) { return F(q, z); }, p).pullback(w);
  };
  std::function<Array(const Two&)> s;
  s = custom_vjp(solve, [&s](const Two& p) {
    const Array z = s(p);
    return std::pair{z, Kept{p, z}};
  }, backward);
  const auto loss = [s](const Two& p) {
    const Array z = s(p);
    return sum(z * z);
  };
  const Two p{in["M"], in["u"]};
  const Two g = compiled(in, grad(loss))(p);
  return {{"z", compiled(in, s)(p)}, {"grad_M", g.first}, {"grad_u", g.second}};
}

Outputs checkpoint_policies(const Inputs& in) {
  const Array A = in["A"], x = in["x"], t = in["t"];
  const auto f = [](const Array& a, const Array& b) {
    const Array h = checkpoint_name(tanh(dot(a, b)), "h");
    const Array s = sum(sin(dot(a, h)));
    return s * s;
  };
  Outputs out;
  const auto report = [&](const std::string& name, const CheckpointPolicy& policy) {
    const auto c = checkpoint(f, policy);
    const auto [value, gradient] = compiled(in, value_and_grad<0, 1>(c))(A, x);
    out[name + "_f"] = value;
    out[name + "_dA"] = std::get<0>(gradient);
    out[name + "_dx"] = std::get<1>(gradient);
    out[name + "_Hv"] = compiled(in, [c](const Array& a, const Array& b, const Array& along_b) {
      return jvp(grad<1>(c), at(a, b), along(zeros_like(a), along_b)).tangent;
    })(A, x, t);
  };
  report("none", save_nothing);
  report("everything", save_everything);
  report("nothing", save_nothing);
  report("dots", save_dots);
  report("names", save_names({"h"}));
  return out;
}

Outputs checkpoint_scan_body(const Inputs& in) {
  const auto step = [](const Array& M, const Array& h) { return h + 0.1 * tanh(dot(M, h)); };
  const auto squares = [](const Array& h) { return sum(h * h); };
  const auto flat = [=](const Array& M, const Array& h0) {
    const auto body = checkpoint(step);
    return squares(fori_loop(0, 9, h0, [&](const Array&, const Array& h) { return body(M, h); }));
  };
  const auto nested = [=](const Array& M, const Array& h0) {
    const auto inner = checkpoint([step](const Array& W, const Array& from) {
      return fori_loop(0, 3, from, [&](const Array&, const Array& h) { return step(W, h); });
    });
    return squares(fori_loop(0, 3, h0, [&](const Array&, const Array& h) { return inner(M, h); }));
  };
  Outputs out;
  const auto report = [&](const std::string& name, const auto& f) {
    const auto [value, gradient] = compiled(in, value_and_grad<0, 1>(f))(in["M"], in["h0"]);
    out[name + "_f"] = value;
    out[name + "_dM"] = std::get<0>(gradient);
    out[name + "_dh0"] = std::get<1>(gradient);
  };
  report("flat", flat);
  report("nested", nested);
  return out;
}

}  // namespace

void add_custom(ProgramTable& table) {
  table["custom_jvp_log1pexp"] = custom_jvp_log1pexp;
  table["custom_jvp_nondiff_and_trees"] = custom_jvp_nondiff_and_trees;
  table["custom_vjp_clip_gradient"] = custom_vjp_clip_gradient;
  table["custom_vjp_rule_is_used"] = custom_vjp_rule_is_used;
  table["custom_vjp_vmap"] = custom_vjp_vmap;
  table["custom_vjp_forward_mode_rejected"] = custom_vjp_forward_mode_rejected;
  table["custom_vjp_symbolic_zeros"] = custom_vjp_symbolic_zeros;
  table["implicit_newton"] = implicit_newton;
  table["fixed_point_implicit"] = fixed_point_implicit;
  table["checkpoint_policies"] = checkpoint_policies;
  table["checkpoint_scan_body"] = checkpoint_scan_body;
}

}  // namespace anadrome::conformance
