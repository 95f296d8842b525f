// Programs about vmap: axes, named axes, gradients per example.
#include "conformance/program_table.h"

namespace anadrome::conformance {

namespace {

struct Pair {
  Array p, q;
};

Outputs vmap_axes(const Inputs& in) {
  const Array &A = in["A"], &B = in["B"], &C = in["C"], &b = in["b"], &x = in["x"], &y = in["y"];
  const auto f = [](const Array& s, const Array& t) { return s * 2 + t; };
  const auto row = [y](const Array& p) { return vmap([p](const Array& q) { return p * q; })(y); };
  const auto inner = [](const Pair& d) { return sum(d.p * d.q); };
  return {{"r1", vmap(f)(A, B)},
          {"r2", vmap(f, {.in = {0, none}})(A, b)},
          {"r3", vmap(f, {.in = {1, 0}})(C, B)},
          {"r4", vmap(f, {.out = 1})(A, B)},
          {"r5", vmap(f, {.in = {-1, none}, .out = -1})(C, b)},
          {"outer", vmap(row)(x)},
          {"dict", vmap(inner, {.in = {leaf_axes({0, none})}})(Pair{A, b})}};
}

Outputs vmap_axis_name(const Inputs& in) {
  const Array &x = in["x"], &w = in["w"];
  const DType dtype = in.dtype;
  const auto one = [dtype](const Array& a) {
    const Array total = psum(a, "n");
    return (a - pmean(a, "n")) / (1 + total * total) + astype(axis_index("n"), dtype);
  };
  const auto f = vmap(one, {.axis_name = "n"});
  return {{"f", f(x)}, {"grad", grad([f, w](const Array& a) { return sum(f(a) * w); })(x)}};
}

struct Model {
  Array W1, b1, w2;
};

Outputs per_example_gradients(const Inputs& in) {
  const Model p{in["W1"], in["b1"], in["w2"]};
  const Array &X = in["X"], &Y = in["Y"];
  const auto loss = [](const Model& m, const Array& x, const Array& y) {
    const Array error = dot(tanh(dot(m.W1, x) + m.b1), m.w2) - y;
    return 0.5 * error * error;
  };
  const Model g = vmap(grad(loss), {.in = {none, 0, 0}})(p, X, Y);
  return {{"W1", g.W1},
          {"b1", g.b1},
          {"w2", g.w2},
          {"mean_W1", mean(g.W1, {0})},
          {"mean_b1", mean(g.b1, {0})},
          {"mean_w2", mean(g.w2, {0})}};
}

}  // namespace

void add_batching(ProgramTable& table) {
  table["vmap_axes"] = vmap_axes;
  table["vmap_axis_name"] = vmap_axis_name;
  table["per_example_gradients"] = per_example_gradients;
}

}  // namespace anadrome::conformance
