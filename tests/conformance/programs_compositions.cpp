// Programs that compose transforms: orders of grad, jvp, vmap and jit, Jacobians, linear maps and their
// transposes.
#include "conformance/program_table.h"

namespace anadrome::conformance {

namespace {

/// The derivative of a scalar function along 1, by forward mode.
template <class F> auto forward(F f) {
  return [f](const Array& x) { return jvp(f, at(x), along(ones_like(x))).tangent; };
}

Array orders_function(const Array& x) {
  return sin(x[0] * x[1]) + x[2] * x[2] * x[2] * x[0] - exp(-x[1]);
}

Outputs orders(const Inputs& in) {
  const Array &x = in["x"], &v = in["v"], &u = in["u"], &X = in["X"], &V = in["V"];
  const JitOptions options{.compile = {.backend = in.backend}};
  const auto f = [](const Array& a) { return orders_function(a); };
  const auto g = grad(f);
  const auto product = [g](const Array& a, const Array& t) { return jvp(g, at(a), along(t)).tangent; };
  const auto directional = [f, v](const Array& a) { return jvp(f, at(a), along(v)).tangent; };
  Outputs out;
  out["f"] = f(x);
  out["grad"] = g(x);
  out["jvp"] = directional(x);
  out["jit_grad"] = jit(g, options)(x);
  out["grad_jit"] = grad(jit(f, options))(x);
  out["jit_grad_jit"] = jit(grad(jit(f, options)), options)(x);
  out["vjp"] = vjp(f, x).pullback(scalar(1, in.dtype));
  out["vmap_grad"] = vmap(g)(X);
  out["grad_vmap"] = grad([f](const Array& a) { return sum(vmap(f)(a)); })(X);
  out["jit_vmap_grad"] = jit(vmap(g), options)(X);
  out["vmap_jit_grad"] = vmap(jit(g, options))(X);
  out["fwd_rev"] = product(x, v);
  out["rev_fwd"] = grad(directional)(x);
  out["rev_rev"] = grad([g, v](const Array& a) { return sum(g(a) * v); })(x);
  out["fwd_fwd"] = jvp(directional, at(x), along(u)).tangent;
  out["vmap_fwd_rev"] = vmap(product)(X, V);
  return out;
}

Outputs higher_derivatives(const Inputs& in) {
  const Array& x = in["x"];
  const auto h = [](const Array& a) { return tanh(a) * exp(a / 2); };
  const auto r1 = grad(h);
  const auto r2 = grad(r1);
  const auto r3 = grad(r2);
  const auto r4 = grad(r3);
  const auto f1 = forward(h);
  const auto f2 = forward(f1);
  const auto f3 = forward(f2);
  const auto f4 = forward(f3);
  return {{"h", h(x)},     {"rev1", r1(x)}, {"fwd1", f1(x)}, {"rev2", r2(x)}, {"fwd2", f2(x)},
          {"rev3", r3(x)}, {"fwd3", f3(x)}, {"rev4", r4(x)}, {"fwd4", f4(x)}};
}

Outputs jacobians(const Inputs& in) {
  const Array &x = in["x"], &y = in["y"];
  const auto F = [](const Array& a, const Array& b) {
    return stack({a[0] * b, sin(a[1]) * a[0], a[0] * a[0] + a[1] * b * b});
  };
  return {{"fwd", jacfwd(F)(x, y)},
          {"rev", jacrev(F)(x, y)},
          {"fwd_y", jacfwd<1>(F)(x, y)},
          {"rev_y", jacrev<1>(F)(x, y)},
          {"hess", jacfwd(jacrev(F))(x, y)},
          {"hess_rev_fwd", jacrev(jacfwd(F))(x, y)},
          {"hess_rev_rev", jacrev(jacrev(F))(x, y)}};
}

Outputs jacobian_shapes(const Inputs& in) {
  const auto G = [](const Array& a) { return matmul(transpose(a), a); };
  return {{"fwd", jacfwd(G)(in["A"])}, {"rev", jacrev(G)(in["A"])}};
}

struct Line {
  Array w, b;
};
struct Auxiliary {
  Array scaled, count;
};

Outputs trees_aux_argnums(const Inputs& in) {
  const Array& x = in["x"];
  const Line p{in["w"], in["b"]};
  const auto loss = [](const Line& q, const Array& a) {
    const Array r = q.w * a + q.b;
    return std::pair{sum(r * r), Auxiliary{q.w * a, full({}, a.shape()[0], i32)}};
  };
  const auto [value, gradient] = value_and_grad(loss, has_aux)(p, x);
  const auto [both, both_aux] = grad<0, 1>(loss, has_aux)(p, x);
  const auto& [both_p, both_x] = both;
  return {{"value", value.first}, {"aux0", value.second.scaled}, {"aux1", value.second.count},
          {"grad_w", gradient.w}, {"grad_b", gradient.b},        {"both_w", both_p.w},
          {"both_x", both_x}};
}

Outputs linearize_reuse(const Inputs& in) {
  const Array &x = in["x"], &y = in["y"], &t1 = in["t1"], &t2 = in["t2"];
  const auto f = [](const Array& a, const Array& b) { return std::pair{sin(a) * b, sum(a * b)}; };
  const auto [value, linear] = linearize(f, x, y);
  const Array none_at_all = zeros_like(x);
  const auto a = linear(t1, none_at_all), b = linear(none_at_all, t2), c = linear(2 * t1, -t2);
  return {{"f0", value.first}, {"f1", value.second}, {"a0", a.first}, {"a1", a.second},
          {"b0", b.first},     {"b1", b.second},     {"c0", c.first}, {"c1", c.second}};
}

Outputs linear_transpose_program(const Inputs& in) {
  const Array& x = in["x"];
  const auto L = [](const Array& a) {
    return concatenate({2 * a[from(1)], cumsum(a, 0), a[every(-1)][until(1)]}, 0);
  };
  const auto square = [](const Array& a) { return a * a; };
  const auto twice = [](const Array& a) { return a * 2; };
  Outputs out;
  out["L"] = L(x);
  out["Lt"] = linear_transpose(L, x)(in["ct"]);
  out["square"] = refused([&] { (void)linear_transpose(square, x)(x); }, {"linear"},
                          [&] { (void)linear_transpose(twice, x)(x); });
  return out;
}

Outputs vjp_of_vjp(const Inputs& in) {
  const Array &x = in["x"], &c = in["c"], &d = in["d"];
  const auto f = [](const Array& a) { return a * a * a; };
  const auto pull = [f](const Array& a, const Array& ct) { return vjp(f, a).pullback(ct); };
  const auto [in_x, in_c] = vjp(pull, x, c).pullback(d);
  const auto gradient = grad([f](const Array& a) { return sum(f(a)); });
  return {{"in_x", in_x}, {"in_c", in_c}, {"lin", linearize(gradient, x).linear(d)}};
}

}  // namespace

void add_compositions(ProgramTable& table) {
  table["orders"] = orders;
  table["higher_derivatives"] = higher_derivatives;
  table["jacobians"] = jacobians;
  table["jacobian_shapes"] = jacobian_shapes;
  table["trees_aux_argnums"] = trees_aux_argnums;
  table["linearize_reuse"] = linearize_reuse;
  table["linear_transpose"] = linear_transpose_program;
  table["vjp_of_vjp"] = vjp_of_vjp;
}

}  // namespace anadrome::conformance
