// sin, cos, tan, asin, acos, atan, atan2.
#include <cmath>

#include "core/builder.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

/// 1 / sqrt(1 - x^2); the product keeps its accuracy beside 1 and -1.
Array inverse_sine_slope(const Array& x) {
  const Array one = op::number_like(1, x);
  return op::rsqrt(op::mul(op::sub(one, x), op::add(one, x)));
}

Arrays jvp_atan2(const JvpIn& in) {
  const Array &a = in.x[0], &b = in.x[1];
  const Array radius_squared = op::add(op::mul(a, a), op::mul(b, b));
  return {add_tangents(scaled(in.t[0], [&] { return op::div(b, radius_squared); }),
                       scaled(in.t[1], [&] { return op::div(op::neg(a), radius_squared); }))};
}

}  // namespace

// sin: the sine.
constinit const Prim prim::sin = {
    .name = "sin",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::sin(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], op::cos(in.x[0]))}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// cos: the cosine.
constinit const Prim prim::cos = {
    .name = "cos",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::cos(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], op::neg(op::sin(in.x[0])))}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// tan: the tangent.
constinit const Prim prim::tan = {
    .name = "tan",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::tan(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::mul(in.t[0], op::add(op::number_like(1, in.y[0]), op::mul(in.y[0], in.y[0])))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// asin: NaN outside [-1, 1].
constinit const Prim prim::asin = {
    .name = "asin",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::asin(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], inverse_sine_slope(in.x[0]))}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// acos: NaN outside [-1, 1].
constinit const Prim prim::acos = {
    .name = "acos",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::acos(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], op::neg(inverse_sine_slope(in.x[0])))}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// atan: in [-pi/2, pi/2].
constinit const Prim prim::atan = {
    .name = "atan",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::atan(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::div(in.t[0], op::add(op::number_like(1, in.x[0]), op::mul(in.x[0], in.x[0])))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// atan2: the angle of the point (b, a), in [-pi, pi].
constinit const Prim prim::atan2 = {
    .name = "atan2",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto a, auto b) { return std::atan2(a, b); }); },
    .jvp = jvp_atan2,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

Array op::sin(const Array& x) {
  return bind1(prim::sin, {x});
}
Array op::cos(const Array& x) {
  return bind1(prim::cos, {x});
}
Array op::tan(const Array& x) {
  return bind1(prim::tan, {x});
}
Array op::asin(const Array& x) {
  return bind1(prim::asin, {x});
}
Array op::acos(const Array& x) {
  return bind1(prim::acos, {x});
}
Array op::atan(const Array& x) {
  return bind1(prim::atan, {x});
}
Array op::atan2(const Array& a, const Array& b) {
  return bind1(prim::atan2, {a, b});
}

}  // namespace anadrome
